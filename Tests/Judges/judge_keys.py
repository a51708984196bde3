"""openssl and cryptography: the key files have usual formats, so that a key can outlive our tool.

OpenSSL's own command line reads no key with scrypt at N = 2^17: it limits scrypt to 32 MiB, and this needs 128 MiB. The
`cryptography` package has no such limit, so it opens the encrypted file, and openssl only shows its parameters.
"""
import hashlib
import stat

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from Judges.bench import expect

PASSPHRASE = b"correct horse battery staple"


def openssl_reads_plain(bench):
    made = bench.run("openssl", "pkey", "-in", bench.key, "-pubout").out
    expect(made == bench.capbundle("key", "public").out, "openssl derives another key than `key public` prints")
    expect(made == bench.public.read_bytes(), "device.key.pub is not the key's public half")
    bench.run("openssl", "pkey", "-in", bench.key, "-check", "-noout")
    expect(bench.key.read_bytes().startswith(b"-----BEGIN PRIVATE KEY-----\n"), "device.key is not PKCS#8 PEM")
    expect(stat.S_IMODE(bench.key.stat().st_mode) == 0o600, "device.key is open to others")
    point = hashlib.sha256(bench.pack().point).hexdigest()
    expect(bench.key_id == point, "`key new` did not print SHA-256 of the manifest's point")


def encrypted(bench):
    file, secret = bench.scratch("encrypted") / "device.key", bench.write("passphrase", PASSPHRASE)
    secret.chmod(0o600)
    bench.capbundle("key", "new", "--key", file, "--passphrase-file", secret)
    pem = file.read_bytes()
    expect(pem.startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n"), "device.key is not encrypted PKCS#8 PEM")
    key = load_pem_private_key(pem, PASSPHRASE)
    expect(isinstance(key.curve, ec.SECP256R1), "the key is not on P-256")
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    expect(bench.capbundle("key", "public", "--key", file).out == public, "`key public` is another key")
    for wrong in (b"wrong", PASSPHRASE + b"\n"):
        try:
            load_pem_private_key(pem, wrong)
        except ValueError:
            continue
        expect(False, "a wrong passphrase opens it")
    shown = bench.run("openssl", "asn1parse", "-in", file).out.decode()
    values = [line.split("prim: ")[1].split() for line in shown.split("\n") if "prim: " in line]
    objects = [value[1][1:] for value in values if value[0] == "OBJECT"]
    integers = [int(value[1][1:], 16) for value in values if value[0] == "INTEGER"]
    # Older releases of OpenSSL know scrypt only by its number.
    expect(objects[:1] + objects[2:] == ["PBES2", "aes-256-cbc"] and
           objects[1] in ("id-scrypt", "scrypt", "1.3.6.1.4.1.11591.4.11"), f"other algorithms: {objects}")
    expect(integers in ([2 ** 17, 8, 1], [2 ** 17, 8, 1, 32]), f"other scrypt parameters: {integers}")


def passphrase_changes(bench):
    """After each change cryptography opens the key with the present passphrase only, and it is the same key."""
    folder = bench.scratch("changed")
    file, secrets = folder / "device.key", {name: folder / name for name in ("one", "two")}
    for name, secret in secrets.items():
        secret.write_text(name)
        secret.chmod(0o600)
    bench.capbundle("key", "new", "--key", file)
    first = load_pem_private_key(file.read_bytes(), None).private_numbers()
    old = []
    for name in ("one", "two", None):
        words = ["--new-passphrase-file", secrets[name]] if name else ["--remove"]
        bench.capbundle("key", "passwd", "--key", file, *old, *words)
        key = load_pem_private_key(file.read_bytes(), name.encode() if name else None)
        expect(key.private_numbers() == first, f"to {name}: another key")
        expect(stat.S_IMODE(file.stat().st_mode) == 0o600, f"to {name}: device.key is open to others")
        if old:
            bench.refused(77, "key", "passwd", "--key", file, *old, "--remove") if name else None
        old = ["--passphrase-file", secrets[name]] if name else []
    pub = folder / "device.key.pub"
    before = pub.read_bytes()
    bench.capbundle("key", "passwd", "--key", file, "--new-passphrase-file", secrets["one"])
    pub.unlink()
    bench.capbundle("key", "recover", "--key", file, "--passphrase-file", secrets["one"])
    expect(pub.read_bytes() == before, "key recover makes another public half")


TESTS = [
    ("openssl reads the plain device.key: the same public key, whose point gives the key id", openssl_reads_plain),
    ("cryptography opens the encrypted device.key; openssl shows PBES2, scrypt N 2^17 r 8 p 1, AES-256-CBC", encrypted),
    ("cryptography opens the key after each key passwd; key recover makes the same public half", passphrase_changes),
]
