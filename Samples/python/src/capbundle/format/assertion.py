"""assertion.cbor of section 9: strict CBOR, authenticatorData, and the signature (A1 to A7)."""

from __future__ import annotations

import hashlib
from typing import Any

from . import p256
from .faults import Fault

TYPE = b"application/vnd.capture-bundle.manifest+json;version=1"
DISK_RP_ID_HASH = hashlib.sha256(b"capture-bundle.device-key").digest()
DISK_FLAGS = 0x00
APPLE_FLAGS = 0x40
AUTH_DATA = 37

BYTES, TEXT, MAP = 2, 3, 5  # CBOR major types
_EXTENSIONS = {"apple_validation_category_01": BYTES, "apple_bundle_version_01": TEXT}


class _NotStrict(ValueError):
    pass


class _Cursor:
    """Reads CBOR heads and strings: definite lengths and shortest heads only (RFC 8949 section 4.2.1)."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def head(self, major: int) -> int:
        if self.at >= len(self.data):
            raise _NotStrict("it ends early")
        first = self.data[self.at]
        if first >> 5 != major:
            raise _NotStrict("major type %d at byte %d" % (first >> 5, self.at))
        info = first & 31
        self.at += 1
        if info < 24:
            return info
        if info > 27:
            raise _NotStrict("head %02x at byte %d" % (first, self.at - 1))
        width = 1 << (info - 24)
        argument = self.data[self.at:self.at + width]
        self.at += width
        value = int.from_bytes(argument, "big")
        if len(argument) < width or value < (24 if width == 1 else 1 << (4 * width)):
            raise _NotStrict("head at byte %d is not the shortest" % (self.at - width - 1))
        return value

    def string(self, major: int) -> Any:
        length = self.head(major)
        data = self.data[self.at:self.at + length]
        if len(data) != length:
            raise _NotStrict("it ends early")
        self.at += length
        if major == TEXT:
            try:
                return data.decode("utf-8")
            except UnicodeDecodeError:
                raise _NotStrict("text that is not UTF-8") from None
        return data


def parse(data: bytes) -> tuple[bytes, bytes]:
    """Returns (signature, authenticatorData); raises Fault A1."""
    cursor = _Cursor(data)
    try:
        if cursor.head(MAP) != 2:
            raise _NotStrict("not a map of two")
        found = []
        for name in ("signature", "authenticatorData"):
            if cursor.string(TEXT) != name:
                raise _NotStrict("no %s where it belongs" % name)
            found.append(cursor.string(BYTES))
        if cursor.at != len(data):
            raise _NotStrict("bytes after the map")
    except _NotStrict as error:
        raise Fault("A1", str(error)) from None
    return found[0], found[1]


def _judge_extension(data: bytes) -> None:
    """Checks A3 for the map that iOS 27 adds."""
    cursor = _Cursor(data)
    try:
        count = cursor.head(MAP)
        if not 1 <= count <= len(_EXTENSIONS):
            raise _NotStrict("a map of %d" % count)
        seen = set()
        for _ in range(count):
            name = cursor.string(TEXT)
            if name not in _EXTENSIONS or name in seen:
                raise _NotStrict("a member unknown or twice")
            seen.add(name)
            cursor.string(_EXTENSIONS[name])
        if cursor.at != len(data):
            raise _NotStrict("bytes after the map")
    except _NotStrict as error:
        raise Fault("A3", "after the 37 bytes: %s" % error) from None


def counter(data: bytes) -> int:
    """Returns the counter of an assertion without a fault."""
    return int.from_bytes(parse(data)[1][33:37], "big")


def client_data(manifest: bytes, media_type: bytes = TYPE) -> bytes:
    """Returns the DSSE pre-authentication encoding."""
    return b"DSSEv1 %d %s %d %s" % (len(media_type), media_type, len(manifest), manifest)


def nonce(auth_data: bytes, manifest: bytes, media_type: bytes = TYPE) -> bytes:
    return hashlib.sha256(auth_data + hashlib.sha256(client_data(manifest, media_type)).digest()).digest()


def judge(data: bytes, manifest: bytes, point: bytes) -> tuple[list[Fault], bytes | None]:
    """Returns (faults, rpIdHash).

    The faults are A1 or A2 alone, or else all faults of A3 to A7 that can be checked (section 11). rpIdHash is None
    with A1, A2 or A3.
    """
    try:
        signature, auth_data = parse(data)
        r, s = _numbers(signature)
    except Fault as fault:
        return [fault], None
    faults = []
    rp_id_hash = None
    disk = auth_data[:32] == DISK_RP_ID_HASH
    try:
        if len(auth_data) < AUTH_DATA or (disk and len(auth_data) > AUTH_DATA):
            raise Fault("A3", "%d bytes" % len(auth_data))
        if len(auth_data) > AUTH_DATA:
            _judge_extension(auth_data[AUTH_DATA:])
        rp_id_hash = auth_data[:32]
    except Fault as fault:
        faults.append(fault)
    if len(auth_data) < AUTH_DATA:
        return faults, None  # section 11: nothing more can be checked
    if auth_data[32] != (DISK_FLAGS if disk else APPLE_FLAGS):
        faults.append(Fault("A4", "flags %02x of %s key" % (auth_data[32], "a disk" if disk else "an Apple")))
    if disk and auth_data[33:37] == bytes(4):
        faults.append(Fault("A6", "counter 0"))
    if disk and s > p256.HALF:
        faults.append(Fault("A5", "s is in the upper half"))
    if not p256.verify(point, r, s, nonce(auth_data, manifest)):
        faults.append(Fault("A7", "the signature is not of this key over this manifest"))
    return faults, rp_id_hash


def _numbers(signature: bytes) -> tuple[int, int]:
    try:
        return p256.decode_der(signature)
    except ValueError as error:
        raise Fault("A2", str(error)) from None
