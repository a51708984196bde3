"""The manifest of section 4: rules M1 to M9, and the id."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from . import base64_strict, canonical, container, moments, p256
from .faults import CODES, Fault, printable

MAX_ENTRIES = 4096
MAX_SIDE = 16384
LOCATION_SIZE = 512
METADATA_LIMIT = 1048576

KINDS = {  # path: (role, media type), section 4.3
    "confidence.png": ("confidence", "image/png"),
    "depth.f32.gz": ("depth", "application/gzip"),
    "location.json": ("location", "application/json"),
    "metadata.json": ("metadata", "application/json"),
    "photo.jpg": ("photo", "image/jpeg"),
}
SIZE_LIMITS = {"location.json": LOCATION_SIZE, "metadata.json": METADATA_LIMIT}
ROLES = ("photo", "depth", "metadata", "location", "confidence", "source")

_Names = tuple[set[str], set[str]]  # required and optional members of an object
_TOP = ({"captured_at", "device", "entries", "id", "version"}, {"chain", "depth"})
_ENTRY = ({"media_type", "path", "role", "sha256", "size"}, {"withholdable"})
_DEPTH: _Names = ({"encoding", "height", "sha256", "source", "unit", "width"}, set())
_SOURCE: _Names = ({"encoding", "invalid", "row_order", "scale"}, set())
_CHAIN = ({"seq"}, {"prev"})  # M8 checks whether prev must be there

_HASH = re.compile(r"[0-9a-f]{64}")
_TOKEN = r"[0-9a-z][0-9a-z.+-]{0,62}"
_MEDIA = re.compile(_TOKEN + "/" + _TOKEN)
_ENCODING = re.compile(r"[0-9a-z][0-9a-z.+-]{0,31}")
_SCALE = re.compile(r"[0-9]{1,10}(?:\.[0-9]{1,20})?")
_INVALID = ("nan", "zero", "nan-or-zero", "zero-or-max", "none")
_ROW_ORDER = ("top-first", "bottom-first")


class Manifest:
    """A manifest that passed M1 to M9."""

    def __init__(self, data: bytes, fields: dict[str, Any], point: bytes) -> None:
        self.data = data
        self.fields = fields
        self.point = point
        self.key_id = key_id(point)
        self.captured_at: str = fields["captured_at"]
        self.id: str = fields["id"]
        self.entries: list[dict[str, Any]] = fields["entries"]
        self.depth: Any = fields.get("depth")
        self.chain: Any = fields.get("chain")


def key_id(point: bytes) -> str:
    return hashlib.sha256(point).hexdigest()


def compute_id(fields: dict[str, Any], point: bytes) -> str:
    """Returns the id of section 4.6."""
    lines = ["capture-bundle/1", key_id(point), fields["captured_at"]]
    for entry in fields["entries"]:
        content = fields["depth"]["sha256"] if entry["path"] == "depth.f32.gz" else entry["sha256"]
        lines.append(content + "  " + entry["path"])
    digest = bytearray(hashlib.sha256("".join(line + "\n" for line in lines).encode()).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def judge(data: bytes) -> Manifest:
    """Returns the Manifest of these bytes; raises Fault for the first broken rule of M1 to M9."""
    try:
        fields = canonical.parse(data, manifest=True)
    except canonical.NotCanonical as error:
        raise Fault("M1", str(error)) from None
    if not isinstance(fields, dict):
        raise Fault("M1", "not an object")
    if "version" in fields and (type(fields["version"]) is not int or fields["version"] != 1):
        raise Fault("M2", "version %s" % printable(canonical.encode(fields["version"])))
    for check in _CHECKS:
        check(fields)
    return Manifest(data, fields, _point(fields))


def broken_rules(data: bytes) -> set[str]:
    """Returns the codes of the rules that these bytes break. Section 11 lets a reader report any one of them.

    If a rule cannot be checked because of another fault, it counts as broken.
    """
    try:
        judge(data)
        return set()
    except Fault as fault:
        if fault.label in ("M1", "M2"):
            return {fault.code}
    fields = canonical.parse(data, manifest=True)
    found = set()
    for check, labels in _CHECKS.items():
        try:
            check(fields)
        except Fault as fault:
            found.add(fault.code)
        except (AttributeError, KeyError, TypeError, ValueError):
            found.update(CODES[label] for label in labels)
    return found


def _size_limit(path: str, depth: dict[str, Any] | None) -> int:
    """Checks section 4.3; a depth.f32.gz without depth is M7."""
    if path == "depth.f32.gz" and depth:
        return depth_limit(depth["width"], depth["height"])
    return SIZE_LIMITS.get(path, container.MAX_SIZE)


def depth_limit(width: int, height: int) -> int:
    floats = 4 * width * height
    return floats + floats // 256 + 128


def _judge_names(fields: dict[str, Any]) -> None:
    """Checks M3 at every level; a value that is not an object has no members to check (it is M4)."""
    _names(fields, _TOP, "manifest")
    if isinstance(fields["entries"], list):
        for index, entry in enumerate(fields["entries"]):
            _names(entry, _ENTRY, "entry %d" % (index + 1))
    if isinstance(fields.get("depth"), dict):
        _names(fields["depth"], _DEPTH, "depth")
        _names(fields["depth"]["source"], _SOURCE, "depth.source")
    _names(fields.get("chain"), _CHAIN, "chain")


def _names(value: Any, expected: _Names, where: str) -> None:
    if not isinstance(value, dict):
        return
    required, optional = expected
    for name in value:
        if name not in required and name not in optional:
            raise Fault("M3", "unknown member %s of %s" % (printable(name), where))
    for name in sorted(required):
        if name not in value:
            raise Fault("M3", "no member %s of %s" % (name, where))


def _judge_values(fields: dict[str, Any]) -> None:
    """Checks M4: types, patterns and ranges, except those that M5 to M9 check."""
    captured_at = fields["captured_at"]
    _check(isinstance(captured_at, str) and moments.parse_manifest(captured_at) is not None, "captured_at", captured_at)
    for name in ("device", "id"):
        _check(isinstance(fields[name], str), name, fields[name])
    _check(isinstance(fields["entries"], list), "entries", fields["entries"])
    for index, entry in enumerate(fields["entries"]):
        where = "entry %d" % (index + 1)
        _check(isinstance(entry, dict), where, entry)
        for name in ("media_type", "path", "role"):
            _check(isinstance(entry[name], str), where + " " + name, entry[name])
        _check(_is_hash(entry["sha256"]), where + " sha256", entry["sha256"])
        _check(type(entry["size"]) is int, where + " size", entry["size"])
        _check(entry.get("withholdable", True) is True, where + " withholdable", entry.get("withholdable"))
        # "exactly 512": a smaller value is out of range; a larger one is above a limit, which M6 names.
        if entry["path"] == "location.json":
            _check(entry["size"] >= LOCATION_SIZE, where + " size", entry["size"])
    if "depth" in fields:
        _check(isinstance(fields["depth"], dict), "depth", fields["depth"])
        _judge_depth(fields["depth"])
    if "chain" in fields:
        chain = fields["chain"]
        _check(isinstance(chain, dict), "chain", chain)
        _check(type(chain["seq"]) is int, "chain seq", chain["seq"])
        _check("prev" not in chain or _is_hash(chain["prev"]), "chain prev", chain.get("prev"))


def _judge_depth(depth: dict[str, Any]) -> None:
    _check(depth["encoding"] == "float32-le", "depth encoding", depth["encoding"])
    for name in ("height", "width"):
        _check(type(depth[name]) is int and 1 <= depth[name] <= MAX_SIDE, "depth " + name, depth[name])
    _check(_is_hash(depth["sha256"]), "depth sha256", depth["sha256"])
    _check(depth["unit"] == "m", "depth unit", depth["unit"])
    source = depth["source"]
    _check(isinstance(source, dict), "depth source", source)
    _check(_matches(_ENCODING, source["encoding"]), "depth source encoding", source["encoding"])
    _check(_is_one_of(_INVALID, source["invalid"]), "depth source invalid", source["invalid"])
    _check(_is_one_of(_ROW_ORDER, source["row_order"]), "depth source row_order", source["row_order"])
    _check(_matches(_SCALE, source["scale"]), "depth source scale", source["scale"])


def _judge_device(fields: dict[str, Any]) -> None:
    """Checks M4 and M5 for the device key."""
    point = base64_strict.decode(fields["device"])
    if point is None:
        raise Fault("M4", "device is not base64")
    if not p256.is_point(point):
        raise Fault("M5", "%d bytes that are no uncompressed point of P-256" % len(point))


def _point(fields: dict[str, Any]) -> bytes:
    """Returns the device's public key, which M5 checks."""
    return base64_strict.decode(fields["device"]) or b""


