"""Mutations of the payload: metadata, location, depth map, photo and source files."""

import re
import struct
import zlib

from bundle import writer
from capbundle.format import canonical, depth, moments
from capbundle.format.canonical import Number
from cases import base, deflate

from Differential import borders, spellings

def metadata_values(rng, draft):
    """Changes values of metadata.json and keeps its form."""
    fields = base.metadata(draft.depth is not None)
    if draft.depth:
        fields["depth_map_dimensions"] = {name: Number(draft.depth[name]) for name in ("height", "width")}
    kind = rng.randrange(6)
    if kind == 0:
        fields["captured_at"] = _value(rng, borders.TIMES)
    elif kind == 1:
        fields["device_model"] = _value(rng, borders.STRINGS)
    elif kind == 2 and "depth_map_dimensions" in fields:
        fields["depth_map_dimensions"][rng.choice(("width", "height", "depth", ""))] = _value(rng, borders.NUMBERS)
    elif kind == 3:
        fields[rng.choice(borders.NAMES)] = _value(rng, borders.STRINGS)
        fields[rng.choice(borders.NAMES + ("location",) * 20)] = _deep(rng)
    elif kind == 4:
        fields.pop(rng.choice(sorted(fields)))
    else:
        fields["depth_map_dimensions"] = rng.choice(
            ({}, {"height": Number(3)}, None, [], "4x3",
             *({"height": Number(height), "width": Number(width)} for height, width in
               ((3, 4), (4, 3), ("03", 4), ("3.0", 4)))))
    draft.set_metadata(fields)
    follow_time(rng, draft, fields.get("captured_at"))


def follow_time(rng, draft, text):
    """Lets the manifest have the same time, mostly."""
    if isinstance(text, str) and rng.random() < 0.8:
        moment = moments.parse(text)
        if moment is not None:
            draft.time = moments.manifest_form(moment)


def _value(rng, strings):
    usual = rng.choice(strings)
    return rng.choice((usual, usual, usual, Number(rng.choice(borders.NUMBERS)), borders.other(rng),
                       rng.choice(borders.STRINGS)))


def _deep(rng):
    value = rng.choice((Number(rng.choice(borders.NUMBERS)), rng.choice(borders.STRINGS), [], {}))
    for _ in range(rng.choice(borders.NESTINGS) - 1):
        value = [value] if rng.random() < 0.5 else {rng.choice(borders.NAMES): value}
    return value


def metadata_spelling(rng, draft):
    draft.payload["metadata.json"] = spellings.mutate(rng, draft.payload.get("metadata.json", b"{}"))


def location_values(rng, draft):
    fields = base.position()
    for _ in range(rng.randrange(1, 3)):
        name = rng.choice(("latitude", "longitude", "altitude", "accuracy", "salt", "pad", rng.choice(borders.NAMES)))
        number = Number(rng.choice(borders.NUMBERS))
        fields[name] = rng.choice((number, number, number, borders.other(rng), rng.choice(borders.STRINGS)))
        if rng.random() < 0.15:
            fields.pop(name)
    draft.payload["location.json"] = _to_512(rng, canonical.encode(dict({"pad": ""}, **fields)))
    draft.withholdable.add("location.json")


def location_spelling(rng, draft):
    data = draft.payload.get("location.json") or writer.encode_location(base.position())
    draft.payload["location.json"] = _to_512(rng, spellings.mutate(rng, data))


def _to_512(rng, data):
    """Gives the data 512 bytes by its pad, mostly."""
    if rng.random() < 0.1:
        return data
    bare = re.sub(rb'"pad":"0*"', b'"pad":""', data, count=1)
    if len(bare) <= 512 and b'"pad":""' in bare:
        return bare.replace(b'"pad":""', b'"pad":"' + b"0" * (512 - len(bare)) + b'"', 1)
    return (data + b" " * 512)[:512]


