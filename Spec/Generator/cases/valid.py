"""valid: bundles that a verifier accepts."""

import hashlib
import struct

from bundle import signing, writer
from capbundle.format import assertion, canonical, depth
from capbundle.format.canonical import Number

from . import authorities, deflate, photos, trust_files
from .base import (APP_HASH, CONFIDENCE, FLOATS, PHONE_TRUST, Case, Draft, apple_draft, metadata, position,
                   trust_line, KEY)

CATEGORY = signing.text_string("apple_validation_category_01") + signing.byte_string(b"\3\0\0\0")
VERSION = signing.text_string("apple_bundle_version_01") + signing.text_string("1.4.2")


def case(name, covers, comment, data, **options):
    return Case("valid_" + name, "", covers, comment, data, **options)


def cases():
    yield case("minimal", "section 2, section 4.1, section 9", "photo, depth map and metadata under a disk key",
               Draft())
    yield case("no_depth", "section 4", "photo and metadata alone", Draft(with_depth=False))
    yield case("location", "section 7", "with a position", Draft(with_location=True))
    yield case("withheld_allowed", "section 8", "the position is withheld and that is allowed", withheld(),
               arguments="--allow-withheld")
    yield case("everything", "section 4.3, section 4.5", "all kinds of entries and a chain", everything(),
               arguments="--require photo,depth,metadata,location,confidence,source,chain")
    yield case("everything_by_name", "section 4.3, R2", "entries are required by their names", everything(),
               arguments="--require photo.jpg,depth.f32.gz,depth.f32,location.json,confidence.png,source/notes.txt")
    for name, samples, comment in (
            ("least", [0.05] * 12, "every sample is 0.05 m"),
            ("most", [100.0] * 12, "every sample is 100 m"),
            ("half_less_one", [0.01] * 3 + [1.0] * 2 + [101.0] * 3 + [-1.0, 0.0, float("inf"), float("nan")],
             "three of eight measured samples are too near and three too far; what is not measured does not count"),
            ("one", [2.0] + [0.0] * 11, "a single sample is measured")):
        yield case("plausible_" + name, "section 5.2, R2", comment, Draft().set_floats(*samples),
                   arguments="--require plausible")
    yield from _containers()
    yield from _depths()
    yield from _metadata()
    yield from _locations()
    yield from _assertions()
    yield from _trust()


def withheld():
    draft = Draft(with_location=True)
    draft.absent = {"location.json"}
    return draft


def everything():
    draft = Draft(with_location=True)
    draft.payload["confidence.png"] = CONFIDENCE
    draft.payload["source/capture.json"] = b'{ "kept" : "as it came" }\r\n'
    draft.payload["source/notes.txt"] = b""
    draft.chain = {"prev": "5a" * 32, "seq": 12}
    return draft


