"""Uploads that break one rule of a RealityCam server each: (number of the rule, what is wrong, how to make it)."""
import base64
import dataclasses
import gzip
import hashlib
import json

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from Kit.sending import DEVICE
from Judges.realitycam_uploads import NOW, PEER_DEPTH, cbor, peer_form, raw_form

ALGORITHM = ec.ECDSA(hashes.SHA256())


def _with(**fields):
    return lambda recipe: dataclasses.replace(recipe, **fields).upload()


def _edited(**members):
    """Changes members of the metadata; a function makes a value from the old one."""
    return _with(edit=lambda metadata: metadata | {
        name: value(metadata[name]) if callable(value) else value for name, value in members.items()})


def _without(name):
    return _with(edit=lambda metadata: {key: value for key, value in metadata.items() if key != name})


def _given(**changes):
    """Changes what the server knows; a function makes a value from the recipe."""
    return lambda recipe: recipe.upload(**{
        name: value(recipe) if callable(value) else value for name, value in changes.items()})


def _headers(**members):
    named = {name.replace("_", "-"): value for name, value in members.items()}
    return _given(headers=lambda recipe: recipe.upload().headers | named)


def _signed(message, form=lambda signature: signature):
    """Signs what `message` makes of authenticator data and client data."""
    return _with(sign=lambda key, data, client_data: form(key.sign(message(data, client_data), ALGORITHM)))


def _usual(data, client_data):
    return data + hashlib.sha256(client_data).digest()


def _stranger(key, data, client_data):
    return ec.generate_private_key(ec.SECP256R1()).sign(_usual(data, client_data), ALGORITHM)


def _get(text):
    """Gives a GET that signs another text than that of section 6.3."""
    return _given(get=lambda recipe: recipe.headers("") | {
        "X-Device-Signature": recipe.signed(text.encode(), recipe.header)})


def _twice(value):
    """Encodes metadata with a key that comes twice."""
    return b'{"captured_at":"2020-01-01T00:00:00Z",' + json.dumps(value).encode()[1:]


def _later(recipe):
    return dataclasses.replace(recipe, time="2026-03-14T14:09:26.536Z").body()


def _longer(members):
    return base64.b64encode(base64.b64decode(cbor(members)) + b"\0").decode()


def _short(members):
    return cbor({name: data[:36] if name == "authenticatorData" else data for name, data in members.items()})


