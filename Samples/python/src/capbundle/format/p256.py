"""P-256 and ECDSA: the curve check, verification by `cryptography`, strict DER."""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

P = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
HALF = (N - 1) // 2


def is_point(data: bytes) -> bool:
    """Whether the bytes are an uncompressed point of the curve (M5, T0)."""
    if len(data) != 65 or data[0] != 4:
        return False
    x, y = int.from_bytes(data[1:33], "big"), int.from_bytes(data[33:], "big")
    return x < P and y < P and (y * y - x * x * x + 3 * x - B) % P == 0


def verify(point: bytes, r: int, s: int, message: bytes) -> bool:
    """Verifies ECDSA-P256-SHA256 over a message, which is hashed here."""
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), bytes(point))
    try:
        key.verify(encode_dss_signature(r, s), bytes(message), ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True


def decode_der(data: bytes) -> tuple[int, int]:
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
