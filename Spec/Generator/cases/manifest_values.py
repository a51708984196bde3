"""manifest: values of another type, pattern or range (M4), and the functions that change manifests for all vectors."""

from capbundle.format import base64_strict

from .base import KEY, Case, Draft

DEPTH_INDEX, METADATA_INDEX, PHOTO_INDEX = 0, 1, 2  # indexes of the base bundle's entries


def case(name, code, covers, comment, data, **options):
    return Case("manifest_" + name, "manifest." + code, covers, comment, data, **options)


def changed(change, draft=None):
    """Returns a bundle after change(members); the id is computed again if possible."""
    draft = draft or Draft()
    fields = draft.manifest()
    before = fields["id"]
    change(fields)
    if fields.get("id") == before:
        try:
            draft.rename_id()
        except (KeyError, TypeError, AttributeError):
            pass  # the changed members have no id to compute
    return draft


def assigned(path, value, draft=None):
    """Returns a bundle with one member of the manifest set; the path consists of names and indexes."""
    def change(fields):
        target = fields
        for step in path[:-1]:
            target = target[step]
        target[path[-1]] = value
    return changed(change, draft)


def removed(path, draft=None):
    def change(fields):
        target = fields
        for step in path[:-1]:
            target = target[step]
        del target[path[-1]]
    return changed(change, draft)


def values():
    def one(name, path, value, comment):
        return case("value_" + name, "value", "M4", comment, assigned(path, value))

    for name, value, comment in (
            ("type", 1773476813, "captured_at is a number"), ("empty", "", "captured_at is empty"),
            ("no_fraction", "2026-03-14T08:26:53Z", "no fraction of a second"),
            ("two_digits", "2026-03-14T08:26:53.58Z", "two digits of a second"),
            ("micro", "2026-03-14T08:26:53.589793Z", "six digits of a second"),
            ("comma", "2026-03-14T08:26:53,589Z", "a comma before the fraction"),
            ("zone", "2026-03-14T08:26:53.589+00:00", "zone +00:00, not Z"),
            ("lower", "2026-03-14t08:26:53.589z", "lower-case letters"),
            ("space", "2026-03-14 08:26:53.589Z", "a space, not T"),
            ("leap_second", "2016-12-31T23:59:60.000Z", "a leap second"),
            ("hour_24", "2026-03-14T24:00:00.000Z", "hour 24"), ("minute_60", "2026-03-14T08:60:00.000Z", "minute 60"),
            ("day_30", "2026-02-30T08:26:53.589Z", "30 February"),
            ("leap_day", "2026-02-29T08:26:53.589Z", "a leap day in a year without"),
            ("leap_day_1900", "1900-02-29T08:26:53.589Z", "a leap day in 1900"),
            ("month_13", "2026-13-14T08:26:53.589Z", "month 13"), ("month_0", "2026-00-14T08:26:53.589Z", "month 0"),
            ("day_0", "2026-03-00T08:26:53.589Z", "day 0"), ("year_0", "0000-03-14T08:26:53.589Z", "year 0000"),
            ("year_10000", "10000-03-14T08:26:53.589Z", "year 10000")):
        yield one("time_" + name, ["captured_at"], value, "captured_at: " + comment)
    yield one("device_type", ["device"], True, "device is true")
    encoded = base64_strict.encode(KEY.point)
    for name, value, comment in (
            ("no_padding", encoded.rstrip("="), "without padding"),
            ("unused_bits", encoded[:-2] + chr(ord(encoded[-2]) + 1) + "=", "with an unused bit that is not zero"),
            ("url", "-" + encoded[1:], "with a letter of base64url"), ("space", encoded + " ", "with a space after it"),
            ("hex", KEY.point.hex() + "*", "in hex and more"),
            ("more_padding", encoded + "=", "with too much padding")):
        yield one("device_" + name, ["device"], value, "the base64 of device " + comment)
    yield one("id_type", ["id"], 1, "id is a number")
    yield one("entries_type", ["entries"], {}, "entries is an object")
    yield one("entry_type", ["entries", 0], "photo.jpg", "an entry is a string")
    for name in ("media_type", "path", "role"):
        yield one("entry_%s_type" % name, ["entries", PHOTO_INDEX, name], 1, "%s of an entry is a number" % name)
    photo = ["entries", PHOTO_INDEX]
    hash_hex = Draft().manifest()["entries"][PHOTO_INDEX]["sha256"]
    for name, value, comment in (("upper", hash_hex.upper(), "in upper case"), ("short", hash_hex[:-1], "of 63 digits"),
                                 ("long", hash_hex + "0", "of 65 digits"), ("letter", hash_hex[:-1] + "g", "with a g"),
                                 ("prefix", "sha256:" + hash_hex[7:], "with a prefix"), ("type", 0, "as a number")):
        yield one("sha256_" + name, photo + ["sha256"], value, "sha256 of an entry " + comment)
    yield one("size_string", photo + ["size"], "175", "size of an entry is a string")
    yield one("size_true", photo + ["size"], True, "size of an entry is true")
    yield one("withholdable_1", photo + ["withholdable"], 1, "withholdable is 1")
    yield one("withholdable_string", photo + ["withholdable"], "true", "withholdable is a string")
    located = Draft(with_location=True)
    located.payload["location.json"] = located.payload["location.json"].replace(b'"0', b'"', 1)
    yield case("value_location_511", "value", "M4", "a position of 511 bytes", located)
    yield from _depth_values(one)
    for name, chain, comment in (
            ("chain_type", [1], "chain is an array"), ("chain_seq_string", {"seq": "1"}, "seq is a string"),
            ("chain_seq_true", {"seq": True}, "seq is true"),
            ("chain_prev_upper", {"prev": "AB" * 32, "seq": 2}, "prev in upper case"),
            ("chain_prev_empty", {"prev": "", "seq": 2}, "prev is empty"),
            ("chain_prev_type", {"prev": 0, "seq": 2}, "prev is a number")):
        chained = Draft(with_depth=False)
        chained.chain = chain
        yield case("value_" + name, "value", "M4", comment, chained)


