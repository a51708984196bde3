"""Certificate authorities and their certificates, made with the cryptography package for one test."""
import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY = datetime.timedelta(days=1)
LOOPBACK = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.IPAddress(ipaddress.ip_address("::1")),
            x509.DNSName("localhost")]
ELSEWHERE = [x509.DNSName("captures.example")]


class Authority:
    """A certificate authority of one test, which no system trusts."""

    def __init__(self, folder, name="authority"):
        self.folder, self.name = folder, name
        folder.mkdir(parents=True, exist_ok=True)
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.subject = _named(name)
        self.certificate = self._signed(self.subject, self.key, 365, lambda builder: builder.add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True))
        self.path = self._write(f"{name}.pem", self.certificate.public_bytes(serialization.Encoding.PEM))

    def server(self, names=LOOPBACK, days=30, label="server", begins=-100):
        """Makes the files of a certificate and its key. A negative `days` means that it expired that many days ago. It is
        valid from `begins` days from now on."""
        return self._pair(label, days, ExtendedKeyUsageOID.SERVER_AUTH, names, begins)

    def own(self):
        """The files of the authority's own certificate, which it signed itself."""
        return self.path, self._write(f"{self.name}.key", _pem(self.key))

    def client(self, label="client", days=30):
        return self._pair(label, days, ExtendedKeyUsageOID.CLIENT_AUTH, ELSEWHERE)

    def _pair(self, label, days, usage, names, begins=-100):
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._signed(_named(label), key, days, lambda builder: builder.add_extension(
            x509.SubjectAlternativeName(names), critical=False).add_extension(
            x509.ExtendedKeyUsage([usage]), critical=False), begins)
        return (self._write(f"{self.name}-{label}.pem", certificate.public_bytes(serialization.Encoding.PEM)),
                self._write(f"{self.name}-{label}.key", _pem(key)))

    def _signed(self, subject, key, days, extended, begins=-100):
        now = datetime.datetime.now(datetime.UTC)
        builder = (x509.CertificateBuilder().subject_name(subject).issuer_name(self.subject)
                   .public_key(key.public_key()).serial_number(x509.random_serial_number())
                   .not_valid_before(now + begins * DAY).not_valid_after(now + days * DAY))
        return extended(builder).sign(self.key, hashes.SHA256())

    def _write(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        path.chmod(0o600)
        return path


def _pem(key):
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def _named(name):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
