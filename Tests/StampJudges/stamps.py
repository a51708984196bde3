"""Makes time stamps with asn1crypto. Each part can be another one than the standards ask for."""
import dataclasses
import datetime
import hashlib

from asn1crypto import algos, cms, core, tsp, x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, padding, rsa

from Stamps import asn1

GOOD = "good"  # what ours says of a stamp: this or the code of a fault
NAMED = "good, name"  # with the warning stamp.name
T = datetime.datetime(2026, 3, 14, 15, tzinfo=datetime.UTC)


def hash_of(name):
    return hashes.SHAKE256(64) if name.startswith("shake256") else getattr(hashes, name.upper())()


def digest(name, data):
    chosen = hashes.Hash(hash_of(name))
    chosen.update(data)
    return chosen.finalize()


class Scheme:
    """How a key signs: the name of the algorithm, and the signature."""

    def __init__(self, algorithm, sign):
        self.algorithm, self.sign = algos.SignedDigestAlgorithm(algorithm), sign


def pkcs1(hash, name="rsassa_pkcs1v15"):
    return Scheme({"algorithm": name}, lambda key, data: key.sign(data, padding.PKCS1v15(), hash_of(hash)))


def pss(hash="sha256", mask="sha256", salt=32, stated=None):
    """RSASSA-PSS; `stated` are members of the parameters that say something else than what was done."""
    parameters = {"hash_algorithm": {"algorithm": hash}, "salt_length": salt,
                  "mask_gen_algorithm": {"algorithm": "mgf1", "parameters": {"algorithm": mask}}} | (stated or {})
    return Scheme({"algorithm": "rsassa_pss", "parameters": parameters}, lambda key, data: key.sign(
        data, padding.PSS(padding.MGF1(hash_of(mask)), salt), hash_of(hash)))


def ecdsa(hash, name=None):
    return Scheme({"algorithm": name or f"{hash}_ecdsa"}, lambda key, data: key.sign(data, ec.ECDSA(hash_of(hash))))


def eddsa(name):
    return Scheme({"algorithm": name}, lambda key, data: key.sign(data))


def usual(key, hash):
    """The scheme that most authorities use with a key."""
    if isinstance(key, rsa.RSAPrivateKey):
        return pkcs1(hash)
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return eddsa("ed25519")
    return eddsa("ed448") if isinstance(key, ed448.Ed448PrivateKey) else ecdsa(hash)


def attribute(name, values):
    return cms.CMSAttribute({"type": name, "values": values}).dump()


def first_version(der):
    """The attribute signing-certificate (RFC 2634), with SHA-1."""
    return {"signing_certificate": [tsp.SigningCertificate({"certs": [{"cert_hash": hashlib.sha1(der).digest()}]})]}


def second_version(*ders, hash="sha256", serial=None):
    """The attribute signing-certificate-v2 (RFC 5035). `serial` is the serial number that it states for the first."""
    names = []
    for der in ders:
        names.append({"hash_algorithm": {"algorithm": hash}, "cert_hash": hashlib.new(hash, der).digest()})
        if serial is not None:
            certificate = x509.Certificate.load(der)
            names[-1]["issuer_serial"] = {
                "issuer": [x509.GeneralName("directory_name", certificate.issuer)],
                "serial_number": certificate.serial_number if serial is True else serial}
    return {"signing_certificate_v2": [tsp.SigningCertificateV2({"certs": names})]}


def changed(signer, change, issuer=None, hash="sha256"):
    """A signer whose certificate has another content. `change` gets the TBSCertificate; the issuer signs it again."""
    certificate = x509.Certificate.load(signer.der)
    inner = certificate["tbs_certificate"]
    change(inner)
    algorithm = algos.SignedDigestAlgorithm({"algorithm": f"{hash}_ecdsa"})
    inner["signature"] = certificate["signature_algorithm"] = algorithm
    key = (issuer or signer.issuer).key
    certificate["signature_value"] = key.sign(inner.dump(force=True), ec.ECDSA(hash_of(hash)))
    return with_der(signer, certificate.dump(force=True))


def with_der(signer, der):
    copy = object.__new__(type(signer))
    copy.__dict__.update(signer.__dict__ | {"der": der})
    return copy


