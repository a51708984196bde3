"""Time stamping authorities: certificates with any fault, answers with any content, and the real `openssl ts`."""
import base64
import datetime
import hashlib
import pathlib
import subprocess
import tarfile

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa, utils
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from Stamps import asn1

ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551  # of P-256
STAMPING = (ExtendedKeyUsageOID.TIME_STAMPING,)
CONFIG = """
[tsa]
default_tsa = it
[it]
serial = {folder}/serial
signer_cert = {folder}/signer.pem
signer_key = {folder}/signer.key
{certs}
signer_digest = {digest}
default_policy = 1.2.3.4
digests = sha256, sha384, sha512
accuracy = secs:1
clock_precision_digits = 3
ess_cert_id_chain = {chain}
ess_cert_id_alg = sha256
"""


def day(text):
    return datetime.datetime.fromisoformat(text + "T00:00:00+00:00")


class Signer:
    """A key and its certificate."""

    def __init__(self, name, issuer=None, key=None, is_authority=False, usage=STAMPING, critical=True,
                 begin="2020-01-01", end="2040-01-01", names=(), key_usage=()):
        self.key = key or ec.generate_private_key(ec.SECP256R1())
        self.issuer = issuer
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = x509.CertificateBuilder().subject_name(subject)
        builder = builder.issuer_name(issuer.certificate.subject if issuer else subject)
        builder = builder.public_key(self.key.public_key()).serial_number(x509.random_serial_number())
        builder = builder.not_valid_before(day(begin)).not_valid_after(day(end))
        builder = builder.add_extension(x509.BasicConstraints(is_authority, None), critical=True)
        if usage and (not is_authority or usage is not STAMPING):
            builder = builder.add_extension(x509.ExtendedKeyUsage(usage), critical=critical)
        if key_usage:
            bits = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
                    "key_cert_sign", "crl_sign", "encipher_only", "decipher_only")
            builder = builder.add_extension(x509.KeyUsage(**{bit: bit in key_usage for bit in bits}), critical=True)
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        self.certificate = builder.sign((issuer or self).key, hashes.SHA256())
        self.der = self.certificate.public_bytes(serialization.Encoding.DER)

    @property
    def pem(self):
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def again(self):
        """The same certificate with its signature written in another way: the other s of ECDSA."""
        copy = object.__new__(Signer)
        copy.__dict__.update(self.__dict__)
        r, s = utils.decode_dss_signature(self.certificate.signature)
        signature = utils.encode_dss_signature(r, ORDER - s)
        head = self.certificate.tbs_certificate_bytes
        copy.der = asn1.seq(head, asn1.seq(asn1.oid("1.2.840.10045.4.3.2")), asn1.der(0x03, b"\0" + signature))
        return copy

    def line(self, name="tsa", options=""):
        """The line of a trust file."""
        return " ".join(filter(None, [name, options, "tsa", base64.b64encode(self.der).decode()])) + "\n"

    def answer(self, imprint, digest="sha256", others=None, shows=True, status=0, kind=asn1.TST_INFO, attributes=None,
               **content):
        """A response that this signer signs. `others` are further certificates in it."""
        info = asn1.content(imprint, **content)
        signed = asn1.signer_info(self, info, digest, **(attributes or {}))
        chain = [self.issuer] if others is None and self.issuer and self.issuer.issuer else others or []
        certificates = ([self.der] if shows else []) + [other.der for other in chain]
        return asn1.response(asn1.token(info, [signed], certificates, digest, kind), status=status)


class Authorities:
    """Two authorities, each with a root: one signs with SHA-256 and P-256, the other with SHA-512, RSA and an
    intermediate certificate. And one that nobody trusts, with the same names."""

    def __init__(self, folder):
        self.folder = folder
        # `openssl ts` writes the signer's certificate first, and rfc3161-client wants the smaller one first (DER). The
        # signature of a large key makes the intermediate certificate the larger one.
        self.root = Signer("root", is_authority=True)
        self.other = Signer("other root", key=rsa.generate_private_key(65537, 3072), is_authority=True)
        self.tsa = Signer("tsa", self.root)
        self.between = Signer("between", self.other, is_authority=True)
        self.rsa = Signer("rsa", self.between, key=rsa.generate_private_key(65537, 2048))
        self.forged_root = Signer("root", is_authority=True)
        self.forged = Signer("tsa", self.forged_root)
        self.commands = {"P-256": self.openssl("p256", self.tsa, []),
                         "RSA": self.openssl("rsa", self.rsa, [self.between], "sha512", "yes")}

    def write(self, name, data):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def openssl(self, name, signer, others, digest="sha256", chain="no"):
        """The command that answers a query as `openssl ts` does."""
        folder = self.folder / name
        self.write(f"{name}/signer.pem", signer.pem)
        certs = self.write(f"{name}/others.pem", b"".join(other.pem for other in others))
        self.write(f"{name}/signer.key", signer.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        self.write(f"{name}/serial", "01\n")
        self.write(f"{name}/tsa.cnf", CONFIG.format(
            folder=folder, digest=digest, chain=chain, certs=f"certs = {certs}" if others else ""))
        # openssl reads a query only from a file, and many ask at once.
        return (f"query=$(mktemp) && cat > $query && (flock 9; openssl ts -reply -config {folder}/tsa.cnf -queryfile $query"
                f" 2>/dev/null) 9> {folder}/lock; code=$?; rm $query; exit $code")


def assertion(bundle):
    with tarfile.open(bundle) as archive:
        return archive.extractfile("assertion.cbor").read()


def imprint(bundle):
    return hashlib.sha256(assertion(bundle)).digest()
