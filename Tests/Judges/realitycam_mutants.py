"""An upload that breaks it, for each rule of a RealityCam server: (its number, what is wrong, how to make it)."""
import dataclasses
import gzip
import hashlib
import json
import zlib

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from Kit.sending import DEVICE
from Judges.realitycam_uploads import NOW, cbor, raw_form

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


MUTANTS = [
    (1, "the boundary is in the photo", _with(photo=b"\xff\xd8\r\n--realitycam-0123456789 \xff\xd9")),
    (2, "multipart/mixed", _given(content_type="multipart/mixed; boundary=realitycam-0123456789")),
    (3, "an upper-case name", _with(names=("metadata", "depth_map", "Photo"))),
    (4, "another photo", _given(photo=b"\xff\xd8other\xff\xd9")),
    (5, "a depth map that is too long", _with(compress=lambda data: bytes(5_242_881))),
    (6, "a body that is too long", _with(photo=bytes(20_971_521))),
    (7, "a member that is cut", _with(compress=lambda data: gzip.compress(data)[:-1])),
    (8, "other floats", _given(floats=lambda recipe: recipe.floats[::-1])),
    (9, "no size", _without("depth_map_dimensions")),
    (10, "a blank", _edited(photo_hash=lambda text: text + " ")),
    (11, "month 13", _with(time="2026-13-14T14:09:26Z")),
    (12, "no model", _without("device_model")),
    (13, "a huge number", _with(encode=lambda value: json.dumps(value).replace("4.0", "1e999").encode())),
    (14, "base64 without padding", _edited(assertion="AAA")),
    (15, "a second body is empty", _given(again=b"")),
    (16, "no signature", _with(form=lambda members: cbor({"authenticatorData": members["authenticatorData"]}))),
    (17, "another app", _with(rpid="XXXXXXXXXX.com.realitycam.other")),
    (18, "the same counter", _with(counter=5)),
    (19, "another key", _with(sign=_stranger)),
    (20, "64 raw bytes", _signed(_usual, raw_form)),
    (21, "no assertion", lambda recipe: dataclasses.replace(recipe, level="unverified").upload(level="secure_enclave")),
    (22, "too old", _given(now=NOW + 300_001)),
    (23, "a changed body", _with(sent=lambda body: body.replace(b"metadata.json", b"Metadata.json").replace(
        b"\xff\xd8", b"\xff\xd9", 1))),
    (24, "a header above the assertion", _with(header=7)),
    (25, "another device", _given(device_id=DEVICE.replace("3", "4"))),
    (26, "no hash", _get(f"{NOW}|")),
    (27, "another id in the answer", _given(reply_id=DEVICE.replace("3", "4"))),
    (34, "another analysis", _given(analysis={"layers": 99, "screen": False, "verdict": "pass", "deviation": 1.0,
                                              "coherence": 1.0})),
    (35, "raw DEFLATE", _with(compress=lambda data: zlib.compress(data, wbits=-15))),
]
