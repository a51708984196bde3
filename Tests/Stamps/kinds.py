"""What real authorities put into a token, and signatures of other kinds. All is made here: the real tokens are others'."""
import functools

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ed448, ed25519, rsa
from cryptography.x509.oid import NameOID

from Kit.outcomes import every, expect
from Stamps import asn1
from Stamps.authority import Signer
from Stamps.tries import codes, good, scene, trust, verify


@functools.cache
def signers(bench):
    """Signers with an RSA key, and with Ed25519 and Ed448."""
    root = bench.authorities.root
    return {"rsa": Signer("tsa", root, key=rsa.generate_private_key(65537, 2048)),
            "ed25519": Signer("tsa", root, key=ed25519.Ed25519PrivateKey.generate()),
            "ed448": Signer("tsa", root, key=ed448.Ed448PrivateKey.generate())}


def made(signer, info, *others, digest="sha256", revocation=(), **how):
    """An answer whose certificates are the signer's and any bytes."""
    signed = asn1.signer_info(signer, info, digest, **how)
    return asn1.response(asn1.token(info, [signed], [signer.der, *others], digest, revocation=revocation))


def hashed(certificate):
    """The bytes of an attribute certificate that ESS hashes: with the tag of a SEQUENCE, not that of the choice."""
    return b"\x30" + certificate[1:]


def ocsp_answer():
    """An OCSP answer as revocation information (RFC 5940): tryLater."""
    return asn1.der(0xa1, asn1.oid("1.3.6.1.5.5.7.16.2"), asn1.seq(asn1.der(0x0a, b"\3")))


def contents(bench):
    """Tokens with what nothing here uses, and sets in an order that is not DER."""
    rig, stamped = scene(bench)
    tsa, info, whole = bench.authorities.tsa, asn1.content(stamped), signers(bench)
    old, new = asn1.attribute_certificate(1), asn1.attribute_certificate(2)
    between = Signer("between", bench.authorities.root, is_authority=True)
    below = Signer("tsa", between)
    chain = [below.der, between.der]

    def ordered(reverse):
        return asn1.response(asn1.token(info, [asn1.signer_info(below, info)], sorted(chain, reverse=reverse)))

    every({
        "an attribute certificate": made(tsa, info, asn1.attribute_certificate(2)),
        "two attribute certificates": made(tsa, info, asn1.attribute_certificate(1), asn1.attribute_certificate(2)),
        "an attribute certificate that ESS names, as Microsoft's tokens do": made(tsa, info, new, after=[hashed(new)]),
        "both, named by ESS": made(tsa, info, old, new, after=[hashed(old), hashed(new)]),
        "an OCSP answer": made(tsa, info, revocation=[ocsp_answer()]),
        "both": made(tsa, info, asn1.attribute_certificate(2), revocation=[ocsp_answer()]),
        "certificates sorted": ordered(False), "certificates not sorted": ordered(True),
    } | {f"RSASSA-PSS with {digest} and a mask of {mask}": made(whole["rsa"], info, digest=digest, mask=mask)
         for digest, mask in (("sha256", "sha256"), ("sha384", "sha384"), ("sha512", "sha512"), ("sha256", "sha512"))
         } | {f"a key for {' and '.join(bits)}": Signer("tsa", bench.authorities.root, key_usage=bits).answer(stamped)
              for bits in (["digital_signature"], ["content_commitment"], ["digital_signature", "content_commitment"])
         } | {"Ed25519": made(whole["ed25519"], info, digest="sha512"),
              "Ed448": made(whole["ed448"], info, digest="shake_256")},
        lambda _, stamp: good(bench, rig, stamp, None, "tsa", 0))


def refusals(bench):
    """What is wrong, or cannot be known, says why; a later time in the content is always noticed."""
    rig, stamped = scene(bench)
    tsa, info, whole = bench.authorities.tsa, asn1.content(stamped), signers(bench)
    later = asn1.content(stamped, time=b"20250314150000Z")
    unknown = asn1.seq(asn1.oid("1.2.3.4.5.6.7"))
    other = Signer("tsa", bench.authorities.root)
    # Nobody can make a certificate for a key of an unknown kind here, and nobody looks at its signature before.
    other.der = other.der.replace(asn1.oid("1.2.840.10045.2.1"), asn1.oid("1.2.840.10045.2.77"), 1)
    changed = {f"{name}, another time": ("signature", "another content", made(
        whole[name], info, digest=digest, mask=mask).replace(info, later))
        for name, digest, mask in (("rsa", "sha256", "sha256"), ("ed25519", "sha512", None), ("ed448", "shake_256", None))}
    every(changed | {
        "another key, Ed25519": ("signature", "is wrong", made(stranger(whole["ed25519"]), info, digest="sha512")),
        "another key, RSASSA-PSS": ("signature", "is wrong", made(stranger(whole["rsa"]), info, mask="sha256")),
        "a mask of SHA-1": ("signature", "RSASSA-PSS", made(whole["rsa"], info, mask="sha1")),
        "two hashes in one signature": ("signature", "RSASSA-PSS", made(
            whole["rsa"], info, mask="sha256", how=asn1.pss("sha512", "sha256", 20))),
        "another length of the salt": ("signature", "is wrong", made(
            whole["rsa"], info, mask="sha256", how=asn1.pss("sha256", "sha256", 32))),
        "SHA-1": ("signature", "with sha1, expected SHA-256", made(tsa, info, digest="sha1")),
        "SHA-3": ("signature", "with sha3-256, expected SHA-256", made(tsa, info, digest="sha3_256")),
        "Ed25519 with SHA-256": ("signature", "expected SHA-512", made(whole["ed25519"], info)),
        "Ed448 with SHA-512": ("signature", "expected SHAKE256", made(whole["ed448"], info, digest="sha512")),
        "a hash that the token does not list": ("signature", "not in the list", asn1.response(asn1.token(
            info, [asn1.signer_info(tsa, info)], [tsa.der], "sha512"))),
        "ESS names an attribute certificate that is not there": ("signature", "names another certificate", made(
            tsa, info, asn1.attribute_certificate(1), after=[hashed(asn1.attribute_certificate(2))])),
        "ESS names an attribute certificate first": ("signature", "names another certificate", made(
            tsa, info, asn1.attribute_certificate(2), named=hashed(asn1.attribute_certificate(2)), after=[tsa.der])),
        "an unknown algorithm": ("unsupported", "signature algorithm", made(stranger(tsa), info, how=unknown)),
        "an unknown key": ("unsupported", "unknown kind", made(other, info)),
    } | {f"a key for {' and '.join(bits)}": ("signature", "not for time stamps alone", Signer(
        "tsa", bench.authorities.root, key_usage=bits).answer(stamped))
        for bits in (["key_cert_sign"], ["digital_signature", "key_cert_sign"], ["content_commitment", "crl_sign"])},
        lambda name, case: refused(bench, rig, *case))


