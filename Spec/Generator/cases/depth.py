"""depth: D1 to D3. The hashes of the damaged entry are right, so that only the depth map is wrong."""

import struct
import zlib

from bundle import writer
from capbundle.format import depth

from . import deflate
from .base import FLOATS, HEIGHT, WIDTH, Case, Draft

PLAIN = writer.gzip_stored(FLOATS)
TRAILER = writer.gzip_trailer(FLOATS)


def case(name, code, covers, comment, member, raw=FLOATS):
    """Returns a bundle with these bytes as depth.f32.gz; depth.sha256 is the hash of raw."""
    draft = Draft()
    draft.payload["depth.f32.gz"] = member
    draft.depth = writer.describe_depth(raw, WIDTH, HEIGHT)
    return Case("depth_" + name, "depth." + code, covers, comment, draft)


def spoilt(offset, data):
    whole = bytearray(PLAIN)
    whole[offset:offset + len(data)] = data
    return bytes(whole)


def member(stream, raw):
    return depth.GZIP_START + b"\0\xff" + stream + writer.gzip_trailer(raw)


def cases():
    yield from _gzip()
    for name, comment, stream, raw in deflate.refused():
        yield case("deflate_" + name, "gzip", "D1, section 5.1", comment, member(stream, raw), raw)
    yield from _length()
    other = FLOATS[:-4] + struct.pack("<f", 3.0)
    yield case("sha256", "sha256", "D3", "depth.sha256 is the hash of other floats", PLAIN, other)
    yield case("sha256_file", "sha256", "D3", "depth.sha256 is the hash of depth.f32.gz itself", PLAIN, PLAIN)
    yield case("sha256_big_endian", "sha256", "D3", "the floats are big-endian, the hash is of little-endian ones",
               writer.gzip_stored(struct.pack(">12I", *struct.unpack("<12I", FLOATS))))
    rows = [FLOATS[at:at + 4 * WIDTH] for at in range(0, len(FLOATS), 4 * WIDTH)]
    yield case("sha256_flipped", "sha256", "D3", "the rows are bottom first, the hash is of top first",
               writer.gzip_stored(b"".join(reversed(rows))))
    nan = FLOATS[:-4] + b"\x01\0\xc0\x7f"
    yield case("sha256_nan", "sha256", "D3", "another NaN than the hash is of", writer.gzip_stored(nan))


