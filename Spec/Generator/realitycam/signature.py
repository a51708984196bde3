"""The signatures: CBOR maps with authenticator data and an ECDSA signature that hashes its message once."""
import base64
import dataclasses
import hashlib
import re

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


class Undecodable(Exception):
    """A text or bytes without the expected encoding."""


@dataclasses.dataclass(frozen=True)
class Signed:
    """A decoded signature: what it says, and the bytes that it covers besides the client data."""

    data: bytes
    signature: bytes

    @property
    def rpid_hash(self):
        return self.data[:32]

    @property
    def counter(self):
        return int.from_bytes(self.data[33:37], "big")

    def verifies(self, key, client_data):
        """Whether the key signed the authenticator data and the hash of the client data."""
        try:
            key.verify(self.signature, self.data + hashlib.sha256(client_data).digest(), ec.ECDSA(hashes.SHA256()))
        except (InvalidSignature, ValueError):
            return False
        return True

    @property
    def is_der(self):
        """Whether the signature is the DER of its two numbers, and not 64 raw bytes."""
        try:
            return encode_dss_signature(*decode_dss_signature(self.signature)) == self.signature
        except ValueError:
            return False


def decoded(text):
    """Decodes the base64 of a CBOR map with the two members."""
    if not isinstance(text, str) or not text or not BASE64.fullmatch(text):
        raise Undecodable("not padded standard base64")
    members = _Map(base64.b64decode(text)).members()
    if set(members) != {"authenticatorData", "signature"}:
        raise Undecodable(f"a map with {sorted(members)}")
    if len(members["authenticatorData"]) != 37:
        raise Undecodable(f"authenticatorData has {len(members['authenticatorData'])} bytes, expected 37")
    return Signed(members["authenticatorData"], members["signature"])


class _Map:
    """A reader of one CBOR map from text to byte strings."""

    def __init__(self, data):
        self._data, self._at = data, 0

    def members(self):
        found = {}
        for _ in range(self._head(5)):
            name = self._take(self._head(3)).decode("ascii", "replace")
            if name in found:
                raise Undecodable(f"{name} comes twice")
            found[name] = self._take(self._head(2))
        if self._at != len(self._data):
            raise Undecodable("bytes after the map")
        return found

    def _take(self, count):
        if count > len(self._data) - self._at:
            raise Undecodable("CBOR ends early")
        self._at += count
        return self._data[self._at - count:self._at]

    def _head(self, major):
        first, = self._take(1)
        if first >> 5 != major:
            raise Undecodable(f"CBOR type {first >> 5}, expected {major}")
        short = first & 31
        if short < 24:
            return short
        if short > 26:
            raise Undecodable("a CBOR length of another form")
        return int.from_bytes(self._take(1 << short - 24), "big")
