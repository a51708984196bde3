#!/usr/bin/env python3
"""Verifies an upload body: from_body.py BODY|- [-o FILE|-] [--trust FILE] [--allow-withheld] [--require ROLES] [--json]

Prints and exits as verify.py does; 73: FILE exists or cannot be written. It writes the bundle if the exit code is 0, 3
or 4. With -o - the bundle goes to standard output and the report to standard error.
"""

import shutil
import sys
import tempfile

from bundle.upload_reader import is_sound, read
from capbundle.command import (CANNOT_CREATE, NO_INPUT, USAGE, Arguments, Usage, say, shown, shown_trust_fault,
                               trust_lines)


def _parse(arguments):
    parser = Arguments("from_body.py", "Verifies an upload body and puts its bundle together again.")
    parser.add_argument("body", metavar="BODY", help="a body, or - for standard input")
    parser.add_argument("-o", dest="output", metavar="FILE", help="where the bundle goes, or - for standard output")
    parser.add_policy()
    return parser.parse_policy(arguments)


def _write(bundle, name, stdout):
    bundle.seek(0)
    if name == "-":
        shutil.copyfileobj(bundle, stdout.buffer)
        return
    with open(name, "xb") as file:
        shutil.copyfileobj(bundle, file)


def main(arguments, stdin, stdout, stderr):
    """Runs the command on the given streams and returns its exit code."""
    try:
        options = _parse(arguments)
    except Usage as error:
        print("from_body.py: %s" % error, file=stderr)
        return USAGE
    lines_to = stderr if options.output == "-" else stdout
    try:
        what = options.trust
        lines, broken = trust_lines(options)
        if broken:
            print(shown_trust_fault(options, options.body, broken), file=lines_to)
            return broken.exit_class
        what = options.body
        with tempfile.TemporaryFile() as bundle:
            if what == "-":
                report = read(stdin, bundle, lines, options.allow_withheld, options.require)
            else:
                with open(what, "rb") as file:
                    report = read(file, bundle, lines, options.allow_withheld, options.require)
            print(shown(options, options.body, report), file=lines_to)
            what = options.output
            if what is not None and is_sound(report.exit_code):
                _write(bundle, what, stdout)
    except OSError as error:
        say(stderr, "from_body.py", what, error)
        return CANNOT_CREATE if what is options.output else NO_INPUT
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdin.buffer, sys.stdout, sys.stderr))
