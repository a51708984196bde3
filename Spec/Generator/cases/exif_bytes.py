"""exif: which bytes of the photo are its EXIF, and directories that are broken (section 11.1)."""

from capbundle.format.exif import SEARCHED

from .base import PHOTO
from .exif_photo import (MODEL, NONE, TIME, app1, bundle, case, longs, placed, raw, segment, text, tiff, with_segments)


def cases():
    yield from _segments()
    yield from _tiff()


def _segments():
    """Where the EXIF is looked for. LATE breaks X1, so these vectors show which EXIF counts."""
    late = app1(tiff(exif={0x9011: text("+02:00")}))
    good = app1(tiff())
    xmp = segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0<x/>")
    for name, codes, covers, comment, jpeg in (
            ("first", TIME, "X1", "the first of two EXIF segments counts", with_segments(late, good)),
            ("second", "", "section 11.1", "the second EXIF segment does not count", with_segments(good, late)),
            ("after_xmp", TIME, "X1", "XMP comes before EXIF", with_segments(xmp, late)),
            ("fill", TIME, "X1", "fill bytes before the marker", with_segments(segment(0xFE, b""), late.replace(
                b"\xff\xe1", b"\xff\xff\xff\xff\xe1", 1))),
            ("app2", NONE, "R2", "EXIF in a segment with marker e2", with_segments(b"\xff\xe2" + late[2:])),
            ("after_tem", NONE, "R2", "marker 01 ends the search", with_segments(b"\xff\x01", late)),
            ("after_restart", NONE, "R2", "marker d0 ends the search", with_segments(b"\xff\xd0", late)),
            ("after_start", NONE, "R2", "a second marker d8 ends the search", with_segments(b"\xff\xd8", late)),
            ("after_length_1", NONE, "R2", "a length of 1 ends the search", with_segments(b"\xff\xfe\0\1", late)),
            ("after_byte", NONE, "R2", "a byte between segments ends the search", with_segments(b"\0", late)),
            ("not_jpeg", NONE, "R2", "the photo begins with ff d9", b"\xff\xd9" + with_segments(late)[2:]),
            ("leading_byte", NONE, "R2", "the photo begins with another byte", b"\0" + with_segments(late)),
            ("after_scan", NONE, "R2", "EXIF after the first scan", PHOTO[:-2] + late + PHOTO[-2:]),
            ("after_end", NONE, "R2", "EXIF after the end marker", PHOTO + late),
            ("cut", NONE, "R2", "the photo ends inside the EXIF segment", with_segments(late)[:40]),
            ("cut_length", NONE, "R2", "the photo ends inside the length", b"\xff\xd8\xff\xe1\0"),
            ("lower", NONE, "R2", "the segment begins with exif", with_segments(late.replace(b"Exif", b"exif"))),
            ("doubled", NONE, "R2", "Exif and two zero bytes twice", with_segments(
                segment(0xE1, b"Exif\0\0Exif\0\0" + tiff(exif={0x9011: text("+02:00")})))),
            ("no_padding", NONE, "R2", "one NUL after Exif", with_segments(
                segment(0xE1, b"Exif\0" + tiff())))):
        yield case("segment_" + name, codes, covers, comment, bundle(jpeg))
    lead = _filler(SEARCHED - 2 - len(late))
    yield case("segment_limit", TIME, "X1", "the EXIF segment ends at byte 1048576", bundle(with_segments(lead, late)))
    yield case("segment_beyond", NONE, "R2", "the EXIF segment ends after byte 1048576",
               bundle(with_segments(_filler(SEARCHED - 1 - len(late)), late)))


def _filler(length):
    """Comments with this length in total."""
    pieces = []
    while length > 0:
        size = length if length <= 65537 else min(65537, length - 4)
        pieces.append(segment(0xFE, bytes(size - 4)))
        length -= size
    return b"".join(pieces)