def _containers():
    draft = Draft()
    for path in ("source/0", "source/z" + "9" * 91, "source/com", "source/com10", "source/a..b",
                 "source/a.con", "source/null.txt", "source/lpt0-x_y"):
        draft.payload[path] = path.encode()
    yield case("source_paths", "section 3.4, C8", "paths at the border of the grammar, one of 99 bytes", draft)
    draft = Draft(with_depth=False)
    draft.payload["source/block"] = bytes(range(256)) * 2
    draft.payload["source/empty"] = b""
    draft.payload["source/over"] = bytes(513)
    yield case("block_sizes", "section 3.2", "entries of 0, 512 and 513 bytes, one of them of zeros", draft)
    draft = Draft(with_depth=False)
    draft.payload["source/inner.tar"] = Draft(with_depth=False).bytes()
    yield case("bundle_inside", "section 3.2", "an entry that is itself a bundle", draft)
    draft = Draft(with_depth=False)
    draft.payload["photo.jpg"] = b""
    yield case("photo_empty", "section 4.3", "a photo of 0 bytes: contents of photos are not judged", draft)
    for name, comment, draft in photos.drafts():
        yield case("photo_" + name, "section 4.3", "contents of photos are not judged: " + comment, draft)
    draft = Draft(with_depth=False)
    draft.payload["source/a"] = b"a"
    draft.manifest()["entries"][2]["media_type"] = "x" * 63 + "/" + "0.+-" + "y" * 59
    yield case("media_type", "section 4.3", "a media type of two tokens of 63 characters", draft)
    draft = Draft(with_depth=False)
    draft.chain = {"seq": 1}
    yield case("chain_first", "section 4.5", "the first link of a chain", draft, arguments="--require chain")
    draft = Draft(with_depth=False)
    draft.chain = {"prev": "00" * 32, "seq": 9007199254740991}
    yield case("chain_greatest", "section 4, section 4.5", "seq is 2^53 - 1, the greatest integer", draft)
    draft = Draft(with_location=True)
    draft.withholdable = set()
    yield case("location_not_withholdable", "section 4.3", "a position that may not be withheld", draft)
    draft = Draft()
    draft.withholdable = {"photo.jpg", "depth.f32.gz"}
    draft.absent = {"photo.jpg", "depth.f32.gz"}
    yield case("photo_withheld", "section 8", "photo and depth map are withheld and that is allowed", draft,
               arguments="--allow-withheld")
    yield case("entries_4096", "section 12, M6", "4096 entries, 4094 of them withheld", many_entries(4096),
               arguments="--allow-withheld")


def many_entries(count):
    """Returns a bundle whose manifest lists `count` entries; all but photo and metadata are withheld."""
    draft = Draft(with_depth=False)
    added = ["source/%04x" % index for index in range(count - len(draft.payload))]
    draft.payload.update((path, b"") for path in added)
    draft.withholdable = draft.absent = set(added)
    return draft


