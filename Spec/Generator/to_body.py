#!/usr/bin/env python3
"""Writes the upload body of a capture bundle: to_body.py BUNDLE|- -o BODY|-

Exit: 0 written, 1 or 2 the bundle is altered or malformed (trust is not checked), 64 wrong usage, 66 BUNDLE cannot be
read, 73 BODY exists or cannot be written.
"""

import io
import sys

from bundle.upload import encode
from bundle.upload_reader import is_sound
from capbundle.command import CANNOT_CREATE, NO_INPUT, USAGE, Arguments, Usage, say
from capbundle.format.verifier import verify


def main(arguments, stdin, stdout, stderr):
    """Runs the command on the given streams and returns its exit code."""
    parser = Arguments("to_body.py", "Writes the upload body of a capture bundle.")
    parser.add_argument("bundle", metavar="BUNDLE", help="a bundle, or - for standard input")
    parser.add_argument("-o", dest="output", metavar="BODY", required=True,
                        help="where it goes, or - for standard output")
    try:
        options = parser.parse_args(arguments)
    except Usage as error:
        print("to_body.py: %s" % error, file=stderr)
        return USAGE
    try:
        what = options.bundle
        if what == "-":
            bundle = stdin.read()
        else:
            with open(what, "rb") as file:
                bundle = file.read()
        report = verify(io.BytesIO(bundle), allow_withheld=True)
        if not is_sound(report.exit_code):
            print("to_body.py: the bundle is not sound: %s" % ", ".join(report.codes), file=stderr)
            return report.exit_code
        what = options.output
        body = encode(bundle)
        if what == "-":
            stdout.buffer.write(body)
        else:
            with open(what, "xb") as file:
                file.write(body)
    except OSError as error:
        say(stderr, "to_body.py", what, error)
        return CANNOT_CREATE if what is options.output else NO_INPUT
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdin.buffer, sys.stdout, sys.stderr))
