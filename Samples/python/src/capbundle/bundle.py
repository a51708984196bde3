"""An open bundle: what was found in it, and what it contains."""

from __future__ import annotations

import enum
import functools
import json
import math
import tarfile
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeVar, cast

from .format import base64_strict, canonical, manifest
from .format.container import Reader, Stream
from .format.faults import Fault
from .format.verifier import Report

if TYPE_CHECKING:
    import numpy
    import numpy.typing

_GZIP = zlib.MAX_WBITS | 16
_DEFLATE_MOST, _HARMLESS = 1032, 1 << 28  # how many bytes a byte can become; how many may be made before their check

_T = TypeVar("_T")
Row = tuple[float, float, float, float]


class BundleError(ValueError):
    """What was asked for cannot be given; `code` is one of the specification, such as `trust.file`."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.detail} [{self.code}]"


class Verdict(str, enum.Enum):
    """What a verification found. Each is equal to its word, which `capbundle verify --json` uses too."""

    VERIFIED = "verified"
    ALTERED = "altered"
    MALFORMED = "malformed"
    UNKNOWN_DEVICE = "unknown-device"
    UNACCEPTABLE = "unacceptable"

    @property
    def exit_code(self) -> int:
        """The exit code of `capbundle verify` for this verdict."""
        return list(Verdict).index(self)

    def __str__(self) -> str:
        return self.value


class Finding(NamedTuple):
    """A fault or a warning: a code of the specification, and what was found."""

    code: str
    detail: str


class Intrinsics(NamedTuple):
    """A pinhole camera, in pixels of the stored photo, which has this width and height."""

    fx: float
    fy: float
    cx: float
    cy: float
    width: float
    height: float


class VerifiedEntries:
    """What a verification kept of a bundle."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self.get = report.contents.get

    def fields(self) -> dict[str, Any]:
        """Returns the members of the manifest; none if it is malformed."""
        return self._report.manifest.fields if self._report.manifest else {}


class UnverifiedEntries:
    """Reads a bundle only as far as its entries are asked for. They come in the order of their paths."""

    def __init__(self, stream: Stream, name: str) -> None:
        self._reader, self._name = Reader(stream), name
        self._contents: dict[str, bytes] = {}
        self._fields: dict[str, Any] = {}
        self._next: tuple[str, int] | None = None
        self._error: BundleError | None = None

    def get(self, path: str) -> bytes | None:
        self.fields()
        while self._next and self._next[0] <= path:
            found, size = self._next
            self._contents[found] = self._reading(lambda: b"".join(self._reader.chunks(found, size)))
            self._next = self._reading(self._reader.next_header)
        return self._contents.get(path)

    def fields(self) -> dict[str, Any]:
        """Returns the members of the manifest. Only those that this module uses have their types for certain."""
        if not self._fields:
            self._fields = self._reading(lambda: _claimed(self._reader.read_head()[0]))
            self._next = self._reading(self._reader.next_header)
        return self._fields

    def _reading(self, read: Callable[[], _T]) -> _T:
        """Calls a function that reads on. After an error, the stream is not read any more."""
        if not self._error:
            try:
                return read()
            except Fault as fault:
                self._error = BundleError(fault.code, f"{self._name}: {fault.detail}")
            except tarfile.TarError as error:  # of the archive around the bundle
                self._error = BundleError("container.truncated", f"{self._name}: {error}")
        raise self._error


def _claimed(data: bytes) -> dict[str, Any]:
    """Returns the members of a manifest. Only what this module uses is checked, because section 4 takes a while."""
    try:
        fields = json.loads(data)
        size = fields.get("depth", {"width": 1, "height": 1})
        if all(isinstance(fields[name], str) for name in ("captured_at", "device", "id")) and all(
                type(size[name]) is int and 1 <= size[name] <= manifest.MAX_SIDE for name in ("width", "height")):
            return cast("dict[str, Any]", fields)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        pass
    raise Fault("M4", "the manifest cannot be read")


