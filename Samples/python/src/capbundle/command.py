"""Code that the command-line programs share: options, the trust file, a report as text or as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from typing import NoReturn, TextIO

from .format import trust
from .format.faults import Fault, printable
from .format.manifest import Manifest
from .format.verifier import REQUIREMENTS, Report, is_requirement

USAGE, NO_INPUT, CANNOT_CREATE = 64, 66, 73
VERDICTS = {0: "verified, key trusted", 1: "NOT genuine: bytes or signature differ", 2: "malformed or unsupported",
            3: "sound, but the key is not known", 4: "sound, but not accepted"}


class Usage(Exception):
    pass


class Arguments(argparse.ArgumentParser):
    """An argument parser that raises Usage where argparse would end the process."""

    def __init__(self, name: str, description: str) -> None:
        super().__init__(prog=name, description=description, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        raise Usage(message)

    def add_policy(self) -> None:
        self.add_argument("--trust", metavar="FILE", help="trust file; without it no key is known")
        self.add_argument("--allow-withheld", action="store_true", help="withheld entries are accepted")
        self.add_argument("--require", action="append", default=[], metavar="ROLES",
                          help=", ".join(REQUIREMENTS) + " and names of entries")
        self.add_argument("--json", action="store_true", help="one JSON object a file")

    def parse_policy(self, arguments: list[str]) -> argparse.Namespace:
        """Returns the options, with --require as a list of roles."""
        options = self.parse_args(arguments)
        options.require = [role for roles in options.require for role in roles.split(",")]
        for role in options.require:
            if not is_requirement(role):
                raise Usage("unknown role %s" % printable(role))
        return options


def say(stderr: TextIO, program: str, what: str, error: OSError) -> None:
    """Prints one line about an input or output that failed."""
    print("%s: %s: %s" % (program, printable(what), error.strerror), file=stderr)


def trust_lines(options: argparse.Namespace) -> tuple[list[trust.Line], Fault | None]:
    """Returns (lines, Fault T0 or None) of the trust file in the options; raises OSError."""
    if options.trust is None:
        return [], None
    with open(options.trust, "rb") as file:
        data = file.read(trust.MAX_FILE + 1)
    try:
        return trust.parse(data), None
    except Fault as fault:
        return [], fault


def shown_trust_fault(options: argparse.Namespace, name: str, fault: Fault) -> str:
    """Returns the text that replaces a report if the trust file is broken: there is no verdict on any bundle."""
    if options.json:
        return _object(name, fault.exit_class, [fault.code])
    return "%s: broken trust file\n  %s  %s" % (printable(options.trust), fault.code, fault.detail)


def shown(options: argparse.Namespace, name: str, report: Report) -> str:
    return _as_json(name, report) if options.json else _as_text(name, report)


def _object(name: str, exit_code: int, codes: list[str], warnings: Iterable[str] = (), withheld: Iterable[str] = (),
            sound: Manifest | None = None) -> str:
    return json.dumps({
        "file": name, "exit_code": exit_code, "faults": codes, "warnings": list(warnings), "withheld": list(withheld),
        "id": sound and sound.id, "captured_at": sound and sound.captured_at, "key_id": sound and sound.key_id,
    })


def _as_json(name: str, report: Report) -> str:
    warnings = sorted({code for code, _ in report.warnings})
    return _object(name, report.exit_code, report.codes, warnings, report.withheld, report.manifest)


def _as_text(name: str, report: Report) -> str:
    by = " as %s" % report.trusted_as if report.exit_code == 0 else ""
    lines = ["%s: %s%s" % (printable(name), VERDICTS[report.exit_code], by)]
    lines += ["  %s  %s" % (fault.code, printable(fault.detail)) for fault in report.faults]
    lines += ["  %s  %s (warning)" % (code, printable(detail)) for code, detail in report.warnings]
    if report.withheld and report.exit_code == 0:
        lines.append("  withheld  %s" % ", ".join(report.withheld))
    return "\n".join(lines)
