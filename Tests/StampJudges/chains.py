"""Stamps whose signers have other certificates, and other certificates above them."""
import dataclasses

from asn1crypto import core, x509
from cryptography import x509 as certificates
from cryptography.x509.oid import ExtendedKeyUsageOID

from StampJudges.stamps import GOOD, changed, with_der
from Stamps.authority import Signer

replace = dataclasses.replace


def signer_certificates(signers, good):
    """Certificates of the signer, below the root."""
    leaf = signers.leaf
    usage = {"no use": ("signature", ()), "another use": ("signature", (ExtendedKeyUsageOID.SERVER_AUTH,)),
             "two uses": ("signature", (ExtendedKeyUsageOID.TIME_STAMPING, ExtendedKeyUsageOID.SERVER_AUTH)),
             "any use": ("signature", (ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,))}
    bits = {("digital_signature",): GOOD, ("content_commitment",): GOOD, ("digital_signature", "content_commitment"): GOOD,
            ("digital_signature", "key_encipherment"): "signature", ("digital_signature", "key_cert_sign"): "signature",
            ("key_cert_sign",): "signature", ("key_agreement",): "signature"}
    rows = {f"a certificate for {name}": (told, replace(good, signer=leaf(usage=uses)))
            for name, (told, uses) in usage.items()}
    rows |= {f"a key for {' and '.join(chosen)}": (told, replace(good, signer=leaf(key_usage=chosen)))
             for chosen, told in bits.items()}
    unknown = {"extn_id": "1.2.3.8", "critical": True, "extn_value": core.ParsableOctetString(b"\x05\0")}
    return rows | {
        "the use is not critical": ("signature", replace(good, signer=leaf(critical=False))),
        "expired today": (GOOD, replace(good, signer=leaf(end="2026-04-01"))),
        "expired at its time": ("untrusted", replace(good, signer=leaf(end="2026-03-01"))),
        "not valid yet at its time": ("untrusted", replace(good, signer=leaf(begin="2026-04-01"))),
        "RSA with 1024 bits": ("untrusted", replace(good, signer=signers.weak)),
        "a certificate signed with sha1": ("untrusted", replace(good, signer=changed(
            signers.tsa, lambda inner: None, hash="sha1"))),
        "an unknown critical extension of the certificate": ("untrusted", replace(good, signer=changed(
            signers.tsa, lambda inner: inner["extensions"].append(unknown)))),
        "another root of this name": ("untrusted", replace(good, signer=signers.stranger)),
        "a bit of the certificate is wrong": ("untrusted", replace(good, signer=with_der(
            signers.tsa, signers.tsa.der[:-1] + bytes([signers.tsa.der[-1] ^ 1])))),
    }


def chains(signers, good):
    """Certificates between the signer's and the root."""
    def below(**how):
        return replace(good, signer=Signer("tsa", Signer("between", signers.root, **({"is_authority": True} | how))))

    def no_longer(inner):
        inner["extensions"][0]["extn_value"] = x509.BasicConstraints({"ca": True, "path_len_constraint": 0})

    short = changed(Signer("short", signers.root, is_authority=True), no_longer)
    short.certificate = certificates.load_der_x509_certificate(short.der)
    return {
        "an intermediate certificate": (GOOD, below()),
        "an intermediate certificate of a TSA": ("untrusted", below(is_authority=False)),
        "an intermediate certificate for servers": ("untrusted", below(usage=(ExtendedKeyUsageOID.SERVER_AUTH,))),
        "an intermediate certificate, expired today": (GOOD, below(end="2026-04-01")),
        "an intermediate certificate, expired at its time": ("untrusted", below(end="2026-03-01")),
        "an intermediate certificate that may not sign": ("untrusted", below(key_usage=("digital_signature",))),
        "an intermediate certificate is missing": ("untrusted", replace(
            good, signer=signers.below, certificates=(signers.below.der,))),
        "a chain longer than it may be": ("untrusted", replace(good, signer=Signer("tsa", Signer(
            "between", short, is_authority=True)))),
    }
