"""Writes bundles from parts: the manifest of section 4, the assertion of section 9, the container of section 3."""

import hashlib

from . import assertion, base64_strict, canonical, container, manifest


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
    signed = assertion.make(data, key, assertion.authenticator_data(counter))
    return container.pack(data, signed, sorted(payload.items()))
