"""manifest: M1 to M9. Ids and signatures are computed after the damage, so they match it."""

import copy

from capbundle.format import base64_strict, canonical, p256
from capbundle.format.manifest import compute_id

from .base import CONFIDENCE, KEY, OTHER_KEY, Draft
from .manifest_values import DEPTH_INDEX, METADATA_INDEX, PHOTO_INDEX, assigned, case, changed, removed, values
from .valid import depth_of_size, many_entries


def raw(data):
    """Returns a bundle signed over these manifest bytes."""
    draft = Draft()
    draft.manifest_bytes = data
    return draft


PLAIN = Draft().sealed_manifest()


def cases():
    yield from _canonical()
    yield from _version()
    yield from _keys()
    yield from values()
    yield from _device()
    yield from _limits()
    yield from _entries()
    yield from _chain()
    yield from _id()


def _canonical():
    def one(name, comment, data):
        return case("canonical_" + name, "canonical", "M1", comment, raw(data))

    def text(old, new):
        if old not in PLAIN:
            raise ValueError(old)
        return PLAIN.replace(old, new, 1)

    time = b'"captured_at":"2026'
    yield one("empty", "a manifest of 0 bytes", b"")
    yield one("bom", "a byte order mark before the object", b"\xef\xbb\xbf" + PLAIN)
    yield one("utf16", "the manifest in UTF-16", PLAIN.decode().encode("utf-16-le"))
    yield one("newline_end", "a newline after the object", PLAIN + b"\n")
    yield one("crlf_end", "CR and LF after the object", PLAIN + b"\r\n")
    yield one("nul_end", "a NUL after the object", PLAIN + b"\0")
    yield one("second_object", "a second object", PLAIN + b"{}")
    yield one("space_first", "a space before the object", b" " + PLAIN)
    yield one("space_colon", "a space after a colon", text(b'"id":', b'"id": '))
    yield one("space_comma", "a space after a comma", text(b',"entries"', b', "entries"'))
    yield one("indented", "line ends and indentation", text(b"{", b"{\n  "))
    yield one("comment", "a comment", text(b'"version"', b'/**/"version"'))
    yield one("order", "version before captured_at",
              b'{"version":1,' + PLAIN[1:].replace(b',"version":1', b""))
    yield one("order_entry", "members of an entry out of order",
              text(b'"media_type":"image/jpeg","path":"photo.jpg"', b'"path":"photo.jpg","media_type":"image/jpeg"'))
    yield one("escape_name", "a letter of a name as an escape", text(b'"captured_at"', b'"c\\u0061ptured_at"'))
    yield one("escape_value", "a letter of a value as an escape", text(b'"photo.jpg"', b'"\\u0070hoto.jpg"'))
    yield one("escape_slash", "an escaped slash", text(b"image/jpeg", b"image\\/jpeg"))
    yield one("escape_newline", "an escaped newline in a value", text(b"photo.jpg", b"photo.jpg\\n"))
    yield one("escape_surrogate", "a lone surrogate as an escape", text(time, b'"captured_at":"\\ud8002026'))
    yield one("duplicate", "version twice", text(b'"version":1', b'"version":1,"version":1'))
    yield one("duplicate_other", "id twice with other values", text(b'"id":', b'"id":"","id":'))
    yield one("duplicate_entry", "path of an entry twice",
              text(b'"path":"photo.jpg"', b'"path":"x","path":"photo.jpg"'))
    for name, number, comment in (
            ("fraction", b"1.0", "version 1.0"), ("exponent", b"1e0", "version 1e0"), ("negative", b"-1", "version -1"),
            ("negative_zero", b"-0", "version -0"), ("leading_zero", b"01", "version 01"),
            ("plus", b"+1", "version +1"),
            ("nan", b"NaN", "version NaN"), ("hex", b"0x1", "version 0x1"), ("null", b"null", "version null"),
            ("false", b"false", "version false"), ("missing_value", b"", "version without a value"),
            ("too_great", b"9007199254740992", "version 2^53"), ("two_60", b"1152921504606846976", "version 2^60"),
            ("true_upper", b"True", "version True"), ("single_quotes", b"'1'", "version in single quotes")):
        yield one(name, comment, text(b'"version":1', b'"version":' + number))
    yield one("size_fraction", "a size of 175.0", text(b'"size":175', b'"size":175.0'))
    yield one("size_exponent", "a size of 1e3", text(b'"size":175', b'"size":1e3'))
    yield one("null_member", "chain is null", text(b'"depth":', b'"chain":null,"depth":'))
    yield one("withholdable_false", "withholdable is false", text(b'"size":175', b'"size":175,"withholdable":false'))
    yield one("not_ascii", "a letter beyond ASCII in a value", text(time, '"captured_at":"\u00e92026'.encode()))
    yield one("not_utf8", "a byte that is no UTF-8", text(time, b'"captured_at":"\xff2026'))
    yield one("control", "a newline within a string", text(time, b'"captured_at":"\n2026'))
    yield one("delete", "U+007F within a string", text(time, b'"captured_at":"\x7f2026'))
    yield one("trailing_comma", "a comma after the last member", PLAIN[:-1] + b",}")
    yield one("trailing_comma_array", "a comma after the last entry", text(b'],"id"', b',],"id"'))
    yield one("unclosed", "the last brace is missing", PLAIN[:-1])
    yield one("unclosed_string", "a string that does not end", b'{"captured_at":"' + b"a" * 2000)
    yield one("array", "an array, not an object", b"[" + PLAIN + b"]")
    yield one("string", "a string, not an object", canonical.encode("manifest"))
    yield one("nesting_9", "nesting of 9", text(b'"version":1', b'"version":1,"x":' + b"[" * 8 + b"]" * 8))
    yield one("nesting_10000", "nesting of 10000 arrays", b"[" * 10000 + b"]" * 10000)
    yield one("nesting_objects", "nesting of 5000 objects", b'{"a":' * 5000 + b"1" + b"}" * 5000)
    yield one("nesting_open", "20000 brackets that nothing closes", b"[" * 20000)


