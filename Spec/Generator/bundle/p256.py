"""P-256 and ECDSA: the curve check, verification by `cryptography`, deterministic signing (RFC 6979), strict DER."""

import hashlib
import hmac

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

P = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
HALF = (N - 1) // 2


def is_point(data):
    """Whether the bytes are an uncompressed point of the curve (M5, T0)."""
    if len(data) != 65 or data[0] != 4:
        return False
    x, y = int.from_bytes(data[1:33], "big"), int.from_bytes(data[33:], "big")
    return x < P and y < P and (y * y - x * x * x + 3 * x - B) % P == 0


def verify(point, r, s, message):
    """Verifies ECDSA-P256-SHA256 over a message, which is hashed here."""
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), bytes(point))
    try:
        key.verify(encode_dss_signature(r, s), bytes(message), ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True


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


def decode_der(data):
    """Returns (r, s) of strict DER with both in 1 ... n - 1; raises ValueError with the reason otherwise (A2)."""
    if not 8 <= len(data) <= 72:
        raise ValueError("%d bytes" % len(data))
    if data[0] != 0x30 or data[1] != len(data) - 2:
        raise ValueError("not one SEQUENCE of %d bytes" % (len(data) - 2))
    numbers = []
    at = 2
    for name in ("r", "s"):
        if len(data) < at + 3 or data[at] != 0x02:
            raise ValueError("%s is no INTEGER" % name)
        length = data[at + 1]
        body = data[at + 2:at + 2 + length]
        if length < 1 or length > 33 or len(body) != length:
            raise ValueError("length of %s" % name)
        if body[0] & 0x80:
            raise ValueError("%s is negative" % name)
        if length > 1 and body[0] == 0 and not body[1] & 0x80:
            raise ValueError("%s is not shortest" % name)
        number = int.from_bytes(body, "big")
        if not 1 <= number < N:
            raise ValueError("%s is not in 1 ... n - 1" % name)
        numbers.append(number)
        at += 2 + length
    if at != len(data):
        raise ValueError("bytes after s")
    return numbers[0], numbers[1]
