"""What the photo says: rules X1 to X5 of section 11.1."""

from __future__ import annotations

import re
import struct
from typing import Any, Literal

from . import canonical, moments
from .faults import Fault, printable

SEARCHED = 1 << 20
WITHHELD_WARNING = "exif.position"  # the last paragraph of section 11.1; never a fault

Sides = tuple[int, int]  # width and height
_Order = Literal["little", "big"]

_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 10: 8, 13: 4}
_CLOCK = re.compile(r"([0-9]{4}):([0-9]{2}):([0-9]{2}) ([0-9]{2}:[0-9]{2}:[0-9]{2})")
_DAY = re.compile(r"([0-9]{4}):([0-9]{2}):([0-9]{2})")
_ZONE = re.compile(r"Z|[+-][0-9]{2}:[0-9]{2}")
_FRACTION = re.compile(r"[0-9]{1,9}")
_DIGITS = re.compile(r"[0-9]+")
_MAIN, _EXIF, _GPS = "main", "exif", "gps"


def header(photo: bytes) -> tuple[Tiff | None, Sides | None, bool]:
    """Returns (EXIF or None, (width, height) or None, whether more bytes can change this) of a photo's first bytes."""
    photo = photo[:SEARCHED]
    exif = frame = None
    position = 2 if photo[:2] == b"\xff\xd8" else len(photo)
    while photo[position:position + 1] == b"\xff":
        while photo[position:position + 1] == b"\xff":
            position += 1
        marker = photo[position:position + 1]
        length = int.from_bytes(photo[position + 1:position + 3], "big")
        if not marker or marker[0] < 0xC0 or 0xD0 <= marker[0] <= 0xDA or length < 2:
            break
        position += 1 + length
        if position > len(photo):
            break
        data = photo[position - length + 2:position]
        if marker[0] == 0xE1 and exif is None and data[:6] == b"Exif\0\0":
            exif = data[6:]
        elif marker[0] in _FRAMES and frame is None:
            frame = struct.unpack(">HH", data[1:5]) if len(data) >= 5 else (0, 0)
    tiff = None if exif is None else Tiff.of(exif)
    sides = (frame[1], frame[0]) if frame and frame[0] and frame[1] else None
    return tiff, sides, position + 3 > len(photo) < SEARCHED  # a marker and its length have three bytes


class Tiff:
    """The fields of EXIF; one that does not have its form is None."""

    def __init__(self, data: bytes, order: _Order) -> None:
        self.data = data
        self.order = order
        main = self._number(4, 4)
        self.directories = {_MAIN: self._directory(main)}
        for name, tag in ((_EXIF, 0x8769), (_GPS, 0x8825)):
            offset = self._integer(_MAIN, tag)
            self.directories[name] = {} if offset in (None, main) else self._directory(offset)

    @staticmethod
    def of(data: bytes) -> Tiff | None:
        """Returns the fields, or None without a TIFF header."""
        orders: dict[bytes, _Order] = {b"II\x2a\x00": "little", b"MM\x00\x2a": "big"}
        order = orders.get(data[:4])
        return Tiff(data, order) if order and len(data) >= 8 else None

    def _number(self, offset: int, length: int) -> int:
        return int.from_bytes(self.data[offset:offset + length], self.order)

    def _directory(self, offset: int) -> dict[int, tuple[int, int, bytes | None]]:
        """Returns {tag: (type, number of values, their bytes or None)}."""
        if offset < 8 or offset + 2 > len(self.data):
            return {}
        count = self._number(offset, 2)
        if offset + 2 + 12 * count > len(self.data):
            return {}
        entries: dict[int, tuple[int, int, bytes | None]] = {}
        for place in range(offset + 2, offset + 2 + 12 * count, 12):
            form, number = self._number(place + 2, 2), self._number(place + 4, 4)
            total = _SIZES.get(form, 0) * number
            start = place + 8 if total <= 4 else self._number(place + 8, 4)
            inside = form in _SIZES and start + total <= len(self.data)
            data = self.data[start:start + total] if inside else None
            entries.setdefault(self._number(place, 2), (form, number, data))
        return entries

    def _field(self, directory: str, tag: int, forms: tuple[int, ...],
               index: int = 0) -> tuple[int, bytes] | tuple[None, None]:
        """Returns (type, bytes) of one value, or (None, None)."""
        form, number, data = self.directories[directory].get(tag, (0, 0, None))
        if form not in forms or data is None or index >= number:
            return None, None
        size = _SIZES[form]
        return form, data[index * size:(index + 1) * size]

    def _integer(self, directory: str, tag: int) -> int | None:
        _, data = self._field(directory, tag, (1, 3, 4, 13))
        return None if data is None else int.from_bytes(data, self.order)

    def _rational(self, directory: str, tag: int, index: int) -> float | None:
        form, data = self._field(directory, tag, (5, 10), index)
        if data is None:
            return None
        above, below = (int.from_bytes(part, self.order, signed=form == 10) for part in (data[:4], data[4:]))
        return above / below if below else None

    def _text(self, directory: str, tag: int) -> str | None:
        form, _, data = self.directories[directory].get(tag, (0, 0, None))
        if form != 2 or data is None:
            return None
        data = data.split(b"\0")[0]
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            return None
        if len(data) > 256 or any(character < " " or character == "\x7f" for character in text):
            return None
        return text.strip(" ") or None

    @property
    def make(self) -> str | None:
        return self._text(_MAIN, 0x010F)

    @property
    def model(self) -> str | None:
        return self._text(_MAIN, 0x0110)

    @property
    def orientation(self) -> int | None:
        value = self._integer(_MAIN, 0x0112)
        return value if value is not None and 1 <= value <= 8 else None

    @property
    def local(self) -> str | None:
        """DateTimeOriginal with its fraction, in the form of section 6 without a zone."""
        found = _CLOCK.fullmatch(self._text(_EXIF, 0x9003) or "")
        if not found:
            return None
        text = "%s-%s-%sT%s" % found.groups()
        if moments.parse(text + "Z") is None:
            return None
        fraction = self._text(_EXIF, 0x9291)
        return text + "." + fraction if fraction and _FRACTION.fullmatch(fraction) else text

    @property
    def zone(self) -> str | None:
        """OffsetTimeOriginal."""
        text, local = self._text(_EXIF, 0x9011), self.local
        return text if text and local and _ZONE.fullmatch(text) and moments.parse(local + text) is not None else None

    @property
    def sides(self) -> Sides | None:
        """PixelXDimension and PixelYDimension."""
        width, height = self._integer(_EXIF, 0xA002), self._integer(_EXIF, 0xA003)
        return (width, height) if width and height else None

    def _angle(self, tag: int, letters: tuple[str, str], limit: int) -> float | None:
        letter = self._text(_GPS, tag - 1)
        degrees, minutes, seconds = (self._rational(_GPS, tag, index) for index in range(3))
        if degrees is None or letter not in letters:
            return None
        value = degrees + (minutes or 0.0) / 60 + (seconds or 0.0) / 3600
        if not 0 <= value <= limit:
            return None
        return -value if letter == letters[1] else value

    @property
    def position(self) -> tuple[float, float] | None:
        """(latitude, longitude), or None if one is absent."""
        north, east = self._angle(2, ("N", "S"), 90), self._angle(4, ("E", "W"), 180)
        return None if north is None or east is None else (north, east)

    @property
    def satellites(self) -> int | None:
        """The GPS time in milliseconds."""
        found = _DAY.fullmatch(self._text(_GPS, 29) or "")
        hours, minutes, seconds = (self._rational(_GPS, 7, index) for index in range(3))
        if not found or hours is None or minutes is None or seconds is None:
            return None
        day = moments.parse("%s-%s-%sT00:00:00Z" % found.groups())
        if day is None or not (0 <= hours < 24 and 0 <= minutes < 60 and 0 <= seconds < 61):
            return None
        moment = day // 10 ** 6 + int(((hours * 60 + minutes) * 60 + seconds) * 1000)
        return moment if moment <= _LAST else None