MUTANTS = [
    (1, "lines end with LF", _with(finish=lambda body: body.replace(b"\r\n\r\n", b"\n\n", 1))),
    (1, "the end is missing", _with(finish=lambda body: body[:-4])),
    (1, "bytes follow the end", _with(finish=lambda body: body + b"\r\n")),
    (1, "the boundary is in the photo", _with(photo=b"\xff\xd8\r\n--realitycam-0123456789 \xff\xd9")),
    (2, "another boundary", _given(content_type="multipart/form-data; boundary=realitycam-1")),
    (2, "multipart/mixed", _given(content_type="multipart/mixed; boundary=realitycam-0123456789")),
    (3, "no photo", _with(names=("metadata", "depth_map"))),
    (3, "two photos", _with(names=("metadata", "depth_map", "photo", "photo"))),
    (3, "an upper-case name", _with(names=("metadata", "depth_map", "Photo"))),
    (4, "another photo", _given(photo=b"\xff\xd8other\xff\xd9")),
    (4, "an empty photo", _with(photo=b"")),
    (4, "a photo that is too long", _with(photo=bytes(10_485_761))),
    (5, "an empty depth map", _with(compress=lambda data: b"")),
    (5, "a depth map that is too long", _with(compress=lambda data: bytes(5_242_881))),
    (6, "a body that is too long", _with(photo=bytes(20_971_521))),
    (7, "a byte after the member", _with(compress=lambda data: gzip.compress(data) + b"\0")),
    (7, "two members", _with(compress=lambda data: gzip.compress(data) * 2)),
    (7, "another CRC", _with(compress=lambda data: gzip.compress(data)[:-8] + bytes(8))),
    (7, "a member that is cut", _with(compress=lambda data: gzip.compress(data)[:-1])),
    (8, "one row less", _edited(depth_map_dimensions={"width": 256, "height": 191})),
    (8, "other floats", _given(floats=lambda recipe: recipe.floats[::-1])),
    (9, "a side is 0", _edited(depth_map_dimensions={"width": 256, "height": 0})),
    (9, "a side is 1001", _edited(depth_map_dimensions={"width": 1001, "height": 192})),
    (9, "a side is a float", _edited(depth_map_dimensions={"width": 256.0, "height": 192})),
    (9, "no size", _without("depth_map_dimensions")),
    (10, "base64", _edited(photo_hash=lambda text: base64.b64encode(bytes.fromhex(text)).decode())),
    (10, "upper case", _edited(photo_hash=str.upper)),
    (10, "a blank", _edited(photo_hash=lambda text: text + " ")),
    (11, "no zone", _with(time="2026-03-14T14:09:26.535")),
    (11, "month 13", _with(time="2026-13-14T14:09:26Z")),
    (12, "a blank model", _edited(device_model=" \u00a0")),
    (12, "no model", _without("device_model")),
    (13, "latitude 91", _edited(location={"latitude": 91, "longitude": 0})),
    (13, "no longitude", _edited(location={"latitude": 1})),
    (13, "a text", _edited(location={"latitude": "1", "longitude": 2})),
    (13, "NaN", _edited(location={"latitude": 1, "longitude": 2, "altitude": float("nan")})),
    (13, "a huge number", _with(encode=lambda value: json.dumps(value).replace("4.0", "1e999").encode())),
    (14, "a key comes twice", _with(encode=_twice)),
    (14, "an array", _with(encode=lambda value: json.dumps([value]).encode())),
    (14, "UTF-16", _with(encode=lambda value: json.dumps(value).encode("utf-16"))),
    (14, "base64 for URLs", _edited(assertion="--__")),
    (14, "base64 without padding", _edited(assertion="AAA")),
    (15, "a second body differs", _given(again=_later)),
    (15, "a second body is empty", _given(again=b"")),
    (16, "36 bytes", _with(form=_short)),
    (16, "a byte after the map", _with(form=_longer)),
    (16, "no signature", _with(form=lambda members: cbor({"authenticatorData": members["authenticatorData"]}))),
    (17, "another app", _with(rpid="XXXXXXXXXX.com.realitycam.other")),
    (18, "the same counter", _with(counter=5)),
    (18, "a lower counter", _with(counter=4)),
    (18, "counter 0", _with(counter=0)),
    (19, "Apple's double hash", _signed(lambda *given: hashlib.sha256(_usual(*given)).digest())),
    (19, "another key", _with(sign=_stranger)),
    (19, "another time", _edited(captured_at="2026-03-14T14:09:26.536Z")),
    (19, "the hash in upper case", _edited(photo_hash=str.upper)),
    (20, "64 raw bytes", _signed(_usual, raw_form)),
    (21, "an assertion of a device at a lower level", _given(level="unverified")),
    (21, "no assertion", lambda recipe: dataclasses.replace(recipe, level="unverified").upload(level="secure_enclave")),
    (22, "too old", _given(now=NOW + 300_001)),
    (22, "too far ahead", _given(now=NOW - 60_001)),
    (22, "seconds", _with(timestamp=str(NOW // 1000))),
    (22, "a leading zero", _with(timestamp=f"0{NOW}")),
    (23, "a changed body", _with(sent=lambda body: body.replace(b"metadata.json", b"Metadata.json").replace(
        b"\xff\xd8", b"\xff\xd9", 1))),
    (23, "another timestamp", _headers(X_Device_Timestamp=str(NOW + 1))),
    (23, "the text itself is signed", _signed(lambda data, client_data: client_data)),
    (24, "the counter of the server", _given(stored=5)),
    (24, "a header above the assertion", _with(header=7)),
    (25, "the key id", _headers(X_Device_Id="ab" * 32)),
    (25, "another device", _given(device_id=DEVICE.replace("3", "4"))),
    (26, "the timestamp alone", _get(str(NOW))),
    (26, "no hash", _get(f"{NOW}|")),
    (27, "not a UUID", _headers(X_Request_Id="7")),
    (27, "another id in the answer", _given(reply_id=DEVICE.replace("3", "4"))),
    (34, "one row less", _edited(depth_map_dimensions={"width": 256, "height": 191})),
    (34, "another analysis", _given(analysis={"layers": 99, "screen": False, "verdict": "pass", "deviation": 1.0,
                                              "coherence": 1.0})),
    *((35, name, _with(compress=peer_form(name))) for name in PEER_DEPTH),
]
