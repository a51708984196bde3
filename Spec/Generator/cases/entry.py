"""entry: P1, and the faults that are reported beside it."""

from bundle import signing
from capbundle.format import canonical, container

from .base import CONFIDENCE, PHOTO, Case, Draft, metadata
from .valid import everything, withheld


def case(name, comment, draft, codes="entry.sha256", covers="P1", **options):
    return Case("entry_" + name, codes, covers, comment, draft, **options)


def replaced(path, data, draft=None):
    """Returns a bundle whose entry was replaced after signing."""
    draft = draft or Draft()
    draft.sealed_assertion()
    if len(draft.payload[path]) != len(data):
        raise ValueError("another size")
    draft.payload[path] = data
    return draft


def flipped(path, index, draft=None):
    draft = draft or Draft()
    data = bytearray(draft.payload[path])
    data[index] ^= 1
    return replaced(path, bytes(data), draft)


def cases():
    for path in sorted(everything().payload):
        if everything().payload[path]:
            name = path.replace("source/", "source_").split(".")[0]
            yield case(name + "_first_bit", "a bit of the first byte of %s is flipped" % path,
                       flipped(path, 0, everything()))
    yield case("photo_last_bit", "a bit of the last byte of the photo is flipped", flipped("photo.jpg", -1))
    yield case("photo_zeros", "the photo is all zero bytes", replaced("photo.jpg", bytes(len(PHOTO))))
    yield case("depth_float", "one bit of one float is flipped, so the CRC-32 is wrong as well: not told",
               flipped("depth.f32.gz", 20))
    data = canonical.encode(metadata(device_model="Example Phone 4"))
    yield case("metadata_model", "another device_model of the same length", replaced("metadata.json", data))
    data = Draft().payload["metadata.json"]
    yield case("metadata_broken", "metadata that is no JSON any more: that is not told",
               replaced("metadata.json", b"[" * len(data)))
    draft = Draft(with_location=True)
    moved = draft.payload["location.json"].replace(b"59.3293", b"59.3294")
    yield case("location_moved", "another latitude", replaced("location.json", moved, draft))
    draft = Draft()
    draft.sealed_assertion()
    other = bytes(len(draft.payload["depth.f32.gz"]))
    draft.payload["photo.jpg"], draft.payload["depth.f32.gz"] = bytes(len(PHOTO)), other
    yield case("two", "photo and depth map were exchanged", draft)
    draft = Draft(with_depth=False)
    draft.payload["source/a"], draft.payload["source/b"] = b"1", b"2"
    draft.sealed_assertion()
    draft.payload["source/a"], draft.payload["source/b"] = b"2", b"1"
    yield case("swapped", "two sources of the same size were swapped", draft)
    draft = Draft(with_depth=False)
    draft.manifest()["entries"][1]["sha256"] = "0" * 64
    yield case("manifest_hash", "the hash in the signed manifest is all zeros", draft.rename_id())
    yield case("withheld_too", "a position is withheld, which is not told beside a fault",
               flipped("photo.jpg", 0, withheld()))
    yield case("unknown_key", "the photo is changed and the key unknown, which is not told beside a fault",
               flipped("photo.jpg", 0), trust=())
    yield from _with_others()


def _with_others():
    whole = flipped("photo.jpg", 5).bytes()
    yield case("and_trailing", "the photo is changed and a byte stands after the end: 2 is the worse", whole + b"\0",
               "container.trailing,entry.sha256", "P1, C7")
    yield case("and_truncated", "the photo is changed and the end is missing", whole[:-1024],
               "container.truncated,entry.sha256", "P1, C1")
    padded = whole[:-1025] + b"\1" + whole[-1024:]
    yield case("and_padding", "the photo is changed and so is its last padding byte, which is checked before the hash", padded,
               "container.padding", "C5")
    draft = flipped("photo.jpg", 5)
    draft.assertion_bytes = Draft(with_depth=False).sealed_assertion()
    yield case("and_signature", "the photo is changed and the assertion is another bundle's", draft,
               "assertion.signature,entry.sha256", "P1, A7")
    draft = Draft().set_metadata(metadata(location="here"))
    flipped("photo.jpg", 5, draft)
    yield case("and_metadata", "the photo is changed and metadata has a location: 2 is the worse", draft,
               "entry.sha256,metadata.location", "P1, E3")
    draft = flipped("photo.jpg", 5)
    draft.assertion_bytes = b"\xa0"
    yield case("and_encoding", "the photo is changed and the assertion is an empty map", draft,
               "assertion.encoding,entry.sha256", "P1, A1")
    draft = flipped("photo.jpg", 5)
    draft.auth_data = signing.authenticator_data(0)
    draft.assertion_bytes = None
    yield case("and_counter", "the photo is changed and the counter is 0", draft,
               "assertion.counter,entry.sha256", "P1, A6")
    draft = Draft(with_depth=False)
    draft.payload["confidence.png"] = CONFIDENCE
    flipped("confidence.png", 9, draft)
    draft.absent = {"photo.jpg"}
    yield case("and_missing", "the confidence map is changed and the photo absent", draft,
               "container.missing,entry.sha256", "P1, C14")
    draft = flipped("depth.f32.gz", 20)
    at = draft.bytes().index(container.header("metadata.json", len(draft.payload["metadata.json"])))
    data = bytearray(draft.bytes())
    data[at + 100] = 0x31
    yield case("and_header", "the depth map is changed and the next header has another mode", bytes(data),
               "container.header,entry.sha256", "P1, C4")
