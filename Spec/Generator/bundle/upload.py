"""The upload body of Spec/upload.md section 1: the bytes that are sent for a bundle."""

import hashlib
import io

from capbundle.format import base64_strict, canonical, container

CRLF = b"\r\n"
PREFIX = b"capture-bundle-"
DIGITS = 40
TRIES = 16  # n is 0 to 15
METADATA_LIMIT = 16384  # U4
LIMITS = {"metadata": METADATA_LIMIT, "manifest.json": container.LIMITS["manifest.json"],
          "assertion.cbor": container.LIMITS["assertion.cbor"]}

_MANIFEST_TYPE = "application/vnd.capture-bundle.manifest+json;version=1"
_RENAMED = {"depth.f32.gz": ("depth_map", "depth.gz"), "photo.jpg": ("photo", "capture.jpg")}
_POSITION = ("latitude", "longitude", "altitude", "accuracy")


def head(name, filename, media_type):
    """Returns the bytes between the CRLF after the boundary and the data of a part."""
    named = '; filename="%s"' % filename if filename else ""
    return ('Content-Disposition: form-data; name="%s"%s\r\nContent-Type: %s\r\n\r\n'
            % (name, named, media_type)).encode("ascii")


METADATA_HEAD = head("metadata", None, "application/json")
MANIFEST_HEAD = head("manifest", "manifest.json", _MANIFEST_TYPE)
ASSERTION_HEAD = head("assertion.cbor", "assertion.cbor", "application/cbor")


def entry_head(entry):
    """Returns the head of the part for an entry of the manifest."""
    path = entry["path"]
    name, filename = _RENAMED.get(path, (path, path.split("/")[-1]))
    return head(name, filename, entry["media_type"])


def boundary(manifest, n):
    """Returns the boundary of section 1.1 for one n."""
    return PREFIX + hashlib.sha256(manifest + b"%d" % n).hexdigest()[:DIGITS].encode()


def first_free(manifest, data):
    """Returns the first boundary that is in none of these byte strings; raises ValueError if there is none."""
    for n in range(TRIES):
        found = boundary(manifest, n)
        if not any(found in part for part in data):
            return found
    raise ValueError("no boundary is free, so this bundle cannot be sent")


def metadata_part(manifest, assertion, metadata, location=None):
    """Returns the metadata part of section 1.2 from these bytes; location is None if the bundle has none."""
    fields = canonical.parse(manifest, manifest=True)
    photo = next(entry for entry in fields["entries"] if entry["path"] == "photo.jpg")
    members = {
        "assertion": base64_strict.encode(assertion),
        "captured_at": fields["captured_at"],
        "device_model": canonical.parse(metadata)["device_model"],
        "photo_hash": base64_strict.encode(bytes.fromhex(photo["sha256"])),
    }
    if "depth" in fields:
        members["depth_map_dimensions"] = {name: fields["depth"][name] for name in ("height", "width")}
    if location is not None:
        place = canonical.parse(location)
        members["location"] = {name: place[name] for name in _POSITION if place.get(name) is not None}
    return canonical.encode(members)


def parts(members):
    """Returns [head, data] of every part, from (path, bytes) of the bundle's entries after `mimetype`, in order."""
    data = dict(members)
    manifest, assertion = data["manifest.json"], data["assertion.cbor"]
    listed = {entry["path"]: entry for entry in canonical.parse(manifest, manifest=True)["entries"]}
    described = metadata_part(manifest, assertion, data["metadata.json"], data.get("location.json"))
    made = [[METADATA_HEAD, described], [MANIFEST_HEAD, manifest], [ASSERTION_HEAD, assertion]]
    return made + [[entry_head(listed[path]), content] for path, content in members[2:]]


def join(mark, made):
    """Returns the body of these parts with this boundary."""
    whole = b"".join(b"--" + mark + CRLF + start + data + CRLF for start, data in made)
    return whole + b"--" + mark + b"--" + CRLF


def encode(bundle):
    """Returns the body of a bundle, which must not have faults of class 1 or 2."""
    reader = container.Reader(io.BytesIO(bundle))
    reader.read_magic()
    members = []
    found = reader.next_header()
    while found:
        members.append((found[0], b"".join(reader.chunks(*found))))
        found = reader.next_header()
    made = parts(members)
    return join(first_free(members[0][1], [data for _, data in made]), made)
