#!/usr/bin/env python3
"""Verifies capture bundles: verify.py FILE|- ... [--trust FILE] [--allow-withheld] [--require ROLES] [--state DIR]
          [--json]

Exit: 0 verified and trusted, 1 to 4 as in section 11 of Spec/capture-bundle.md (several files: the worst in the order
2, 1, 3, 4, 0), 64 wrong usage, 66 an input or a state folder that cannot be used, 78 a broken trust file.
Time stamps beside bundles are not checked.
"""

import sys

from bundle.faults import worst
from bundle.state import State
from bundle.verifier import verify
from command import NO_INPUT, USAGE, Arguments, Usage, say, shown, shown_trust_fault, trust_lines


def _parse(arguments):
    parser = Arguments("verify.py", "Verifies capture bundles.")
    parser.add_argument("files", nargs="+", metavar="FILE", help="a bundle, or - for standard input")
    parser.add_policy()
    parser.add_argument("--state", metavar="DIR", help="remembers the counters of accepted bundles")
    options = parser.parse_policy(arguments)
    if "fresh" in options.require and options.state is None:
        raise Usage("--require fresh needs --state")
    return options


def main(arguments, stdin, stdout, stderr):
    """Runs the command on the given streams and returns its exit code."""
    try:
        options = _parse(arguments)
    except Usage as error:
        print("verify.py: %s" % error, file=stderr)
        return USAGE
    try:
        state = None if options.state is None else State(options.state)
    except OSError as error:
        say(stderr, "verify.py", options.state, error)
        return NO_INPUT
    try:
        lines, broken = trust_lines(options)
    except OSError as error:
        say(stderr, "verify.py", options.trust, error)
        return NO_INPUT
    if broken:
        for name in options.files if options.json else options.files[:1]:
            print(shown_trust_fault(options, name, broken), file=stdout)
        return broken.exit_class
    exits = []
    unreadable = False
    for name in options.files:
        try:
            stream = stdin if name == "-" else open(name, "rb")
            try:
                report = verify(stream, lines, options.allow_withheld, options.require, state)
            finally:
                if stream is not stdin:
                    stream.close()
        except OSError as error:
            say(stderr, "verify.py", name, error)
            unreadable = True
            continue
        exits.append(report.exit_code)
        print(shown(options, name, report), file=stdout)
    return NO_INPUT if unreadable else worst(exits)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdin.buffer, sys.stdout, sys.stderr))
