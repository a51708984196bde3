"""Compares the examples on the libraries' pages with tested code, so that a reader can copy an example that works.

The line that adds our package as a dependency must be that of Samples/library, which Tests/Library builds. The code in a guide
of Samples must be a run of lines in the file that the guide named last.

usage: Tests/run.py Documents/library
"""
import re
import textwrap

from Kit.outcomes import ROOT

LIBRARIES = ["CaptureBundle", "CaptureImport", "CaptureQueue"]
REGION = re.compile(r"^ *// docs: (\w+)\n(.*?)^ *// end$", re.M | re.S)
DEPENDENCY = re.compile(r'\.package\(url: ".*/capture-bundle.git", from: ".*"\)')
BLOCK = re.compile(r"^```swift\n(.*?)^```$", re.M | re.S)
SAMPLE = re.compile(r"`(Samples/[\w./-]+\.\w+)`")


def compare(library):
    """Compares each page but the overview with one region of the tests; returns the numbers of pages and failures."""
    tests = (ROOT / f"Tests/{library}Tests/LibraryExampleTests.swift").read_text()
    regions = {name: textwrap.dedent(code).strip("\n") for name, code in REGION.findall(tests)}
    pages = [page for page in sorted((ROOT / f"Sources/{library}/{library}.docc").glob("*.md")) if page.stem != library]
    failed = 0
    for page in pages:
        shown = [block.strip("\n") for block in BLOCK.findall(page.read_text())]
        if shown != [regions.pop(page.stem, None)]:
            print(f"FAIL {library}: {page.name} does not show the tested code of LibraryExampleTests.swift")
            failed += 1
    for name in regions:
        print(f"FAIL {library}: no page shows the example {name}")
        failed += 1
    if not pages:
        print(f"FAIL {library} has no page")
        failed += 1
    return len(pages), failed


def compare_dependency():
    """Returns the number of documents, and the number of those without the sample's line."""
    line = DEPENDENCY.search((ROOT / "Samples/library/Package.swift").read_text())[0]
    documents = [f"Sources/{library}/{library}.docc/{library}.md" for library in LIBRARIES]
    failed = [name for name in documents if [line] != DEPENDENCY.findall((ROOT / name).read_text())]
    for name in failed:
        print(f"FAIL {name} does not show {line}")
    return len(documents), len(failed)


def compare_guide(guide):
    """Returns the number of listings in a guide, and the number of those that are not in the file named before them."""
    text, count, failed = guide.read_text(), 0, 0
    for block in BLOCK.finditer(text):
        named = [name for name in SAMPLE.findall(text[:block.start()]) if (ROOT / name).is_file()]
        lines = (ROOT / named[-1]).read_text().splitlines(keepends=True) if named else []
        height = block[1].count("\n")
        runs = (textwrap.dedent("".join(lines[start:start + height])) for start in range(len(lines)))
        count += 1
        if block[1] not in runs:
            print(f"FAIL {guide.name}: {named[-1:]} does not contain:\n{block[1]}")
            failed += 1
    return count, failed


def main():
    guides = sorted((ROOT / "Samples/Guides.docc").glob("*.md"))
    counts = [*(compare(library) for library in LIBRARIES), compare_dependency(), *map(compare_guide, guides)]
    count, failed = (sum(numbers) for numbers in zip(*counts))
    print(f"{max(0, count - failed)} passed, {failed} failed")
    return 1 if failed else 0