def with_key(signer, key):
    """A signer that shows the certificate of another key."""
    copy = object.__new__(type(signer))
    copy.__dict__.update(signer.__dict__ | {"key": key})
    return copy


@dataclasses.dataclass(frozen=True)
class Stamp:
    """The parts of a stamp; `dataclasses.replace` makes one of them another one."""
    signer: object
    imprint: bytes
    digest: str = "sha256"
    scheme: Scheme | None = None
    # Members of the TSTInfo that differ, or all its bytes.
    info: dict = dataclasses.field(default_factory=dict)
    content: bytes | None = None
    # Signed attributes that differ: values by the name of the type, None for an attribute that is left out.
    attributes: dict | None = dataclasses.field(default_factory=dict)
    more_attributes: tuple = ()  # encoded
    attributes_signed: object = sorted  # the order in which they are signed,
    attributes_shown: object = sorted  # and the one in which they are written
    unsigned: tuple = ()
    certificates: tuple | None = None  # None for the usual ones
    certificates_shown: object = sorted
    revocation: tuple = ()
    by_key: bytes | None = None  # the subjectKeyIdentifier that names the signer
    signer_version: int = 1
    version: int = 3
    listed: tuple | None = None  # the hashes that the SignedData lists
    kind: str = asn1.TST_INFO
    more_signers: tuple = ()
    status: int = 0
    # Functions that change the encoding of a part.
    octets: object = asn1.octets  # of the TSTInfo
    token: object = bytes
    spoiled: object = bytes  # the signature

    @property
    def signed_content(self):
        if self.content is not None:
            return self.content
        return tsp.TSTInfo({
            "version": "v1", "policy": "1.2.3.4", "serial_number": 7, "gen_time": T,
            "message_imprint": {"hash_algorithm": {"algorithm": "sha256"}, "hashed_message": self.imprint},
        } | self.info).dump()

    def signed_attributes(self):
        values = {"content_type": ["tst_info"], "message_digest": [digest(self.digest, self.signed_content)]}
        values |= second_version(self.signer.der) | self.attributes
        made = [attribute(name, value) for name, value in values.items() if value]
        return [*made, *self.more_attributes]

    def hash(self, name):
        size = {"parameters": core.Integer(512)} if name.endswith("_len") else {}
        return algos.DigestAlgorithm({"algorithm": name} | size).dump()

    def signer_info(self):
        scheme = self.scheme or usual(self.signer.key, self.digest)
        certificate = x509.Certificate.load(self.signer.der)
        name = cms.IssuerAndSerialNumber(
            {"issuer": certificate.issuer, "serial_number": certificate.serial_number}).dump()
        if self.attributes is None:
            shown, signed = b"", self.signed_content
        else:
            attributes = self.signed_attributes()
            shown = asn1.der(0xa0, *self.attributes_shown(attributes))
            signed = asn1.der(0x31, *self.attributes_signed(attributes))
        unsigned = asn1.der(0xa1, *self.unsigned) if self.unsigned else b""
        return asn1.seq(
            asn1.integer(self.signer_version), name if self.by_key is None else asn1.der(0x80, self.by_key),
            self.hash(self.digest), shown, scheme.algorithm.dump(),
            asn1.octets(self.spoiled(scheme.sign(self.signer.key, signed))), unsigned)

    def usual_certificates(self):
        chain, signer = [], self.signer
        while signer.issuer:
            chain, signer = [*chain, signer.der], signer.issuer
        return chain

    def signed_data(self):
        shown = self.usual_certificates() if self.certificates is None else self.certificates
        listed = (self.digest,) if self.listed is None else self.listed
        return asn1.seq(
            asn1.integer(self.version), asn1.der(0x31, *map(self.hash, listed)),
            asn1.seq(asn1.oid(self.kind), asn1.der(0xa0, self.octets(self.signed_content))),
            asn1.der(0xa0, *self.certificates_shown(shown)) if shown else b"",
            asn1.der(0xa1, *self.revocation) if self.revocation else b"",
            asn1.der(0x31, *sorted((self.signer_info(), *self.more_signers))))

    def der(self):
        """The TimeStampResp."""
        token = asn1.seq(asn1.oid(asn1.SIGNED_DATA), asn1.der(0xa0, self.signed_data()))
        return asn1.seq(asn1.seq(asn1.integer(self.status)), self.token(token))
