"""Stamps with other keys, signatures and hashes, and with other attributes of the signer."""
import dataclasses
import hashlib

from asn1crypto import cms, core
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

from StampJudges.stamps import (
    GOOD, T, attribute, changed, digest, ecdsa, first_version, pkcs1, pss, second_version, with_key)
from Stamps import asn1

replace = dataclasses.replace


def signatures(signers, good):
    """Keys and signature algorithms."""
    rsa_ = replace(good, signer=signers.rsa)
    rows = {}
    for hash in ("sha256", "sha384", "sha512"):
        size = int(hash[3:]) // 8
        rows |= {
            f"RSA with {hash}": (GOOD, replace(rsa_, digest=hash)),
            f"RSA, named {hash}WithRSAEncryption": (GOOD, replace(rsa_, digest=hash, scheme=pkcs1(hash, f"{hash}_rsa"))),
            f"RSASSA-PSS with {hash}": (GOOD, replace(rsa_, digest=hash, scheme=pss(hash, hash, size))),
        }
    unknown = ecdsa("sha256", "1.2.3.4.5.6.7")
    edwards = replace(good, signer=signers.ed25519, digest="sha512")
    goldilocks = replace(good, signer=signers.ed448, digest="shake256")
    return rows | {
        "RSASSA-PSS with a salt of 20 bytes": (GOOD, replace(rsa_, scheme=pss(salt=20))),
        "RSASSA-PSS without a salt": (GOOD, replace(rsa_, scheme=pss(salt=0))),
        "RSASSA-PSS with the longest salt": (GOOD, replace(rsa_, scheme=pss(salt=222))),
        "RSASSA-PSS, mask of sha512": (GOOD, replace(rsa_, scheme=pss(mask="sha512"))),
        "RSASSA-PSS, mask of sha1": ("signature", replace(rsa_, scheme=pss(mask="sha1"))),
        "RSASSA-PSS with sha1": ("signature", replace(rsa_, digest="sha1", scheme=pss("sha1", "sha1", 20))),
        "RSASSA-PSS, the hash differs from digestAlgorithm": ("signature", replace(
            rsa_, scheme=pss("sha512", "sha512", 64))),
        "RSASSA-PSS, states another salt": ("signature", replace(rsa_, scheme=pss(stated={"salt_length": 20}))),
        "a key for RSASSA-PSS alone": (GOOD, replace(rsa_, signer=pss_key(signers.rsa), scheme=pss())),
        "ECDSA P-256 with sha256": (GOOD, good),
        "ECDSA P-256 with sha512": (GOOD, replace(good, digest="sha512")),
        "ECDSA P-384 with sha384": (GOOD, replace(good, signer=signers.p384, digest="sha384")),
        "ECDSA P-521 with sha512": (GOOD, replace(good, signer=signers.p521, digest="sha512")),
        "ECDSA brainpoolP256r1": (GOOD, replace(good, signer=signers.brainpool)),
        "Ed25519": (GOOD, edwards),
        "Ed25519, digestAlgorithm sha256": ("signature", replace(edwards, digest="sha256")),
        "Ed448": (GOOD, goldilocks),
        "Ed448, digestAlgorithm shake256-len": (GOOD, replace(goldilocks, digest="shake256_len")),
        "Ed448, digestAlgorithm sha512": ("signature", replace(goldilocks, digest="sha512")),
        "RSA, signed by another key": ("signature", replace(rsa_, signer=with_key(
            signers.rsa, rsa.generate_private_key(65537, 2048)))),
        "ECDSA, signed by another key": ("signature", replace(good, signer=with_key(signers.tsa, signers.below.key))),
        "Ed25519, signed by another key": ("signature", replace(edwards, signer=with_key(
            signers.ed25519, ed25519.Ed25519PrivateKey.generate()))),
        "a bit of the signature is wrong": ("signature", replace(
            rsa_, spoiled=lambda it: it[:-1] + bytes([it[-1] ^ 1]))),
        "an unknown signature algorithm": ("unsupported", replace(
            good, scheme=unknown, signer=with_key(signers.tsa, signers.below.key))),
        "an unknown signature algorithm, signed with ECDSA": (GOOD, replace(good, scheme=unknown)),
    }


def pss_key(signer):
    """The certificate of an RSA key that says that the key is for RSASSA-PSS with SHA-256 (RFC 4055 section 1.2)."""
    def change(inner):
        inner["subject_public_key_info"]["algorithm"] = {
            "algorithm": "rsassa_pss", "parameters": pss().algorithm["parameters"]}
    return changed(signer, change)


