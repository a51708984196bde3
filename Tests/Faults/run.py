#!/usr/bin/env python3
"""Makes a built capbundle meet crashes, full disks, crowds, odd files and odd users: run.py BINARY [--only WORD]

What unit tests cannot: these run the real binary and let the kernel do the harm. Prints a line for each test and a
closing line; exit 0 only if none failed. As root some more faults can be made than as a user.
"""
import argparse
import importlib
import pathlib
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
from bench import Bench  # noqa: E402  (after the line above, so that it holds for bench)
from checks import Failed, Skipped  # noqa: E402

FAMILIES = ["crash_pack", "crash_files", "errors", "disks", "streams", "counters", "sameness", "keys", "states",
            "inputs", "targets", "names", "memory"]


def judge(title, function, bench):
    """"ok", "FAIL" or "skip", after printing the test's line."""
    try:
        function(bench)
    except Skipped as reason:
        word, detail = "skip", f" because {reason}"
    except Failed as reason:
        word, detail = "FAIL", f": {reason}"
    except Exception as error:  # a test that breaks is no reason not to run the others
        place = traceback.extract_tb(error.__traceback__)[-1]
        word, detail = "FAIL", f": the test broke: {error!r} at {pathlib.Path(place.filename).name}:{place.lineno}"
    else:
        word, detail = "ok", ""
    print(f"{word:<4} {title}{printable(detail)}", flush=True)
    return word


def printable(text, limit=1000):
    """A line that cannot steer a terminal either, and that ends."""
    text = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    return text if len(text) <= limit else f"{text[:limit]}…"


def main():
    parser = argparse.ArgumentParser(description="Fault tests of a capbundle binary.")
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="WORD", help="tests whose family or title has this word")
    parser.add_argument("--times", action="store_true", help="print how long each test took")
    options = parser.parse_args()
    if not options.binary.is_file():
        parser.error(f"no such file: {options.binary}")
    counts = {"ok": 0, "FAIL": 0, "skip": 0}
    with tempfile.TemporaryDirectory(prefix="capbundle-faults-", ignore_cleanup_errors=True) as folder:
        try:
            bench = Bench(options.binary.resolve(), pathlib.Path(folder).resolve())
        except Failed as reason:
            print(f"FAIL a key and a trust file are made: {reason}\n0 passed, 1 failed, 0 skipped")
            return 1
        for family in FAMILIES:
            for title, function in importlib.import_module(family).TESTS:
                if options.only in f"{family}: {title}":
                    start = time.monotonic()
                    counts[judge(f"{family}: {title}", function, bench)] += 1
                    if options.times:
                        print(f"     {time.monotonic() - start:.1f} s")
    print(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
    return 1 if counts["FAIL"] or not counts["ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
