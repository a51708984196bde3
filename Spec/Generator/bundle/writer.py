"""Writes bundles from parts: the manifest of section 4, the assertion of section 9, the container of section 3."""

import hashlib
import hmac
import zlib

from capbundle.format import base64_strict, canonical, container, manifest
from capbundle.format.depth import GZIP_START

from . import signing


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def list_entry(path, data, media_type="application/octet-stream", withholdable=False):
    """Returns the manifest's object for one payload entry; media_type is used for source entries."""
    role, fixed = manifest.KINDS.get(path, ("source", media_type))
    entry = {"media_type": fixed, "path": path, "role": role, "sha256": sha256(data), "size": len(data)}
    if withholdable:
        entry["withholdable"] = True
    return entry


def describe_depth(raw, width, height, source=None):
    """Returns the manifest's depth object for raw floats."""
    plain = {"encoding": "float32-le", "invalid": "nan-or-zero", "row_order": "top-first", "scale": "1"}
    return {"encoding": "float32-le", "height": height, "sha256": sha256(raw), "source": source or plain, "unit": "m",
            "width": width}


def make_manifest(payload, captured_at, point, depth=None, chain=None, withholdable=("location.json",)):
    """Returns the manifest's members with their id; payload maps paths to bytes."""
    fields = {
        "captured_at": captured_at,
        "device": base64_strict.encode(point),
        "entries": [list_entry(path, payload[path], withholdable=path in withholdable) for path in sorted(payload)],
        "version": 1,
    }
    if depth:
        fields["depth"] = depth
    if chain:
        fields["chain"] = chain
    fields["id"] = manifest.compute_id(fields, point)
    return fields


def seal(fields, key, payload, counter=1):
    """Returns a bundle signed by a disk key."""
    data = canonical.encode(fields)
    signed = signing.make(data, key, signing.authenticator_data(counter))
    return pack(data, signed, sorted(payload.items()))


def pack(manifest, assertion, payload):
    """Returns a bundle; payload is a list of (path, bytes) pairs in the wanted order."""
    members = [("manifest.json", manifest), ("assertion.cbor", assertion)] + list(payload)
    return container.MAGIC + b"".join(container.entry(path, data) for path, data in members) + container.END


def gzip_stored(raw, xfl=0, system=255):
    """Returns a gzip member of stored deflate blocks, whose bytes do not depend on the version of zlib."""
    blocks = []
    for start in range(0, len(raw), 65535) or [0]:
        part = raw[start:start + 65535]
        lengths = b"".join(length.to_bytes(2, "little") for length in (len(part), len(part) ^ 0xFFFF))
        blocks.append(b"%c" % (start + 65535 >= len(raw)) + lengths + part)
    return GZIP_START + bytes((xfl, system)) + b"".join(blocks) + gzip_trailer(raw)


def gzip_trailer(raw):
    return zlib.crc32(raw).to_bytes(4, "little") + (len(raw) & 0xFFFFFFFF).to_bytes(4, "little")


def location_salt(secret, photo_sha256, captured_at, fields):
    """Returns HMAC-SHA-256 over the four lines (section 7)."""
    plain = {name: value for name, value in fields.items() if name not in ("salt", "pad")}
    lines = [b"capture-bundle location salt v1", photo_sha256.encode(), captured_at.encode(), canonical.encode(plain)]
    return hmac.new(secret, b"".join(line + b"\n" for line in lines), hashlib.sha256).hexdigest()


def encode_location(fields):
    """Returns 512 bytes: the object, which must have its salt, with a pad of the right length."""
    bare = len(canonical.encode(dict(fields, pad="")))
    return canonical.encode(dict(fields, pad="0" * (manifest.LOCATION_SIZE - bare)))