def _version():
    for name, value, comment in (
            ("2", 2, "version 2"), ("0", 0, "version 0"), ("string", "1", "version is the string 1"),
            ("true", True, "version is true"), ("array", [1], "version is an array"),
            ("greatest", 2 ** 53 - 1, "version is 2^53 - 1")):
        yield case("version_" + name, "version", "M2", comment, assigned(["version"], value))
    yield case("version_only", "version", "M2", "an object with version 2 and no other member", raw(b'{"version":2}'))
    yield case("version_before_keys", "version", "M2", "version 2 and a member that version 1 does not know",
               changed(lambda fields: fields.update(version=2, hash="sha512")))


def _keys():
    chained = Draft(with_depth=False)
    chained.chain = {"seq": 1}
    for name, path, comment in (
            ("top", ["algorithm"], "the manifest"), ("entry", ["entries", 0, "offset"], "an entry"),
            ("depth", ["depth", "format"], "depth"), ("source", ["depth", "source", "note"], "depth.source")):
        yield case("key_unknown_" + name, "key", "M3", "an unknown member of " + comment, assigned(path, "x"))
    yield case("key_unknown_chain", "key", "M3", "an unknown member of chain",
               assigned(["chain", "note"], "x", copy.deepcopy(chained)))
    yield case("key_case", "key", "M3", "a member named Chain", assigned(["Chain"], {"seq": 1}))
    yield case("key_nesting_8", "key", "M3", "an unknown member with nesting of 8, which is canonical",
               assigned(["x"], [[[[[[[]]]]]]]))
    yield case("key_empty_name", "key", "M3", "a member with an empty name", assigned([""], True))
    yield case("key_empty_object", "key", "M3", "an object without members", raw(b"{}"))
    for name in ("captured_at", "device", "entries", "id", "version"):
        yield case("key_missing_" + name, "key", "M3", "no " + name, removed([name]))
    for name in ("media_type", "path", "role", "sha256", "size"):
        yield case("key_missing_entry_" + name, "key", "M3", "no %s of the photo" % name,
                   removed(["entries", PHOTO_INDEX, name]))
    for name in ("encoding", "height", "sha256", "source", "unit", "width"):
        yield case("key_missing_depth_" + name, "key", "M3", "no %s of depth" % name, removed(["depth", name]))
    for name in ("encoding", "invalid", "row_order", "scale"):
        yield case("key_missing_source_" + name, "key", "M3", "no %s of depth.source" % name,
                   removed(["depth", "source", name]))
    chained = copy.deepcopy(chained)
    chained.chain = {"prev": "00" * 32}
    yield case("key_missing_seq", "key", "M3", "no seq of chain", chained)


