"""The metadata part of an upload body, compared with the signed data (U8)."""

from .base import Draft
from .bodies import METADATA, Body, case
from .valid import withheld


def judged_cases():
    def one(name, comment, body, **options):
        return case("metadata_" + name, "U8", comment, body, **options)

    def text(name, comment, old, new):
        return one(name, comment, _full().text(old, new))

    yield one("empty", "a metadata part of 0 bytes", Body().data(METADATA, b""))
    yield one("short", "the last byte is missing", Body().data(METADATA, Body().parts[METADATA][1][:-1]))
    yield one("newline", "a newline after the object", Body().data(METADATA, Body().parts[METADATA][1] + b"\n"))
    yield text("space", "a space after a colon", b'"width":4', b'"width": 4')
    yield text("order", "width before height", b'"height":3,"width":4', b'"width":4,"height":3')
    yield text("extra", "another member", b'{"assertion"', b'{"a":1,"assertion"')
    yield text("duplicate", "device_model twice", b'"device_model"', b'"device_model":"Example Phone 3","device_model"')
    yield text("captured_at_local", "the time as metadata.json has it", b"2026-03-14T08:26:53.589Z",
               b"2026-03-14T09:26:53.589793+01:00")
    yield text("model", "another device_model", b"Phone 3", b"Phone 4")
    yield text("model_escape", "an escape that is not needed", b"Phone 3", b"Phone \\u0033")
    yield text("dimensions", "another width", b'"width":4', b'"width":5')
    yield text("no_dimensions", "no depth_map_dimensions", b'"depth_map_dimensions":{"height":3,"width":4},', b"")
    described = _full().parts[METADATA][1]
    photo = described[described.index(b'"photo_hash"'):]
    yield text("photo_hash", "the hash of another photo", photo, b'"photo_hash":"%s="}' % (b"A" * 43))
    yield text("photo_hash_hex", "the photo's hash in hex", photo,
               b'"photo_hash":"%s"}' % _full().draft.manifest()["entries"][3]["sha256"].encode())
    yield text("no_photo_hash", "no photo_hash", b"," + photo, b"}")
    yield text("assertion", "the assertion of another bundle", described[:described.index(b',"captured_at"')],
               Body().parts[METADATA][1].split(b',"captured_at"')[0])
    yield text("no_assertion", "no assertion", described[1:described.index(b'"captured_at"')], b"")
    place = described[described.index(b'"location"'):described.index(b'"photo_hash"')]
    yield text("no_location", "no location, though the bundle has a position", place, b"")
    yield text("location_moved", "another latitude", b"59.3293", b"59.3294")
    yield text("location_characters", "59.3293 written as 59.32930", b"59.3293", b"59.32930")
    yield text("location_exponent", "35 written as 3.5e1", b'"altitude":35', b'"altitude":3.5e1')
    yield text("location_no_altitude", "no altitude", b'"altitude":35,', b"")
    yield text("location_salt", "the salt as well", b'"longitude":18.0686', b'"longitude":18.0686,"salt":"00"')
    sent = Body(withheld())
    yield one("location_withheld", "a location, though the position is withheld",
              sent.data(METADATA, _described(sent.draft)),
              arguments="--allow-withheld")
    plain = Body()
    marked = plain.parts[METADATA][1].replace(b'"device_model"',
                                              b'"depth_map_dimensions":{"height":3,"width":4},"device_model"')
    yield one("dimensions_no_depth", "depth_map_dimensions, though there is no depth map", plain.data(METADATA, marked))
    hidden = Draft()
    hidden.withholdable = hidden.absent = {"depth.f32.gz"}
    yield one("dimensions_withheld", "no depth_map_dimensions where the depth map is withheld",
              Body(hidden).text(b'"depth_map_dimensions":{"height":3,"width":4},', b""), arguments="--allow-withheld")


def _full():
    return Body(Draft(with_location=True))


def _described(draft):
    """Returns the metadata part that the draft would have if nothing were withheld."""
    absent, draft.absent = draft.absent, set()
    described = Body(draft).parts[METADATA][1]
    draft.absent = absent
    return described
