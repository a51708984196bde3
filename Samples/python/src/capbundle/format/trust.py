"""The trust file of section 10: T0 when it is read, T1 to T6 when a bundle is checked against it.

This implementation checks no time stamps (section 6 of time-stamps.md), so it forgets `tsa` lines after their check.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from . import base64_strict, moments, p256
from .assertion import DISK_RP_ID_HASH
from .faults import Fault, printable

MAX_FILE = 67108864
MAX_CERTIFICATE = 16384
SOFTWARE, APPLE = "software", "apple-appattest"
LEVELS = (SOFTWARE, "token", "tpm", APPLE)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")
_SEPARATOR = re.compile(r"[ \t]+")
_RPID = re.compile(r'rpid="([\x21\x23-\x7e]{1,255})"')


class Line:
    """One device of a trust file."""

    def __init__(self, name: str, point: bytes, options: dict[str, Any]) -> None:
        self.name = name
        self.point = point
        self.level = options.get("level", SOFTWARE)
        self.rpid: str = options.get("rpid", "")
        self.valid_after = options.get("valid-after")
        self.valid_before = options.get("valid-before")
        self.is_revoked = "revoked" in options
        self.revoked_at = options.get("revoked")

    def refusals(self, rp_id_hash: bytes | None, captured_at: int) -> Iterator[Fault]:
        """Returns the faults T1 to T4 of this line, or none if it accepts."""
        disk = rp_id_hash == DISK_RP_ID_HASH
        if (self.level != APPLE) != disk:
            yield Fault("T1", "level %s, but %s key" % (self.level, "a disk" if disk else "an Apple"))
        if self.level == APPLE and hashlib.sha256(self.rpid.encode()).digest() != rp_id_hash:
            yield Fault("T2", "not made by %s" % printable(self.rpid))
        if self.valid_after is not None and captured_at < self.valid_after:
            yield Fault("T3", "before valid-after of %s" % self.name)
        if self.valid_before is not None and captured_at >= self.valid_before:
            yield Fault("T4", "not before valid-before of %s" % self.name)


def parse(data: bytes) -> list[Line]:
    """Returns the lines of devices in a trust file; raises Fault T0."""
    if len(data) > MAX_FILE:
        raise Fault("T0", "%d bytes" % len(data))
    try:
        text = bytes(data).decode("utf-8")
    except UnicodeDecodeError:
        raise Fault("T0", "not UTF-8") from None
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip(" \t") and not line.startswith("#"):
            try:
                lines.append(_parse_line(line))
            except ValueError as error:
                raise Fault("T0", "line %d: %s" % (number, error)) from None
    return [line for line in lines if line]


def sequence_head(size: int) -> bytes:
    """Returns the bytes before the content of a DER SEQUENCE: the tag, and the length in its shortest form."""
    if size < 0x80:
        return bytes((0x30, size))
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes((0x30, 0x80 + len(digits))) + digits


def _is_sequence(data: bytes) -> bool:
    return any(data[:head] == sequence_head(len(data) - head) for head in (2, 3, 4) if len(data) >= head)


def _parse_line(line: str) -> Line | None:
    """Returns the Line of a device, or None for a time stamping authority."""
    fields = _SEPARATOR.split(line)
    if len(fields) not in (3, 4) or fields[-2] not in ("p256", "tsa"):
        raise ValueError("not a name, options, p256 or tsa, and base64")
    if not _NAME.fullmatch(fields[0]):
        raise ValueError("name %s" % printable(fields[0]))
    options = _parse_options(fields[1]) if len(fields) == 4 else {}
    data = base64_strict.decode(fields[-1])
    if fields[-2] == "tsa":
        if data is None or len(data) > MAX_CERTIFICATE or not _is_sequence(data):
            raise ValueError("not one DER SEQUENCE of at most %d bytes" % MAX_CERTIFICATE)
        if not options.keys() <= {"valid-after", "valid-before", "revoked"} or options.get("revoked") is not None:
            raise ValueError("an option of devices in a line of an authority")
        return None
    if data is None or not p256.is_point(data):
        raise ValueError("no key")
    if (options.get("level", SOFTWARE) == APPLE) != ("rpid" in options):
        raise ValueError("rpid belongs to level=apple-appattest and to no other")
    return Line(fields[0], data, options)


def _parse_options(text: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    at = 0
    while True:
        quoted = _RPID.match(text, at)  # the quotes may contain commas
        plain = text[at:].partition(",")[0]
        name, value = ("rpid", quoted.group(1)) if quoted else _option(plain)
        if name in options:
            raise ValueError("option %s twice" % name)
        options[name] = value
        at = quoted.end() if quoted else at + len(plain)
        if at == len(text):
            return options
        if text[at] != ",":
            raise ValueError("no comma after option %s" % name)
        at += 1


def _option(text: str) -> tuple[str, str | int | None]:
    name, equals, value = text.partition("=")
    if text == "revoked":
        return text, None
    if name == "level" and value in LEVELS:
        return name, value
    if name in ("valid-after", "valid-before", "revoked"):
        moment = moments.parse_trust(value)
        if moment is not None:
            return name, moment
    raise ValueError("option %s" % printable(text))


def judge(lines: Iterable[Line], point: bytes, rp_id_hash: bytes | None,
          captured_at: str) -> tuple[str | None, list[Fault]]:
    """Returns (name of the accepting line or None, faults) for a key, an rpIdHash and the manifest's time."""
    own = [line for line in lines if line.point == point]
    if not own:
        return None, [Fault("T5", "no line for this key")]
    revoked = [line for line in own if line.is_revoked]
    if revoked:
        # A good time stamp helps only if each of these lines has a time.
        unasked = "" if any(line.revoked_at is None for line in revoked) else "; no time stamp was checked"
        return None, [Fault("T6", "line %s%s" % (revoked[0].name, unasked))]
    moment = moments.parse_manifest(captured_at) or 0  # M4 checks its form
    refusals = [list(line.refusals(rp_id_hash, moment)) for line in own]
    for line, found in zip(own, refusals):
        if not found:
            return line.name, []
    return None, refusals[0]
