"""exif: X1 and X2, and what is compared at all (section 11.1)."""

from . import exif_bytes, exif_picture
from .base import PHOTO, Case
from .exif_photo import (MODEL, NONE, ORIENTATION, POSITION, SIZE, TIME, bundle, case, longs, photo, rationals, raw,
                         shorts, text)


def wrong():
    """A bundle in which every rule is broken."""
    jpeg = photo(size=(16, 24), main={0x0110: text("Rig 7")}, gps={1: text("S")},
                 exif={0x9003: text("2026:03:14 10:26:53"), 0xA002: shorts(17)})
    return bundle(jpeg, place={})


def cases():
    yield case("agrees", "", "section 11.1", "every field agrees", bundle(photo(), place={}))
    yield case("agrees_big_endian", "", "section 11.1", "every field agrees, in big-endian order",
               bundle(photo(order=">"), place={}))
    yield case("agrees_without_depth", "", "section 11.1", "every field agrees, in a bundle without a depth map",
               bundle(photo(), with_depth=False))
    yield case("no_field", "", "section 11.1", "EXIF without a field that is compared", bundle(photo(only=True)))
    yield case("all", ",".join((MODEL, ORIENTATION, POSITION, SIZE, TIME)), "X1, X2, X3, X4, X5",
               "every rule is broken", wrong())
    yield case("all_warned", "", "X1, X2, X3, X4, X5", "every rule is broken, but exif is not required", wrong(),
               arguments="")
    yield case("thumbnail", "", "section 11.1", "a thumbnail of another picture is not compared",
               bundle(photo(main={0x0201: longs(8), 0x0202: longs(4)}), place={}))
    yield from _time()
    yield from _model()
    yield from _required()
    yield from exif_picture.cases()
    yield from exif_bytes.cases()


