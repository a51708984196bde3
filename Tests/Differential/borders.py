"""Values at the borders of the rules, from which the mutations choose."""
import copy

from capbundle.format.canonical import Number

NUMBERS = ("0", "-0", "1", "-1", "3", "4", "12", "512", "16384", "16385", "4294967295", "4294967296", "8589934591",
           "8589934592", "9007199254740991", "9007199254740992", "9007199254740993", "9223372036854775807",
           "9223372036854775808", "18446744073709551616", "1" * 64, "1" * 65, "0." + "0" * 61 + "1",
           "0." + "0" * 62 + "1", "-" + "9" * 63, "-" + "9" * 64, "1.0", "4.0", "1e0", "1E0", "1e+0", "1e-0", "3e0",
           "1e400", "-1e400", "1E+400", "1e-400", "-1e-400", "1e308", "1.7976931348623157e308",
           "1.7976931348623158e308", "1.7976931348623159e308", "4.9e-324", "2.4703282292062327e-324",
           "2.4703282292062328e-324", "-4.9e-324", "-0.0", "-0e9", "0.1", "0.30000000000000004", "89.99999999999999",
           "90", "-90", "90.0", "90.00000000000000000000000001", "90.000000000000007", "90.00000000000001", "9e1",
           "900e-1", "180", "-180", "180.00000000000001", "180.00000000000002", "180.0000000000000000001",
           "1e999999999999999999", "1e-999999999999999999", "0e999999999999999999999999", "-1e-999999999999999999999",
           "35", "4.75", "01", "+1", ".5", "1.", "1e", "1e+", "-", "--1", "0x10", "1_000", "1 ", "NaN", "Infinity",
           "-Infinity", "00", "-01", "1.e1")

STRINGS = ("", " ", "  ", "\t", "\n", "\x0b\x0c\r", "\x1c", "\x1f", "\x7f", "\x80", "\x85", "\u00a0", "\u2028",
           "\u2029", "\u3000", "\ufeff", "\uffff", "\ufffe", "\ufffd", "\U0001f600", "\U0010ffff", "\ud7ff", "\ue000",
           "\ufb33", "\u00e9", "e\u0301", "\u212a", "K", "\u037e", ";", "\u1fef", "`", "\u00c5", "\u212b", "A\u030a",
           "\u0130", "\u0131", "\ufb01", "\u1e9e", "\u00df", "\0", "a\0b", "\"", "\\", "/", "\b", "\f", "\r", "\r\n",
           "</script>", "\x1b[31m", "\u202e", "a" * 255, "a" * 256, "a" * 257, "\u00e9" * 128, "\u00e9" * 128 + "x",
           "nan", "true", "null", "float32-le", "m", "mm", "zero", "none", "nan-or-zero", "zero-or-max", "top-first", "bottom-first",
           "a" * 31, "a" * 32, "a" * 33, "A", "a.b+c-d", "-a", "a\u0301", "0", "1", "0000000001", "00000000001",
           "1.00000000000000000001", "1.000000000000000000001", "1.", ".1", "1e3", "-1", "+1", "1,0", "image/jpeg",
           "image/png", "application/gzip", "application/json", "a/b", "a/", "/b", "a/b/c", "a" * 63 + "/" + "b" * 63,
           "a" * 64 + "/b", "a/" + "b" * 64, "a b/c", "text/plain; charset=utf-8", "*/*", "a/b\n", "photo", "depth",
           "metadata", "location", "confidence", "source", "Photo", "0" * 63, "0" * 64, "0" * 65, "f" * 64, "F" * 64,
           "g" * 64, "\uff10" * 64, "\u0660" * 64)

NAMES = ("", "a", "b", "captured_at", "chain", "depth", "device", "entries", "id", "version", "media_type", "path",
         "role", "sha256", "size", "withholdable", "encoding", "height", "source", "unit", "width", "invalid",
         "row_order", "scale", "prev", "seq", "device_model", "depth_map_dimensions", "location", "Location",
         "latitude", "longitude", "altitude", "accuracy", "salt", "pad", "lat", "L-A_T", "gps", "GPS", "coords",
         "_" * 62 + "lat", "\u00e9", "e\u0301", "K", "\u212a", "\u037e", ";", "\ufb33", "\U0001f600", "\ue000",
         "\uffff", "\x7f", "\x80", "\0", "\"", "\\", "~", "zz", "captured_at\u0301", "caf\u00e9", "cafe\u0301")