def hashed(signers, good, data):
    """Hashes of the signature and of the imprint."""
    rsa_ = replace(good, signer=signers.rsa)
    mixed = replace(rsa_, digest="sha256", scheme=pkcs1("sha512", "sha512_rsa"))

    def imprint(name, value=None):
        return {"message_imprint": {"hash_algorithm": {"algorithm": name},
                                    "hashed_message": hashlib.new(name, data).digest() if value is None else value}}

    return {
        "RSA with sha1": ("signature", replace(rsa_, digest="sha1")),
        "ECDSA with sha1": ("signature", replace(good, digest="sha1")),
        "ECDSA with sha224": ("signature", replace(good, digest="sha224")),
        "ECDSA with sha3_256": ("signature", replace(good, digest="sha3_256")),
        "the signature's hash differs from digestAlgorithm": ("signature", mixed),
        "digestAlgorithms is empty": ("signature", replace(good, listed=())),
        "digestAlgorithms lists another hash": ("signature", replace(good, listed=("sha512",))),
        "digestAlgorithms lists two": (GOOD, replace(good, listed=("sha256", "sha512"))),
        "another imprint": ("imprint", replace(good, imprint=bytes(32))),
        "an imprint of sha512": ("imprint", replace(good, info=imprint("sha512"))),
        "an imprint of sha1": ("imprint", replace(good, info=imprint("sha1"))),
        "SHA-1 named, SHA-256 inside": ("imprint", replace(good, info=imprint("sha1", good.imprint))),
    }


def attributes(signers, good):
    """Signed and unsigned attributes."""
    der, other = signers.tsa.der, signers.below.der
    neither, shown = {"signing_certificate_v2": None}, asn1.attribute_certificate(2)

    def backwards(parts):
        return sorted(parts, reverse=True)

    def protection(hash):
        return {"cms_algorithm_protection": [cms.CMSAlgorithmProtection({
            "digest_algorithm": {"algorithm": hash}, "signature_algorithm": ecdsa("sha256").algorithm.copy()})]}


    def both(first, second):
        """DER sorts the values of an attribute; the shorter one is the first."""
        return {"signing_certificate_v2": [*second_version(first)["signing_certificate_v2"],
                                           *second_version(second, hash="sha512")["signing_certificate_v2"]]}

    own, first, last = digest("sha256", good.signed_content), bytes(32), b"\xff" * 32
    return {
        "ESS version 1": (GOOD, replace(good, attributes=neither | first_version(der))),
        "ESS version 2 with sha512": (GOOD, replace(good, attributes=second_version(der, hash="sha512"))),
        "ESS versions 1 and 2": (GOOD, replace(good, attributes=first_version(der))),
        "no ESS": ("signature", replace(good, attributes=neither)),
        "ESS version 1 names another": ("signature", replace(good, attributes=neither | first_version(other))),
        "ESS version 2 names another": ("signature", replace(good, attributes=second_version(other))),
        "ESS version 1 right, version 2 wrong": ("signature", replace(
            good, attributes=first_version(der) | second_version(other))),
        "ESS version 2 right, version 1 wrong": ("signature", replace(
            good, attributes=first_version(other) | second_version(der))),
        "ESS with issuer and serial number": (GOOD, replace(good, attributes=second_version(der, serial=True))),
        "ESS with another serial number": ("signature", replace(good, attributes=second_version(der, serial=5))),
        "ESS names the chain": (GOOD, replace(
            good, signer=signers.below, attributes=second_version(other, signers.between.der))),
        "ESS names the signer second": ("signature", replace(
            good, signer=signers.below, attributes=second_version(signers.between.der, other))),
        "ESS names an attribute certificate": (GOOD, replace(
            good, certificates=(der, shown), attributes=second_version(der, b"\x30" + shown[1:]))),
        "ESS names a certificate that is missing": ("signature", replace(good, attributes=second_version(der, other))),
        "ESS with two values, the right one first": (GOOD, replace(good, attributes=both(der, other))),
        "ESS with two values, the right one second": ("signature", replace(
            good, attributes=both(other, der))),
        "no content-type": ("signature", replace(good, attributes={"content_type": None})),
        "another content-type": ("signature", replace(good, attributes={"content_type": ["data"]})),
        "no message-digest": ("signature", replace(good, attributes={"message_digest": None})),
        "another message-digest": ("signature", replace(good, attributes={"message_digest": [bytes(32)]})),
        "a message-digest with two values, the right one first": (GOOD, replace(
            good, attributes={"message_digest": [own, last]})),
        "a message-digest with two values, the right one second": ("signature", replace(
            good, attributes={"message_digest": [first, own]})),
        "two message-digests, the right one first": (GOOD, replace(
            good, more_attributes=(attribute("message_digest", [last]),))),
        "two message-digests, the right one second": ("signature", replace(
            good, more_attributes=(attribute("message_digest", [first]),))),
        "no signed attributes": ("signature", replace(good, attributes=None)),
        "a signing-time": (GOOD, replace(good, attributes={"signing_time": [cms.Time("utc_time", T)]})),
        "an unknown signed attribute": (GOOD, replace(good, attributes={"1.2.3.6": [core.Integer(1)]})),
        "algorithm protection": (GOOD, replace(good, attributes=protection("sha256"))),
        "algorithm protection says otherwise": (GOOD, replace(good, attributes=protection("sha512"))),
        "attributes unsorted, signed as they stand": (GOOD, replace(
            good, attributes_shown=backwards, attributes_signed=backwards)),
        "attributes unsorted, signed sorted": ("signature", replace(good, attributes_shown=backwards)),
        "an unsigned attribute": (GOOD, replace(good, unsigned=(attribute("1.2.3.6", [core.Integer(1)]),))),
    }