def _time():
    def one(name, codes, comment, exif, main=(), gps=(), **members):
        return case("time_" + name, codes, "X1", "DateTimeOriginal: " + comment,
                   bundle(photo(exif=exif, main=main, gps=gps), **members))

    clock, offset, fraction = 0x9003, 0x9011, 0x9291
    day, stamp = 29, 7
    no_offset = {offset: None}
    without = {day: None, stamp: None}
    yield one("3_seconds", TIME, "3 seconds late", {clock: text("2026:03:14 09:26:56")})
    yield case("time_warning", "", "X1", "an hour late, but exif is not required",
               bundle(photo(exif={clock: text("2026:03:14 10:26:53")})), arguments="")
    yield one("2_seconds", "", "2 seconds late", {clock: text("2026:03:14 09:26:55")})
    yield one("2_001_seconds", TIME, "2.001 seconds late",
              {clock: text("2026:03:14 09:26:55"), fraction: text("590")})
    yield one("2_001_seconds_early", TIME, "2.001 seconds early",
              {clock: text("2026:03:14 09:26:51"), fraction: text("588")})
    yield one("other_offset", "", "the same moment with another offset",
              {clock: text("2026:03:14 13:56:53"), offset: text("+05:30")})
    yield one("wrong_offset", TIME, "another offset", {offset: text("+02:00")})
    yield one("z", "", "the offset Z", {clock: text("2026:03:14 08:26:53"), offset: text("Z")})
    yield one("fraction_cut", "", "decimals below milliseconds are dropped",
              {clock: text("2026:03:14 09:26:55"), fraction: text("589999999")})
    for name, value, comment in (
            ("fraction_ten", "5890000000", "ten decimals count as none"),
            ("fraction_text", "58 9", "decimals with a space count as none")):
        yield one(name, TIME, comment, {clock: text("2026:03:14 09:26:51"), fraction: text(value)})
    for name, value in (("seconds", "+01:00:00"), ("hour", "+24:00"), ("zero", "-00:00"), ("decimals", ".5Z"),
                        ("hours", "+01"), ("lower", "z"), ("empty", "")):
        yield one("offset_" + name, TIME, "the offset %r is absent, and no time zone explains the time" % value,
                       {clock: text("2026:03:14 09:26:56"), offset: text(value)}, gps=without)
    yield one("offset_decimals_alone", TIME, "the offset '.589+01:07' is absent also without decimals of their own",
              {clock: text("2026:03:14 09:33:53"), offset: text(".589+01:07"), fraction: None}, gps=without)
    for name, time, comment in (
            ("zone", "2026:03:14 13:41:53", "without an offset, a time zone of +05:15"),
            ("zone_first", "2026:03:13 18:26:53", "without an offset, a time zone of -14:00"),
            ("zone_last", "2026:03:14 22:26:53", "without an offset, a time zone of +14:00"),
            ("zone_2_seconds", "2026:03:14 05:26:55", "without an offset, 2 seconds from a time zone of -03:00")):
        yield one(name, "", comment, no_offset | {clock: text(time)}, gps=without)
    for name, time, comment in (
            ("zone_minute", "2026:03:14 13:42:53", "without an offset, a minute from a time zone"),
            ("zone_3_seconds", "2026:03:14 05:26:56", "without an offset, 3 seconds from a time zone"),
            ("zone_before", "2026:03:13 18:11:53", "without an offset, a time zone of -14:15"),
            ("zone_after", "2026:03:14 22:41:53", "without an offset, a time zone of +14:15"),
            ("zone_day", "2026:03:15 09:26:53", "without an offset, another day")):
        yield one(name, TIME, comment, no_offset | {clock: text(time)}, gps=without)
    yield one("gps", "", "without an offset, the GPS time agrees, and the clock is wrong",
              no_offset | {clock: text("2025:01:01 00:00:07")})
    yield one("gps_5_minutes", "", "without an offset, the GPS time is 5 minutes old", no_offset,
                   gps={stamp: rationals((8, 1), (21, 1), (53589, 1000))})
    yield one("gps_later", TIME, "without an offset, the GPS time is 5 minutes and 1 ms old", no_offset,
                   gps={stamp: rationals((8, 1), (21, 1), (53588, 1000))})
    yield one("gps_fractions", "", "without an offset, a GPS time in fractions of an hour", no_offset,
                   gps={stamp: rationals((845, 100), (0, 1), (0, 1))})
    yield one("gps_second_60", "", "without an offset, a GPS time with second 60", no_offset,
                   gps={stamp: rationals((8, 1), (25, 1), (60, 1))})
    for name, gps, comment in (
            ("gps_hour_24", {stamp: rationals((24, 1), (0, 1), (0, 1))}, "hour 24"),
            ("gps_second_61", {stamp: rationals((8, 1), (26, 1), (61, 1))}, "second 61"),
            ("gps_zero", {stamp: rationals((8, 1), (26, 0), (53, 1))}, "a denominator of 0"),
            ("gps_two", {stamp: rationals((8, 1), (26, 1))}, "two numbers"),
            ("gps_day", {day: text("2026:02:30")}, "30 February"),
            ("gps_day_form", {day: text("2026-03-14")}, "a date with hyphens")):
        yield one(name, TIME, "a GPS time with %s is absent, and no time zone explains the time" % comment,
                       no_offset | {clock: text("2026:03:14 09:27:53")}, gps=gps)
    for name, value, comment in (
            ("zeros", "0000:00:00 00:00:00", "zeros"), ("spaces", "    :  :     :  :  ", "spaces"),
            ("form", "2025-01-01 00:00:00", "hyphens"), ("t", "2025:01:01T00:00:00", "a T for the space"),
            ("leap_day", "2025:02:29 00:00:00", "29 February 2025"), ("second_60", "2025:01:01 00:00:60", "second 60"),
            ("short", "2025:01:01", "a date alone"), ("long", "2025:01:01 00:00:00.5", "decimals"),
            ("not_utf8", b"2025:01:01 00:00:00\xff", "a byte that is not UTF-8"),
            ("control", "2025:01:01 00:00:00\n", "a line end")):
        yield one("absent_" + name, "", comment + ": the field is absent", {clock: text(value)})
    for name, field, comment in (
            ("no_nul", text("2025:01:01 00:00:00", end=b""), "no NUL at the end"),
            ("after_nul", text("2025:01:01 00:00:00", end=b"\0x"), "bytes after the NUL"),
            ("padded", text(" 2025:01:01 00:00:00 "), "spaces at both ends")):
        yield one("present_" + name, TIME, comment + ": the field is present", {clock: field})
    yield one("year_0", TIME, "an offset that gives a year 0 is absent, and no time zone explains the time",
              {clock: text("0001:01:01 00:00:00")}, gps=without)


