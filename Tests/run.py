#!/usr/bin/env python3
"""Plays the tests.

    run.py                     the stages of `make test`; run.py --help for its options
    run.py SUITE               one suite, such as Faults; run.py SUITE --help for its options
    run.py SUITE --only WORD   the tests of a suite whose titles have the word, long ones too
"""
import importlib
import pathlib
import signal
import sys

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parent
sys.path[0] = str(TESTS)
from Kit import disks, outcomes, stages, suite  # noqa: E402  (the line above makes these modules importable)


def main(words):
    if not words or words[0].startswith("-"):
        return stages.main(words)
    name, *options = words
    outcomes.on_signals(signal.default_int_handler)  # an exception, so that `finally` ends servers
    if (TESTS / name / "suite.py").is_file():
        return suite.play(name, options)
    # Some folders have a program of their own in place of a list of tests.
    program = f"{name}/run" if (TESTS / name / "run.py").is_file() else name
    if not (TESTS / f"{program}.py").is_file():
        sys.exit(f"run.py: Tests has no suite {name}")
    sys.argv = [f"Tests/run.py {name}", *options]
    return importlib.import_module(program.replace("/", ".")).main()


if __name__ == "__main__":
    put_back = disks.use_a_usual_disk()
    try:
        sys.exit(main(sys.argv[1:]))
    except outcomes.Failed as reason:
        sys.exit(f"run.py: {reason}")
    finally:
        put_back()
