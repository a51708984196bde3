"""Signs bundles with keys made from a seed: RFC 6979, DER, and the assertion of section 9."""

import hashlib
import hmac

from capbundle.format.assertion import BYTES, DISK_FLAGS, DISK_RP_ID_HASH, MAP, TEXT, nonce
from capbundle.format.p256 import HALF, N
from cryptography.hazmat.primitives.asymmetric import ec


class Key:
    """A private key made from a seed, so that vectors are the same at every run. Not for real keys."""

    def __init__(self, seed):
        self.secret = int.from_bytes(hashlib.sha512(seed.encode()).digest(), "big") % (N - 1) + 1
        self.point = _times_base(self.secret)

    def sign(self, message, low_s=True):
        """Returns (r, s) over SHA-256 of the message, with s in the lower or in the upper half."""
        return self.sign_digest(hashlib.sha256(message).digest(), low_s)

    def sign_digest(self, digest, low_s=True):
        z = int.from_bytes(digest, "big") % N
        for k in _nonces(self.secret, z):
            r = int.from_bytes(_times_base(k)[1:33], "big") % N
            s = pow(k, -1, N) * (z + r * self.secret) % N
            if r and s:
                break
        if (s <= HALF) != low_s:
            s = N - s
        return r, s


def _times_base(scalar):
    numbers = ec.derive_private_key(scalar, ec.SECP256R1()).public_key().public_numbers()
    return b"\4" + numbers.x.to_bytes(32, "big") + numbers.y.to_bytes(32, "big")


def _nonces(secret, z):
    """Yields candidates for k by RFC 6979 section 3.2 with SHA-256."""
    seed = secret.to_bytes(32, "big") + z.to_bytes(32, "big")
    key, value = bytes(32), b"\1" * 32

    def mac(*parts):
        return hmac.new(key, b"".join(parts), hashlib.sha256).digest()

    for tag in (b"\0", b"\1"):
        key = mac(value, tag, seed)
        value = mac(value)
    while True:
        value = mac(value)
        k = int.from_bytes(value, "big")
        if 1 <= k < N:
            yield k
        key = mac(value, b"\0")
        value = mac(value)


def encode_der(r, s):
    """Returns ECDSA-Sig-Value of two positive integers (always below 128 bytes, so lengths are short)."""
    body = b""
    for number in (r, s):
        data = number.to_bytes(number.bit_length() // 8 + 1, "big")
        body += b"\x02%c" % len(data) + data
    return b"\x30%c" % len(body) + body


def head(major, value):
    """Returns the shortest CBOR head."""
    if value < 24:
        return b"%c" % (major << 5 | value)
    width = 1 if value < 0x100 else 2 if value < 0x10000 else 4
    return b"%c" % (major << 5 | {1: 24, 2: 25, 4: 26}[width]) + value.to_bytes(width, "big")


def byte_string(data):
    return head(BYTES, len(data)) + data


def text_string(text):
    return head(TEXT, len(text.encode())) + text.encode()


def encode(signature, auth_data):
    return (head(MAP, 2) + text_string("signature") + byte_string(signature)
            + text_string("authenticatorData") + byte_string(auth_data))


def authenticator_data(counter, rp_id_hash=DISK_RP_ID_HASH, flags=DISK_FLAGS, extension=b""):
    return rp_id_hash + b"%c" % flags + counter.to_bytes(4, "big") + extension


def make(manifest, key, auth_data, low_s=True):
    """Makes an assertion over a manifest."""
    return encode(encode_der(*key.sign(nonce(auth_data, manifest), low_s)), auth_data)