class Bundle:
    """A bundle; `capbundle.open` and `capbundle.iterate` make it.

    Contents are None if the device did not record them, or if somebody withheld them. They raise BundleError if the
    verdict is `altered` or `malformed`. In a bundle that was not verified, everything is what the file claims, and
    raises BundleError if it cannot be read.
    """

    name: str  #: the path of the file, also in an archive
    verdict: Verdict | None  #: None if the bundle was not verified
    faults: tuple[Finding, ...]  #: why the verdict is not `verified`
    warnings: tuple[Finding, ...]
    withheld: tuple[str, ...]  #: paths of entries that somebody removed
    device: str | None  #: the name of the key in the trust file, if a line of it accepts the bundle
    counter: int | None  #: of the signature

    def __init__(self, name: str, entries: VerifiedEntries | UnverifiedEntries, report: Report | None,
                 file: BinaryIO | None) -> None:
        self.name, self._entries, self._file = name, entries, file
        self.verdict = list(Verdict)[report.exit_code] if report else None
        self.faults = tuple(Finding(fault.code, fault.detail) for fault in report.faults) if report else ()
        self.warnings = tuple(Finding(*warning) for warning in report.warnings) if report else ()
        self.withheld = tuple(report.withheld) if report else ()
        self.device = report.trusted_as if report else None
        self.counter = report.counter if report else None

    def __enter__(self) -> Bundle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<capbundle.Bundle {self.name!r} {self.verdict or 'not verified'}>"

    def close(self) -> None:
        """Closes the file, if `capbundle.open` opened it. What was read stays."""
        if self._file:
            self._file.close()

    @property
    def id(self) -> str | None:
        """The id of the capture; None if the manifest is malformed."""
        return self._entries.fields().get("id")

    @property
    def key_id(self) -> str | None:
        """SHA-256 of the device's public key."""
        point = base64_strict.decode(self._entries.fields().get("device", ""))
        return manifest.key_id(point) if point else None

    @property
    def captured_at(self) -> str | None:
        """The time of the capture in UTC, as the device claims it."""
        return self._entries.fields().get("captured_at")

    def read(self, path: str) -> bytes | None:
        """Returns the bytes of an entry, such as `source/photo.heic`."""
        if self.verdict in (Verdict.ALTERED, Verdict.MALFORMED):
            raise BundleError(self.faults[0].code, f"{self.name} is {self.verdict}: {self.faults[0].detail}")
        return self._entries.get(path)

    @property
    def photo(self) -> bytes | None:
        """The bytes of the JPEG."""
        return self.read("photo.jpg")

    @property
    def confidence(self) -> bytes | None:
        """The bytes of a PNG with the confidence of each depth sample."""
        return self.read("confidence.png")

    @functools.cached_property
    def depth(self) -> numpy.typing.NDArray[numpy.float32] | None:
        """The depth map, (height, width) in metres, read-only; a missing sample is NaN or 0. This imports numpy."""
        data = self.read("depth.f32.gz")
        size = self._entries.fields().get("depth")
        if data is None or size is None:
            return None
        import numpy
        width, height = size["width"], size["height"]
        try:
            floats = _inflated(data, 4 * width * height)
        except zlib.error as error:
            raise BundleError("depth.gzip", f"{self.name}: {error}") from None
        if len(floats) != 4 * width * height:
            raise BundleError("depth.length", f"{self.name}: not {width} x {height} samples")
        return numpy.frombuffer(floats, "<f4").reshape(height, width)

    @functools.cached_property
    def metadata(self) -> dict[str, Any] | None:
        """metadata.json: what the device says of the capture."""
        return self._object("metadata.json", "metadata.canonical")

    @functools.cached_property
    def location(self) -> dict[str, Any] | None:
        """location.json: latitude and longitude, and altitude and accuracy if the device recorded them."""
        fields = self._object("location.json", "location.canonical")
        return fields and {name: value for name, value in fields.items() if name not in ("pad", "salt")}

    @property
    def intrinsics(self) -> Intrinsics | None:
        """`camera_intrinsics` of the metadata, if it has the form of Spec/raw-captures.md."""
        camera = (self.metadata or {}).get("camera_intrinsics")
        values = _numbers([camera.get(name) for name in Intrinsics._fields]) if isinstance(camera, dict) else None
        return Intrinsics(*values) if values else None

    @property
    def pose(self) -> tuple[Row, Row, Row, Row] | None:
        """`camera_pose` of the metadata as rows, camera to world in metres; camera axes x right, y up, z backwards."""
        pose = (self.metadata or {}).get("camera_pose")
        matrix = pose.get("matrix") if isinstance(pose, dict) else None
        values = _numbers(matrix) if isinstance(matrix, list) and len(matrix) == 16 else None
        if not values:
            return None
        a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p = values
        return (a, b, c, d), (e, f, g, h), (i, j, k, l), (m, n, o, p)

    def _object(self, path: str, code: str) -> dict[str, Any] | None:
        data = self.read(path)
        if data is None:
            return None
        try:
            fields = _plain(canonical.parse(data))
        except canonical.NotCanonical as error:
            raise BundleError(code, f"{self.name}: {error}") from None
        if not isinstance(fields, dict):
            raise BundleError(code, f"{self.name}: {path} is not an object")
        return fields


def _inflated(data: bytes, size: int) -> bytes:
    """Returns what a gzip member inflates to, or another number of bytes than `size`; raises zlib.error."""
    if _DEFLATE_MOST * len(data) <= _HARMLESS:
        return zlib.decompress(data, _GZIP, size)  # faster, because it begins with a buffer of this size
    inflater = zlib.decompressobj(_GZIP)
    floats = inflater.decompress(data, size + 1)
    return floats if inflater.eof else b""


def _plain(value: object) -> object:
    """Returns a JSON value with Python's numbers; the format keeps the characters of a number."""
    if isinstance(value, canonical.Number):
        return float(value) if set(value) & set(".eE") else int(value)
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    return [_plain(member) for member in value] if isinstance(value, list) else value


def _numbers(values: list[Any]) -> list[float] | None:
    """Returns these values, or None if one is not a finite number."""
    if any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in values):
        return None
    return list(map(float, values)) if all(map(math.isfinite, values)) else None
