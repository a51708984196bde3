#!/usr/bin/env python3
"""Judges the chains of devices: chain.py FILE|- ... [--trust FILE] [--json]

Exit: 0 no fault, 1 or 2 a file with a fault in its head, 4 a fault of a chain (the worst in the order 2, 1, 4, 0), 64
wrong usage, 66 an input that cannot be read, 78 a broken trust file. With --json it prints one object.
"""

import json
import sys

from bundle import chain
from capbundle.command import NO_INPUT, USAGE, Arguments, Usage, say, trust_lines
from capbundle.format.faults import printable, worst


def main(arguments, stdin, stdout, stderr):
    """Runs the command on the given streams and returns its exit code."""
    parser = Arguments("chain.py", "Judges the chains of devices.")
    parser.add_argument("files", nargs="+", metavar="FILE", help="a bundle, or - for standard input")
    parser.add_argument("--trust", metavar="FILE", help="trust file; it does not change the result")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    try:
        options = parser.parse_args(arguments)
        _, broken = trust_lines(options)
    except Usage as error:
        print("chain.py: %s" % error, file=stderr)
        return USAGE
    except OSError as error:
        say(stderr, "chain.py", options.trust, error)
        return NO_INPUT
    faults = [("trust file", broken)] if broken else []
    copies, unreadable = [], False
    for name in options.files if not broken else ():
        try:
            stream = stdin if name == "-" else open(name, "rb")
            try:
                link, found = chain.read_head(stream)
            finally:
                if stream is not stdin:
                    stream.close()
        except OSError as error:
            say(stderr, "chain.py", name, error)
            unreadable = True
            continue
        faults += [(name, fault) for fault in found]
        copies += [link] if link else []
    for key_id, found in chain.judge(copies).items():
        faults += [("key " + key_id, fault) for fault in found]
    exit_code = worst(fault.exit_class for _, fault in faults)
    if options.json:
        print(json.dumps({"exit_code": exit_code, "faults": sorted({fault.code for _, fault in faults})}), file=stdout)
    else:
        for about, fault in faults:
            print("%s: %s  %s" % (printable(about), fault.code, printable(fault.detail)), file=stdout)
    return NO_INPUT if unreadable else exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdin.buffer, sys.stdout, sys.stderr))
