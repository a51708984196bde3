"""Photos with EXIF and their bundles, which the vectors of section 11.1 share."""

import struct

from bundle import writer

from .base import PHOTO, Case, Draft, metadata, position

TIME, MODEL, ORIENTATION, SIZE, POSITION = ("exif." + name for name in (
    "time", "model", "orientation", "size", "position"))
NONE = "policy.required"

_MAIN, _EXIF, _GPS = "main", "exif", "gps"
_FRAME = PHOTO.index(b"\xff\xc0") + 5  # height and width in the frame header


class Field:
    """One field; a type or a number of values may be wrong."""

    def __init__(self, form, count, data):
        self.form = form
        self.count = count
        self.data = data  # a function of the byte order
        self.place = None


def text(value, end=b"\0"):
    data = (value if isinstance(value, bytes) else value.encode("utf-8")) + end
    return Field(2, len(data), lambda order: data)


def shorts(*values, form=3):
    return Field(form, len(values), lambda order: struct.pack("%s%dH" % (order, len(values)), *values))


def longs(*values, form=4):
    return Field(form, len(values), lambda order: struct.pack("%s%dL" % (order, len(values)), *values))


def rationals(*pairs, form=5):
    code = "l" if form == 10 else "L"
    numbers = [number for pair in pairs for number in pair]
    return Field(form, len(pairs), lambda order: struct.pack("%s%d%s" % (order, len(numbers), code), *numbers))


def raw(form, data, count=None):
    return Field(form, len(data) if count is None else count, lambda order: data)


def placed(field, offset):
    """The field with an offset that replaces the true one."""
    field.place = offset
    return field


def agreeing():
    """The fields that agree with the metadata, the photo and the position of base.py."""
    return {
        _MAIN: {0x010F: text("Example"), 0x0110: text("Phone 3"), 0x0112: shorts(1)},
        _EXIF: {0x9003: text("2026:03:14 09:26:53"), 0x9011: text("+01:00"), 0x9291: text("589"),
                0xA002: shorts(16), 0xA003: longs(16)},
        _GPS: {1: text("N"), 2: rationals((59, 1), (19, 1), (4548, 100)), 3: text("E"),
               4: rationals((18, 1), (4, 1), (696, 100)), 7: rationals((8, 1), (26, 1), (53, 1)),
               29: text("2026:03:14")},
    }


def tiff(order="<", main=(), exif=(), gps=(), only=False, pointers=True):
    """TIFF bytes of the agreeing fields with changes; None removes a field. `only` takes nothing but the changes."""
    fields = {name: {} for name in (_MAIN, _EXIF, _GPS)} if only else agreeing()
    for name, changes in ((_MAIN, main), (_EXIF, exif), (_GPS, gps)):
        fields[name].update(changes)
        fields[name] = {tag: field for tag, field in fields[name].items() if field is not None}
    if not pointers:
        return _start(order) + _directory(fields[_MAIN], 8, order)
    lengths = {name: len(_directory(fields[name], 8, order)) for name in (_EXIF, _GPS)}
    main_length = len(_directory(_with_pointers(fields, 0, 0), 8, order))
    exif_at = 8 + main_length
    gps_at = exif_at + lengths[_EXIF]
    pieces = [_directory(_with_pointers(fields, exif_at, gps_at), 8, order), _directory(fields[_EXIF], exif_at, order),
              _directory(fields[_GPS], gps_at, order)]
    return _start(order) + b"".join(pieces)


def _start(order):
    return (b"II" if order == "<" else b"MM") + struct.pack(order + "HL", 42, 8)


def _with_pointers(fields, exif_at, gps_at):
    made = {0x8769: longs(exif_at), 0x8825: longs(gps_at)}
    made.update(fields[_MAIN])  # a case may replace a pointer
    return made


def _directory(fields, offset, order):
    """A directory with its values behind it; a list of fields under one tag repeats the tag."""
    listed = [(tag, field) for tag in sorted(fields)
              for field in (fields[tag] if isinstance(fields[tag], list) else [fields[tag]])]
    entries, values = struct.pack(order + "H", len(listed)), b""
    start = offset + 2 + 12 * len(listed) + 4
    for tag, field in listed:
        data = field.data(order)
        entries += struct.pack(order + "HHL", tag, field.form, field.count)
        if len(data) <= 4 and field.place is None:
            entries += data.ljust(4, b"\0")
        else:
            entries += struct.pack(order + "L", start + len(values) if field.place is None else field.place)
            values += data + b"\0" * (len(data) % 2)
    return entries + b"\0" * 4 + values


def segment(marker, data, fill=1):
    return b"\xff" * fill + bytes((marker,)) + struct.pack(">H", len(data) + 2) + data


def app1(data, fill=1):
    return segment(0xE1, b"Exif\0\0" + data, fill)


def with_segments(*segments, size=None):
    """The photo of base.py with these segments after its first two bytes, and another size in its frame header."""
    jpeg = PHOTO
    if size:
        jpeg = jpeg[:_FRAME] + struct.pack(">HH", size[1], size[0]) + jpeg[_FRAME + 4:]
    return jpeg[:2] + b"".join(segments) + jpeg[2:]


def photo(size=None, **changes):
    """The photo with one EXIF segment; see tiff()."""
    return with_segments(app1(tiff(**changes)), size=size)


def case(name, codes, covers, comment, data, arguments="--require exif"):
    return Case("exif_" + name, codes, covers, comment, data, arguments=arguments)


def bundle(jpeg, place=None, with_depth=True, **members):
    """A bundle with this photo. members change metadata.json; place changes location.json, which is else missing."""
    draft = Draft(with_depth)
    draft.payload["photo.jpg"] = jpeg
    draft.set_metadata(metadata(with_depth, **members))
    if place is not None:
        draft.payload["location.json"] = writer.encode_location(position(**place))
    return draft
