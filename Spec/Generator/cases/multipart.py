"""multipart: upload bodies that are accepted, and findings in the bundles of the others."""

from bundle import signing, writer
from capbundle.format.canonical import Number

from .base import KEY, PHONE_TRUST, TRUST, Draft, apple_draft, metadata, position, trust_line
from .bodies import ANY_MARK, ASSERTION, FIRST, MANIFEST, SECOND, THIRD, Body, case, sound
from .entry import flipped
from .multipart_boundary import boundary_cases, occupied
from .multipart_data import data_cases
from .multipart_headers import header_cases
from .multipart_judged import judged_cases
from .multipart_truncated import truncated_cases
from .valid import CATEGORY, VERSION, everything, withheld


def cases():
    yield from _valid()
    yield from _locations()
    yield from _trust()
    yield from _bundle()
    yield from _order_of_faults()
    yield from truncated_cases()
    yield from boundary_cases()
    yield from header_cases()
    yield from data_cases()
    yield from judged_cases()


def _valid():
    phone = {"trust": PHONE_TRUST}
    yield sound("minimal", "1 5", "photo and metadata alone", Body())
    yield sound("depth", "1", "with a depth map", Body(Draft()))
    yield sound("location", "1.2", "with a position", Body(Draft(with_location=True)))
    yield sound("everything", "1", "all kinds of entries, one of them empty, and a chain", Body(everything()))
    model = Draft(with_depth=False).set_metadata(metadata(False, device_model="\u30ab\u30e1\u30e9 \u00e9 \U0001f4f7"))
    yield sound("model_unicode", "1.2", "device_model beyond ASCII", Body(model))
    model = Draft(with_depth=False).set_metadata(metadata(False, device_model="\"\\/\b\f\n\r\t\0\x1f\x7f\u2028\ufeff"))
    yield sound("model_escapes", "1.2", "device_model with all escapes", Body(model))
    model = Draft(with_depth=False).set_metadata(metadata(False, device_model="\1" * 256))
    yield sound("model_longest", "1.2", "device_model of 256 control characters", Body(model))
    sides = {"height": Number(3), "pixel_aspect": Number("1.0"), "width": Number(4)}
    yield sound("dimensions_more", "1.2", "another member in depth_map_dimensions of metadata.json is not sent",
                Body(Draft().set_metadata(metadata(depth_map_dimensions=sides, depth="other"))))
    sizes = Draft(with_depth=False)
    sizes.payload.update({"source/block": bytes(512), "source/crlf": b"\r\n", "source/empty": b"",
                          "source/over": bytes(513)})
    yield sound("sizes", "1", "entries of 512, 2, 0 and 513 bytes, one of them CRLF", Body(sizes), "U6")
    names = Draft(with_depth=False)
    names.payload["source/z" + "9" * 91] = b"z"
    names.manifest()["entries"][2]["media_type"] = "x" * 63 + "/" + "0.+-" + "y" * 59
    yield sound("names_longest", "1", "a path of 99 bytes and a media type of 127", Body(names), "U3")
    inner = Draft(with_depth=False)
    inner.payload["source/body"] = Body(Draft()).bytes()
    yield sound("body_inside", "1.1", "an entry that is itself a body", Body(inner), "U5")
    near = Draft(with_depth=False)
    near.payload["photo.jpg"] = b"\r\n--capture-bundle-\r\n--" + ANY_MARK + b"--\r\n\r\n--" + ANY_MARK[:-1]
    yield sound("delimiters_inside", "1.1", "a photo of other delimiters", Body(near), "U5")
    yield sound("withheld", "1.2", "the position is withheld and that is allowed", Body(withheld()),
                arguments="--allow-withheld")
    for paths in (("depth.f32.gz",), ("photo.jpg",), ("depth.f32.gz", "photo.jpg")):
        draft = Draft()
        draft.withholdable = draft.absent = set(paths)
        yield sound("withheld_" + "_".join(path.split(".")[0] for path in paths), "1.2",
                    "%s withheld and that is allowed; hash and dimensions are sent" % " and ".join(paths), Body(draft),
                    arguments="--allow-withheld")
    yield sound("apple", "1", "an assertion as a phone makes it, s in the upper half", Body(apple_draft(low_s=False)),
                **phone)
    yield sound("apple_map", "1", "the map of iOS 27", Body(apple_draft(b"\xa2" + CATEGORY + VERSION)), **phone)
    yield sound("assertion_4096", "1.3", "an assertion of 4096 bytes", Body(long_assertion()), "U4", **phone)
    yield sound("boundary_1", "1.1", "the boundary of n = 0 stands in the assertion, so it is that of n = 1",
                Body(occupied(range(1))), "U9", **phone)
    yield sound("boundary_15", "1.1", "the boundaries of n = 0 to 14 stand in the assertion", Body(occupied(range(15))),
                "U9", **phone)


