#!/usr/bin/env python3
"""Judges Samples/verify.html in a browser: run.py CAPBUNDLE [--only WORD] [--pictures FOLDER] [--firefox]

Chromium and chromium-driver come from Debian, selenium and axe-core from PyPI (Tests/Pages/requirements.txt). With
`--firefox` it is Firefox ESR of Debian, and only the tests of verdicts and choices run. `--pictures` keeps pictures of the
page in each width, light and dark, for people to look at. A line for each test and a closing line.
"""
import argparse
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[1]
for folder in ("Outcomes", "Pages"):
    sys.path.append(str(TESTS / folder))
sys.path.append(str(TESTS.parent / "Spec/Generator"))
from outcomes import Outcomes, families  # noqa: E402  (the lines above make these modules importable)
from browser import Browser, Listener  # noqa: E402
from firefox import Firefox  # noqa: E402
from page import Page  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description="Judges verify.html in a browser.")
    parser.add_argument("capbundle", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="WORD", help="tests whose title has this word")
    parser.add_argument("--pictures", type=pathlib.Path, help="where to keep pictures of the page")
    parser.add_argument("--firefox", action="store_true", help="use Firefox, and run only the tests of verdicts and choices")
    options = parser.parse_args()
    if not options.capbundle.is_file():
        parser.error(f"no such file: {options.capbundle}")
    outcomes = Outcomes()
    with tempfile.TemporaryDirectory() as folder, Listener() as listener:
        with (Firefox if options.firefox else Browser)() as browser:
            page = Page(browser, options.capbundle.resolve(), pathlib.Path(folder), listener, options.pictures)
            for family, tests in families(pathlib.Path(__file__).parent):
                if options.firefox and family not in ("choices", "verdicts"):
                    continue
                for title, test in tests:
                    title = f"{family}: {title}"
                    if options.only in title:
                        outcomes.run(title, test, page)
    return outcomes.close()


if __name__ == "__main__":
    sys.exit(main())