def _tiff():
    """Broken directories: the fields in them are absent."""
    late = {0x9011: text("+02:00")}

    def one(name, codes, covers, comment, data):
        return case("tiff_" + name, codes, covers, comment, bundle(with_segments(app1(data))))

    good = tiff(exif=late)
    last = tiff(only=True, main={0x0110: text("Rig 723")}, pointers=False)
    for name, data, comment in (
            ("empty", b"", "no byte"), ("short", good[:7], "7 bytes"), ("order", b"IM" + good[2:], "bytes IM"),
            ("43", good[:2] + b"\x2b\0" + good[4:], "43 for 42"), ("mixed", b"MM" + good[2:], "MM before 2a 00")):
        yield one("header_" + name, NONE, "R2", "no TIFF header: " + comment, data)
    for name, data, comment in (
            ("header_alone", good[:8], "8 bytes, and a main directory after their end"),
            ("main_0", good[:4] + bytes(4) + good[8:], "a main directory at offset 0"),
            ("main_7", good[:4] + b"\7\0\0\0" + good[8:], "a main directory at offset 7"),
            ("main_far", good[:4] + b"\xff\xff\xff\xff" + good[8:], "a main directory at offset 2^32 - 1"),
            ("main_cut", good[:8 + 2 + 12], "a main directory that is cut off"),
            ("main_count", good[:8] + b"\xff\xff" + good[10:], "a main directory with 65535 entries"),
            ("exif_far", tiff(exif=late, main={0x8769: longs(100000)}), "an EXIF directory after the end"),
            ("exif_main", tiff(exif=late, main={0x8769: longs(8)}), "the EXIF directory is the main directory"),
            ("exif_inside", tiff(exif=late, main={0x8769: longs(4)}), "the EXIF directory begins in the header"),
            ("exif_signed", tiff(exif=late, main={0x8769: longs(8, form=9)}), "a pointer with type 9")):
        yield one(name, "", "section 11.1", comment + ": its fields are absent", data)
    yield one("main_in_main", "", "section 11.1", "DateTimeOriginal in the main directory, to which the pointer leads",
              tiff(main={0x8769: longs(8), 0x9003: text("2025:01:01 00:00:07")}))
    yield one("wrong_directory", "", "section 11.1", "DateTimeOriginal only in the main directory",
              tiff(main={0x9003: text("2025:01:01 00:00:07")}, exif={0x9003: None}))
    loop = tiff(only=True, main={0x0110: text("Phone 3")}, pointers=False)
    yield one("next_directory", "", "section 11.1", "a next directory that is the main directory",
              loop[:22] + b"\x08\0\0\0" + loop[26:])
    yield one("value_far", "", "section 11.1", "DateTimeOriginal after the end",
              tiff(exif={0x9003: placed(text("2025:01:01 00:00:07"), 0xFFFFFFF0)}))
    yield one("value_cut", "", "section 11.1", "the model ends one byte after the end", last[:-1])
    yield one("value_last", MODEL, "X2", "the model ends at the end", last)
    yield one("value_count", "", "section 11.1", "DateTimeOriginal with 2^32 - 1 bytes",
              tiff(exif={0x9003: raw(2, b"2025:01:01 00:00:07\0", count=2 ** 32 - 1)}))
    yield one("value_header", MODEL, "X2", "a model whose bytes are those of the header",
              tiff(main={0x0110: placed(raw(2, b"II*\0\0\0\0\0"), 0)}))
    yield one("twice", TIME, "X1", "the first of two offsets counts",
              tiff(exif={0x9011: [text("+02:00"), text("+01:00")]}))
    yield one("twice_other", "", "section 11.1", "the second of two offsets does not count",
              tiff(exif={0x9011: [text("+01:00"), text("+02:00")]}))
    yield one("twice_broken", "", "X1", "the first of two times is absent, and the second does not count",
              tiff(exif={0x9003: [raw(7, b"2025:01:01 00:00:07\0"), text("2025:01:01 00:00:07")]}))
    yield one("unknown_type", "", "section 11.1", "DateTimeOriginal with type 129",
              tiff(exif={0x9003: raw(129, b"2025:01:01 00:00:07\0")}))
    yield one("trailing", "", "section 11.1", "bytes after the last value", tiff() + bytes(100))
