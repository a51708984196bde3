"""The request signature of Spec/upload.md section 2: how it is made, and rules Q1 and Q2."""

import hashlib
import re

from capbundle.format import base64_strict, p256
from capbundle.format.canonical import MAX_SAFE_INTEGER
from capbundle.format.faults import Fault, printable

from . import signing

_DEVICE = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_TIMESTAMP = re.compile(r"0|[1-9][0-9]{0,15}")


def message(timestamp, body):
    """Returns the signed message; timestamp is the header's value."""
    return timestamp.encode("ascii") + b"|" + hashlib.sha256(body).hexdigest().encode("ascii")


def sign(key, timestamp, body, low_s=True):
    """Returns the value of X-Device-Signature."""
    return base64_strict.encode(signing.encode_der(*key.sign(message(timestamp, body), low_s)))


def judge(point, device_id, timestamp, signature, body):
    """Returns the faults of three header values for a body: Q1, or Q2, or none. point is the public key."""
    try:
        if not _DEVICE.fullmatch(device_id):
            raise Fault("Q1", "X-Device-Id %s" % printable(device_id))
        if not _TIMESTAMP.fullmatch(timestamp) or int(timestamp) > MAX_SAFE_INTEGER:
            raise Fault("Q1", "X-Device-Timestamp %s" % printable(timestamp))
        r, s = _numbers(signature)
        if not p256.verify(point, r, s, message(timestamp, body)):
            raise Fault("Q2", "the signature is not of this key over this time and body")
    except Fault as fault:
        return [fault]
    return []


def _numbers(signature):
    der = base64_strict.decode(signature)
    if der is None:
        raise Fault("Q1", "X-Device-Signature is not base64: %s" % printable(signature))
    try:
        return p256.decode_der(der)
    except ValueError as error:
        raise Fault("Q1", "X-Device-Signature: %s" % error) from None
