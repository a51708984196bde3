"""Mutations of assertion.cbor: what is signed, the DER of the signature, authenticatorData, and the CBOR."""

import hashlib

from bundle import signing
from capbundle.format import assertion, p256
from cases import base

_CATEGORY = signing.text_string("apple_validation_category_01")
_VERSION = signing.text_string("apple_bundle_version_01")
_MAPS = (b"\xa1" + _CATEGORY + b"\x44\3\0\0\0", b"\xa1" + _VERSION + b"\x651.4.2", b"\xa2" + _CATEGORY + b"\x40" +
         _VERSION + b"\x60", b"\xa2" + _VERSION + b"\x60" + _CATEGORY + b"\x40", b"\xa0", b"\xa1" + _CATEGORY + b"\x60",
         b"\xa1" + _VERSION + b"\x40", b"\xa2" + _CATEGORY + b"\x40" + _CATEGORY + b"\x40",
         b"\xa1" + _VERSION + b"\x62\xc3\x28", b"\xa1\x61a\x40", b"\xa1" + _CATEGORY + b"\x58\x01a",
         b"\xa1" + _CATEGORY + b"\x58\x18" + bytes(24), b"\xbf" + _CATEGORY + b"\x40\xff",
         b"\xa1" + _CATEGORY + b"\x40\0", b"\xb8\x01" + _CATEGORY + b"\x40", b"\xa3" + (_CATEGORY + b"\x40") * 3, b"\0",
         b"\xa1", b"\xa1" + _CATEGORY, b"\xa1" + _CATEGORY + b"\x5f\x41a\xff", b"\xa1" + _VERSION + b"\x63\xed\xa0\x80",
         b"\xa1" + _VERSION + b"\x61\0", b"\xa1" + _CATEGORY + b"\x59\x01\0" + bytes(256),
         b"\xa1" + _CATEGORY + b"\x5a\0\1\0\0")


def _sha256(data):
    return hashlib.sha256(data).digest()


class Signing:
    """How an assertion is made."""

    def __init__(self, draft):
        self.auth_data, self.key, self.low_s = draft.auth_data, draft.key, draft.low_s
        self.type, self.message = assertion.TYPE, assertion.nonce
        self.der, self.cbor = signing.encode_der, signing.encode

    def make(self, manifest):
        digest = self.message(self.auth_data, manifest, self.type)
        return self.cbor(self.der(*self.key.sign(digest, self.low_s)), self.auth_data)


def mutate(rng, signing):
    rng.choice(_MUTATIONS)(rng, signing)


def _auth_data(rng, signing):
    data = bytearray(signing.auth_data.ljust(37, b"\0"))
    kind = rng.randrange(7)
    if kind == 0:
        data[32] = rng.choice((0, 0x40, 0x41, 0x80, 0xC0, 1, 0xFF))
    elif kind == 1:
        data[33:37] = rng.choice((0, 1, 2**31, 2**32 - 1, 255)).to_bytes(4, "big")
    elif kind == 2:
        data[:32] = rng.choice((base.APP_HASH, base.DISK_HASH, bytes(32), _sha256(b"x")))
    elif kind == 3:
        data = data[:rng.choice((0, 1, 23, 24, 31, 32, 33, 36, 37))]
    elif kind == 4:
        data += rng.choice((b"\0", bytes(32), bytes(219), b"\xa0"))
    else:
        if kind == 5:
            data[:33] = base.APP_HASH + b"\x40"
        data += rng.choice(_MAPS)
    signing.auth_data = bytes(data)


def _what(rng, signing):
    """Signs something else."""
    kind = rng.randrange(8)
    if kind == 0:
        signing.type = rng.choice((b"application/json", b"", signing.type[:-1] + b"2", signing.type.upper()))
    elif kind == 1:
        signing.message = lambda auth, manifest, kind: _sha256(auth + _sha256(manifest))
    elif kind == 2:
        signing.message = lambda auth, manifest, kind: auth + _sha256(assertion.client_data(manifest, kind))
    elif kind == 3:
        signing.message = lambda auth, manifest, kind: manifest
    elif kind == 4:
        signing.key = rng.choice((base.KEY, base.OTHER_KEY, base.PHONE_KEY))
    else:
        signing.low_s = not signing.low_s


