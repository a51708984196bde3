#!/usr/bin/env python3
"""Makes forgeries of desk-lamp.bundle with one change each. All are archives in canonical form, as a careful
attacker would make them.

    make.py           write the four forgeries
    make.py --check   make them again and compare them

photo   One bit in the middle of the photo is changed.
depth   The lower part of the depth map is a flat wall. The forged entry is as long as the original, so its size does
        not reveal it. This script makes the gzip bit by bit, because the output of zlib differs between versions.
time    The capture is 80 days older, in metadata.json and in the manifest, and the entry's hash and the id match.
        Everything is consistent except the signature.
key     The contents are unchanged, but the attacker signed them with another key. Nothing in the bundle is wrong, so a
        verifier must know the device.

The last one needs python3-cryptography. The attacker's key comes from a seed, so the bytes are the same each time.
"""
import pathlib
import struct
import sys
import tarfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "Spec/Generator"))
from bundle import signing, writer  # noqa: E402
from bundle.signing import Key  # noqa: E402
from capbundle.format import base64_strict, canonical, depth, manifest  # noqa: E402

WALL = struct.pack("<f", 1.5)


def original():
    """Returns the entries after `mimetype`, by name and in order."""
    with tarfile.open(HERE.parent / "desk-lamp/desk-lamp.bundle", "r:") as archive:
        return {member.name: archive.extractfile(member).read() for member in archive.getmembers()[1:]}


def packed(entries):
    head, payload = list(entries.values())[:2], list(entries.items())[2:]
    return writer.pack(*head, payload)


def photo(entries):
    data = bytearray(entries["photo.jpg"])
    data[len(data) // 2] ^= 1
    return packed(entries | {"photo.jpg": bytes(data)})


class Bits:
    """Writes the fixed Huffman codes of deflate (RFC 1951 section 3.2.6).

    Codes are written from their top bit, numbers from their lowest bit.
    """

    def __init__(self):
        self.text = ""

    def symbol(self, value):
        low, width, first = next(row for row in ((280, 8, 0xc0), (256, 7, 0), (144, 9, 0x190), (0, 8, 0x30)) if value >= row[0])
        self.text += format(first + value - low, f"0{width}b")

    def repeat(self, length):
        """Repeats `length` bytes, starting four bytes back."""
        wide = max(0, (length - 3).bit_length() - 3) if length < 258 else 0
        self.symbol(257 + 4 * wide + (length - 3 >> wide) if length < 258 else 285)
        self.text += format(length - 3 & (1 << wide) - 1, f"0{wide}b")[::-1] if wide else ""
        self.text += "00011"

    def bytes(self):
        text = self.text + "0" * (-len(self.text) % 8)
        return bytes(int(text[start:start + 8][::-1], 2) for start in range(0, len(text), 8))


def deflated(kept, wall):
    """Makes two blocks: one with stored bytes, and one with the wall: its first sample, then repetitions."""
    bits = Bits()
    bits.text = "110"  # the last block, fixed codes
    left = len(wall) - 4
    for byte in wall[:4]:
        bits.symbol(byte)
    while left:
        length = 255 if left in (259, 260) else min(left, 258)  # a repetition has at least 3 bytes
        bits.repeat(length)
        left -= length
    bits.symbol(256)
    return b"\0" + struct.pack("<HH", len(kept), len(kept) ^ 0xffff) + kept + bits.bytes()


def forged_depth(floats, length):
    """Makes a gzip member of this length by varying how much of the original map is kept."""
    kept, member = length, b""
    while len(member) != length:
        kept += length - len(member) if member else -1024
        forged = floats[:kept] + (WALL * len(floats))[kept % 4:][:len(floats) - kept]
        member = depth.GZIP_START + b"\0\xff" + deflated(forged[:kept], forged[kept:]) + writer.gzip_trailer(forged)
    return member


def flattened(entries):
    floats = (HERE.parent / "desk-lamp/raw/depth.f32").read_bytes()
    return packed(entries | {"depth.f32.gz": forged_depth(floats, len(entries["depth.f32.gz"]))})


def earlier(entries):
    fields = canonical.parse(entries["manifest.json"], manifest=True)
    data = entries["metadata.json"].replace(b"2026-03-14T", b"2025-12-24T")
    fields["captured_at"] = fields["captured_at"].replace("2026-03-14T", "2025-12-24T")
    next(entry for entry in fields["entries"] if entry["path"] == "metadata.json")["sha256"] = writer.sha256(data)
    fields["id"] = manifest.compute_id(fields, base64_strict.decode(fields["device"]))
    return packed(entries | {"manifest.json": canonical.encode(fields), "metadata.json": data})


def resigned(entries):
    key = Key("the attacker's key")
    fields = canonical.parse(entries["manifest.json"], manifest=True)
    fields["device"] = base64_strict.encode(key.point)
    fields["id"] = manifest.compute_id(fields, key.point)
    data = canonical.encode(fields)
    signed = signing.make(data, key, signing.authenticator_data(1))
    return packed(entries | {"manifest.json": data, "assertion.cbor": signed})


FORGERIES = {"photo": photo, "depth": flattened, "time": earlier, "key": resigned}


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit("usage: make.py [--check]")
    entries, different = original(), 0
    for name, forge in FORGERIES.items():
        path, data = HERE / f"{name}.bundle", forge(entries)
        if not sys.argv[1:]:
            path.write_bytes(data)
        same = path.is_file() and path.read_bytes() == data
        different += not same
        print(f"{path.name}: {'same bytes' if same else 'DIFFERENT'}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
