"""metadata: E1 to E5. Size, hash and signature match the damaged bytes."""

from capbundle.format import canonical
from capbundle.format.canonical import Number

from .base import HEIGHT, TIME, WIDTH, Case, Draft, metadata, position

PLAIN = canonical.encode(metadata())


def case(name, codes, covers, comment, fields, draft=None):
    return Case("metadata_" + name, codes, covers, comment, (draft or Draft()).set_metadata(fields))


def cases():
    yield from _canonical()
    yield from _captured_at()
    yield from _device_model()
    yield from _location()
    yield from _dimensions()
    yield case("several", "metadata.location,metadata.value", "E2, E3", "no device_model, and a member location",
               metadata(device_model=None, location="home"))


def text(old, new):
    if old not in PLAIN:
        raise ValueError(old)
    return PLAIN.replace(old, new, 1)


def _canonical():
    def one(name, comment, data):
        return case("canonical_" + name, "metadata.canonical", "E1", comment, data)

    def added(value):
        """Returns the object with a last member "x" of this JSON text."""
        return PLAIN[:-1] + b',"x":' + value + b"}"

    yield one("empty", "0 bytes", b"")
    yield one("bom", "a byte order mark", b"\xef\xbb\xbf" + PLAIN)
    yield one("utf16", "UTF-16", PLAIN.decode().encode("utf-16-le"))
    yield one("newline_end", "a newline after the object", PLAIN + b"\n")
    yield one("crlf", "CR and LF between members", text(b',"dev', b',\r\n"dev'))
    yield one("space_first", "a space before the object", b" " + PLAIN)
    yield one("space_colon", "a space after a colon", text(b'"device_model":', b'"device_model": '))
    yield one("second_value", "a second value", PLAIN + b"null")
    yield one("order", "device_model before captured_at",
              canonical.encode({"device_model": "x"})[:-1] + b',"captured_at":"' + TIME.encode() + b'"}')
    yield one("order_utf16", "an emoji after U+FB33: right by code point, wrong by UTF-16 code unit",
              PLAIN[:-1] + ',"\ufb33":1,"\U0001f600":2}'.encode())
    yield one("order_nested", "members of depth_map_dimensions out of order",
              text(b'{"height":3,"width":4}', b'{"width":4,"height":3}'))
    yield one("duplicate", "device_model twice", text(b'"device_model":', b'"device_model":"y","device_model":'))
    yield one("duplicate_nested", "width twice", text(b'"width":4', b'"width":4,"width":4'))
    yield one("trailing_comma", "a comma after the last member", PLAIN[:-1] + b",}")
    yield one("unclosed", "the last brace is missing", PLAIN[:-1])
    yield one("comment", "a comment", text(b",", b",//\n"))
    for name, value, comment in (
            ("escape_letter", b'"\\u0061"', "a letter as an escape"), ("escape_slash", b'"\\/"', "an escaped slash"),
            ("escape_newline_hex", b'"\\u000a"', "a newline as \\u000a"),
            ("escape_upper", b'"\\u001F"', "an upper-case escape"),
            ("escape_delete", b'"\\u007f"', "U+007F as an escape"), ("escape_unknown", b'"\\x41"', "an escape \\x"),
            ("escape_pair", b'"\\ud83d\\ude00"', "an emoji as a pair of escapes"),
            ("escape_high_surrogate", b'"\\ud800"', "a lone high surrogate as an escape"),
            ("escape_low_surrogate", b'"\\udc00"', "a lone low surrogate as an escape"),
            ("escape_short", b'"\\u12"', "an escape of two digits"),
            ("escape_last", b'"\\"', "a backslash before the last quote"),
            ("surrogate_bytes", b'"\xed\xa0\x80"', "a surrogate as bytes"),
            ("surrogate_pair_bytes", b'"\xed\xa0\xbd\xed\xb8\x80"', "a pair of surrogates as bytes (CESU-8)"),
            ("overlong", b'"\xc0\xaf"', "an overlong form"), ("overlong_nul", b'"\xc0\x80"', "an overlong NUL"),
            ("above_10ffff", b'"\xf4\x90\x80\x80"', "a code point above U+10FFFF"),
            ("cut_sequence", b'"\xe2\x82"', "a sequence of UTF-8 cut off"), ("latin1", b'"\xe9"', "a byte of Latin-1"),
            ("control", b'"\x01"', "a control character as it is"), ("nul", b'"\0"', "a NUL as it is"),
            ("tab", b'"\t"', "a tab as it is"),
            ("number_65", b"1" * 65, "a number of 65 characters"),
            ("number_65_fraction", b"-0." + b"3" * 62, "a number of 65 characters with a fraction"),
            ("leading_zero", b"01", "a number with a leading zero"), ("plus", b"+1", "a number with a plus sign"),
            ("point_first", b".5", "a number that begins with the point"),
            ("point_last", b"1.", "a number that ends with the point"),
            ("exponent_empty", b"1e", "an exponent without digits"),
            ("nan", b"NaN", "NaN"), ("infinity", b"-Infinity", "minus infinity"), ("hex", b"0x10", "a number in hex"),
            ("literal", b"True", "a literal in upper case"), ("literal_cut", b"nul", "a literal cut off"),
            ("nesting_33", b"[" * 32 + b"]" * 32, "nesting of 33"),
            ("nesting_10000", b"[" * 10000 + b"]" * 10000, "nesting of 10001"),
            ("nesting_objects", b'{"":' * 8000 + b"0" + b"}" * 8000, "nesting of 8001 objects")):
        yield one(name, comment, added(value))


