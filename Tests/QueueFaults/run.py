#!/usr/bin/env python3
"""Tests the storage of a built capqueue with crashes, full disks, damage, many processes and odd files.

usage: run.py CAPQUEUE CAPBUNDLE [--only WORD] [--seed N]

The tests work like Tests/Faults for capbundle, and use its tools: the real binary runs, and the kernel causes the
faults. The program prints a line for each test and a closing line, and exits with 0 only if no test failed. Random
choices (which page is damaged, which of several similar calls fails) depend on the seed, which is printed. Some faults
need root. Each file that has a list TESTS is a family.
"""
import pathlib
import sys
import tempfile
import time

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[1:1] = [str(TESTS / "Faults"), str(TESTS / "Outcomes")]
import suite  # noqa: E402
from outcomes import Failed, Outcomes, families  # noqa: E402  (the lines above make these modules importable)
from queues import QueueBench  # noqa: E402


def main():
    options = suite.arguments("Fault tests of a capqueue binary.", every="meet every system call, which takes many minutes")
    outcomes = Outcomes()
    with tempfile.TemporaryDirectory(prefix="capqueue-faults-", ignore_cleanup_errors=True) as folder:
        try:
            bench = QueueBench(options.capqueue, options.capbundle,
                               pathlib.Path(folder).resolve(), options.seed, options.every)
        except Failed as reason:
            outcomes.say("FAIL", f"bundles are made: {reason}")
            return outcomes.close()
        for family, tests in families(pathlib.Path(__file__).parent):
            for title, function in tests:
                if options.only in f"{family}: {title}":
                    start = time.monotonic()
                    outcomes.run(f"{family}: {title}", function, bench)
                    if options.times:
                        print(f"     {time.monotonic() - start:.1f} s", flush=True)
    return outcomes.close()


if __name__ == "__main__":
    sys.exit(main())
