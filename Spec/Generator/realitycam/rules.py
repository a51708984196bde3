"""The rules that a server of RealityCam enforces or needs: one function for each, by its number.

A rule returns None, or a warning if the server accepts the upload but lowers its verdict. It raises `Violated`, or an
error of the modules that decode.
"""
import datetime
import hashlib
import math
import re
import zlib

from .depth import analysed, samples_of
from .form import Broken, body_of, boundary_of
from .signature import BASE64, Undecodable, decoded

STOCK_LIMIT, HARD_LIMIT = 2_097_152, 20_971_520
PHOTO_LIMIT, DEPTH_LIMIT = 10_485_760, 5_242_880
TOO_OLD, TOO_EARLY = 300_000, -60_000  # milliseconds
SIZES = (256, 192), (320, 240), (640, 480), (384, 288)
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
EMPTY = hashlib.sha256(b"").hexdigest()


class Violated(Exception):
    """A rule that the upload breaks."""


def need(condition, words):
    if not condition:
        raise Violated(words)


# A. The body.

def framing(upload):
    boundary, parts = boundary_of(upload.body), upload.parts
    need(all(b"\r\n--" + boundary not in b"\r\n" + part.data for part in parts), "the boundary occurs in a part")


def content_type(upload):
    wanted = "multipart/form-data; boundary=" + boundary_of(upload.body).decode("latin-1")
    need(upload.content_type == wanted, f"Content-Type is {upload.content_type!r}")


def names(upload):
    found = sorted(part.name for part in upload.parts if part.name != "detection")
    need(found == ["depth_map", "metadata", "photo"], f"parts are {found}")
    need(sum(part.name == "detection" for part in upload.parts) <= 1, "detection comes twice")


def photo(upload):
    data = upload.data("photo")
    need(1 <= len(data) <= PHOTO_LIMIT, f"the photo has {len(data)} bytes")
    need(upload.photo is None or data == upload.photo, "the photo is not that of the capture")


def depth_length(upload):
    need(1 <= len(upload.data("depth_map")) <= DEPTH_LIMIT, "depth_map is empty or too long")


def whole_length(upload):
    need(len(upload.body) <= HARD_LIMIT, f"the body has {len(upload.body)} bytes")
    words = f"{len(upload.body)} bytes: a server with default settings answers 400"
    return words if len(upload.body) > STOCK_LIMIT else None


def _inflated(data):
    inflater = zlib.decompressobj(wbits=31)
    try:
        floats = inflater.decompress(data) + inflater.flush()
    except zlib.error as error:
        raise Violated(f"depth_map is not gzip: {error}") from None
    need(inflater.eof and not inflater.unused_data, "depth_map is not one whole gzip member")
    return floats


def gzip_member(upload):
    data = upload.data("depth_map")
    need(data.startswith(b"\x1f\x8b\x08"), "depth_map does not begin with 1f 8b 08")
    _inflated(data)


def depth_size(upload):
    floats, (width, height) = _inflated(upload.data("depth_map")), upload.size
    need(len(floats) == 4 * width * height, f"{len(floats)} bytes of floats for {width}x{height}")
    need(upload.floats is None or floats == upload.floats, "the floats are not those of the capture")


def dimensions(upload):
    width, height = upload.size
    need(1 <= width <= 1000 and 1 <= height <= 1000, f"{width}x{height}")
    known = any(abs(width - w) <= 10 and abs(height - h) <= 10 for w, h in SIZES)
    return None if known else f"{width}x{height} is not a size that the server knows"


def photo_hash(upload):
    wanted = hashlib.sha256(upload.data("photo")).hexdigest()
    need(upload.metadata.get("photo_hash") == wanted, "photo_hash is not the lower-case hex SHA-256 of the photo")


def captured_at(upload):
    text = upload.metadata.get("captured_at")
    need(isinstance(text, str) and TIME.fullmatch(text), f"captured_at is {text!r}")
    try:
        datetime.datetime.fromisoformat(re.sub(r"\.\d+", "", text).replace("Z", "+00:00"))
    except ValueError:
        raise Violated(f"captured_at is {text!r}") from None


def device_model(upload):
    text = upload.metadata.get("device_model")
    need(isinstance(text, str) and text.strip(), "device_model is blank")
    known = re.search(r"iphone1[2-7]pro", text.lower().replace(" ", ""))
    return None if known else "the server does not verify this device_model"


def location(upload):
    place = upload.metadata.get("location")
    if place is None:
        return
    need(isinstance(place, dict), "location is not an object")
    for name, limit in (("latitude", 90), ("longitude", 180)):
        value = place.get(name)
        need(type(value) in (int, float) and abs(value) <= limit, f"{name} is missing or out of range")
    for name in ("altitude", "accuracy"):
        value = place.get(name, 0) or 0
        need(type(value) in (int, float) and math.isfinite(value), f"{name} is not a finite number")


def metadata_text(upload):
    text = upload.metadata.get("assertion")
    need(text is None or isinstance(text, str) and text and BASE64.fullmatch(text), "assertion is not padded base64")


def same_bytes(upload):
    """The assertion is new in each body; everything else depends only on the bundle."""
    boundary = boundary_of(upload.body)
    need(body_of(boundary, upload.parts) == upload.body, "the parts, put together again, give other bytes")
    if upload.again is not None:
        first, second = (_without_assertion(body) for body in (upload.body, upload.again))
        need(first == second, "a second body of the same bundle differs in more than the assertion")


def _without_assertion(body):
    return re.sub(rb'"assertion": ?"[A-Za-z0-9+/=]*"', b"", body)


# B. The assertion. A body without an assertion meets these rules.