def _model():
    def one(name, codes, comment, model, *fields):
        main = dict(zip((0x0110, 0x010F), fields))
        return case("model_" + name, codes, "X2", comment, bundle(photo(main=main), device_model=model))

    yield one("other", MODEL, "another model", "Example Phone 3", text("Phone 4"))
    yield case("model_warning", "", "X2", "another model, but exif is not required",
               bundle(photo(main={0x0110: text("Phone 4")})), arguments="")
    for name, model, comment in (
            ("alone", "Phone 3", "the model without its maker"), ("part", "example phone", "a part of maker and model"),
            ("more", "A Phone 3 with a case", "the model with more around it"),
            ("case", "EXAMPLE phone  3", "other letters and spaces"),
            ("comma", "Phone14,2", "an identifier with a comma is not compared"),
            ("parenthesis", "unknown (App 1.2)", "a text with a parenthesis is not compared")):
        yield one(name, "", comment, model)
    yield one("repeated", "", "a model that names its maker", "Rig 7", text("Rig 7"), text("RIG"))
    yield one("no_maker", "", "no maker", "Phone 3", text("Phone 3"), None)
    yield one("no_model", "", "no model", "Rig 7", None, text("Example"))
    yield one("accent", "", "letters outside ASCII are equal", "Kam\u00e9ra 1", text("Kam\u00e9ra 1"))
    yield one("accent_case", MODEL, "letters outside ASCII keep their case", "Kam\u00e9ra 1", text("KAM\u00c9RA 1"))
    yield one("kelvin", MODEL, "the Kelvin sign is not a K", "Rig \u212a", text("Rig K"), None)
    yield one("tab", MODEL, "a tab is not a space", "Phone\t3", text("Phone 3"))
    yield one("end", MODEL, "only an end of the maker", "Ample Phones", text("Phone 3"))
    yield one("256", "", "256 bytes: the field is present", "Rig", text("Rig" + "x" * 253))
    yield one("257", "", "257 bytes: the field is absent", "Other", text("Rig" + "x" * 254))
    yield one("not_utf8", "", "a model that is not UTF-8 is absent", "Other", text(b"Rig \xe9"))
    yield one("undefined", "", "a model with type 7 is absent", "Other", raw(7, b"Phone 3\0"))
    yield one("byte", "", "a model with type 1 is absent", "Other", raw(1, b"Phone 3\0"))
    yield one("blank", "", "a model of spaces is absent", "Other", text("       "))
    yield one("delete", "", "a model with U+007F is absent", "Other", text("Phone\x7f3"))


def _required():
    yield case("required", NONE, "R2", "exif is required, but the photo has none", bundle(PHOTO))
    draft = bundle(photo())
    draft.withholdable = draft.absent = {"photo.jpg"}
    yield case("required_withheld", NONE, "R2", "exif is required, but the photo is withheld", draft,
               arguments="--allow-withheld --require exif")
    yield case("required_empty", NONE, "R2", "exif is required, but the photo has no bytes", bundle(b""))
    draft = wrong()
    draft.payload["source/notes.txt"] = b"notes\n"
    manifest = draft.manifest()
    manifest["entries"][-1]["sha256"] = "0" * 64
    yield case("altered", "entry.sha256", "P1", "another entry was altered, so nothing is compared",
               draft.rename_id())
    yield Case("exif_unknown", TIME + ",trust.unknown", "X1, T5",
               "another time, and the key is unknown: 3 is the worse", bundle(photo(exif={0x9011: text("+02:00")})), trust=(), arguments="--require exif")