def _gzip():
    stored = PLAIN[10:-8]
    zlib_stream = b"\x78\x01" + stored + zlib.adler32(FLOATS).to_bytes(4, "big")
    named = bytearray(PLAIN[:10])
    named[3] = 8
    for name, member, comment in (
            ("empty", b"", "an entry of 0 bytes"),
            ("raw_floats", FLOATS, "the floats as they are, not compressed"),
            ("raw_deflate", stored, "a deflate stream without the gzip header"),
            ("zlib", zlib_stream, "a zlib stream, not gzip"),
            ("method", spoilt(2, b"\x07"), "compression method 7"),
            ("flag_text", spoilt(3, b"\x01"), "the flag FTEXT"),
            ("flag_header_crc", PLAIN[:3] + b"\x02" + PLAIN[4:10]
             + struct.pack("<H", zlib.crc32(PLAIN[:3] + b"\x02" + PLAIN[4:10]) & 0xFFFF) + PLAIN[10:],
             "the flag FHCRC"),
            ("flag_extra", PLAIN[:3] + b"\x04" + PLAIN[4:10] + b"\x04\0ab\0\0" + PLAIN[10:], "the flag FEXTRA"),
            ("flag_name", bytes(named) + b"depth.f32\0" + PLAIN[10:], "the flag FNAME and a name"),
            ("flag_comment", PLAIN[:3] + b"\x10" + PLAIN[4:10] + b"note\0" + PLAIN[10:], "the flag FCOMMENT"),
            ("flag_reserved", spoilt(3, b"\x80"), "a reserved flag"),
            ("mtime", spoilt(4, b"\x01"), "a time in the header"),
            ("mtime_last", spoilt(7, b"\x60"), "the last byte of a time in the header"),
            ("magic", spoilt(1, b"\x8c"), "another second byte"),
            ("second_member", PLAIN + PLAIN, "a second member"),
            ("second_member_empty", PLAIN + writer.gzip_stored(b""), "a second member of 0 bytes"),
            ("split_members", writer.gzip_stored(FLOATS[:24]) + writer.gzip_stored(FLOATS[24:]),
             "the floats in two members"),
            ("trailing_byte", PLAIN + b"\0", "a zero byte after the member"),
            ("trailing_text", PLAIN + b"more", "text after the member"),
            ("crc", PLAIN[:-8] + bytes((TRAILER[0] ^ 1,)) + PLAIN[-7:], "a wrong CRC-32"),
            ("isize", PLAIN[:-4] + b"\x31\0\0\0", "an ISIZE that is one too high"),
            ("isize_zero", PLAIN[:-4] + bytes(4), "an ISIZE of 0"),
            ("block_type_3", spoilt(10, b"\x07"), "a deflate block of the reserved type 3"),
            ("stored_length", spoilt(13, b"\0\0"), "a stored block whose length and its complement differ"),
            ("distance", PLAIN[:10] + b"\x03\x02\0" + PLAIN[-8:], "a deflate distance before the first byte"),
            ("truncated_header", PLAIN[:9], "an end inside the gzip header"),
            ("truncated_after_header", PLAIN[:10], "an end after the gzip header"),
            ("truncated_stream", PLAIN[:40], "an end inside the deflate stream"),
            ("truncated_no_final", PLAIN[:10] + b"\0" + PLAIN[11:], "the deflate stream has no last block"),
            ("truncated_no_trailer", PLAIN[:-8], "an end before the CRC-32"),
            ("truncated_trailer", PLAIN[:-1], "an end inside ISIZE"),
            ("zstd", b"\x28\xb5\x2f\xfd\x20\x30\x81\x01\0" + FLOATS, "a zstd frame")):
        yield case("gzip_" + name, "gzip", "D1", comment, member)


def _length():
    for name, raw, comment in (
            ("empty", b"", "no floats at all"), ("one_byte_short", FLOATS[:-1], "47 bytes, not 48"),
            ("one_float_short", FLOATS[:-4], "eleven floats, not twelve"),
            ("half", struct.pack("<12e", *([1.0] * 12)), "twelve floats of two bytes")):
        yield case("length_" + name, "length", "D2", comment, writer.gzip_stored(raw), raw)
    for name, raw, comment in (
            ("one_byte_long", FLOATS + b"\0", "49 bytes, not 48"),
            ("one_float_long", FLOATS + bytes(4), "13 floats, not 12"),
            ("double", struct.pack("<12d", *([1.0] * 12)), "twelve floats of eight bytes")):
        # The hash covers the first 48 bytes, so a reader that stops there would accept the wrong length.
        yield case("length_" + name, "length", "D2", comment, writer.gzip_stored(raw), raw[:len(FLOATS)])
    bomb = deflate.Stream().block(1, final=True).code(deflate.FIXED[0])
    for _ in range(65):
        bomb.code(deflate.FIXED[285]).code(deflate.FIXED_DISTANCES[0])
    yield case("length_bomb", "length", "D2", "a block of one zero and fixed codes that repeat it 65 times 258 bytes",
               member(bomb.code(deflate.FIXED[deflate.END]).bytes(), bytes(1 + 65 * 258)), bytes(48))
    far = deflate.Stream().stored(FLOATS).block(1, final=True)
    for _ in range(40):
        far.code(deflate.FIXED[285]).code(deflate.FIXED_DISTANCES[3])
    far = member(far.code(deflate.FIXED[deflate.END]).bytes(), FLOATS + FLOATS[-4:] * (10 * 258))
    yield case("length_far_too_long", "length", "D2", "10368 bytes, not 48", far)
    yield case("length_long_and_crc", "length", "D2",
               "too many bytes and then a wrong CRC-32: the reader stopped before it", far[:-9] + bytes(9))
