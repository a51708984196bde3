"""Writes depth maps in the encodings of Spec/raw-captures.md section 3. Needs numpy only.

Each function takes an array of height x width and returns the bytes of a file.
"""
import gzip
import io
import struct
import zlib

import numpy as np


def npy(samples):
    file = io.BytesIO()
    np.save(file, samples)
    return file.getvalue()


def pfm(floats, order="<"):
    """Returns a PFM. The bottom row comes first, and the sign of the scale gives the byte order (`<` or `>`)."""
    height, width = floats.shape
    return f"Pf\n{width} {height}\n{-1.0 if order == '<' else 1.0}\n".encode() + floats[::-1].astype(order + "f4").tobytes()


def compressed(floats, form):
    """Compresses raw floats as gzip, zlib or raw deflate. iOS calls raw deflate ZLIB."""
    raw = floats.astype("<f4").tobytes()
    if form == "gzip":
        return gzip.compress(raw, mtime=0)
    packer = zlib.compressobj(9, zlib.DEFLATED, 15 if form == "zlib" else -15)
    return packer.compress(raw) + packer.flush()


def png(samples):
    """A grey PNG of 8 or 16 bits. The rows use the filters None and Up in turn."""
    height, width = samples.shape
    rows = samples.astype(">u2" if samples.dtype.itemsize == 2 else "u1").view("u1").reshape(height, -1)
    above = np.vstack([np.zeros_like(rows[:1]), rows[:-1]])
    kinds = np.arange(height, dtype="u1")[:, None] % 2 * 2
    lines = np.hstack([kinds, np.where(kinds == 2, rows - above, rows)]).astype("u1")

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8 * samples.dtype.itemsize, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines.tobytes()))
            + chunk(b"IEND", b""))


def tiff(samples, order="<", deflated=False):
    """A TIFF 6.0 file of one channel and one strip, in either byte order."""
    samples = np.ascontiguousarray(samples.astype(samples.dtype.newbyteorder(order)))
    height, width = samples.shape
    strip = zlib.compress(samples.tobytes()) if deflated else samples.tobytes()
    tags = [(256, 4, width), (257, 4, height), (258, 3, 8 * samples.dtype.itemsize), (259, 3, 8 if deflated else 1),
            (262, 3, 1), (273, 4, 8), (277, 3, 1), (278, 4, height), (279, 4, len(strip)),
            (339, 3, 3 if samples.dtype.kind == "f" else 1)]
    strip += b"\0" * (len(strip) % 2)
    head = (b"II" if order == "<" else b"MM") + struct.pack(order + "HI", 42, 8 + len(strip))
    entries = b""
    for tag, kind, value in tags:
        entries += struct.pack(order + "HHI", tag, kind, 1)
        entries += struct.pack(order + "I", value) if kind == 4 else struct.pack(order + "HH", value, 0)
    return head + strip + struct.pack(order + "H", len(tags)) + entries + struct.pack(order + "I", 0)


def exr(samples, channel, zipped):
    """A scanline OpenEXR file of one channel: half or float, ZIP (16 lines a block) or uncompressed."""
    height, width = samples.shape
    kind = {2: 1, 4: 2}[samples.dtype.itemsize]

    def attribute(name, type_name, data):
        return name.encode() + b"\0" + type_name.encode() + b"\0" + struct.pack("<I", len(data)) + data

    window = struct.pack("<iiii", 0, 0, width - 1, height - 1)
    head = b"\x76\x2f\x31\x01\x02\0\0\0"
    head += attribute("channels", "chlist", channel.encode() + b"\0" + struct.pack("<IIii", kind, 0, 1, 1) + b"\0")
    head += attribute("compression", "compression", bytes([3 if zipped else 0]))
    head += attribute("dataWindow", "box2i", window) + attribute("displayWindow", "box2i", window)
    head += attribute("lineOrder", "lineOrder", b"\0")
    head += attribute("pixelAspectRatio", "float", struct.pack("<f", 1))
    head += attribute("screenWindowCenter", "v2f", struct.pack("<ff", 0, 0))
    head += attribute("screenWindowWidth", "float", struct.pack("<f", 1)) + b"\0"
    lines = 16 if zipped else 1
    blocks = []
    for y in range(0, height, lines):
        raw = np.ascontiguousarray(samples[y:y + lines]).astype(samples.dtype.newbyteorder("<")).tobytes()
        data = exr_zip(raw) if zipped else raw
        blocks.append(struct.pack("<ii", y, min(len(data), len(raw))) + (data if len(data) < len(raw) else raw))
    offset, offsets = len(head) + 8 * len(blocks), []
    for block in blocks:
        offsets.append(offset)
        offset += len(block)
    return head + struct.pack(f"<{len(offsets)}Q", *offsets) + b"".join(blocks)


def exr_zip(raw):
    """Reorders bytes as OpenEXR's ZIP needs it: even positions, then odd ones, each as the difference to the one before."""
    raw = np.frombuffer(raw, "u1")
    split = np.concatenate([raw[::2], raw[1::2]]).astype(np.int64)
    split[1:] = split[1:] - split[:-1] + 128
    return zlib.compress((split % 256).astype("u1").tobytes())
