"""Code that all vectors share: keys from fixed seeds, tiny but real contents, and a bundle draft to damage."""

import base64
import hashlib
import struct
import zlib

from bundle import signing, writer
from bundle.signing import Key
from capbundle.format import assertion, base64_strict, canonical, container, manifest
from capbundle.format.canonical import Number
from capbundle.format.faults import CLASS_OF_CODE, worst

KEY = Key("capture-bundle vectors: disk key")
OTHER_KEY = Key("capture-bundle vectors: another disk key")
PHONE_KEY = Key("capture-bundle vectors: Apple key")

APP_ID = "A1B2C3D4E5.org.example.capture"
APP_HASH = hashlib.sha256(APP_ID.encode()).digest()
DISK_HASH = assertion.DISK_RP_ID_HASH


def trust_line(key, name="studio", options=""):
    return " ".join(part for part in (name, options, "p256", base64_strict.encode(key.point)) if part)


TRUST = trust_line(KEY)
PHONE_TRUST = trust_line(PHONE_KEY, "phone", 'level=apple-appattest,rpid="%s"' % APP_ID)

# A baseline JPEG of 16 x 16 grey pixels.
PHOTO = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKBTmCNl4x9"
    "lnN+gXz/wAALCAAQABABAREA/8QAFQABAQAAAAAAAAAAAAAAAAAABQb/xAAXEAADAQAAAAAAAAAAAAAAAAAAAwUx/9oACAEBAAA/AAp6sKeerAWe"
    "rCmnqw//2Q==")
WIDTH, HEIGHT = 4, 3
FLOATS = struct.pack("<11f", 0.5, 0.75, 1.0, 0.0, 1.25, 1.5, 1.75, -0.0, 2.0, 2.25, 1e-40) + b"\0\0\xc0\x7f"  # a NaN
TIME = "2026-03-14T09:26:53.589793+01:00"
TIME_UTC = "2026-03-14T08:26:53.589Z"
MODEL = "Example Phone 3"


def _png(width, height, pixels):
    """Returns a grey PNG whose zlib stream is one stored block."""
    rows = b"".join(b"\0" + pixels[row * width:(row + 1) * width] for row in range(height))
    stored = b"\x78\x01\x01" + struct.pack("<HH", len(rows), len(rows) ^ 0xFFFF) + rows
    stored += struct.pack(">I", zlib.adler32(rows))
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)), (b"IDAT", stored), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks)


CONFIDENCE = _png(WIDTH, HEIGHT, bytes((2, 2, 1, 0, 2, 2, 1, 0, 2, 2, 1, 0)))


def metadata(depth_map=True, **members):
    """Returns the members of metadata.json; a value of None removes one."""
    fields = {"captured_at": TIME, "device_model": MODEL}
    if depth_map:
        fields["depth_map_dimensions"] = {"height": Number(HEIGHT), "width": Number(WIDTH)}
    fields.update(members)
    return {name: value for name, value in fields.items() if value is not None}


def position(**members):
    """Returns the members of location.json, with the salt of a writer but without pad."""
    fields = {"accuracy": Number("4.75"), "altitude": Number("35"), "latitude": Number("59.3293"),
              "longitude": Number("18.0686")}
    fields.update(members)
    fields = {name: value for name, value in fields.items() if value is not None}
    if "salt" not in members:
        fields["salt"] = writer.location_salt(bytes(32), writer.sha256(PHOTO), TIME_UTC, fields)
    return fields


