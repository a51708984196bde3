"""Times: `captured_at` of the metadata (section 6), of the manifest (section 4.2) and of a trust file (section 10)."""

from __future__ import annotations

import datetime
import re

_METADATA = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?"
    r"(?:(Z)|([+-])([0-9]{2}):([0-9]{2}))"
)
_MANIFEST = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_EPOCH = datetime.datetime(1, 1, 1)


def parse(text: str) -> int | None:
    """Parses a section 6 time into nanoseconds since 0001-01-01T00:00Z; None if grammar or range are wrong."""
    found = _METADATA.fullmatch(text)
    if not found:
        return None
    year, month, day, hour, minute, second = (int(found.group(index)) for index in range(1, 7))
    offset = datetime.timedelta(0)
    if not found.group(8):
        zone_hour, zone_minute = int(found.group(10)), int(found.group(11))
        if zone_hour > 23 or zone_minute > 59:
            return None
        offset = datetime.timedelta(hours=zone_hour, minutes=zone_minute)
        if found.group(9) == "-":
            if not offset:
                return None  # "-00:00" says that the zone is not known
            offset = -offset
    try:
        # datetime has the calendar of section 4.2: proleptic Gregorian, years 1 to 9999, no leap second.
        moment = datetime.datetime(year, month, day, hour, minute, second) - offset
    except (ValueError, OverflowError):
        return None
    since = moment - _EPOCH
    return (since.days * 86400 + since.seconds) * 10 ** 9 + int((found.group(7) or "0").ljust(9, "0"))


def parse_manifest(text: str) -> int | None:
    """Parses a time in the form of section 4.2."""
    return parse(text) if _MANIFEST.fullmatch(text) else None


def parse_trust(text: str) -> int | None:
    """Parses a time of a trust file: a section 6 time, or a date, which means its first moment in UTC."""
    return parse(text + "T00:00:00Z" if _DATE.fullmatch(text) else text)


def manifest_form(nanoseconds: int) -> str:
    """Formats a time as in section 4.2: UTC, cut (not rounded) to milliseconds."""
    seconds, rest = divmod(nanoseconds, 10 ** 9)
    moment = _EPOCH + datetime.timedelta(seconds=seconds)
    return "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ" % (
        moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second, rest // 10 ** 6)