def _judge_limits(fields: dict[str, Any]) -> None:
    """Checks M6."""
    if len(fields["entries"]) > MAX_ENTRIES:
        raise Fault("M6", "%d entries" % len(fields["entries"]))
    for entry in fields["entries"]:
        if entry["size"] > _size_limit(entry["path"], fields.get("depth")):
            raise Fault("M6", "%s of %d bytes" % (printable(entry["path"]), entry["size"]))


def _judge_entries(fields: dict[str, Any]) -> None:
    """Checks M7."""
    entries = fields["entries"]
    previous = ""
    for entry in entries:
        path = entry["path"]
        if not container.is_payload_path(path):
            raise Fault("M7", "path %s" % printable(path))
        if path <= previous:
            raise Fault("M7", "%s after %s" % (path, previous))
        previous = path
        role, media_type = KINDS.get(path, ("source", None))
        if entry["role"] != role:
            raise Fault("M7", "role %s of %s" % (printable(entry["role"]), path))
        if entry["media_type"] != media_type and (media_type or not _MEDIA.fullmatch(entry["media_type"])):
            raise Fault("M7", "media type %s of %s" % (printable(entry["media_type"]), path))
        if path == "metadata.json" and "withholdable" in entry:
            raise Fault("M7", "metadata.json is withholdable")
    paths = {entry["path"] for entry in entries}
    for path in ("photo.jpg", "metadata.json"):
        if path not in paths:
            raise Fault("M7", "%s is not listed" % path)
    if ("depth.f32.gz" in paths) != ("depth" in fields):
        raise Fault("M7", "depth without depth.f32.gz, or the other way round")


