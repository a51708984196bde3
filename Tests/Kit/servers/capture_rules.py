"""The rules of the capture API for a request: headers, clock, signature, form.

They follow Spec/upload.md and use libraries that the tools do not use.
"""
import base64
import binascii
import hashlib
import io
import json
import re
import zlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from werkzeug.formparser import FormDataParser

UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
TOO_OLD, TOO_EARLY = 300_000, -60_000  # milliseconds between the server's clock and a timestamp
PHOTO_LIMIT, DEPTH_LIMIT = 10_485_760, 5_242_880
ROUTES = {"captures": ("POST", r"/api/v1/captures"), "verify": ("POST", r"/api/v1/verify-file"),
          "poll": ("GET", r"/api/v1/captures/[^/]+")}


def route_of(method, path):
    for route, (verb, pattern) in ROUTES.items():
        if re.fullmatch(pattern, path.partition("?")[0]):
            return route if method == verb else "method"
    return "other"


class Refused(Exception):
    """The refusal of a request: status, code and message of the answer."""

    def __init__(self, status, code, message):
        super().__init__(f"{status} {code}: {message}")
        self.status, self.code, self.message = status, code, message


def require(condition, status, code, message):
    if not condition:
        raise Refused(status, code, message)


class Devices:
    """The registered devices, by id."""

    def __init__(self, keys):
        self.keys = {device: serialization.load_pem_public_key(pem) for device, pem in keys.items()}

    def admit(self, headers, now):
        """Checks the three headers, the clock and the device, which is all that is checked before the body."""
        given = [headers.get(f"X-Device-{name}") for name in ("Id", "Timestamp", "Signature")]
        require(all(value is not None for value in given), 401, "DEVICE_AUTH_REQUIRED", "a device header is missing")
        device, timestamp, signature = given
        require(UUID.fullmatch(device), 400, "VALIDATION_ERROR", "X-Device-Id is no UUID")
        require(re.fullmatch(r"0|[1-9][0-9]{0,15}", timestamp), 400, "VALIDATION_ERROR", "X-Device-Timestamp")
        require(_base64(signature) is not None, 400, "VALIDATION_ERROR", "X-Device-Signature is no base64")
        late = now - int(timestamp)
        require(late <= TOO_OLD, 401, "TIMESTAMP_EXPIRED", f"{late} ms old")
        require(late >= TOO_EARLY, 401, "TIMESTAMP_INVALID", f"{-late} ms ahead")
        require(device.lower() in self.keys, 404, "DEVICE_NOT_FOUND", "no such device")

    def verify(self, headers, digest):
        """Checks the signature over the received bytes."""
        message = f"{headers['X-Device-Timestamp']}|{digest}".encode()
        key = self.keys[headers["X-Device-Id"].lower()]
        try:
            key.verify(_base64(headers["X-Device-Signature"]), message, ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            raise Refused(401, "SIGNATURE_INVALID", "signed by another key, or over other bytes") from None


def photo_of_capture(headers, body):
    """Checks the whole form; returns the SHA-256 of the photo in the upload body in hex."""
    parts = {name: data for name, (_, _, data) in parts_of(headers, body).items()}
    for name in ("photo", "depth_map", "metadata"):
        require(parts.get(name), 400, "VALIDATION_ERROR", f"part {name} is missing or empty")
    photo, depth = parts["photo"], parts["depth_map"]
    require(len(photo) <= PHOTO_LIMIT and len(depth) <= DEPTH_LIMIT, 413, "PAYLOAD_TOO_LARGE", "a part is too long")
    try:
        metadata = json.loads(parts["metadata"])
        given = _base64(metadata["photo_hash"])
        size = metadata["depth_map_dimensions"]["width"] * metadata["depth_map_dimensions"]["height"]
        require(metadata["device_model"].strip() and metadata["captured_at"], 400, "VALIDATION_ERROR", "metadata")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Refused(400, "VALIDATION_ERROR", "metadata lacks a member") from None
    require(given == hashlib.sha256(photo).digest(), 400, "VALIDATION_ERROR", "photo_hash is not that of the photo")
    require(_inflated(depth) == 4 * size, 400, "VALIDATION_ERROR", "depth_map has not the size that metadata says")
    return given.hex()


def digest_of_file(headers, body):
    """Returns the SHA-256 of the part `file` in hex."""
    parts = parts_of(headers, body)
    require(set(parts) == {"file"}, 400, "VALIDATION_ERROR", f"parts are {sorted(parts)}, not one `file`")
    return hashlib.sha256(parts["file"][2]).hexdigest()


def parts_of(headers, body):
    """Parses the form with Werkzeug's parser and refuses a repeated name; returns (filename, type, bytes) by name."""
    kind = headers.get("Content-Type", "")
    require(kind.startswith("multipart/form-data; boundary="), 400, "VALIDATION_ERROR", f"Content-Type {kind!r}")
    parser = FormDataParser(max_form_memory_size=1 << 20, max_form_parts=64, silent=False)
    options = {"boundary": kind.partition("boundary=")[2].strip('"')}
    try:
        _, form, files = parser.parse(io.BytesIO(body), "multipart/form-data", len(body), options)
    except Exception as error:  # any exception of the parser means that the form is invalid
        raise Refused(400, "VALIDATION_ERROR", f"Failed to read multipart form: {error}") from None
    found = [(name, (None, None, value.encode())) for name, value in form.items(multi=True)]
    found += [(name, (file.filename, file.headers["Content-Type"], file.read()))
              for name, file in files.items(multi=True)]
    require(len(dict(found)) == len(found), 400, "VALIDATION_ERROR", "a part comes twice")
    return dict(found)


def _base64(text):
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError, TypeError):
        return None


def _inflated(data):
    """Returns how many bytes a single gzip member decompresses to."""
    try:
        inflater = zlib.decompressobj(wbits=31)
        length = len(inflater.decompress(data))
    except zlib.error:
        return None
    return length if inflater.eof and not inflater.unused_data else None