def _captured_at():
    def one(name, value, comment):
        return case("time_" + name, "metadata.value", "E2", "captured_at: " + comment, metadata(captured_at=value))

    yield one("missing", None, "missing")
    yield one("type", Number("1773476813"), "a number")
    for name, value, comment in (
            ("empty", "", "empty"), ("no_zone", "2026-03-14T08:26:53.589", "no zone"),
            ("minus_zero", "2026-03-14T08:26:53.589-00:00", "zone -00:00"),
            ("zone_24", "2026-03-14T08:26:53.589+24:00", "zone +24:00"),
            ("zone_minute_60", "2026-03-14T08:26:53.589+01:60", "zone +01:60"),
            ("zone_hours", "2026-03-14T09:26:53.589+01", "a zone of hours"),
            ("zone_no_colon", "2026-03-14T09:26:53.589+0100", "a zone without a colon"),
            ("zone_second", "2026-03-14T09:26:53.589+01:00:00", "a zone with seconds"),
            ("zone_name", "2026-03-14T08:26:53.589UTC", "a named zone"),
            ("zone_lower", "2026-03-14T08:26:53.589z", "a lower-case z"),
            ("minus_sign", "2026-03-14T08:26:53.589\u221201:00", "U+2212 as the minus sign of the zone"),
            ("lower", "2026-03-14t08:26:53.589Z", "a lower-case t"),
            ("space", "2026-03-14 08:26:53.589Z", "a space, not T"),
            ("comma", "2026-03-14T08:26:53,589Z", "a comma before the fraction"),
            ("fraction_empty", "2026-03-14T08:26:53.Z", "a point without digits"),
            ("fraction_ten", "2026-03-14T08:26:53.5890000000Z", "ten digits of a second"),
            ("no_second", "2026-03-14T08:26Z", "no seconds"), ("date", "2026-03-14", "a date alone"),
            ("basic", "20260314T082653Z", "the basic form"), ("week", "2026-W11-6T08:26:53Z", "a week date"),
            ("leap_second", "2016-12-31T23:59:60Z", "a leap second"),
            ("leap_second_zone", "2017-01-01T00:59:60+01:00", "a leap second in a zone"),
            ("hour_24", "2026-03-14T24:00:00Z", "hour 24"), ("minute_60", "2026-03-14T08:60:00Z", "minute 60"),
            ("second_61", "2026-03-14T08:26:61Z", "second 61"), ("month_13", "2026-13-14T08:26:53Z", "month 13"),
            ("month_0", "2026-00-14T08:26:53Z", "month 0"), ("day_0", "2026-03-00T08:26:53Z", "day 0"),
            ("day_31", "2026-04-31T08:26:53Z", "31 April"), ("leap_day", "2026-02-29T08:26:53Z", "a leap day in 2026"),
            ("leap_day_2100", "2100-02-29T08:26:53Z", "a leap day in 2100"),
            ("year_0", "0000-12-31T23:59:59Z", "year 0000"),
            ("year_0_zone", "0000-12-31T23:59:59-01:00", "year 0000, though it is year 0001 in UTC"),
            ("year_10000", "10000-01-01T00:00:00Z", "year 10000"),
            ("year_sign", "+2026-03-14T08:26:53Z", "a signed year"),
            ("before_first", "0001-01-01T00:00:00+00:01", "before year 0001 in UTC"),
            ("after_last", "9999-12-31T23:59:59-00:01", "after year 9999 in UTC"),
            ("digits", "\u0662\u0660\u0662\u0666-03-14T08:26:53Z", "Arabic-Indic digits"),
            ("newline", "2026-03-14T08:26:53Z\n", "a newline after it"),
            ("space_first", " 2026-03-14T08:26:53Z", "a space first")):
        yield one(name, value, comment)
    for name, value, utc, comment in (
            ("other", TIME, "2026-03-14T08:26:54.589Z", "one second apart"),
            ("rounded", "2026-03-14T08:26:53.5899Z", "2026-03-14T08:26:53.590Z", "rounded, not cut"),
            ("local", TIME, "2026-03-14T09:26:53.589Z", "the local time of the metadata as if it were UTC"),
            ("sign", TIME, "2026-03-14T10:26:53.589Z", "the zone added, not taken away"),
            ("zero_fraction", TIME, "2026-03-14T08:26:53.000Z", "cut to seconds")):
        draft = Draft()
        draft.time = utc
        yield case("captured_at_" + name, "metadata.captured_at", "E4", "manifest and metadata differ: " + comment,
                   metadata(captured_at=value), draft)


