"""location: L1 and L2. Every location.json here has 512 bytes, as the manifest demands."""

from bundle import writer
from capbundle.format import canonical, location
from capbundle.format.canonical import Number

from .base import Case, Draft, position

PLAIN = writer.encode_location(position())


def case(name, code, covers, comment, data):
    if len(data) != location.LOCATION_SIZE:
        raise ValueError("%s has %d bytes" % (name, len(data)))
    draft = Draft(with_location=True)
    draft.payload["location.json"] = data
    return Case("location_" + name, "location." + code, covers, comment, draft)


def cases():
    yield from _canonical()
    yield from _value()


def refilled(data):
    """Returns damaged JSON text with a longer or shorter pad, so that it has 512 bytes again."""
    mark = b'"pad":"'
    at = data.index(mark) + len(mark)
    more = location.LOCATION_SIZE - len(data)
    return data[:at] + b"0" * more + data[at:] if more >= 0 else data[:at] + data[at - more:]


def _canonical():
    def one(name, comment, data):
        return case("canonical_" + name, "canonical", "L1", comment, data)

    def text(old, new):
        if old not in PLAIN:
            raise ValueError(old)
        return refilled(PLAIN.replace(old, new, 1))

    yield one("zeros", "512 zero bytes", bytes(512))
    yield one("spaces_end", "padded with spaces after the object", refilled(PLAIN + b"   "))
    yield one("newline_end", "a newline after the object", refilled(PLAIN + b"\n"))
    yield one("bom", "a byte order mark", refilled(b"\xef\xbb\xbf" + PLAIN))
    yield one("space", "a space after a colon", text(b'"latitude":', b'"latitude": '))
    yield one("order", "longitude before latitude",
              text(b'"latitude":59.3293,"longitude":18.0686', b'"longitude":18.0686,"latitude":59.3293'))
    yield one("duplicate", "latitude twice", text(b'"latitude":', b'"latitude":0,"latitude":'))
    yield one("escape", "an escape that is not needed", text(b'"latitude"', b'"l\\u0061titude"'))
    yield one("leading_zero", "a latitude of 059", text(b":59.3293", b":059.3293"))
    yield one("plus", "a latitude with a plus sign", text(b":59.3293", b":+59.3293"))
    yield one("nan", "a latitude of NaN", text(b":59.3293", b":NaN"))
    yield one("number_65", "a latitude of 65 characters", text(b":59.3293", b":59." + b"3" * 62))
    yield one("not_utf8", "a byte that is no UTF-8", text(b'"pad"', b'"note":"\xff","pad"'))
    yield one("unclosed", "the last brace is missing", refilled(PLAIN[:-1]))
    yield one("nesting_33", "nesting of 33",
              text(b'"pad"', b'"note":' + b"[" * 32 + b"]" * 32 + b',"pad"'))
    yield one("nesting", "nesting of 101", text(b'"pad"', b'"note":' + b"[" * 100 + b"]" * 100 + b',"pad"'))


def _value():
    def one(name, comment, fields):
        return case("value_" + name, "value", "L2", comment, writer.encode_location(fields))

    for name in ("latitude", "longitude"):
        yield one("no_" + name, "no " + name, position(**{name: None}))
    for name, member, value, comment in (
            ("latitude_91", "latitude", Number("91"), "latitude 91"),
            ("latitude_above", "latitude", Number("90.00000000000002"), "latitude of the binary64 after 90"),
            ("latitude_below", "latitude", Number("-90.0001"), "latitude -90.0001"),
            ("latitude_string", "latitude", "59.3293", "latitude is a string"),
            ("latitude_nan", "latitude", "NaN", "latitude is the string NaN"),
            ("latitude_true", "latitude", True, "latitude is true"),
            ("latitude_overflow", "latitude", Number("1E400"), "latitude 1E400, infinite as binary64"),
            ("latitude_nested", "latitude", [Number("59.3293")], "latitude is an array"),
            ("longitude_181", "longitude", Number("181"), "longitude 181"),
            ("longitude_360", "longitude", Number("-180.5"), "longitude -180.5"),
            ("longitude_exponent", "longitude", Number("1.801e2"), "longitude 1.801e2"),
            ("longitude_overflow", "longitude", Number("-1e999"), "longitude -1e999, infinite as binary64"),
            ("altitude_string", "altitude", "35", "altitude is a string"),
            ("altitude_overflow", "altitude", Number("1E400"), "altitude 1E400, infinite as binary64"),
            ("altitude_false", "altitude", False, "altitude is false"),
            ("accuracy_negative", "accuracy", Number("-1"), "accuracy -1"),
            ("accuracy_string", "accuracy", "", "accuracy is an empty string"),
            ("accuracy_overflow", "accuracy", Number("9e999"), "accuracy 9e999, infinite as binary64"),
            ("latitude_above_tie", "latitude", Number("90.00000000000000710542735760100185871124267578126"),
             "latitude just above the tie between 90 and the next binary64"),
            ("longitude_above_tie", "longitude", Number("-180.0000000000000142108547152020037174224853515626"),
             "longitude just beyond the tie between -180 and the next binary64"),
            ("altitude_rounds_up", "altitude", Number("1.797693134862315808e308"),
             "altitude rounds to infinity as binary64"),
            ("accuracy_least", "accuracy", Number("-2.4703282292062328e-324"),
             "accuracy rounds to the binary64 next to 0"),
            ("salt_short", "salt", "ab" * 31, "a salt of 62 digits"),
            ("salt_long", "salt", "ab" * 33, "a salt of 66 digits"),
            ("salt_upper", "salt", "AB" * 32, "a salt in upper case"), ("salt_empty", "salt", "", "an empty salt"),
            ("salt_letter", "salt", "ab" * 31 + "zz", "a salt with letters that are no hex"),
            ("salt_number", "salt", Number("1" * 64), "a salt that is a number of 64 digits"),
            ("nested_object", "place", {"name": "x"}, "another member is an object"),
            ("nested_array", "place", [], "another member is an empty array")):
        yield one(name, comment, position(**{member: value}))
    inner = []
    for _ in range(30):
        inner = [inner]
    yield one("nesting_32", "another member has a nesting of 32", position(note=inner))
    for name in ("latitude", "longitude"):
        yield one(name + "_null", name + " is null", dict(position(), **{name: None}))
    fields = position()
    del fields["salt"]
    yield one("no_salt", "no salt", fields)
    yield one("salt_null", "the salt is null", dict(position(), salt=None))
    size = location.LOCATION_SIZE
    for name, pad, comment in (("space", " ", "spaces"), ("ones", "1", "ones"), ("letter", "O", "letters O")):
        yield case("value_pad_" + name, "value", "L2", "a pad of " + comment,
                   PLAIN.replace(b"000000", 6 * pad.encode(), 1))
    full = position(note="")
    full["note"] = "n" * (size - len(canonical.encode(full)))
    yield case("value_no_pad", "value", "L2", "no pad; another member fills the 512 bytes", canonical.encode(full))
    full = dict(position(note=""), pad=Number(0))
    full["note"] = "n" * (size - len(canonical.encode(full)))
    yield case("value_pad_number", "value", "L2", "the pad is the number 0", canonical.encode(full))
    full = [position(), ""]
    full[1] = "0" * (size - len(canonical.encode(full)))
    yield case("value_array", "value", "L2", "an array, not an object", canonical.encode(full))