def _der(rng, signing):
    def integer(number, long=False, pad=b""):
        data = pad + number.to_bytes(max(1, number.bit_length() // 8 + 1), "big")
        return b"\x02" + (b"\x81" if long else b"") + bytes((len(data),)) + data

    def sequence(*parts, long=False):
        body = b"".join(parts)
        return b"\x30" + (b"\x81" if long else b"") + bytes((len(body),)) + body

    def numbers(choose):
        return lambda r, s: sequence(*map(integer, choose(r, s)))

    n = p256.N
    signing.der = rng.choice(
        (lambda r, s: sequence(integer(r), integer(s), long=True), lambda r, s: sequence(integer(r, True), integer(s)),
         lambda r, s: sequence(integer(r, pad=b"\0"), integer(s)),
         lambda r, s: sequence(integer(r), integer(s, pad=b"\0")),
         *map(numbers, (lambda r, s: (0, s), lambda r, s: (r, 0), lambda r, s: (n, s), lambda r, s: (r, n),
                        lambda r, s: (n - 1, n - 1), lambda r, s: (1, 1), lambda r, s: (r, s, 1), lambda r, s: (r,),
                        lambda r, s: (s, r), lambda r, s: (r + n, s))),
         lambda r, s: sequence(integer(r), integer(s)) + b"\0", lambda r, s: sequence(integer(r), integer(s), b"\0"),
         lambda r, s: sequence(integer(r), integer(s))[:-1],
         lambda r, s: b"\x31" + sequence(integer(r), integer(s))[1:],
         lambda r, s: r.to_bytes(32, "big") + s.to_bytes(32, "big"), lambda r, s: b"", lambda r, s: b"\x30\0",
         lambda r, s: b"\x30\x80" + integer(r) + integer(s) + b"\0\0", lambda r, s: bytes(8), lambda r, s: bytes(300),
         lambda r, s: sequence(b"\x02\x20" + r.to_bytes(32, "big") + b"\x02\x20" + s.to_bytes(32, "big"))))


def _cbor(rng, signing):
    def encode(signature, auth_data):
        items = [[b"signature", signature], [b"authenticatorData", auth_data]]
        kind = rng.randrange(9)
        if kind == 0:
            items.reverse()
        elif kind == 1:
            items.append(rng.choice(items) if rng.random() < 0.5 else [b"x", b""])
        elif kind == 2:
            items.pop(rng.randrange(2))
        elif kind == 3:
            items[rng.randrange(2)][0] = rng.choice((b"Signature", b"sig", b"", b"authData", b"signatur\xe9"))
        width = {name: 0 for name in ("map", 0, 1, 2, 3)}
        if kind in (4, 5):
            width[rng.choice(list(width))] = rng.choice((1, 2, 4, 8))
        data = _head(5, len(items), width["map"])
        for index, (name, value) in enumerate(items):
            data += _head(2 if kind == 6 and rng.random() < 0.5 else 3, len(name), width[2 * index % 4]) + name
            data += _head(3 if kind == 6 and rng.random() < 0.5 else 2, len(value), width[(2 * index + 1) % 4]) + value
        if kind == 7:
            data = rng.choice((b"\xd9\xd9\xf7" + data, b"\xd2" + data, b"\xbf" + data[1:] + b"\xff", data + b"\0",
                               data * 2, b"", b"\x9f" * 2000, data + bytes(3900), b"\xf6",
                               data[:rng.randrange(len(data))]))
        elif kind == 8:
            data = bytearray(data)
            data[rng.choice((0, 1, 11, 12, 13, rng.randrange(len(data))))] ^= 1 << rng.randrange(8)
        return bytes(data)

    signing.cbor = encode


def _head(major, value, width):
    """Returns a CBOR head whose argument has so many bytes; 0 is the shortest head."""
    if not width or value >= 256**width:
        return signing.head(major, value)
    return bytes((major << 5 | {1: 24, 2: 25, 4: 26, 8: 27}[width],)) + value.to_bytes(width, "big")


_MUTATIONS = (_auth_data, _auth_data, _what, _what, _der, _cbor, _cbor)
