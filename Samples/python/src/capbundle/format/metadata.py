"""metadata.json of section 6: E1 to E5, and the warning about names that look like a position."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import canonical, moments
from .faults import Fault, printable
from .manifest import Manifest

if TYPE_CHECKING:
    from typing import TypeGuard

_SPACES = "\t\n\v\f\r "
_DIGITS = re.compile(r"[0-9]+")
_POSITION_NAMES = frozenset((
    "lat", "lon", "lng", "latlng", "latlon", "geo", "geolocation", "location", "coordinate", "coordinates", "coords",
    "position", "place"))
_PLAIN = {ord(letter): letter.lower() for letter in string.ascii_uppercase} | {ord(other): None for other in "_- "}


def judge(data: bytes, manifest: Manifest) -> tuple[list[Fault], list[str]]:
    """Returns (faults, warnings): all of E2 to E5 that can be checked, or E1 alone; warnings are details."""
    try:
        fields = canonical.parse(data)
    except canonical.NotCanonical as error:
        return [Fault("E1", str(error))], []
    if not isinstance(fields, dict):
        return [Fault("E2", "not an object")], []
    faults = []
    captured_at = fields.get("captured_at")
    moment = moments.parse(captured_at) if _is_string(captured_at) else None
    if moment is None:
        faults.append(Fault("E2", "captured_at %s" % _shown(fields, "captured_at")))
    elif moments.manifest_form(moment) != manifest.captured_at:
        faults.append(Fault("E4", "%s is %s, manifest %s" % (
            captured_at, moments.manifest_form(moment), manifest.captured_at)))
    if not _is_model(fields.get("device_model")):
        faults.append(Fault("E2", "device_model %s" % _shown(fields, "device_model")))
    if "location" in fields:
        faults.append(Fault("E3", "a member location"))
    faults.extend(_judge_dimensions(fields, manifest.depth))
    if any(fault.label == "E2" for fault in faults):
        # Section 11: after E2 only E3 is reported.
        faults = [fault for fault in faults if fault.label in ("E2", "E3")]
    return faults, [printable(path) for path in _positions(fields)]


def _is_string(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and not isinstance(value, canonical.Number)


def _is_model(value: object) -> bool:
    return _is_string(value) and 1 <= len(value.encode("utf-8")) <= 256 and value.strip(_SPACES) != ""


def _judge_dimensions(fields: dict[str, Any], depth: dict[str, Any] | None) -> Iterator[Fault]:
    if "depth_map_dimensions" not in fields:
        if depth is not None:
            yield Fault("E5", "no depth_map_dimensions, though the manifest has depth")
        return
    found = fields["depth_map_dimensions"]
    if not isinstance(found, dict) or not all(_is_integer(found.get(name)) for name in ("width", "height")):
        yield Fault("E2", "depth_map_dimensions %s" % _shown(fields, "depth_map_dimensions"))
    elif depth is None:
        yield Fault("E5", "depth_map_dimensions, though the manifest has no depth")
    elif any(int(found[name]) != depth[name] for name in ("width", "height")):
        yield Fault("E5", "%s x %s, manifest %d x %d" % (
            found["width"], found["height"], depth["width"], depth["height"]))


def _is_integer(value: object) -> bool:
    return isinstance(value, canonical.Number) and _DIGITS.fullmatch(value) is not None


def _shown(fields: dict[str, Any], name: str) -> str:
    return printable(canonical.encode(fields[name])) if name in fields else "is missing"


def _positions(value: object, path: str | None = None) -> Iterator[str]:
    """Yields the paths of members that look like a position, except the top-level `location`, which E3 reports."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if _is_position(name) and not (path is None and name == "location"):
                yield name if path is None else path + "." + name
            yield from _positions(inner, name if path is None else path + "." + name)
    elif isinstance(value, list):
        for inner in value:
            yield from _positions(inner, (path or "") + "[]")


def _is_position(name: str) -> bool:
    plain = name.translate(_PLAIN)
    return (plain in _POSITION_NAMES or plain.startswith("gps") or "latitude" in plain or "longitude" in plain)
