#!/usr/bin/env python3
"""Tests a built capbundle with crashes, full disks, many processes and odd files: run.py BINARY [--only WORD]

These tests do what unit tests cannot: they run the real binary and let the kernel cause the faults. The program prints
a line for each test and a closing line, and exits with 0 only if no test failed. Some faults need root.
Each file that has a list TESTS is a family.
"""
import argparse
import pathlib
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "Outcomes"))
from bench import Bench  # noqa: E402  (the lines above make these modules importable)
from outcomes import Failed, Outcomes, families  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description="Fault tests of a capbundle binary.")
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="WORD", help="tests whose family or title has this word")
    parser.add_argument("--times", action="store_true", help="print how long each test took")
    options = parser.parse_args()
    if not options.binary.is_file():
        parser.error(f"no such file: {options.binary}")
    outcomes = Outcomes()
    with tempfile.TemporaryDirectory(prefix="capbundle-faults-", ignore_cleanup_errors=True) as folder:
        try:
            bench = Bench(options.binary.resolve(), pathlib.Path(folder).resolve())
        except Failed as reason:
            outcomes.say("FAIL", f"a key and a trust file are made: {reason}")
            return outcomes.close()
        for family, tests in families(pathlib.Path(__file__).parent):
            for title, function in tests:
                if options.only in f"{family}: {title}":
                    start = time.monotonic()
                    outcomes.run(f"{family}: {title}", function, bench)
                    if options.times:
                        print(f"     {time.monotonic() - start:.1f} s")
    return outcomes.close()


if __name__ == "__main__":
    sys.exit(main())
