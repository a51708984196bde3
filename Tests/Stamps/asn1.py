"""Writes the DER of time stamps piece by piece, so that each piece can be wrong."""
import hashlib

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, padding

SIGNED_DATA, TST_INFO, DATA = "1.2.840.113549.1.7.2", "1.2.840.113549.1.9.16.1.4", "1.2.840.113549.1.7.1"
CONTENT_TYPE, MESSAGE_DIGEST = "1.2.840.113549.1.9.3", "1.2.840.113549.1.9.4"
SIGNING_CERTIFICATE = "1.2.840.113549.1.9.16.2.47"
ALGORITHMS = {"sha1": "1.3.14.3.2.26", "sha256": "2.16.840.1.101.3.4.2.1", "sha384": "2.16.840.1.101.3.4.2.2",
              "sha512": "2.16.840.1.101.3.4.2.3", "sha3_256": "2.16.840.1.101.3.4.2.8",
              "shake_256": "2.16.840.1.101.3.4.2.12"}
ECDSA = {"sha1": "1.2.840.10045.4.1", "sha256": "1.2.840.10045.4.3.2", "sha384": "1.2.840.10045.4.3.3",
         "sha512": "1.2.840.10045.4.3.4", "sha3_256": "2.16.840.1.101.3.4.3.10"}
RSA, PSS, MGF1 = "1.2.840.113549.1.1.1", "1.2.840.113549.1.1.10", "1.2.840.113549.1.1.8"
ED25519, ED448 = "1.3.101.112", "1.3.101.113"


def der(tag, *parts):
    body = b"".join(parts)
    length = len(body).to_bytes((len(body).bit_length() + 7) // 8 or 1)
    return bytes([tag]) + (length if len(body) < 0x80 else bytes([0x80 + len(length)]) + length) + body


def seq(*parts):
    return der(0x30, *parts)


def integer(number):
    return der(0x02, number.to_bytes(number.bit_length() // 8 + 1, signed=True))


def oid(text):
    first, second, *rest = map(int, text.split("."))
    body = bytearray([40 * first + second])
    for number in rest:
        groups = [number & 0x7f]
        while number := number >> 7:
            groups.append(0x80 | number & 0x7f)
        body += bytes(reversed(groups))
    return der(0x06, bytes(body))


def octets(data):
    return der(0x04, data)


def algorithm(name):
    return seq(oid(ALGORITHMS[name]), der(0x05))


def attribute(name, value):
    return seq(oid(name), der(0x31, value))


def common_name(text):
    """A GeneralName with a distinguished name of one part."""
    return der(0xa4, seq(der(0x31, seq(oid("2.5.4.3"), der(0x0c, text.encode())))))


def attribute_certificate(version):
    """An AttributeCertificate of version 1 or 2 (RFC 5652 10.2.2) whose signature is nobody's."""
    name, sealed = common_name("service"), seq(oid(ECDSA["sha256"]))
    times = seq(der(0x18, b"20260101000000Z"), der(0x18, b"20270101000000Z"))
    holder = seq(der(0xa1, name)) if version == 2 else der(0xa1, seq(name))
    issuer = der(0xa0, seq(name)) if version == 2 else seq(name)
    body = seq(integer(version - 1), holder, issuer, sealed, integer(1), times, seq())
    return der(0xa0 + version, body, sealed, der(0x03, bytes(9)))


def content(imprint, time=b"20260314150000Z", nonce=None, accuracy=None, version=1, hash="sha256", tsa=None,
            extension=None):
    """A TSTInfo. `accuracy` are the parts that it has, such as (1,) or (1, 500); `tsa` is a GeneralName."""
    parts = [integer(version), oid("1.2.3.4"), seq(algorithm(hash), octets(imprint)), integer(7), der(0x18, time)]
    if accuracy is not None:
        numbers = [integer(number) for number in accuracy]
        parts.append(seq(*(number if index == 0 else bytes([0x7f + index]) + number[1:]
                           for index, number in enumerate(numbers))))
    if nonce is not None:
        parts.append(integer(nonce))
    if tsa is not None:
        parts.append(der(0xa0, tsa))
    if extension is not None:
        parts.append(der(0xa1, seq(oid("1.2.3.5"), der(0x01, b"\xff"), octets(extension))))
    return seq(*parts)


def pss(digest, mask, salt):
    """The algorithm RSASSA-PSS with its parameters (RFC 4055 section 3.1)."""
    return seq(oid(PSS), seq(der(0xa0, algorithm(digest)), der(0xa1, seq(oid(MGF1), algorithm(mask))),
                             der(0xa2, integer(salt))))


def signature(key, signed, digest, mask):
    """The algorithm of a signature and the signature. With `mask` it is RSASSA-PSS, and its salt has 20 bytes."""
    if isinstance(key, ed25519.Ed25519PrivateKey | ed448.Ed448PrivateKey):
        return seq(oid(ED25519 if isinstance(key, ed25519.Ed25519PrivateKey) else ED448)), key.sign(signed)
    chosen = getattr(hashes, digest.upper())()
    if isinstance(key, ec.EllipticCurvePrivateKey):
        return seq(oid(ECDSA[digest])), key.sign(signed, ec.ECDSA(chosen))
    if mask is None:
        return seq(oid(RSA), der(0x05)), key.sign(signed, padding.PKCS1v15(), chosen)
    spread = padding.PSS(padding.MGF1(getattr(hashes, mask.upper())()), 20)
    return pss(digest, mask, 20), key.sign(signed, spread, chosen)


def signer_info(signer, info, digest="sha256", kind=TST_INFO, named=None, names=True, mask=None, how=None, after=()):
    """The SignerInfo of a `Signer` over a TSTInfo. `named` is the certificate that the ESS attribute names, and `after` those
    that it names after it; `how`, an algorithm, replaces the one that was used."""
    made = hashlib.new(digest, info)
    attributes = [attribute(CONTENT_TYPE, oid(kind)),
                  attribute(MESSAGE_DIGEST, octets(made.digest(64) if digest == "shake_256" else made.digest()))]
    if names:
        hashes = [hashlib.sha256(der).digest() for der in (named or signer.der, *after)]
        attributes.append(attribute(SIGNING_CERTIFICATE, seq(seq(*(seq(octets(hash)) for hash in hashes)))))
    signed = b"".join(sorted(attributes))
    used, value = signature(signer.key, der(0x31, signed), digest, mask)
    place = seq(signer.certificate.issuer.public_bytes(), integer(signer.certificate.serial_number))
    return seq(integer(1), place, algorithm(digest), der(0xa0, signed), how or used, octets(value))


def token(info, signers, certificates, digest="sha256", kind=TST_INFO, revocation=()):
    """A ContentInfo with a SignedData. `signers` are SignerInfos, `revocation` are RevocationInfoChoices."""
    known = der(0xa0, *certificates) if certificates else b""
    body = seq(integer(3), der(0x31, algorithm(digest)), seq(oid(kind), der(0xa0, octets(info))), known,
               *([der(0xa1, *revocation)] if revocation else []), der(0x31, *sorted(signers)))
    return seq(oid(SIGNED_DATA), der(0xa0, body))


def response(*tokens, status=0):
    return seq(seq(integer(status)), *tokens)
