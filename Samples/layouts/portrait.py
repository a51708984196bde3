"""Makes a JPEG as a phone with a depth camera saves it: the photo, an HDR gain map, and the disparity as a grey JPEG.

The pictures are listed in MPF (CIPA DC-007), and XMP says what each is. The size of the first entry is wrong on purpose,
as in genuine files. Needs numpy and Pillow.
"""
import io
import struct

import numpy as np
from PIL import Image

APPLE = ('xmlns:apdi="http://ns.apple.com/pixeldatainfo/1.0/" xmlns:depthData="http://ns.apple.com/depthData/1.0/"')


def segment(marker, data):
    return struct.pack(">BBH", 0xff, marker, len(data) + 2) + data


def exif(time, zone, make, model):
    """Returns big-endian EXIF with make, model, orientation 1, and the time with its zone."""
    def directory(start, entries):
        """Places the values that do not fit an entry after the directory."""
        place, table, values = start + 2 + 12 * len(entries) + 4, b"", b""
        for tag, kind, data in entries:
            count = len(data) // {2: 1, 3: 2, 4: 4}[kind]
            table += struct.pack(">HHI", tag, kind, count)
            if len(data) <= 4:
                table += data.ljust(4, b"\0")
            else:
                table += struct.pack(">I", place + len(values))
                values += data + b"\0" * (len(data) % 2)
        return struct.pack(">H", len(entries)) + table + b"\0\0\0\0" + values

    def text(value):
        return value.encode() + b"\0"

    def first(sub):
        return directory(8, [(0x010f, 2, text(make)), (0x0110, 2, text(model)), (0x0112, 3, b"\0\1"),
                             (0x8769, 4, struct.pack(">I", sub))])

    sub = 8 + len(first(0))
    times = [(0x9003, 2, text(time)), (0x9011, 2, text(zone))]
    return b"Exif\0\0MM\0\x2a\0\0\0\x08" + first(sub) + directory(sub, times)


def xmp(members):
    inner = "".join(f"<{name}>{value}</{name}>" for name, value in members)
    return (f'http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF '
            f'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" {APPLE}>'
            f"{inner}</rdf:Description></rdf:RDF></x:xmpmeta>").encode()


def grey(samples, members):
    """Returns a grey JPEG of the samples, with XMP."""
    file = io.BytesIO()
    Image.fromarray(samples).save(file, "JPEG", quality=95)
    return b"\xff\xd8" + segment(0xe1, xmp(members)) + file.getvalue()[2:]


def disparity(metres):
    """Returns 8-bit codes of 1/metres, and the values of the codes 0 and 255. Unmeasured samples become the farthest."""
    known = np.isfinite(metres) & (metres > 0)
    values = 1 / metres[known].astype(float)
    least, most = round(float(values.min()), 6), round(float(values.max()), 6)
    codes = np.zeros(metres.shape, "u1")
    codes[known] = np.clip(np.round((values - least) / (most - least) * 255), 0, 255)
    return codes, least, most


def portrait(photo, metres, time="2026:03:14 15:09:26", zone="+01:00"):
    """Returns the JPEG; `photo` has only JFIF before its tables."""
    codes, least, most = disparity(metres)
    matrix = "".join(f"<rdf:li>{number}</rdf:li>" for number in (790, 0, 0, 0, 790, 0, 480, 360, 1))
    formats = [("apdi:StoredFormat", 0x4c303038)]
    gain = grey(np.full((45, 60), 8, "u1"), [
        *formats, ("apdi:NativeFormat", 0x4c303038),
        ("apdi:AuxiliaryImageType", "urn:com:apple:photo:2020:aux:hdrgainmap")])
    depth = grey(codes, [
        *formats, ("apdi:NativeFormat", 0x68646973), ("apdi:AuxiliaryImageType", "disparity"),
        ("apdi:FloatMinValue", f"{least:.6f}"), ("apdi:FloatMaxValue", f"{most:.6f}"),
        ("apdi:IntMinValue", 0), ("apdi:IntMaxValue", 255), ("depthData:Accuracy", "relative"),
        ("depthData:IntrinsicMatrix", f"<rdf:Seq>{matrix}</rdf:Seq>"),
        ("depthData:IntrinsicMatrixReferenceWidth", 960), ("depthData:IntrinsicMatrixReferenceHeight", 720)])
    front = b"\xff\xd8" + segment(0xe1, exif(time, zone, "Synthetic", "Portrait camera"))
    rest = photo[2:]
    length = len(segment(0xe2, b"MPF\0" + mpf([0, 0, 0], [0, 0, 0])))
    end = len(front) + length + len(rest)
    base = len(front) + 8  # offsets count from the TIFF header after "MPF\0"
    listed = mpf([end - 1000, len(gain), len(depth)], [0, end - base, end + len(gain) - base])
    return front + segment(0xe2, b"MPF\0" + listed) + rest + gain + depth


def mpf(sizes, offsets):
    """Returns the MP index: version, number of pictures, and an entry of 16 bytes for each picture."""
    entries = b"".join(struct.pack(">IIIHH", 0x030000 if index == 0 else 0, size, offset, 0, 0)
                       for index, (size, offset) in enumerate(zip(sizes, offsets, strict=True)))
    tags = [(0xb000, 7, 4, b"0100"), (0xb001, 4, 1, struct.pack(">I", len(sizes))),
            (0xb002, 7, len(entries), struct.pack(">I", 8 + 2 + 3 * 12 + 4))]
    table = b"".join(struct.pack(">HHI", tag, kind, count) + value for tag, kind, count, value in tags)
    return b"MM\0\x2a\0\0\0\x08" + struct.pack(">H", len(tags)) + table + b"\0\0\0\0" + entries