def long_assertion():
    """Returns a draft with an Apple assertion of exactly 4096 bytes: it tries lengths of the map until one fits."""
    for length in range(3800, 4096):
        extension = (b"\xa1" + signing.text_string("apple_bundle_version_01")
                     + signing.text_string("9" * length))
        draft = apple_draft(extension, with_depth=False)
        if len(signing.encode(bytes(71), draft.auth_data)) in range(4094, 4099):
            if len(draft.sealed_assertion()) == 4096:
                return draft
    raise ValueError("no assertion of 4096 bytes")


def located(fields):
    draft = Draft(with_depth=False, with_location=True)
    draft.payload["location.json"] = writer.encode_location(fields)
    return Body(draft)


def _locations():
    yield sound("location_characters", "1.2", "numbers keep the characters that they have",
                located(position(latitude=Number("-0.0"), longitude=Number("1.0E+1"), altitude=Number("1e1"),
                                 accuracy=Number("4.750"))))
    yield sound("location_longest", "1.2", "numbers of 64 characters",
                located(position(latitude=Number("0." + "1" * 62), longitude=Number("-0." + "0" * 61))))
    yield sound("location_null", "1.2", "altitude and accuracy are null and not sent",
                located(dict(position(), altitude=None, accuracy=None)))
    yield sound("location_bare", "1.2", "altitude and accuracy are not there",
                located(position(altitude=None, accuracy=None)))
    yield sound("location_others", "1.2", "other members of location.json are not sent",
                located(position(heading=Number("12"), provider="gn\u00e9ss")))


def _trust():
    yield case("trust_unknown", "T5", "an empty trust file", Body(), trust=())
    yield case("trust_revoked", "T6", "the key is revoked", Body(), trust=trust_line(KEY, options="revoked"))
    yield case("trust_expired", "T4", "the line is expired", Body(),
               trust=trust_line(KEY, options="valid-before=2026-01-01"))
    yield case("trust_withheld", "R1", "the position is withheld and that is not allowed", Body(withheld()))
    yield case("trust_required", "R2", "a depth map is required, but not there", Body(), arguments="--require depth")
    yield case("trust_withheld_unknown", "R1, T5", "the position is withheld and the key unknown: 3 is the worse",
               Body(withheld()), trust=())
    yield case("trust_file", "T0", "a broken trust file: no verdict, and no bundle", Body(), trust=(TRUST, "studio"))