def _device_model():
    for name, value, comment in (
            ("missing", None, "missing"), ("empty", "", "empty"), ("space", " ", "one space"),
            ("blank", " \t\n\v\f\r ", "spaces of all kinds"), ("long", "m" * 257, "257 bytes"),
            ("long_utf8", "m" + "\u00e9" * 128, "257 bytes in 129 characters"), ("number", Number("15"), "a number"),
            ("false", False, "false"), ("array", ["x"], "an array")):
        yield case("model_" + name, "metadata.value", "E2", "device_model: " + comment, metadata(device_model=value))
    fields = metadata()
    del fields["device_model"]
    yield case("model_null", "metadata.value", "E2", "device_model: null", _with_null(fields))
    for name, data in (("array", b"[]"), ("string", b'"metadata"'), ("null", b"null"), ("number", b"0")):
        yield case("not_object_" + name, "metadata.value", "E2", "not an object but " + name, data)


def _with_null(fields):
    return canonical.encode(dict(fields, device_model=None))


def _location():
    for name, value, comment in (
            ("object", position(), "with a position"), ("false", False, "that is false"),
            ("string", "", "that is empty")):
        yield case("location_" + name, "metadata.location", "E3", "a member location " + comment,
                   metadata(location=value))
    yield case("location_null", "metadata.location", "E3", "a member location that is null",
               canonical.encode(dict(metadata(), location=None)))
    yield case("location_besides", "metadata.location", "E3", "a member location, and location.json as well",
               metadata(location="here"), Draft(with_location=True))


def _dimensions():
    def sides(**members):
        return dict({"height": Number(HEIGHT), "width": Number(WIDTH)}, **members)

    for name, value, comment in (
            ("array", [Number(4), Number(3)], "an array"), ("string", "4x3", "a string"), ("false", False, "false"),
            ("empty", {}, "an object without members"), ("no_width", {"height": Number(3)}, "no width"),
            ("no_height", {"width": Number(4)}, "no height"),
            ("string_width", sides(width="4"), "the width is a string"),
            ("fraction", sides(width=Number("4.0")), "the width is 4.0"),
            ("exponent", sides(width=Number("4e0")), "the width is 4e0"),
            ("negative", sides(width=Number("-4")), "the width is -4"),
            ("negative_zero", sides(width=Number("-0")), "the width is -0"),
            ("true_width", sides(height=True), "the height is true"),
            ("null_width", sides(width=None), "the width is null")):
        yield case("dimensions_" + name, "metadata.value", "E2", "depth_map_dimensions: " + comment,
                   metadata(depth_map_dimensions=value))
    yield case("dimensions_null", "metadata.value", "E2", "depth_map_dimensions: null",
               canonical.encode(dict(metadata(False), depth_map_dimensions=None)))
    for name, value, comment in (
            ("width", sides(width=Number(5)), "the width differs"),
            ("height", sides(height=Number(4)), "the height differs"),
            ("swapped", {"height": Number(4), "width": Number(3)}, "width and height swapped, the same product"),
            ("zero", sides(width=Number(0)), "the width is 0"),
            ("great", sides(width=Number("18446744073709551620")), "the width is 2^64 + 4")):
        yield case("dimensions_differ_" + name, "metadata.dimensions", "E5", "depth_map_dimensions: " + comment,
                   metadata(depth_map_dimensions=value))
    yield case("dimensions_missing", "metadata.dimensions", "E5", "the manifest has depth, metadata no dimensions",
               metadata(False))
    yield case("dimensions_without_depth", "metadata.dimensions", "E5",
               "metadata has dimensions, the manifest no depth",
               metadata(True), Draft(with_depth=False))