PATHS = (b"photo.jpg", b"photo.JPG", b"depth.f32.gz", b"metadata.json", b"location.json", b"confidence.png",
         b"mimetype", b"manifest.json", b"assertion.cbor", b"source/a", b"source/b", b"source/z", b"source/a.",
         b"source/a..", b"source/.a", b"source/-a", b"source/_a", b"source/a/b", b"source/", b"source", b"source//a",
         b"source/A", b"source/con", b"source/con.txt", b"source/com0", b"source/com10", b"source/lpt9.x",
         b"source/nul", b"source/aux..b", b"source/conx", b"source/prn-a", b"source/clock$", b"source/" + b"a" * 92,
         b"source/" + b"a" * 93, b"source/a b", b"source/a\xc3\xa9", b"source/a\xff", b"source/e\xcc\x81",
         b"source/a\n", b"source/a\x1b", b"../photo.jpg", b"/photo.jpg", b"./photo.jpg", b"ext/a", b"ext/",
         b"thumbnail.jpg", b"photo.jpg/", b"photo.jpg ", b"C:\\x", b"source\\a", b"a", b"", b"source/..", b"source/...",
         b"source/0", b"source/~", b"source/a~1", b"source/a:b", b"source/photo.jpg")

TIMES = ("2026-03-14T08:26:53.589Z", "2026-03-14T08:26:53.589793Z", "2026-03-14T09:26:53.589793+01:00",
         "2026-03-14T08:26:53Z", "2026-03-14T08:26:53.5Z", "2026-03-14T08:26:53.999999999Z",
         "2026-03-14T08:26:53.9999999999Z", "2026-03-14T08:26:53.Z", "2026-03-14T08:26:60Z", "2016-12-31T23:59:60Z",
         "2026-03-14T24:00:00Z", "2026-02-29T00:00:00Z", "2024-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
         "2000-02-29T00:00:00Z", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+00:01",
         "0001-01-01T00:00:00-23:59", "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999999999Z",
         "9999-12-31T23:59:59.999-00:01", "9999-12-31T23:59:59+23:59", "10000-01-01T00:00:00Z",
         "2026-03-14T08:26:53-00:00", "2026-03-14T08:26:53+00:00", "2026-03-14T08:26:53+24:00",
         "2026-03-14T08:26:53+23:60", "2026-03-14T08:26:53-23:59", "2026-03-14t08:26:53Z", "2026-03-14T08:26:53z",
         "2026-03-14 08:26:53Z", "2026-03-14T08:26:53", "2026-03-14", "2026-3-14T08:26:53Z", "2026-13-14T08:26:53Z",
         "2026-00-14T08:26:53Z", "2026-03-00T08:26:53Z", "2026-04-31T08:26:53Z", "+2026-03-14T08:26:53Z",
         "-001-03-14T08:26:53Z", "2026-03-14T08:26:53.589+0100", "2026-03-14T08:26:53,589Z",
         "2026-03-14T08:26:53.589Z\n", " 2026-03-14T08:26:53.589Z", "2026-03-14T08:26:53.58\u0669Z",
         "\uff12026-03-14T08:26:53.589Z", "2026-03-14T08:26:53.589+01:00Z", "2026-03-14T08:26:53.589\u221201:00",
         "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00Z", "0001-01-01T00:00:00.0001Z", "2026-03-14T23:59:59.9999Z",
         "2026-12-31T23:59:59.9999999Z")

# Lengths of contents. Readers read pieces of 65536 bytes.
LENGTHS = (0, 1, 175, 511, 512, 513, 1024, 4097, 65024, 65535, 65536, 65537, 131072)
SIZES = (0, 1, 24, 175, 511, 512, 513, 1024, 4096, 4097, 1048576, 1048577, 8**11 - 1)
NESTINGS = (1, 2, 6, 7, 8, 9, 29, 30, 31, 32, 33, 64)
# Values of the manifest's member `chain`.
CHAINS = ({"seq": 1}, {"prev": "5a" * 32, "seq": 2}, {"seq": 2}, {"prev": "5a" * 32, "seq": 1}, {"seq": 0}, {},
          {"prev": "5a" * 32, "seq": 9007199254740991}, {"prev": "5A" * 32, "seq": 2}, {"prev": "5a" * 32},
          {"prev": "", "seq": 2}, {"seq": Number("1.0")}, {"seq": Number("9007199254740992"), "prev": "5a" * 32})


def swap(rng, items):
    """Exchanges two items of a list."""
    one, other = rng.randrange(len(items)), rng.randrange(len(items))
    items[one], items[other] = items[other], items[one]


def other(rng):
    """Returns a new value that is neither a number nor a text."""
    return rng.choice((True, False, None, [], {}))


def drop(rng, items):
    if len(items) > 1:
        items.pop(rng.randrange(len(items)))


def double(rng, items):
    items.insert(rng.randrange(len(items) + 1), copy.copy(rng.choice(items)))


CHANGES = (swap, drop, double)  # of the pieces in a list