def depth_stream(rng, draft):
    """Compresses floats as another gzip member: the same ones, slightly changed ones, or the floats of a vector."""
    raw = base.FLOATS
    if rng.random() < 0.3:
        raw = raw + bytes(rng.choice((1, 4, 48)))
    elif rng.random() < 0.1:
        raw = raw[:rng.randrange(len(raw))]
    stream, raw = _deflated(rng, raw)
    start = bytearray(depth.GZIP_START + bytes((rng.randrange(256), rng.randrange(256))))
    trailer = bytearray(writer.gzip_trailer(raw))
    if rng.random() < 0.15:
        start[rng.randrange(10)] ^= 1 << rng.randrange(8)
    if rng.random() < 0.1:
        trailer[rng.randrange(8)] ^= 1 << rng.randrange(8)
    if rng.random() < 0.35:
        stream = _damaged(rng, stream)
    data = bytes(start) + stream + bytes(trailer)
    if rng.random() < 0.1:
        data += rng.choice((b"\0", data, b"x", bytes(512)))
    if rng.random() < 0.1:
        data = data[:rng.randrange(len(data) + 1)]
    draft.payload["depth.f32.gz"] = data
    if draft.depth is None:
        draft.depth = writer.describe_depth(base.FLOATS, base.WIDTH, base.HEIGHT)
    if rng.random() < 0.5:
        draft.depth["sha256"] = writer.sha256(_inflated(data) or raw)


def _inflated(data):
    try:
        return zlib.decompressobj(-15).decompress(data[10:], 1 << 16)
    except zlib.error:
        return None


def _deflated(rng, raw):
    kind = rng.randrange(4)
    if kind == 0:
        return rng.choice(_STREAMS)
    if kind == 1:
        return writer.gzip_stored(raw)[10:-8], raw
    packer = zlib.compressobj(rng.randrange(10), zlib.DEFLATED, -15, rng.randrange(1, 10), rng.randrange(5))
    out, at = b"", 0
    while at < len(raw):
        step = rng.choice((1, 5, 16, 48))
        out += packer.compress(raw[at:at + step])
        at += step
        if rng.random() < 0.3:
            out += packer.flush(rng.choice((zlib.Z_SYNC_FLUSH, zlib.Z_FULL_FLUSH, zlib.Z_PARTIAL_FLUSH)))
    if rng.random() < 0.1:
        for _ in range(rng.choice((50, 62, 63, 64, 65))):
            out += packer.flush(zlib.Z_FULL_FLUSH) or b"\0\0\0\xff\xff"
    return out + packer.flush(), raw


def _damaged(rng, stream):
    data = bytearray(stream)
    for _ in range(rng.randrange(1, 4)):
        if data:
            data[rng.randrange(min(len(data), rng.choice((2, 8, 20, 1000))))] ^= 1 << rng.randrange(8)
    return bytes(data)


def depth_floats(rng, draft):
    """Makes other samples, which the rule for a plausible depth map may refuse."""
    bits = (0x3D4CCCCC, 0x3D4CCCCD, 0x3D4CCCCE, 0x42C80000, 0x42C80001, 0x42C7FFFF, 0x7F800000, 0xFF800000, 0x7FC00000,
            0xFF800001, 0x00000001, 0x80000001, 0x80000000, 0, 0x3F800000, 0x44FA0000, 0xBF800000)
    some = [rng.choice(bits) for _ in range(rng.randrange(1, 5))]
    draft.set_floats(*(struct.pack("<I", rng.choice(some)) for _ in range(12)))


def depth_description(rng, draft):
    if draft.depth is None:
        return
    name = rng.choice(("width", "height", "sha256", "unit", "encoding", "source"))
    if name == "source":
        draft.depth["source"] = dict(draft.depth["source"])
        draft.depth["source"][rng.choice(("encoding", "invalid", "row_order", "scale"))] = rng.choice(borders.STRINGS)
    elif name in ("width", "height"):
        draft.depth[name] = rng.choice((0, 1, 2, 3, 4, 6, 12, 16384, 16385))
    else:
        draft.depth[name] = rng.choice(borders.STRINGS)


def files(rng, draft):
    """Adds, removes, empties or withholds entries."""
    kind = rng.randrange(5)
    listed = sorted(draft.payload)
    if kind == 0:
        path = rng.choice(borders.PATHS).decode("latin-1")
        draft.payload[path] = bytes(rng.choice(borders.LENGTHS))
    elif kind == 1:
        draft.payload.pop(rng.choice(listed))
    elif kind == 2:
        draft.payload[rng.choice(listed)] = bytes(rng.choice(borders.LENGTHS))
    elif kind == 3:
        draft.withholdable.add(rng.choice(listed))
    else:
        path = rng.choice(listed)
        draft.absent.add(path)
        if rng.random() < 0.7:
            draft.withholdable.add(path)


def chain(rng, draft):
    draft.chain = dict(rng.choice(borders.CHAINS))


# The deflate streams of the vectors with their floats, both the allowed and the refused ones.
_STREAMS = [one[2:] for one in list(deflate.accepted()) + list(deflate.refused())]