def assertion_form(upload):
    need(upload.assertion is None or upload.assertion.signature, "no signature")


def rpid(upload):
    wanted = hashlib.sha256(upload.rpid.encode()).digest()
    need(upload.assertion is None or upload.assertion.rpid_hash == wanted, f"the assertion is not for {upload.rpid}")


def assertion_counter(upload):
    if upload.assertion:
        need(upload.assertion.counter >= 1, "the counter is 0")
        need(upload.assertion.counter > upload.signature.counter, f"assertion {upload.assertion.counter}, header "
             f"{upload.signature.counter}")


def assertion_signature(upload):
    if upload.assertion is None:
        return
    hashed, at = upload.metadata.get("photo_hash", ""), upload.metadata.get("captured_at", "")
    need(upload.assertion.verifies(upload.key, f"{hashed}|{at}".encode()), "the assertion does not verify")
    for other in (f"{hashed.upper()}|{at}", f"{hashed}|{at}0", f"{hashed}{at}", f"{hashed}|{at}".replace("Z", "z")):
        if other != f"{hashed}|{at}":
            need(not upload.assertion.verifies(upload.key, other.encode()), "the assertion verifies for other strings")


def der(upload):
    for signed in (upload.assertion, upload.signature):
        if signed:
            need(signed.is_der, "a signature is not DER")


def level(upload):
    has = upload.assertion is not None
    need(has == (upload.level == "secure_enclave"), f"level {upload.level}, and the assertion is "
         f"{'there' if has else 'missing'}")


# C. The headers.

def timestamp(upload):
    text = upload.lower.get("x-device-timestamp", "")
    need(re.fullmatch(r"0|[1-9][0-9]{0,18}", text), f"X-Device-Timestamp is {text!r}")
    if upload.now is not None:
        need(TOO_EARLY <= upload.now - int(text) <= TOO_OLD, f"the timestamp is {upload.now - int(text)} ms old")


def header_signature(upload):
    at, digest = upload.lower.get("x-device-timestamp", ""), hashlib.sha256(upload.body).hexdigest()
    need(upload.signature.verifies(upload.key, f"{at}|{digest}".encode()), "the header does not verify")
    other = hashlib.sha256(upload.body[:-1] + b"\0").hexdigest()
    for text in (f"{at}0|{digest}", f"{at}|{other}", f"{at}|{digest.upper()}"):
        need(not upload.signature.verifies(upload.key, text.encode()), "the header verifies for other bytes")


def header_counter(upload):
    counter = upload.signature.counter
    need(counter > upload.stored, f"counter {counter}, and the server has {upload.stored}")
    need(upload.assertion is None or counter < upload.assertion.counter, "the counter is not below the assertion's")


def device_id(upload):
    text = upload.lower.get("x-device-id", "")
    need(UUID.fullmatch(text), f"X-Device-Id is {text!r}")
    need(text != upload.key_id and (upload.device_id or text).lower() == text.lower(), "another device id")


def get_signature(upload):
    if upload.get is not None:
        headers = {name.lower(): value for name, value in upload.get.items()}
        signed = decoded(headers.get("x-device-signature"))
        need(signed.verifies(upload.key, f"{headers.get('x-device-timestamp')}|{EMPTY}".encode()),
             "the GET does not sign the hash of zero bytes")


def request_id(upload):
    text = upload.lower.get("x-request-id")
    if text is not None:
        need(UUID.fullmatch(text), f"X-Request-Id is {text!r}")
        need(upload.reply_id in (None, text), "the answer has another request_id")


# E. The depth map, as the server sees it.

def preflight(upload):
    values = samples_of(_inflated(upload.data("depth_map")))
    found = analysed(values, *upload.size)
    need(len(values) == math.prod(upload.size), "the size is not that of the samples: the server fails the capture")
    told = upload.analysis
    if told is not None:
        need(told["layers"] == found.layers and told["screen"] == found.is_screen and told["verdict"] == found.status
             and math.isclose(told["deviation"], found.deviation, rel_tol=1e-9)
             and math.isclose(told["coherence"], found.coherence, rel_tol=1e-9, abs_tol=1e-12),
             f"another analysis: {told}, expected {found}")
    return None if found.status == "pass" else f"the server's depth analysis says {found.status}"


def not_of_a_peer(upload):
    """The app of the same project sends raw DEFLATE, which the server cannot read."""
    data = upload.data("depth_map")
    for form, wbits in (("raw DEFLATE", -15), ("zlib", 15)):
        inflater = zlib.decompressobj(wbits=wbits)
        try:
            found = inflater.decompress(data)
        except zlib.error:
            continue
        need(not (inflater.eof and found), f"depth_map is {form}, which has to be wrapped as gzip")


RULES = {1: framing, 2: content_type, 3: names, 4: photo, 5: depth_length, 6: whole_length, 7: gzip_member,
         8: depth_size, 9: dimensions, 10: photo_hash, 11: captured_at, 12: device_model, 13: location,
         14: metadata_text, 15: same_bytes, 16: assertion_form, 17: rpid, 18: assertion_counter,
         19: assertion_signature, 20: der, 21: level, 22: timestamp, 23: header_signature, 24: header_counter,
         25: device_id, 26: get_signature, 27: request_id, 34: preflight, 35: not_of_a_peer}


def check(upload):
    """Returns, by the number of the rule, ("ok" | "warning" | "broken", words)."""
    results = {}
    for number, rule in RULES.items():
        try:
            words = rule(upload)
            results[number] = ("warning", words) if words else ("ok", "")
        except (Violated, Broken, Undecodable, ValueError) as error:
            results[number] = ("broken", str(error))
    return results