def stranger(signer):
    """Another key under a signer's certificate."""
    thief = object.__new__(Signer)
    thief.__dict__.update(signer.__dict__)
    thief.key = (rsa.generate_private_key(65537, 2048) if isinstance(signer.key, rsa.RSAPrivateKey)
                 else Signer("thief").key if not isinstance(signer.key, ed25519.Ed25519PrivateKey)
                 else ed25519.Ed25519PrivateKey.generate())
    return thief


def refused(bench, rig, code, words, stamp):
    result, told = verify(rig, stamp, trust(bench, rig))
    result.must(0)
    expect(codes(told, "warnings") == [f"stamp.{code}"] and words in told["warnings"][0]["message"],
           f"warnings {told['warnings']}")
    result, told = verify(rig, stamp, trust(bench, rig), "--require", "time")
    result.must(4)
    expect(codes(told, "faults") == [f"stamp.{code}"], f"faults {told['faults']}")


def names(bench):
    """A TSA that the stamp names: a warning if its certificate has no such name, and the verdict is the same."""
    rig, stamped = scene(bench)
    tsa = bench.authorities.tsa
    known = Signer("tsa", bench.authorities.root, names=[x509.DNSName("time.example"), x509.DirectoryName(
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "clock")]))])
    every({
        "no name": (tsa, None, True), "the subject": (tsa, asn1.common_name("tsa"), True),
        "the subject in capital letters": (tsa, asn1.common_name("TSA"), True),
        "another name": (tsa, asn1.common_name("clock"), False),
        "an alternative name": (known, asn1.common_name("clock"), True),
        "a host name": (known, asn1.der(0x82, b"time.example"), True),
        "another host name": (known, asn1.der(0x82, b"time.test"), False),
        "no alternative name": (tsa, asn1.der(0x82, b"time.example"), False),
    }, lambda _, case: named(bench, rig, stamped, *case))


def named(bench, rig, stamped, signer, name, corresponds):
    stamp = signer.answer(stamped, tsa=name)
    result, told = verify(rig, stamp, trust(bench, rig), "--require", "time")
    result.must(0)
    expect(codes(told, "warnings") == ([] if corresponds else ["stamp.name"]), f"warnings {told['warnings']}")
    expect(told["stamp"]["authority"] == "tsa", f"the report says {told['stamp']}")


def words(bench):
    """The lines of `stamp` and `verify`: the accuracy that a stamp states, and a name that does not fit."""
    rig, stamped = scene(bench)
    for accuracy, shown in (((600,), " ± 600 s"), ((1, 500), " ± 1.500 s"), ((0, 0, 1), " ± 0.001 s"), (None, "")):
        file = rig.out / "x.bundle.tsr"
        file.write_bytes(bench.authorities.tsa.answer(stamped, accuracy=accuracy, tsa=asn1.common_name("clock")))
        line = f"existed at 2026-03-14T15:00:00.000Z{shown}, says tsa\n"
        result = rig.run("stamp", "x.bundle", "--with", "false", "--trust", trust(bench, rig), cwd=rig.out).must(0)
        expect(result.out.decode() == f"x.bundle.tsr: {line}".replace("\n", ", as before\n"), f"stamp says {result.out!r}")
        expect("warning: x.bundle: the signer's certificate lacks the name" in result.text, f"stamp warns {result.text!r}")
        told = rig.run("verify", "--stamps", "--trust", trust(bench, rig), "x.bundle", cwd=rig.out).must(0).out.decode()
        expect(line in told and "[stamp.name]" in told, f"verify says {told!r}")
        file.unlink()


TESTS = [
    ("attribute certificates, OCSP answers, unsorted sets, RSASSA-PSS, Ed25519 and Ed448 are read", contents),
    ("what is wrong with a signature, and what nobody here can check", refusals),
    ("a TSA that the stamp names", names),
    ("the accuracy and a name that does not fit, in words", words),
]