def _milliseconds(text: str) -> int:
    """Returns a time that is known to be in the right form and range."""
    return (moments.parse(text) or 0) // 10 ** 6


_LAST = _milliseconds("9999-12-31T23:59:59.999Z")


def judge(tiff: Tiff, frame: Sides | None, metadata: bytes, location: bytes | None) -> list[Fault]:
    """Returns the faults X1 to X5; metadata and location are the bytes of sound entries, or None."""
    fields = canonical.parse(metadata)
    found = [_time(tiff, fields["captured_at"]), _model(tiff, fields["device_model"]),
             _orientation(tiff, frame, fields.get("depth_map_dimensions")),
             _size(tiff, frame, fields.get("camera_intrinsics"))]
    if location is not None:
        found.append(_position(tiff, canonical.parse(location)))
    return [fault for fault in found if fault]


def _time(tiff: Tiff, text: str) -> Fault | None:
    local = tiff.local
    if local is None:
        return None
    captured = _milliseconds(text)
    zone, satellites = tiff.zone, tiff.satellites
    if zone is not None:
        agrees = abs(_milliseconds(local + zone) - captured) <= 2000
    elif satellites is not None:
        agrees = abs(satellites - captured) <= 300000
    else:
        utc = _milliseconds(local + "Z")
        agrees = any(abs(utc - quarter * 900000 - captured) <= 2000 for quarter in range(-56, 57))
    return None if agrees else Fault("X1", "%s %s, captured_at %s" % (local, zone or "", text))


def _model(tiff: Tiff, device: str) -> Fault | None:
    model = tiff.model
    if model is None or "," in device or "(" in device:
        return None
    if _letters(device) in _letters((tiff.make or "") + model) or _letters(model) in _letters(device):
        return None
    return Fault("X2", "%s, device_model %s" % (printable(model), printable(device)))


def _letters(text: str) -> bytes:
    return text.replace(" ", "").encode("utf-8").lower()  # bytes.lower() changes only A to Z


def _orientation(tiff: Tiff, frame: Sides | None, depth: dict[str, Any] | None) -> Fault | None:
    if tiff.orientation not in (1, 2, 3, 4) or not frame or depth is None:
        return None
    width, height = int(depth["width"]), int(depth["height"])
    if (frame[0] - frame[1]) * (width - height) < 0:
        return Fault("X3", "photo %d x %d, depth map %d x %d" % (frame + (width, height)))
    return None


def _size(tiff: Tiff, frame: Sides | None, camera: Any) -> Fault | None:
    sides = tiff.sides
    if sides is None:
        return None
    others = [frame] if frame else []
    if isinstance(camera, dict):
        width, height = (camera.get(name, "") for name in ("width", "height"))
        if all(isinstance(one, canonical.Number) and _DIGITS.fullmatch(one) for one in (width, height)):
            others.append((int(width), int(height)))
    for other in others:
        if sorted(sides) != sorted(other):
            return Fault("X4", "%s x %s, not %s x %s" % (sides + other))
    return None


def _position(tiff: Tiff, fields: dict[str, Any]) -> Fault | None:
    position = tiff.position
    if position is None:
        return None
    north = abs(position[0] - float(fields["latitude"]))
    east = abs(position[1] - float(fields["longitude"]))
    if east > 180:
        east = 360 - east
    return Fault("X5", "more than 0.02 degrees apart") if north > 0.02 or east > 0.02 else None