class Draft:
    """A draft of a bundle. A vector can damage each field before bytes() builds the bundle.

    Everything that depends on a damaged part (hashes, id, signature) is computed afterwards, so that a vector has
    exactly its one fault.
    """

    def __init__(self, with_depth=True, with_location=False, key=KEY):
        self.key = key
        self.payload = {"metadata.json": canonical.encode(metadata(with_depth)), "photo.jpg": PHOTO}
        self.depth = None
        if with_depth:
            self.payload["depth.f32.gz"] = writer.gzip_stored(FLOATS)
            self.depth = writer.describe_depth(FLOATS, WIDTH, HEIGHT)
        if with_location:
            self.payload["location.json"] = writer.encode_location(position())
        self.time = TIME_UTC
        self.chain = None
        self.withholdable = {"location.json"}
        self.absent = set()
        self.auth_data = signing.authenticator_data(1)
        self.low_s = True
        self.fields = None
        self.manifest_bytes = None
        self.assertion_bytes = None

    def set_floats(self, *samples):
        """Another depth map; a sample that is bytes stands for its bits."""
        raw = b"".join(one if isinstance(one, bytes) else struct.pack("<f", one) for one in samples)
        self.payload["depth.f32.gz"] = writer.gzip_stored(raw)
        self.depth = writer.describe_depth(raw, WIDTH, HEIGHT)
        return self

    def set_metadata(self, fields):
        self.payload["metadata.json"] = fields if isinstance(fields, bytes) else canonical.encode(fields)
        return self

    def manifest(self):
        """Returns the manifest's members, which are made once; changes in them have an effect."""
        if self.fields is None:
            self.fields = writer.make_manifest(
                self.payload, self.time, self.key.point, self.depth, self.chain, self.withholdable)
        return self.fields

    def rename_id(self, point=None):
        """Computes the id again after the manifest's members were changed."""
        fields = self.manifest()
        fields["id"] = manifest.compute_id(fields, self.key.point if point is None else point)
        return self

    def sealed_manifest(self):
        if self.manifest_bytes is None:
            self.manifest_bytes = canonical.encode(self.manifest())
        return self.manifest_bytes

    def sealed_assertion(self):
        if self.assertion_bytes is None:
            self.assertion_bytes = signing.make(self.sealed_manifest(), self.key, self.auth_data, self.low_s)
        return self.assertion_bytes

    def members(self):
        """Returns (path, bytes) of all entries after `mimetype`, in order."""
        payload = [(path, self.payload[path]) for path in sorted(self.payload) if path not in self.absent]
        return [("manifest.json", self.sealed_manifest()), ("assertion.cbor", self.sealed_assertion())] + payload

    def entries(self):
        """Returns the container bytes of these entries by path."""
        return {path: container.entry(path, data) for path, data in self.members()}

    def bytes(self):
        return container.MAGIC + b"".join(self.entries().values()) + container.END


def apple_draft(extension=b"", low_s=True, **options):
    draft = Draft(key=PHONE_KEY, **options)
    draft.auth_data = signing.authenticator_data(7, APP_HASH, assertion.APPLE_FLAGS, extension)
    draft.low_s = low_s
    return draft


class Case:
    """One vector: the expected result, and the bytes. headers are (key, value) pairs of its part alone.

    sides are (name, Draft or bytes) pairs: files that the vector needs besides its own bytes.
    """

    def __init__(self, name, codes, covers, comment, data, trust=(TRUST,), arguments="", headers=(),
                 sides=()):
        self.name = name
        self.codes = sorted(code for code in codes.replace(",", " ").split())
        self.covers = covers
        self.comment = comment
        self.data = data.bytes() if isinstance(data, Draft) else bytes(data)
        self.trust_bytes = trust if isinstance(trust, bytes) else None  # a whole trust file, which need not be text
        self.trust = (trust,) if isinstance(trust, str) else () if isinstance(trust, bytes) else tuple(trust)
        self.arguments = arguments
        self.headers = headers
        self.sides = [(side, content.bytes() if isinstance(content, Draft) else content) for side, content in sides]
        self.exit_code = worst(CLASS_OF_CODE[code] for code in self.codes)

    def file(self):
        """Returns the vector's file: header lines, an empty line, the bytes."""
        lines = ["expect-exit: %d" % self.exit_code, "expect-code: %s" % (",".join(self.codes) or "none"),
                 "covers: " + self.covers, "comment: " + self.comment]
        lines += ["trust: " + line for line in self.trust]
        if self.trust_bytes is not None:
            lines.append("trust-base64: " + base64.b64encode(self.trust_bytes).decode())
        if self.arguments:
            lines.append("arguments: " + self.arguments)
        lines += ["side: " + side for side, _ in self.sides]
        lines += ["%s: %s" % pair for pair in self.headers]
        return ("\n".join(lines) + "\n\n").encode("ascii") + self.data
