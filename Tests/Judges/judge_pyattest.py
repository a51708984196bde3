"""pyattest: a server library for App Attest by other authors accepts our signatures.

It checks only the signature: it ignores rpId and counter, and accepts CBOR with additional members or with bytes after
the map. So it proves nothing about rules A1 to A6; those have vectors.
"""
import hashlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from pyattest.assertion import Assertion
from pyattest.configs.apple import AppleConfig

from Judges.bench import client_data, expect, flip


def accepts(assertion, manifest, key):
    config = AppleConfig(key_id=b"", app_id="capture-bundle.device-key", production=True)
    judged = Assertion(assertion, hashlib.sha256(client_data(manifest)).digest(), key, config)
    try:
        judged.verify()
    except (InvalidSignature, ValueError):
        return False
    return judged.verified


def _parts(bench):
    bundle = bench.pack()
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), bundle.point)
    return bundle.entries["assertion.cbor"], bundle.manifest, key


def accepts_ours(bench):
    assertion, manifest, key = _parts(bench)
    expect(accepts(assertion, manifest, key), "the assertion of a packed bundle is refused")
    expect(key == load_pem_public_key(bench.public.read_bytes()), "the manifest's device is not `key public`")


def refuses_tampered(bench):
    assertion, manifest, key = _parts(bench)
    signature, auth_data = 13, len(assertion) - 37  # where they begin, section 9
    for what, spoilt in (("rpIdHash", flip(assertion, auth_data)), ("flags", flip(assertion, auth_data + 32)),
                         ("the counter", flip(assertion, auth_data + 36)),
                         ("r of the signature", flip(assertion, signature + 20)),
                         ("s of the signature", flip(assertion, signature + assertion[12] - 1))):
        expect(not accepts(spoilt, manifest, key), f"accepted with one bit of {what} flipped")
    for at in (0, len(manifest) // 2, len(manifest) - 1):
        expect(not accepts(assertion, flip(manifest, at), key), f"accepted with bit 0 of manifest byte {at} flipped")

    other = load_pem_public_key(bench.stranger_public.read_bytes())
    expect(not accepts(assertion, manifest, other), "accepted under a key that did not sign")


TESTS = [
    ("pyattest accepts the assertion under the manifest's device key", accepts_ours),
    ("pyattest refuses one flipped bit of authData, signature or manifest, and another key", refuses_tampered),
]