def _device():
    x, y = KEY.point[1:33], KEY.point[33:]
    off = bytearray(KEY.point)
    off[-1] ^= 1
    small = _small_x()
    points = (
        ("off_curve", bytes(off), "a point that is not on the curve"),
        ("compressed", bytes((2 + (y[-1] & 1),)) + x, "a compressed point"),
        ("hybrid", bytes((6 + (y[-1] & 1),)) + x + y, "a hybrid point"),
        ("compressed_65", bytes((2,)) + x + y, "65 bytes that begin with 0x02"),
        ("infinity", b"\0", "the point at infinity"), ("zeros", b"\4" + bytes(64), "x and y of 0"),
        ("bare", x + y, "64 bytes without the 0x04"), ("longer", KEY.point + b"\0", "a byte after the point"),
        ("empty", b"", "no bytes"), ("p384", b"\4" + bytes(96), "a point of the length of P-384"),
        ("not_reduced", b"\4" + (small[0] + p256.P).to_bytes(32, "big") + small[1].to_bytes(32, "big"),
         "x above the prime, equal to one on the curve modulo it"))
    for name, point, comment in points:
        draft = Draft()
        draft.manifest()["device"] = base64_strict.encode(point)
        yield case("device_" + name, "device", "M5", "device: " + comment, draft.rename_id(point))


