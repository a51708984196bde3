"""Writes the DER of time stamps piece by piece, so that each piece can be wrong."""
import hashlib

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed

SIGNED_DATA, TST_INFO, DATA = "1.2.840.113549.1.7.2", "1.2.840.113549.1.9.16.1.4", "1.2.840.113549.1.7.1"
CONTENT_TYPE, MESSAGE_DIGEST = "1.2.840.113549.1.9.3", "1.2.840.113549.1.9.4"
SIGNING_CERTIFICATE = "1.2.840.113549.1.9.16.2.47"
ALGORITHMS = {"sha1": "1.3.14.3.2.26", "sha256": "2.16.840.1.101.3.4.2.1", "sha384": "2.16.840.1.101.3.4.2.2",
              "sha512": "2.16.840.1.101.3.4.2.3"}
ECDSA = {"sha1": "1.2.840.10045.4.1", "sha256": "1.2.840.10045.4.3.2", "sha384": "1.2.840.10045.4.3.3",
         "sha512": "1.2.840.10045.4.3.4"}
RSA = "1.2.840.113549.1.1.1"


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


def content(imprint, time=b"20260314150000Z", nonce=None, accuracy=None, version=1, hash="sha256", extension=None):
    """A TSTInfo. `accuracy` are the parts that it has, such as (1,) or (1, 500)."""
    parts = [integer(version), oid("1.2.3.4"), seq(algorithm(hash), octets(imprint)), integer(7), der(0x18, time)]
    if accuracy is not None:
        numbers = [integer(number) for number in accuracy]
        parts.append(seq(*(number if index == 0 else bytes([0x7f + index]) + number[1:]
                           for index, number in enumerate(numbers))))
    if nonce is not None:
        parts.append(integer(nonce))
    if extension is not None:
        parts.append(der(0xa1, seq(oid("1.2.3.5"), der(0x01, b"\xff"), octets(extension))))
    return seq(*parts)


def signer_info(signer, info, digest="sha256", kind=TST_INFO, named=None, names=True):
    """The SignerInfo of a `Signer` over a TSTInfo. `named` is the certificate that the ESS attribute names."""
    attributes = [attribute(CONTENT_TYPE, oid(kind)),
                  attribute(MESSAGE_DIGEST, octets(hashlib.new(digest, info).digest()))]
    if names:
        attributes.append(attribute(SIGNING_CERTIFICATE, seq(seq(seq(octets(hashlib.sha256(
            named or signer.der).digest()))))))
    signed = b"".join(sorted(attributes))
    hashed = hashlib.new(digest, der(0x31, signed)).digest()
    with_hash = Prehashed(getattr(hashes, digest.upper())())
    if isinstance(signer.key, ec.EllipticCurvePrivateKey):
        kind, signature = seq(oid(ECDSA[digest])), signer.key.sign(hashed, ec.ECDSA(with_hash))
    else:
        kind, signature = seq(oid(RSA), der(0x05)), signer.key.sign(hashed, padding.PKCS1v15(), with_hash)
    place = seq(signer.certificate.issuer.public_bytes(), integer(signer.certificate.serial_number))
    return seq(integer(1), place, algorithm(digest), der(0xa0, signed), kind, octets(signature))


def token(info, signers, certificates, digest="sha256", kind=TST_INFO):
    """A ContentInfo with a SignedData. `signers` are SignerInfos."""
    known = der(0xa0, *certificates) if certificates else b""
    body = seq(integer(3), der(0x31, algorithm(digest)), seq(oid(kind), der(0xa0, octets(info))), known,
               der(0x31, *sorted(signers)))
    return seq(oid(SIGNED_DATA), der(0xa0, body))


def response(*tokens, status=0):
    return seq(seq(integer(status)), *tokens)
