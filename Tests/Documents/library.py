"""Compares the examples of CaptureBundle.docc with the code that the tests run: a reader who copies one must get what works.

usage: Tests/Documents/library.py
"""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "Sources/CaptureBundle/CaptureBundle.docc"
TESTS = ROOT / "Tests/CaptureBundleTests/LibraryExampleTests.swift"
REGION = re.compile(r"^ *// docs: (\w+)\n(.*?)^ *// end$", re.M | re.S)
BLOCK = re.compile(r"^```swift\n(.*?)^```$", re.M | re.S)


def main():
    regions = {name: textwrap.dedent(code).strip("\n") for name, code in REGION.findall(TESTS.read_text())}
    failed = 0
    for page in sorted(PAGES.glob("*.md")):
        if page.stem == "CaptureBundle":
            continue
        shown = [block.strip("\n") for block in BLOCK.findall(page.read_text())]
        if shown != [regions.pop(page.stem, None)]:
            print(f"FAIL {page.name} does not show what LibraryExampleTests.swift runs")
            failed += 1
    for name in regions:
        print(f"FAIL no page shows the example {name}")
        failed += 1
    count = len(list(PAGES.glob("*.md"))) - 1
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed or not count else 0


sys.exit(main())
