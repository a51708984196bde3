"""Stamps with other contents of the token and of the TSTInfo, and in other encodings."""
import dataclasses
import hashlib

from asn1crypto import cms, crl, ocsp, x509
from cryptography import x509 as certificates
from cryptography.x509.oid import NameOID

from StampJudges.stamps import GOOD, NAMED, T, changed, ecdsa
from Stamps import asn1

replace = dataclasses.replace


def contents(signers, good):
    """What is in the token beside the signature."""
    der, root = signers.tsa.der, signers.root.der
    old, new = asn1.attribute_certificate(1), asn1.attribute_certificate(2)
    other = asn1.der(0xa3, asn1.oid("1.2.3.7"), asn1.octets(b"other"))
    return {
        "no certificate": ("signature", replace(good, certificates=())),
        "only the certificate of another": ("signature", replace(good, certificates=(signers.below.der,))),
        "the root, too": (GOOD, replace(good, certificates=(der, root))),
        "a certificate of another, too": (GOOD, replace(good, certificates=(der, signers.p384.der))),
        "the certificate twice": (GOOD, replace(good, certificates=(der, der))),
        "an attribute certificate of version 1": (GOOD, replace(good, certificates=(der, old))),
        "an attribute certificate of version 2": (GOOD, replace(good, certificates=(der, new))),
        "a certificate of another format": (GOOD, replace(good, certificates=(der, other), version=5)),
        "certificates in another order": (GOOD, replace(
            good, signer=signers.below, certificates_shown=lambda parts: sorted(parts, reverse=True))),
        "an OCSP answer": (GOOD, replace(good, revocation=(ocsp_answer(),), version=5)),
        "a revocation list": (GOOD, replace(good, revocation=(revocation_list(signers.root),))),
        "two signers": ("token", replace(good, more_signers=(replace(good, signer=signers.p384).signer_info(),))),
        "a document in place of a TSTInfo": ("token", replace(good, kind=asn1.DATA)),
        "version 1 of SignedData": (GOOD, replace(good, version=1)),
        "version 3 of SignerInfo": (GOOD, replace(good, signer_version=3)),
        "the signer by its key's identifier": ("encoding", by_key(signers, good)),
        "granted with modifications": (GOOD, replace(good, status=1)),
        "rejected, with a token": ("status", replace(good, status=2)),
        "granted, without a token": ("status", asn1.response()),
    }


def ocsp_answer():
    """An OCSP answer as revocation information (RFC 5940): tryLater."""
    answer = ocsp.OCSPResponse({"response_status": "try_later"})
    return cms.RevocationInfoChoice("other", {"other_rev_info_format": "ocsp_response", "other_rev_info": answer}).dump()


def revocation_list(root):
    algorithm = ecdsa("sha256")
    issuer = x509.Certificate.load(root.der).subject
    body = crl.TbsCertList({"version": "v2", "signature": algorithm.algorithm, "issuer": issuer,
                            "this_update": x509.Time("utc_time", T),
                            "next_update": x509.Time("utc_time", T.replace(year=2030))})
    return crl.CertificateList({"tbs_cert_list": body, "signature_algorithm": algorithm.algorithm,
                                "signature": algorithm.sign(root.key, body.dump())}).dump()


def by_key(signers, good):
    """CMS version 3: the signer is named by the subjectKeyIdentifier of its certificate."""
    name = hashlib.sha1(signers.tsa.der).digest()
    signer = changed(signers.tsa, lambda inner: inner["extensions"].append(
        {"extn_id": "key_identifier", "extn_value": x509.OctetString(name)}))
    return replace(good, signer=signer, by_key=name, signer_version=3)


