"""Bundles whose photo has EXIF in many forms (section 11.1).

The fields agree with the metadata, or differ by just more than a rule allows, so that the verdict shows how a mutated
field was read.
"""

import datetime
import struct

from bundle import writer
from capbundle.format import moments
from capbundle.format.canonical import Number
from capbundle.format.exif import SEARCHED
from cases import base
from cases.exif_photo import app1, rationals, segment, shorts, text, tiff, with_segments

from Differential import borders, directories, fields

_EPOCH = datetime.datetime(1, 1, 1)
_LAST = 315_537_897_599_999  # milliseconds from there to the end of the year 9999
_DAY, _HOUR, _MINUTE = 86_400_000, 3_600_000, 60_000
# The stage of each mutation and how often it is chosen.
_STAGES = {"fields": 9, "directories": 3, "segments": 2}


def mutate(rng, draft):
    """Gives the draft a photo with EXIF, metadata and a location; returns the names of the mutations."""
    stages = rng.choices(list(_STAGES), list(_STAGES.values()), k=rng.choice((0, 1, 1, 2, 2, 3, 4)))
    changed = _agreeing(rng, _metadata(rng, draft))
    order = rng.choice("<>")
    for _ in range(stages.count("fields")):
        fields.mutate(rng, changed, order)
    structure = bytearray(tiff(order, **changed))
    for _ in range(stages.count("directories")):
        directories.mutate(rng, structure, order)
    pieces = [app1(bytes(structure[:65000]))]
    for _ in range(stages.count("segments")):
        rng.choice(_SEGMENTS)(rng, pieces)
    photo = with_segments(*pieces, size=rng.choice((None, None, None, (16, 24), (24, 16), (32, 24))))
    if rng.random() < 0.03:
        cut = photo[:rng.randrange(len(photo))]
        photo = rng.choice((cut, cut, photo[1:], photo[:3], b"\xff\xd9" + photo[2:], photo * 2))
    draft.payload["photo.jpg"] = photo
    return [f"EXIF {stage}" for stage in sorted(stages)] or ["EXIF"]


def _metadata(rng, draft):
    """Writes metadata and location, and returns the milliseconds of captured_at since the year 1."""
    time = rng.choice(borders.TIMES) if rng.random() < 0.2 else base.TIME
    moment = moments.parse(time)
    if moment is None:
        time, moment = base.TIME, moments.parse(base.TIME)
    members = {"captured_at": time}
    if rng.random() < 0.3:
        model = rng.choice(rng.choice((borders.MODELS, borders.MODELS, borders.STRINGS)))
        members["device_model"] = model if model.strip() and len(model.encode()) <= 256 else base.MODEL
    if rng.random() < 0.3:
        sides = dict(zip(("width", "height"), map(Number, rng.choices(borders.SIDES, k=2))))
        members["camera_intrinsics"] = rng.choice((
            sides, sides, {"width": Number("17"), "height": Number("16")}, {"width": Number("16"), "height": "16"},
            {"width": Number("17")}, [], "17x17"))
    draft.set_metadata(base.metadata(draft.depth is not None, **members))
    draft.time = moments.manifest_form(moment)
    if rng.random() < 0.6:
        draft.payload["location.json"] = writer.encode_location(base.position(**rng.choice(borders.POSITIONS)))
        draft.absent |= {"location.json"} if rng.random() < 0.3 else set()
    return moment // 10**6


def _agreeing(rng, captured):
    """Returns {directory: {tag: field}}: a clock in a time zone, a GPS time near captured_at, and sides."""
    main, exif, gps = {}, {}, {}
    zone = rng.choice(borders.ZONES)
    offset = _offset(zone[-6:])
    local = captured + offset + rng.choice(borders.NEAR)
    exif[0x9003] = text(_form(local, "%04d:%02d:%02d %02d:%02d:%02d"))
    exif[0x9011] = None if rng.random() < 0.3 else text(zone)
    exif[0x9291] = text("%03d" % (local % 1000)) if rng.random() < 0.5 else None
    kind, moment = rng.random(), captured + rng.choice(borders.NEAR)
    rest = moment % _DAY
    hour, minute, second = rest // _HOUR, rest // _MINUTE % 60, rest % _MINUTE  # the second in milliseconds
    if kind < 0.4:
        gps.update({7: None, 29: None})
    elif kind < 0.8:
        gps[29] = text(_form(moment, "%04d:%02d:%02d"))
        gps[7] = rng.choice((
            rationals((hour, 1), (minute, 1), (second, 1000)), rationals((hour, 1), (rest % _HOUR, _MINUTE), (0, 1)),
            rationals((hour, 1), (minute, 1), (second * 10 + rng.randrange(10), 10_000)),
            rationals((rest, _HOUR), (0, 1), (0, 7)), rationals((hour, 1), (0, 1), (0, 1))))
    if rng.random() < 0.2:
        sides = rng.choice(((16, 24), (24, 16), (17, 16), (32, 24), (0, 16)))
        exif.update(zip((0xA002, 0xA003), map(shorts, sides)))
    if rng.random() < 0.2:
        main[0x0110] = text(rng.choice(borders.MODELS))
    if rng.random() < 0.2:
        main[0x0112] = shorts(rng.randrange(10))
    return {"main": main, "exif": exif, "gps": gps}


