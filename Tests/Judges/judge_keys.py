"""openssl and cryptography: the key files have usual formats, so that a key can outlive our tool.

OpenSSL's own command line reads no key with scrypt at N = 2^17: it limits scrypt to 32 MiB, and this needs 128 MiB. The
`cryptography` package has no such limit, so it opens the encrypted file, and openssl only shows its parameters.
"""
import hashlib
import stat

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from bench import expect

PASSPHRASE = b"correct horse battery staple"


def _public_pem(key):
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def openssl_reads_plain(bench):
    made = bench.run("openssl", "pkey", "-in", bench.key, "-pubout").stdout
    expect(made == bench.public.read_bytes(), "openssl derives another public key than `key public` prints")
    beside = bench.key.with_name("device.key.pub")
    expect(beside.read_bytes() == made, "device.key.pub is not the key's public half")
    bench.run("openssl", "pkey", "-in", bench.key, "-check", "-noout")
    expect(bench.key.read_bytes().startswith(b"-----BEGIN PRIVATE KEY-----\n"), "device.key is not PKCS#8 PEM")
    expect(stat.S_IMODE(bench.key.stat().st_mode) == 0o600, "device.key is open to others")


def key_id(bench):
    point = bench.pack().point
    expect(bench.key_id == hashlib.sha256(point).hexdigest(), "`key new` did not print SHA-256 of the manifest's point")


def cryptography_reads_encrypted(bench):
    folder = bench.scratch("encrypted")
    folder.chmod(0o700)
    file, secret = folder / "device.key", bench.write("passphrase", PASSPHRASE)
    secret.chmod(0o600)
    bench.capbundle("key", "new", "--key", file, "--passphrase-file", secret)
    pem = file.read_bytes()
    expect(pem.startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n"), "device.key is not encrypted PKCS#8 PEM")
    key = load_pem_private_key(pem, PASSPHRASE)
    expect(isinstance(key.curve, ec.SECP256R1), "the key is not on P-256")
    expect(bench.capbundle("key", "public", "--key", file).stdout == _public_pem(key), "`key public` is another key")
    for wrong in (b"wrong", PASSPHRASE + b"\n"):
        try:
            load_pem_private_key(pem, wrong)
        except ValueError:
            continue
        expect(False, "a wrong passphrase opens it")


def openssl_shows_scrypt(bench):
    shown = bench.run("openssl", "asn1parse", "-in", bench.folder / "encrypted/device.key").stdout.decode()
    values = [line.split("prim: ")[1].split() for line in shown.split("\n") if "prim: " in line]
    objects = [value[1][1:] for value in values if value[0] == "OBJECT"]
    integers = [int(value[1][1:], 16) for value in values if value[0] == "INTEGER"]
    # Older releases of OpenSSL know scrypt only by its number.
    expect(objects[:1] + objects[2:] == ["PBES2", "aes-256-cbc"] and
           objects[1] in ("id-scrypt", "scrypt", "1.3.6.1.4.1.11591.4.11"), f"other algorithms: {objects}")
    expect(integers in ([2 ** 17, 8, 1], [2 ** 17, 8, 1, 32]), f"other scrypt parameters: {integers}")


JUDGES = [
    ("openssl reads the plain device.key and derives the same public key", openssl_reads_plain),
    ("the printed key id is SHA-256 of the manifest's point", key_id),
    ("cryptography opens the encrypted device.key, but not with a wrong passphrase", cryptography_reads_encrypted),
    ("openssl asn1parse shows PBES2, scrypt N 2^17 r 8 p 1, AES-256-CBC", openssl_shows_scrypt),
]