def _small_x():
    """Returns a point whose x is so small that x + p still has 32 bytes."""
    x = 0
    while True:
        square = (x ** 3 - 3 * x + p256.B) % p256.P
        y = pow(square, (p256.P + 1) // 4, p256.P)
        if y * y % p256.P == square:
            return x, y
        x += 1


def _limits():
    yield case("limit_4097", "limit", "M6", "4097 entries", many_entries(4097), arguments="--allow-withheld")
    for name, index, size, draft in (
            ("photo", PHOTO_INDEX, 8589934592, Draft()), ("depth", DEPTH_INDEX, 2 ** 53 - 1, Draft()),
            ("metadata", METADATA_INDEX, 1048577, Draft())):
        yield case("limit_" + name, "limit", "M6", "%s of %d bytes" % (name, size),
                   assigned(["entries", index, "size"], size, draft))
    yield case("limit_depth_177", "limit", "M6", "a depth map of 177 bytes for 48 bytes of floats", depth_of_size(177))
    yield case("limit_depth_rounded", "limit", "M6", "a depth map of 638 bytes for 508 bytes of floats",
               depth_of_size(638, 127, 1))
    located = Draft(with_location=True)
    located.payload["location.json"] = located.payload["location.json"].replace(b'"0', b'"00', 1)
    yield case("limit_location_513", "limit", "M6", "a position of 513 bytes", located)
    sourced = Draft(with_depth=False)
    sourced.payload["source/a"] = b""
    sourced.payload["confidence.png"] = CONFIDENCE
    yield case("limit_source", "limit", "M6", "a source of 8 GiB",
               assigned(["entries", 3, "size"], 8589934592, copy.deepcopy(sourced)))
    yield case("limit_confidence", "limit", "M6", "a confidence map of 8 GiB",
               assigned(["entries", 0, "size"], 8589934592, copy.deepcopy(sourced)))


def _entries():
    def one(name, comment, draft, **options):
        return case("entries_" + name, "entries", "M7", comment, draft, **options)

    def sourced():
        draft = Draft(with_depth=False)
        draft.payload["source/a"] = b"a"
        draft.manifest()
        return draft

    yield one("order", "photo before metadata", changed(lambda fields: fields["entries"].reverse(), Draft(False)))
    yield one("twice", "the photo twice", changed(lambda fields: fields["entries"].append(dict(fields["entries"][-1]))))
    for name in ("photo.jpg", "metadata.json"):
        draft = Draft(with_depth=False)
        del draft.payload[name]
        yield one("no_" + name.split(".")[0], name + " is not listed", draft)
    yield one("empty", "no entries", changed(lambda fields: fields.update(entries=[]), Draft(with_depth=False)))
    for name, path in (("parent", "source/../x"), ("absolute", "/photo.jpg"), ("upper", "source/A"), ("ext", "ext/a"),
                       ("manifest", "manifest.json"), ("mimetype", "mimetype"), ("device", "source/nul.txt"),
                       ("trailing_dot", "source/a."), ("backslash", "source\\a"), ("empty", ""),
                       ("long", "source/" + "a" * 93)):
        draft = sourced()
        entry = next(one for one in draft.manifest()["entries"] if one["path"] == "source/a")
        entry["path"] = path
        draft.manifest()["entries"].sort(key=lambda one: one["path"])
        yield one("path_" + name, "a path outside the grammar: %s" % (path or "empty"), draft.rename_id())
    yield one("role", "the photo has the role source", assigned(["entries", PHOTO_INDEX, "role"], "source"))
    yield one("role_unknown", "the photo has the role Photo", assigned(["entries", PHOTO_INDEX, "role"], "Photo"))
    yield one("role_source", "a source has the role photo", assigned(["entries", 2, "role"], "photo", sourced()))
    yield one("media_type", "the photo is said to be image/png",
              assigned(["entries", PHOTO_INDEX, "media_type"], "image/png"))
    yield one("media_type_depth", "the depth map is said to be application/octet-stream",
              assigned(["entries", DEPTH_INDEX, "media_type"], "application/octet-stream"))
    for name, value in (("parameter", "text/plain; charset=utf-8"), ("upper", "Text/plain"), ("no_slash", "text"),
                        ("empty", ""), ("star", "*/*"), ("two_slashes", "a/b/c"), ("long", "x" * 64 + "/y"),
                        ("dot_first", "text/.x")):
        yield one("media_type_" + name, "the media type of a source: %s" % (value or "empty"),
                  assigned(["entries", 2, "media_type"], value, sourced()))
    yield one("metadata_withholdable", "metadata.json is marked withholdable",
              assigned(["entries", METADATA_INDEX, "withholdable"], True))
    yield one("depth_not_listed", "depth, but no entry depth.f32.gz", _without_depth_entry())
    draft = Draft()
    draft.manifest()
    del draft.fields["depth"]
    yield one("depth_not_described", "an entry depth.f32.gz, but no depth", draft)


def _without_depth_entry():
    draft = Draft()
    del draft.payload["depth.f32.gz"]
    return draft


def _chain():
    for name, chain, comment in (
            ("seq_0", {"seq": 0}, "seq 0"), ("seq_0_prev", {"prev": "00" * 32, "seq": 0}, "seq 0 with prev"),
            ("prev_at_1", {"prev": "00" * 32, "seq": 1}, "prev at seq 1"), ("no_prev", {"seq": 2}, "no prev at seq 2")):
        draft = Draft(with_depth=False)
        draft.chain = chain
        yield case("chain_" + name, "chain", "M8", comment, draft)


def _id():
    plain = Draft().manifest()["id"]
    fields = copy.deepcopy(Draft().manifest())
    fields["depth"]["sha256"] = fields["entries"][DEPTH_INDEX]["sha256"]
    other_key = compute_id(Draft().manifest(), OTHER_KEY.point)
    yield case("id_file_hash", "id", "M9", "computed with the depth map's file hash, not with that of the floats",
               assigned(["id"], compute_id(fields, KEY.point)))
    yield case("id_other_key", "id", "M9", "computed with another key id", assigned(["id"], other_key))
    for name, value, comment in (
            ("zero", "00000000-0000-0000-0000-000000000000", "all zeros"), ("upper", plain.upper(), "in upper case"),
            ("no_hyphens", plain.replace("-", ""), "without hyphens"), ("empty", "", "empty"),
            ("last_digit", plain[:-1] + "%x" % (int(plain[-1], 16) ^ 1), "another last digit"),
            ("version", plain[:14] + "4" + plain[15:], "version 4 of UUIDs"),
            ("urn", "urn:uuid:" + plain, "as a URN"), ("braces", "{%s}" % plain, "in braces")):
        yield case("id_" + name, "id", "M9", "id: " + comment, assigned(["id"], value))
