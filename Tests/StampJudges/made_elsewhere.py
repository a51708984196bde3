"""Stamps of certomancer, which has an authority but no judge."""
import hashlib

from asn1crypto import keys, tsp, x509
from certomancer.services import TimeStamper, choose_signed_digest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from StampJudges.stamps import T

# By the key's name: the hash, the algorithm if it is not the usual one, and what ours says.
KINDS = {"RSA": ("rsa", "sha256", None, "good"), "RSASSA-PSS": ("rsa", "sha256", "rsassa_pss", "good"),
         "ECDSA P-384": ("p384", "sha384", None, "good"), "Ed25519": ("ed25519", "sha512", None, "good"),
         "Ed448, digestAlgorithm sha512": ("ed448", "sha512", None, "signature")}


def rows(signers, data):
    """Rows as those of the table."""
    query = tsp.TimeStampReq({"version": "v1", "message_imprint": {
        "hash_algorithm": {"algorithm": "sha256"}, "hashed_message": hashlib.sha256(data).digest()}})
    return {f"certomancer: {name}": (told, answer(getattr(signers, key), hash, algorithm, query))
            for name, (key, hash, algorithm, told) in KINDS.items()}


def answer(signer, hash, algorithm, query):
    certificate = x509.Certificate.load(signer.der)
    key = keys.PrivateKeyInfo.load(signer.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()))
    chosen = choose_signed_digest(hash, certificate.public_key, algorithm)
    return TimeStamper(certificate, key, chosen, fixed_dt=T, md_algorithm=hash).request_tsa_response(query).dump()