def _judge_chain(fields: dict[str, Any]) -> None:
    """Checks M8."""
    if "chain" not in fields:
        return
    chain = fields["chain"]
    if chain["seq"] < 1:
        raise Fault("M8", "seq 0")
    if ("prev" in chain) != (chain["seq"] > 1):
        raise Fault("M8", "seq %d %s prev" % (chain["seq"], "with" if "prev" in chain else "without"))


def _judge_id(fields: dict[str, Any]) -> None:
    """Checks M9."""
    computed = compute_id(fields, _point(fields))
    if fields["id"] != computed:
        raise Fault("M9", "%s, computed %s" % (printable(fields["id"]), computed))


def _check(condition: bool, where: str, value: object) -> None:
    if not condition:
        raise Fault("M4", "%s is %s" % (where, printable(canonical.encode(value))))


def _matches(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _is_hash(value: object) -> bool:
    return _matches(_HASH, value)


def _is_one_of(choices: tuple[str, ...], value: object) -> bool:
    return isinstance(value, str) and value in choices


# The checks after M1 and M2 in their order, and the rules that each of them checks.
_CHECKS = {
    _judge_names: ("M3",), _judge_values: ("M4",), _judge_device: ("M4", "M5"), _judge_limits: ("M6",),
    _judge_entries: ("M7",), _judge_chain: ("M8",), _judge_id: ("M9",),
}