def _depth_values(one):
    yield one("depth_type", ["depth"], "float32-le", "depth is a string")
    yield one("depth_encoding", ["depth", "encoding"], "float16-le", "depth encoding float16-le")
    yield one("depth_unit", ["depth", "unit"], "mm", "depth unit mm")
    yield one("depth_sha256", ["depth", "sha256"], "00" * 31, "depth sha256 of 62 digits")
    for side in ("width", "height"):
        yield one("depth_%s_0" % side, ["depth", side], 0, "a depth map of %s 0" % side)
        yield one("depth_%s_16385" % side, ["depth", side], 16385, "a depth map of %s 16385" % side)
        yield one("depth_%s_string" % side, ["depth", side], "4", "%s is a string" % side)
    yield one("depth_side_overflow", ["depth", "width"], 2 ** 53 - 1, "a width whose product with the height overflows")
    source = ["depth", "source"]
    yield one("depth_source_type", source, "float32-le", "depth source is a string")
    for name, value, comment in (
            ("encoding_empty", "", "is empty"), ("encoding_33", "e" * 33, "has 33 characters"),
            ("encoding_upper", "Float32", "has an upper-case letter"),
            ("encoding_first", "-float", "begins with a hyphen"),
            ("encoding_type", 32, "is a number")):
        yield one("depth_source_" + name, source + ["encoding"], value, "depth source encoding " + comment)
    yield one("depth_source_invalid", source + ["invalid"], "negative", "depth source invalid is negative")
    yield one("depth_source_invalid_type", source + ["invalid"], 0, "depth source invalid is a number")
    yield one("depth_source_row_order", source + ["row_order"], "left-first", "depth source row_order is left-first")
    for name, value, comment in (
            ("number", 1, "is a number"), ("empty", "", "is empty"), ("exponent", "1e-3", "has an exponent"),
            ("sign", "-1", "is negative"), ("point_first", ".001", "begins with the point"),
            ("point_last", "1.", "ends with the point"), ("eleven", "1" * 11, "has eleven digits before the point"),
            ("fraction", "0." + "1" * 21, "has 21 digits after the point"), ("comma", "0,001", "has a comma")):
        yield one("depth_source_scale_" + name, source + ["scale"], value, "depth source scale " + comment)