def _bundle():
    def changed(member, value):
        draft = Draft(with_depth=False)
        draft.manifest()[member] = value
        return Body(draft)

    plain = Draft(with_depth=False)
    yield case("photo_changed", "P1", "a bit of the photo is flipped",
               Body(flipped("photo.jpg", 40, Draft(with_depth=False))))
    signed = Draft(with_depth=False)
    signed.assertion_bytes = Draft().sealed_assertion()
    yield case("signature_changed", "A7", "the assertion is another bundle's", Body(signed))
    yield case("assertion_empty", "A1", "an assertion of 0 bytes", Body().data(ASSERTION, b""))
    yield case("assertion_4096_junk", "A1", "an assertion of 4096 zero bytes", Body().data(ASSERTION, bytes(4096)))
    yield case("manifest_empty", "M1", "a manifest of 0 bytes", Body().data(MANIFEST, b""))
    yield case("manifest_newline", "M1", "a newline after the manifest",
               Body().data(MANIFEST, plain.sealed_manifest() + b"\n"))
    yield case("manifest_largest", "M1", "a manifest of 1048576 digits", Body().data(MANIFEST, b"0" * 1048576))
    yield case("manifest_version", "M2", "version 2", changed("version", 2))
    yield case("manifest_id", "M9", "another id", changed("id", "00000000-0000-8000-8000-000000000000"))
    draft = Draft()
    draft.depth["sha256"] = "0" * 64
    yield case("depth_hash", "D3", "the raw floats have another hash", Body(draft))
    yield case("metadata_location", "E3", "metadata.json has a location",
               Body(Draft(with_depth=False).set_metadata(metadata(False, location="here"))))
    yield case("location_value", "L2", "latitude 91 in location.json", located(position(latitude=Number(91))))
    for path in ("depth.f32.gz", "metadata.json", "photo.jpg"):
        body = Body(Draft())
        del body.parts[FIRST + ("depth.f32.gz", "metadata.json", "photo.jpg").index(path)]
        yield case("missing_" + path.split(".")[0], "C14", "no part for %s" % path, body)
    body = Body()
    del body.parts[FIRST:]
    yield case("missing_payload", "C14", "the closing delimiter after the assertion", body)
    body = Body(Draft())
    body.parts[FIRST], body.parts[THIRD] = body.parts[THIRD], body.parts[FIRST]
    yield case("order_photo_first", "C14", "the photo where the depth map belongs, which is not withholdable", body)


def _order_of_faults():
    """Yields vectors with several faults, and which of them are reported."""
    broken = Body().data(MANIFEST, b"{}").marked(ANY_MARK)
    ends = broken.starts()[FIRST] + len(b"--" + ANY_MARK)
    yield case("manifest_and_truncated", "M3",
               "an empty object as manifest, and the body ends with the boundary after the assertion",
               broken.bytes()[:ends])
    yield case("manifest_and_header", "M3",
               "an empty object as manifest, and a space after the boundary after the assertion",
               broken.bytes()[:ends] + b" \r\n")
    yield case("manifest_and_limit", "U4", "an empty object as manifest, and an assertion of 4097 bytes",
               Body().data(MANIFEST, b"{}").data(ASSERTION, bytes(4097)))
    signed = Draft(with_depth=False)
    signed.assertion_bytes = Draft().sealed_assertion()
    yield case("signature_and_header", "A7, U3", "another bundle's assertion, and the next part has another name",
               Body(signed).head(FIRST, b' name="metadata.json"', b' name="metadata"'))
    photo = Body(flipped("photo.jpg", 40, Draft(with_depth=False)))
    yield case("photo_and_trailing", "P1, U7", "the photo is changed, and a byte stands after the end",
               photo.bytes() + b"\n")
    yield case("photo_and_metadata", "P1", "the photo is changed, and so is the metadata part, which is not told",
               Body(photo.draft).text(b"Phone 3", b"Phone 4"))
    photo = photo.bytes()
    yield case("photo_and_truncated", "P1, U1", "the photo is changed, and the body ends after it",
               photo[:photo.rindex(b"\r\n--capture")])
    whole = Body()
    del whole.parts[SECOND]
    yield case("missing_and_trailing", "U7", "no photo, and a byte after the end: the end comes first",
               whole.bytes() + b"\n")
    passed = Body()
    del passed.parts[FIRST]
    yield case("missing_and_later", "C14", "no metadata.json, and a byte after the end, which is not read",
               passed.bytes() + b"\n")
    both = Body().text(b"Phone 3", b"Phone 4").marked(1)
    yield case("metadata_and_boundary", "U8, U9", "another model in the metadata part, and the boundary of n = 1", both)
    yield case("metadata_and_unknown", "T5, U8", "another model in the metadata part, and the key is unknown",
               Body().text(b"Phone 3", b"Phone 4"), trust=())
    yield case("boundary_and_withheld", "R1, U9", "the boundary of n = 1, and the position is withheld",
               Body(withheld()).marked(1))
