#!/usr/bin/env python3
"""Verifies capture bundles: verify.py FILE|- ... [--trust FILE] [--allow-withheld] [--require ROLES] [--json]

Exit: 0 verified and trusted, 1 to 4 as section 11 of Spec/capture-bundle.md (several files: the worst in the order
2, 1, 3, 4, 0), 64 wrong usage, 66 an input that cannot be read, 78 a broken trust file.
"""

import argparse
import json
import sys

from bundle import trust
from bundle.faults import TRUST_FILE_EXIT, Fault, printable, worst
from bundle.verifier import REQUIREMENTS, verify

USAGE, NO_INPUT = 64, 66
VERDICTS = {0: "verified, key trusted", 1: "NOT genuine: bytes or signature differ", 2: "malformed or unsupported",
            3: "sound, but the key is not known", 4: "sound, but not accepted"}


class _Usage(Exception):
    pass


class _Arguments(argparse.ArgumentParser):
    def error(self, message):
        raise _Usage(message)


def _parse(arguments):
    parser = _Arguments(prog="verify.py", description="Verifies capture bundles.", allow_abbrev=False)
    parser.add_argument("files", nargs="+", metavar="FILE", help="a bundle, or - for standard input")
    parser.add_argument("--trust", metavar="FILE", help="trust file; without it no key is known")
    parser.add_argument("--allow-withheld", action="store_true", help="withheld entries are accepted")
    parser.add_argument("--require", action="append", default=[], metavar="ROLES", help=", ".join(REQUIREMENTS))
    parser.add_argument("--json", action="store_true", help="one JSON object a file")
    options = parser.parse_args(arguments)
    options.require = [role for roles in options.require for role in roles.split(",")]
    for role in options.require:
        if role not in REQUIREMENTS:
            raise _Usage("unknown role %s" % printable(role))
    return options


def _as_json(name, report):
    sound = report.manifest
    return json.dumps({
        "file": name, "exit_code": report.exit_code, "faults": report.codes,
        "warnings": sorted({code for code, _ in report.warnings}), "withheld": report.withheld,
        "id": sound and sound.id, "captured_at": sound and sound.captured_at, "key_id": sound and sound.key_id,
    })


def _as_text(name, report):
    by = " as %s" % report.trusted_as if report.exit_code == 0 else ""
    lines = ["%s: %s%s" % (printable(name), VERDICTS[report.exit_code], by)]
    lines += ["  %s  %s" % (fault.code, printable(fault.detail)) for fault in report.faults]
    lines += ["  %s  %s (warning)" % (code, printable(detail)) for code, detail in report.warnings]
    if report.withheld and report.exit_code == 0:
        lines.append("  withheld  %s" % ", ".join(report.withheld))
    return "\n".join(lines)


def main(arguments, stdin, stdout, stderr):
    """Runs the command on the streams given and returns its exit code."""
    try:
        options = _parse(arguments)
    except _Usage as error:
        print("verify.py: %s" % error, file=stderr)
        return USAGE
    lines = []
    if options.trust is not None:
        try:
            with open(options.trust, "rb") as file:
                lines = trust.parse(file.read())
        except OSError as error:
            print("verify.py: %s: %s" % (printable(options.trust), error.strerror), file=stderr)
            return NO_INPUT
        except Fault as fault:  # T0: no verdict on any bundle
            if options.json:
                for name in options.files:
                    print(json.dumps({"file": name, "exit_code": TRUST_FILE_EXIT, "faults": [fault.code],
                                      "warnings": [], "withheld": [], "id": None, "captured_at": None,
                                      "key_id": None}), file=stdout)
            else:
                print("%s: broken trust file\n  %s  %s" % (printable(options.trust), fault.code, fault.detail),
                      file=stdout)
            return TRUST_FILE_EXIT
    exits = []
    unreadable = False
    for name in options.files:
        try:
            stream = stdin if name == "-" else open(name, "rb")
            try:
                report = verify(stream, lines, options.allow_withheld, options.require)
            finally:
                if stream is not stdin:
                    stream.close()
        except OSError as error:
            print("verify.py: %s: %s" % (printable(name), error.strerror), file=stderr)
            unreadable = True
            continue
        exits.append(report.exit_code)
        print((_as_json if options.json else _as_text)(name, report), file=stdout)
    return NO_INPUT if unreadable else worst(exits)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdin.buffer, sys.stdout, sys.stderr))
