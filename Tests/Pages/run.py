#!/usr/bin/env python3
"""Opens the pages of both tools in headless Chromium: run.py CAPQUEUE CAPBUNDLE [--only WORD] [--pictures FOLDER]

Chromium and chromium-driver come from Debian, selenium and axe-core from PyPI (requirements.txt). `--pictures` keeps a
picture of each page in each width, light and dark, for people to look at. A line for each test and a closing line.
"""
import argparse
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "Outcomes"))
from outcomes import Outcomes  # noqa: E402  (the line above makes this module importable)
import judgements  # noqa: E402
from browser import Browser, Listener  # noqa: E402
from shown_captures import Captures  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description="Judges the pages of report in Chromium.")
    parser.add_argument("capqueue", type=pathlib.Path)
    parser.add_argument("capbundle", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="WORD", help="tests whose title has this word")
    parser.add_argument("--pictures", type=pathlib.Path, help="where to keep pictures of the pages")
    options = parser.parse_args()
    for binary in (options.capqueue, options.capbundle):
        if not binary.is_file():
            parser.error(f"no such file: {binary}")
    outcomes = Outcomes()
    with tempfile.TemporaryDirectory() as folder, Listener() as listener, Browser() as browser:
        captures = Captures(options.capbundle.resolve(), options.capqueue.resolve(), pathlib.Path(folder), listener)
        for name in captures.pages:
            for title, judgement in judgements.JUDGEMENTS:
                title = f"{name}: {title}"
                if options.only in title:
                    outcomes.run(title, judgement, browser, captures, name)
            if options.pictures:
                options.pictures.mkdir(parents=True, exist_ok=True)
                browser.keep_pictures(captures.path(name), options.pictures / name)
    return outcomes.close()


if __name__ == "__main__":
    sys.exit(main())
