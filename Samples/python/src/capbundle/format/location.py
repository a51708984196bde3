"""location.json of section 7: L1 and L2."""

from __future__ import annotations

import math
import re
from typing import Any

from . import canonical
from .faults import Fault, printable
from .manifest import LOCATION_SIZE

_SALT = re.compile(r"[0-9a-f]{64}")
_PAD = re.compile(r"0*")


def judge(data: bytes) -> list[Fault]:
    """Returns the faults: L1, or the first of L2, or none."""
    try:
        fields = canonical.parse(data)
    except canonical.NotCanonical as error:
        return [Fault("L1", str(error))]
    problem = _problem(fields, len(data))
    return [Fault("L2", problem)] if problem else []


def _problem(fields: Any, length: int) -> str | None:
    if not isinstance(fields, dict):
        return "not an object"
    if length != LOCATION_SIZE:
        return "%d bytes" % length
    for name, value in fields.items():
        if isinstance(value, (dict, list)):
            return "%s is nested" % printable(name)
    for name, limit in (("latitude", 90), ("longitude", 180)):
        if not isinstance(fields.get(name), canonical.Number) or abs(float(fields[name])) > limit:
            return "%s %s" % (name, _shown(fields, name))
    for name in ("altitude", "accuracy"):
        value = fields.get(name)
        if value is None:
            continue
        if not isinstance(value, canonical.Number) or not math.isfinite(float(value)):
            return "%s %s" % (name, _shown(fields, name))
        if name == "accuracy" and float(value) < 0:
            return "accuracy %s" % value
    for name, pattern in (("salt", _SALT), ("pad", _PAD)):
        value = fields.get(name)
        if not isinstance(value, str) or isinstance(value, canonical.Number) or not pattern.fullmatch(value):
            return "%s %s" % (name, _shown(fields, name))
    return None


def _shown(fields: dict[str, Any], name: str) -> str:
    return printable(canonical.encode(fields[name])) if name in fields else "is missing"