def _depths():
    draft = Draft()
    draft.depth["source"] = {"encoding": "mm-u16-be+custom.1", "invalid": "zero", "row_order": "bottom-first",
                             "scale": "0.001"}
    yield case("depth_source", "section 4.4", "floats made from another encoding", draft)
    draft = Draft()
    draft.depth["source"] = {"encoding": "png-u16", "invalid": "zero-or-max", "row_order": "top-first",
                             "scale": "0.001"}
    yield case("depth_source_highest", "section 4.4", "floats made from integers of which the highest means missing",
               draft)
    draft = Draft()
    draft.depth["source"] = {"encoding": "e" * 32, "invalid": "none", "row_order": "top-first",
                             "scale": "0000000001.00000000000000000001"}
    yield case("depth_source_longest", "section 4.4", "the longest encoding and scale", draft)
    floats = struct.pack("<11f", float("inf"), float("-inf"), -1.0, 0, 0, 0, 0, 0, 0, 0, 3.4e38) + b"\x01\0\x80\xff"
    draft = Draft()
    draft.payload["depth.f32.gz"] = writer.gzip_stored(floats)
    draft.depth = writer.describe_depth(floats, 4, 3)
    yield case("depth_values", "section 5", "infinite and negative floats and a signalling NaN", draft)
    draft = Draft()
    draft.payload["depth.f32.gz"] = writer.gzip_stored(FLOATS, xfl=2, system=3)
    yield case("depth_xfl_os", "section 5", "another XFL and OS in the gzip header", draft)
    draft = Draft()
    draft.payload["depth.f32.gz"] = recompressed()
    yield case("depth_recompressed", "section 4.6, section 5", "other deflate blocks: the id of valid_minimal", draft)
    draft = Draft()
    floats = bytes(4 * 16384)
    draft.payload["depth.f32.gz"] = writer.gzip_stored(floats)
    draft.depth = writer.describe_depth(floats, 16384, 1)
    sides = {"height": Number(1), "width": Number(16384)}
    yield case("depth_widest", "section 4.4, section 5", "a map of 16384 x 1, in two deflate blocks",
               draft.set_metadata(metadata(depth_map_dimensions=sides)))
    yield case("depth_limit", "section 4.3, M6", "empty deflate blocks up to the limit: 176 bytes for 48",
               depth_of_size(176))
    yield case("depth_limit_rounded", "section 4.3, M6", "the same for 508 bytes of floats: 637, not 637.98",
               depth_of_size(637, 127, 1))
    for name, comment, stream, raw in deflate.accepted():
        yield case("deflate_" + name, "section 5.1, D1", comment, depth_draft(stream, raw, len(raw) // 4, 1))


def depth_of_size(size, width=4, height=3):
    """Returns a bundle whose depth map is stored after so many empty blocks that its entry has this size."""
    floats = bytes(4 * width * height)
    stream = deflate.Stream()
    missing = size - len(writer.gzip_stored(floats))
    for _ in range(missing % 5):
        stream.empty().stored(b"")  # six bytes: ten bits, then three and the padding before the length
    for _ in range(missing // 5 - missing % 5):
        stream.stored(b"")
    return depth_draft(stream.stored(floats, final=True).bytes(), floats, width, height)


def depth_draft(stream, floats, width=4, height=3):
    draft = Draft()
    draft.payload["depth.f32.gz"] = depth.GZIP_START + b"\0\xff" + stream + writer.gzip_trailer(floats)
    draft.depth = writer.describe_depth(floats, width, height)
    sides = {"height": Number(height), "width": Number(width)}
    return draft.set_metadata(metadata(depth_map_dimensions=sides))


def recompressed():
    """Returns the floats in two stored blocks and an empty one, so that no zlib is needed to write them."""
    def block(data, final=False):
        return bytes((final,)) + struct.pack("<HH", len(data), len(data) ^ 0xFFFF) + data
    return (depth.GZIP_START + b"\0\xff" + block(FLOATS[:5]) + block(FLOATS[5:]) + block(b"", True)
            + writer.gzip_trailer(FLOATS))


def _metadata():
    fields = metadata(
        device_model="\u30ab\u30e1\u30e9 \u00e9 \U0001f4f7",
        unknown=[None, False, True, {"deep": [Number("1.50")]}, ""])
    fields.update({"\u20ac": "order", "\r": "cr", "\ufb33": "after the emoji", "\U0001f600": "two code units",
                   "1": "one", "\u0080": "control", "\u00f6": "o"})
    fields["text"] = "\"\\/\b\f\n\r\t\0\x1f\x7f\u2028\ufeff\uffff"
    yield case("metadata_unicode", "section 6", "names and strings beyond ASCII, UTF-16 order, all escapes",
               Draft().set_metadata(fields))
    twins = ["\u00e9", "e\u0301", "K", "\u212a", ";", "\u037e", "\u00c5", "A\u030a", "\u212b", "", "\0", "\u00df", "ss"]
    yield case("metadata_twins", "section 6", "names that Unicode calls equal are different names",
               Draft().set_metadata(metadata(**{name: name for name in twins})))
    numbers = ["0", "-0", "1.0", "1e3", "1E+400", "-1.5e-999", "1152921504606846976", "1" * 64, "0.10"]
    yield case("metadata_numbers", "section 6", "numbers keep the characters that they came with",
               Draft().set_metadata(metadata(numbers=[Number(text) for text in numbers])))
    inner = Number("1")
    for _ in range(31):
        inner = [inner]
    yield case("metadata_nesting", "section 6", "nesting of exactly 32", Draft().set_metadata(metadata(nested=inner)))
    inner = {}
    for _ in range(30):
        inner = {"": inner}
    yield case("metadata_nesting_empty", "section 6", "an empty object of nesting 32",
               Draft().set_metadata(metadata(nested=inner)))
    yield case("metadata_position", "section 6", "members that look like a position: a warning, not a fault",
               Draft().set_metadata(metadata(exif={"GPS": {"Lat_itude": Number("1")}}, coords=[])))
    for name, member in (("gps", "GPS-Img_Direction"), ("word", "my LatitudeE7"), ("lat_lng", "Lat_Lng"),
                         ("place", "place"), ("coordinate", "COORDINATE")):
        yield case("metadata_position_" + name, "section 6", "a member that looks like a position: a warning",
                   Draft().set_metadata(metadata(nested=[{member: None}])))
    yield case("metadata_position_not", "section 6", "members that do not look like a position: no warning",
               Draft().set_metadata(metadata(agps=Number("1"), lat_lon_alt=Number("2"), place_name="3", locations=[])))
    yield case("metadata_model_longest", "section 6", "device_model of 256 bytes in UTF-8",
               Draft().set_metadata(metadata(device_model="\u00e9" * 128)))
    yield case("metadata_model_no_break_space", "section 6",
               "device_model is one no-break space, which is no space here",
               Draft().set_metadata(metadata(device_model="\u00a0")))
    sides = {"height": Number(3), "pixel_aspect": Number("1.0"), "width": Number(4)}
    yield case("metadata_dimensions_more", "section 6", "another member in depth_map_dimensions is kept",
               Draft().set_metadata(metadata(depth_map_dimensions=sides)))
    for name, text, utc, comment in (
            ("no_fraction", "2026-03-14T08:26:53Z", "2026-03-14T08:26:53.000Z", "no fraction of a second"),
            ("cut", "2026-03-14T08:26:53.9999Z", "2026-03-14T08:26:53.999Z", "cut to milliseconds, not rounded"),
            ("nine_digits", "2026-12-31T23:59:59.999999999Z", "2026-12-31T23:59:59.999Z", "nine digits"),
            ("next_day", "2024-02-28T23:30:00.5-00:30", "2024-02-29T00:00:00.500Z", "the zone leads to a leap day"),
            ("year_before", "2026-01-01T00:10:00.001+14:00", "2025-12-31T10:10:00.001Z", "the year before in UTC"),
            ("plus_zero", "2026-03-14T08:26:53.1+00:00", "2026-03-14T08:26:53.100Z", "zone +00:00"),
            ("widest_zone", "2026-03-14T00:00:00-23:59", "2026-03-14T23:59:00.000Z", "zone -23:59"),
            ("first", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z", "the first moment"),
            ("last", "9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999Z", "the last moment"),
            ("year_1900", "1900-02-28T23:59:59.25Z", "1900-02-28T23:59:59.250Z", "a year that is no leap year"),
            ("year_2000", "2000-02-29T12:00:00Z", "2000-02-29T12:00:00.000Z", "the leap day of a leap century")):
        draft = Draft().set_metadata(metadata(captured_at=text))
        draft.time = utc
        yield case("time_" + name, "section 4.2, section 6", comment, draft)


def _locations():
    def located(fields):
        draft = Draft(with_location=True)
        draft.payload["location.json"] = writer.encode_location(fields)
        return draft

    bare = position(altitude=None, accuracy=None)
    yield case("location_bare", "section 7", "latitude and longitude alone", located(bare))
    yield case("location_null", "section 7", "altitude and accuracy are null, others flat",
               located(dict(position(), altitude=None, accuracy=None, heading=Number("1E400"), mocked=False,
                            moving=True, provider="gn\u00e9ss", floor=None)))
    yield case("location_limits", "section 7", "the south pole at the date line",
               located(position(latitude=Number("-90.0"), longitude=Number("18e1"), accuracy=Number("-0"))))
    for name, member, text, comment in (
            ("nearest", "latitude", "90.000000000000000000001", "a latitude whose nearest binary64 is 90"),
            ("tie", "latitude", "-90.00000000000000710542735760100185871124267578125", "a tie, which goes to -90"),
            ("tie_longitude", "longitude", "180.0000000000000142108547152020037174224853515625",
             "a tie, which goes to 180"),
            ("underflow", "accuracy", "-1e-400", "an accuracy whose nearest binary64 is -0"),
            ("greatest", "altitude", "1.797693134862315807e308", "an altitude that rounds to the greatest binary64"),
            ("zero_exponent", "altitude", "0e99999999999999999999", "an altitude of 0 with a great exponent")):
        yield case("location_" + name, "section 7", comment, located(position(**{member: Number(text)})))
    full = position(note="")
    full["note"] = "n" * (512 - len(canonical.encode(dict(full, pad=""))))
    yield case("location_pad_empty", "section 7", "no pad is needed", located(full))


def _assertions():
    phone = {"trust": PHONE_TRUST}
    yield case("apple", "section 9", "an assertion as a phone makes it", apple_draft(), **phone)
    yield case("apple_high_s", "section 9, A5", "an Apple key with s in the upper half", apple_draft(low_s=False),
               **phone)
    yield case("apple_map", "section 9, A3", "the map of iOS 27", apple_draft(b"\xa2" + CATEGORY + VERSION), **phone)
    yield case("apple_map_other_order", "section 9, A3", "the map of iOS 27, its members the other way round",
               apple_draft(b"\xa2" + VERSION + CATEGORY), **phone)
    yield case("apple_map_category", "section 9, A3", "the map of iOS 27 with one member",
               apple_draft(b"\xa1" + CATEGORY, low_s=False), **phone)
    yield case("apple_map_version", "section 9, A3", "the map of iOS 27 with the other member",
               apple_draft(b"\xa1" + VERSION), **phone)
    draft = apple_draft()
    draft.auth_data = signing.authenticator_data(0, APP_HASH, assertion.APPLE_FLAGS)
    yield case("apple_counter_zero", "section 9, A6", "an Apple key's counter may be 0", draft, **phone)
    draft = Draft()
    draft.auth_data = signing.authenticator_data(2 ** 32 - 1)
    yield case("counter_greatest", "section 9, A6", "the greatest counter", draft)
    draft, counter = Draft(), 1
    while len(assertion.parse(draft.sealed_assertion())[0]) > 69:
        counter += 1
        draft.assertion_bytes = None
        draft.auth_data = signing.authenticator_data(counter)
    yield case("der_short", "section 9, A2", "a signature of fewer than 70 bytes: r or s has a leading zero byte",
               draft)


def _trust():
    own = [("# comment", "a comment"), ("", "an empty line"), (" \t ", "a line of spaces and tabs")]
    for index, (line, comment) in enumerate(own):
        yield case("trust_%s" % ("comment", "empty", "blank")[index], "section 10", comment + " in the trust file",
                   Draft(), trust=(line, trust_line(KEY)))
    for name, comment, data in trust_files.accepted():
        yield case("trust_" + name, "section 10", comment, Draft(), trust=data)
    for name, comment, lines in authorities.accepted():
        yield case("trust_" + name, "section 10", comment, Draft(), trust=lines)
    for level in ("token", "tpm"):
        yield case("trust_level_" + level, "section 10, T1", "level is %s, the key a disk key" % level, Draft(),
                   trust=trust_line(KEY, options="level=" + level))
    yield case("trust_separators", "section 10", "runs of spaces and tabs", Draft(),
               trust=trust_line(KEY).replace(" ", " \t  "))
    yield case("trust_options", "section 10, T3, T4", "all options of a disk key", Draft(),
               trust=trust_line(KEY, "a.b_c@d+e-f", "valid-before=2026-03-14T08:26:53.590Z,level=software,"
                                "valid-after=2026-03-14T09:26:53.589+01:00"))
    yield case("trust_day", "section 10, T3, T4", "dates mean their first moment in UTC", Draft(),
               trust=trust_line(KEY, options="valid-after=2026-03-14,valid-before=2026-03-15"))
    yield case("trust_second_line", "section 10", "the first line that accepts decides", Draft(),
               trust=(trust_line(KEY, "old", "valid-before=2026-01-01"), trust_line(KEY, "new")))
    yield case("trust_rpid_comma", "section 10", "a comma, a sharp and an equals sign within rpid", _comma(),
               trust=trust_line(KEY, "x", 'rpid="a,revoked#=",level=apple-appattest'))
    yield case("trust_name_longest", "section 10", "a name of 64 characters", Draft(), trust=trust_line(KEY, "n" * 64))
    yield case("trust_name_p256", "section 10", "a device named p256", Draft(), trust=trust_line(KEY, "p256"))


def _comma():
    draft = Draft()
    draft.auth_data = signing.authenticator_data(1, hashlib.sha256(b"a,revoked#=").digest(), assertion.APPLE_FLAGS)
    return draft
