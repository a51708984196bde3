"""The command `python -m capbundle verify`."""

from __future__ import annotations

import concurrent.futures
import argparse
import os
from typing import BinaryIO, TextIO

from .command import NO_INPUT, USAGE, Arguments, Usage, say, shown, shown_trust_fault, trust_lines
from .format.faults import worst
from .format.state import State
from .format.verifier import verify


def _parse(program: str, arguments: list[str]) -> argparse.Namespace:
    parser = Arguments(program, "Verifies capture bundles.")
    parser.add_argument("files", nargs="+", metavar="FILE", help="a bundle, or - for standard input")
    parser.add_policy()
    parser.add_argument("--state", metavar="DIR", help="remembers the counters of accepted bundles")
    options = parser.parse_policy(arguments)
    if "fresh" in options.require and options.state is None:
        raise Usage("--require fresh needs --state")
    return options


def main(arguments: list[str], stdin: BinaryIO, stdout: TextIO, stderr: TextIO, program: str = "verify.py") -> int:
    """Runs the command on the given streams and returns its exit code.

    Exit: 0 verified and trusted, 1 to 4 as in section 11 of Spec/capture-bundle.md (several files: the worst in the
    order 2, 1, 3, 4, 0), 64 wrong usage, 66 an input or a state folder that cannot be used, 78 a broken trust file.
    Time stamps beside bundles are not checked.
    """
    try:
        options = _parse(program, arguments)
    except Usage as error:
        print("%s: %s" % (program, error), file=stderr)
        return USAGE
    try:
        state = None if options.state is None else State(options.state)
    except OSError as error:
        say(stderr, program, options.state, error)
        return NO_INPUT
    try:
        lines, broken = trust_lines(options)
    except OSError as error:
        say(stderr, program, options.trust, error)
        return NO_INPUT
    if broken:
        for name in options.files if options.json else options.files[:1]:
            print(shown_trust_fault(options, name, broken), file=stdout)
        return broken.exit_class

    def judged(name: str) -> tuple[int, str] | OSError:
        """Returns (exit code, text) of a file, or the error that keeps it from being read."""
        try:
            stream = stdin if name == "-" else open(name, "rb", buffering=0)
            try:
                report = verify(stream, lines, options.allow_withheld, options.require, state)
            finally:
                if stream is not stdin:
                    stream.close()
        except OSError as error:
            return error
        return report.exit_code, shown(options, name, report)

    exits, is_unreadable = [], False
    # Threads help, because hashing and inflating do not hold the interpreter's lock. A state needs an order, and no
    # bundle may be recorded in it long before its verdict is printed.
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
    try:
        in_turn = state is not None or "-" in options.files
        for name, found in zip(options.files, (map if in_turn else pool.map)(judged, options.files)):
            if isinstance(found, OSError):
                say(stderr, program, name, found)
                is_unreadable = True
            else:
                exits.append(found[0])
                print(found[1], file=stdout)
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C, bundles that wait are not judged
    return NO_INPUT if is_unreadable else worst(exits)
