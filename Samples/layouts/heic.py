"""Makes a HEIC photo with its depth map inside, as a phone saves it: an auxiliary picture urn:mpeg:hevc:2015:auxid:2.

`heif-enc` (Debian: libheif-examples) encodes photo and disparity as two pictures of one file. This module adds what
`heif-enc` cannot write: that the second picture is the depth map of the first, and which disparities its codes mean
(ISO/IEC 23008-12, and the depth representation information of ITU-T H.265 annex G). Needs numpy and Pillow.
"""
import math
import pathlib
import struct
import subprocess
import tempfile

import portrait
import writers


def boxes(data):
    """Returns the boxes of a file or a container as pairs of type and content."""
    found, at = [], 0
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "big")
        found.append((data[at + 4:at + 8], data[at + 8:at + size]))
        at += size
    return found


def box(kind, content):
    return struct.pack(">I", len(content) + 8) + kind + content


def joined(found):
    return b"".join(box(kind, content) for kind, content in found)


def representation(least, most):
    """Returns the SEI message for codes that are uniform in disparity, from 0 for `least` to 255 for `most`."""
    bits = "0011" + "010" + "1"  # only d_min and d_max are given; type 1; view 0
    for value in (least, most):
        mantissa, exponent = math.frexp(value)  # value = mantissa * 2^exponent, mantissa from 0.5 to 1
        bits += f"0{exponent - 1 + 31:07b}{22:05b}{round((2 * mantissa - 1) * 2 ** 23):023b}"
    bits += "0" * (-len(bits) % 8)
    payload = int(bits, 2).to_bytes(len(bits) // 8, "big")
    unit = b"\x4e\x01" + bytes([177, len(payload)]) + payload
    return struct.pack(">II", len(unit) + 4, len(unit)) + unit


def linked(meta, least, most):
    """Marks the last picture, in the `meta` box, as the hidden depth map of the first."""
    children = dict(boxes(meta[4:]))
    entries = boxes(children[b"iinf"][6:])
    pictures = [int.from_bytes(entry[4:6], "big") for _, entry in entries if entry[8:12] == b"hvc1"]
    photo, depth = pictures[0], pictures[-1]
    hidden = [(kind, entry[:3] + b"\1" + entry[4:] if int.from_bytes(entry[4:6], "big") == depth else entry)
              for kind, entry in entries]
    children[b"iinf"] = children[b"iinf"][:6] + joined(hidden)
    link = box(b"auxl", struct.pack(">HHH", depth, 1, photo))
    children[b"iref"] = children.get(b"iref", b"\0\0\0\0") + link
    properties = dict(boxes(children[b"iprp"]))
    known = boxes(properties[b"ipco"])
    kind = b"\0\0\0\0urn:mpeg:hevc:2015:auxid:2\0" + representation(least, most)
    properties[b"ipco"] = joined([*known, (b"auxC", kind)])
    properties[b"ipma"] = associated(properties[b"ipma"], depth, len(known) + 1)
    children[b"iprp"] = joined(properties.items())
    return meta[:4] + joined(children.items())


def associated(ipma, item, number):
    """Adds a property to an item, in a box of version 0 with short indices."""
    assert ipma[:4] == b"\0\0\0\0", "another form of ipma"
    count, at, made = int.from_bytes(ipma[4:8], "big"), 8, ipma[:8]
    for _ in range(count):
        end = at + 3 + ipma[at + 2]
        entry = ipma[at:end]
        if int.from_bytes(entry[:2], "big") == item:
            entry = entry[:2] + bytes([entry[2] + 1]) + entry[3:] + bytes([0x80 | number])
        made, at = made + entry, end
    return made


def moved(meta, distance):
    """Moves the place of each item's data by a distance. In `iloc`, a place is a base with extents from there."""
    children = dict(boxes(meta[4:]))
    iloc = bytearray(children[b"iloc"])
    assert iloc[:6] == b"\0\0\0\0\x44\x40", "another form of iloc"
    at = 8
    for _ in range(int.from_bytes(iloc[6:8], "big")):
        base, extents = struct.unpack_from(">IH", iloc, at + 4)
        struct.pack_into(">I", iloc, at + 4, base + distance)
        at += 10 + 8 * extents
    children[b"iloc"] = bytes(iloc)
    return meta[:4] + joined(children.items())


def portrait_heic(photo, metres, time="2026:03:14 15:09:26", zone="+01:00"):
    """Returns the HEIC; `photo` is a JPEG without EXIF."""
    codes, least, most = portrait.disparity(metres)
    exif = portrait.exif(time, zone, "Synthetic", "Portrait camera")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "photo.jpg").write_bytes(photo[:2] + portrait.segment(0xe1, exif) + photo[2:])
        (folder / "depth.png").write_bytes(writers.png(codes))
        subprocess.run(["heif-enc", "-q", "60", "-o", "both.heic", "photo.jpg", "depth.png"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        found = boxes((folder / "both.heic").read_bytes())
    index = [kind for kind, _ in found].index(b"meta")
    meta = linked(found[index][1], least, most)
    found[index] = (b"meta", moved(meta, len(meta) - len(found[index][1])))
    return joined(found)