def infos(signers, good):
    """Members of the TSTInfo."""
    clock = certificates.Name([certificates.NameAttribute(NameOID.COMMON_NAME, "clock")])
    known = replace(good, signer=signers.leaf(
        names=[certificates.DNSName("time.example"), certificates.DirectoryName(clock)]))

    def name(text):
        return {"tsa": x509.GeneralName("directory_name", x509.Name.build({"common_name": text}))}

    def host(text):
        return {"tsa": x509.GeneralName("dns_name", text)}

    def written(**how):
        return replace(good, content=asn1.content(good.imprint, **how))

    extension = {"extn_id": "1.2.3.5", "critical": True, "extn_value": b"\x05\x00"}
    return {
        "tsa is the subject": (GOOD, replace(good, info=name("tsa"))),
        "tsa is the subject in capitals": (GOOD, replace(good, info=name("TSA"))),
        "tsa is another name": (NAMED, replace(good, info=name("clock"))),
        "tsa is an alternative name": (GOOD, replace(known, info=name("clock"))),
        "tsa is the host of the certificate": (GOOD, replace(known, info=host("time.example"))),
        "tsa is another host": (NAMED, replace(known, info=host("time.test"))),
        "an accuracy of 0": (GOOD, replace(good, info={"accuracy": {"seconds": 0}})),
        "an accuracy of 600 s": (GOOD, replace(good, info={"accuracy": {"seconds": 600}})),
        "an accuracy of a day": (GOOD, replace(good, info={"accuracy": {"seconds": 86_400}})),
        "an accuracy of two days": ("token", replace(good, info={"accuracy": {"seconds": 172_800}})),
        "an accuracy of 500 ms and 500 µs": (GOOD, replace(good, info={"accuracy": {"millis": 500, "micros": 500}})),
        "an accuracy of 1000 ms": ("token", written(accuracy=(1, 1000))),
        "an accuracy with 0 ms": (GOOD, written(accuracy=(1, 0))),
        "an accuracy below 0": ("token", written(accuracy=(-1,))),
        "ordering": (GOOD, replace(good, info={"ordering": True})),
        "a nonce": (GOOD, replace(good, info={"nonce": 1 << 62})),
        "a nonce below 0": (GOOD, replace(good, info={"nonce": -1})),
        "an extension": (GOOD, replace(good, info={"extensions": [extension | {"critical": False}]})),
        "a critical extension": ("token", replace(good, info={"extensions": [extension]})),
        "version 2 of TSTInfo": ("token", written(version=2)),
        "a time with decimals": (GOOD, written(time=b"20260314150000.25Z")),
        "a time whose decimals end with 0": (GOOD, written(time=b"20260314150000.50Z")),
        "a time without seconds": ("token", written(time=b"202603141500Z")),
        "a time of another zone": ("token", written(time=b"20260314160000+0100")),
        "a time without a zone": ("token", written(time=b"20260314150000")),
        "a TSTInfo that is text": ("token", replace(good, content=b"20260314")),
    }


def encodings(good):
    """BER in place of DER, and bytes that do not belong there."""
    der = good.der()
    info = good.signed_content
    open_ended = b"\x30\x80" + info[2:] + b"\0\0"
    version = b"\x02\x01\x01\x06"
    return {
        "BER: the length of the answer": ("encoding", b"\x30\x83\0" + der[2:]),
        "BER: the answer without a length": ("encoding", b"\x30\x80" + der[4:] + b"\0\0"),
        "BER: the token without a length": ("encoding", replace(good, token=lambda it: b"\x30\x80" + it[4:] + b"\0\0")),
        "BER: the TSTInfo in two pieces": ("encoding", replace(good, octets=lambda it: asn1.der(
            0x24, asn1.octets(it[:9]), asn1.octets(it[9:])))),
        "BER: the TSTInfo without a length": (GOOD, replace(good, content=open_ended)),
        "BER: a default is written": (GOOD, replace(good, content=asn1.seq(info[2:], asn1.der(0x01, b"\0")))),
        "BER: a long integer in the TSTInfo": ("token", replace(good, content=asn1.seq(
            info[2:].replace(version, b"\x02\x02\0\x01\x06", 1)))),
        "bytes after the answer": ("encoding", der + b"\0"),
        "bytes in the token": ("encoding", replace(good, token=lambda it: asn1.seq(it[4:], b"\x05\0"))),
        "a token without its answer": ("encoding", token_of(good)),
    }


def token_of(stamp):
    return asn1.seq(asn1.oid(asn1.SIGNED_DATA), asn1.der(0xa0, stamp.signed_data()))
