#!/usr/bin/env python3
"""Tests Samples/Receiver with the built tools.

usage: run.py CAPBUNDLE CAPQUEUE RECEIVER [--only WORD]

The receiver, its clients and the servers are real programs on loopback, on free ports. Each module beside this one that
has a list TESTS of titles and functions is a family of tests. The program prints a line for each test and a closing
line, and exits with 0 only if no test failed.
"""
import argparse
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent / "Outcomes"))
from outcomes import Failed, Outcomes, families  # noqa: E402  (the line above makes this module importable)
from support import Tools  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description="Runs the tests of the sample receiver.")
    parser.add_argument("capbundle", type=pathlib.Path)
    parser.add_argument("capqueue", type=pathlib.Path)
    parser.add_argument("receiver", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="WORD", help="tests whose family or title has this word")
    options = parser.parse_args()
    for binary in (options.capbundle, options.capqueue, options.receiver):
        if not binary.is_file():
            parser.error(f"no such file: {binary}")
    outcomes = Outcomes()
    with tempfile.TemporaryDirectory(prefix="receiver-", ignore_cleanup_errors=True) as folder:
        try:
            tools = Tools(options.capbundle.resolve(), options.capqueue.resolve(), options.receiver.resolve(),
                          pathlib.Path(folder).resolve())
        except Failed as reason:
            outcomes.say("FAIL", f"keys and bundles are made: {reason}")
            return outcomes.close()
        for family, tests in families(HERE):
            for title, function in tests:
                if options.only in f"{family} {title}":
                    outcomes.run(f"{family}: {title}", function, tools)
    return outcomes.close()


if __name__ == "__main__":
    sys.exit(main())