def _offset(zone):
    """The milliseconds of a time zone; 0 for a text that is not one."""
    there, here = (moments.parse("2026-03-14T00:00:00" + text) for text in (zone, "Z"))
    return 0 if there is None else (here - there) // 10**6


def _form(milliseconds, form):
    """A time since the year 1 as EXIF has it."""
    moment = _EPOCH + datetime.timedelta(milliseconds=min(max(milliseconds, 0), _LAST))
    return form % moment.timetuple()[:form.count("%")]


def _beside(rng, pieces):
    """Adds other segments before or after the EXIF, and bytes that end the search."""
    size = struct.pack(">HH", *rng.choice(((16, 16), (24, 16), (16, 24), (0, 16), (16, 0), (65535, 1))))
    marker = rng.randrange(0xC0, 0xD0)
    frames = (segment(marker, b"\x08" + size), segment(marker, b"\x08" + size[:3]), segment(marker, b""))
    start = b"Exif\0\0"
    texts = (b"http://ns.adobe.com/xap/1.0/\0<x/>", b"Exif\0", b"Exif\0\1" + tiff(), b"exif\0\0" + tiff(), start, b"",
             start + start + tiff(), start + b"II\x2a\0\x08\0\0", start + b"MM\0\x2a\0\0\0\x08")
    markers = (1, 0xBF, 0xCF, 0xD0, 0xD8, 0xD9, 0xDA, 0xDB, 0xEF, 0xF0)
    others = (*(segment(0xE1, one) for one in texts), segment(0xE2, start + tiff()), segment(0xFE, b"\xff\xd8\xff\xe1"),
              segment(0xFE, b"", fill=4), b"\xff\xfe\0\0", b"\xff\xfe\0\1", b"\xff\xfe\xff\xff", b"\0", b"\xff",
              b"\xff\xff", b"\xff\0", b"\xff\xd0", b"\xff\xd8", *(b"\xff%c\0\2" % (one,) for one in markers))
    pieces.insert(rng.randrange(len(pieces) + 1), rng.choice(rng.choice((frames, others, others))))


def _second(rng, pieces):
    """Adds a second EXIF before or after the first."""
    zone = text(rng.choice(("+02:00", "+01:00")))
    pieces.insert(rng.randrange(2), app1(tiff(rng.choice("<>"), exif={0x9011: zone}), fill=rng.choice((1, 1, 2, 9))))


def _length(rng, pieces):
    """Gives a segment a length that does not fit its data."""
    at = rng.randrange(len(pieces))
    size = max(0, len(pieces[at]) - 2 + rng.choice((-9, -8, -2, -1, 1, 2, 300, 1000, 60_000)))
    pieces[at] = pieces[at][:2] + struct.pack(">H", min(size, 65_535)) + pieces[at][4:]


def _far(rng, pieces):
    """Lets a segment end where the search does, or near it."""
    behind = b"".join(pieces) + rng.choice((b"", segment(0xC0, b"\x08\0\x10\0\x11")))
    left = SEARCHED + rng.choice((0, 0, 1, 1, -1, 2, 100)) - 2 - len(behind)
    if left < 2 * 65_537:
        return  # an earlier mutation has done this
    lead = segment(0xFE, bytes(65_533)) * (left // 65_537 - 1)
    left -= len(lead)
    pieces[:] = [lead, segment(0xFE, bytes(left // 2 - 4)), segment(0xFE, bytes(left - left // 2 - 4)), behind]


_SEGMENTS = (_beside, _second, _length) * 5 + (_far,)
