"""Assertions in the form of App Attest by a key of ours, and recorded ones. Apple's own call was never made here."""
import base64
import hashlib
import re

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

from Judges.bench import SAMPLE, expect
from Kit.outcomes import Skipped
from Phone.bench import ASSERTION

APP = "A1B2C3D4E5.org.example.camera"
# The members of the map that iOS 27 adds, in either order, and a long one for a head of three bytes.
CATEGORY = b"\x78\x1capple_validation_category_01" + b"\x44abcd"
VERSION = b"\x77apple_bundle_version_01"
MAPS = {"none": b"", "category": b"\xa1" + CATEGORY, "version": b"\xa1" + VERSION + b"\x631.0",
        "both": b"\xa2" + CATEGORY + VERSION + b"\x631.0",
        "long": b"\xa2" + VERSION + b"\x78\xc8" + b"9" * 200 + CATEGORY}


def form(bench):
    """Both implementations accept the bundle as one of App Attest, with each map and with either s."""
    trust = bench.folder / "apple-trust"
    trust.unlink(missing_ok=True)
    bench.capbundle("trust", "add", "phone", bench.public, "--trust", trust, "--level", "apple-appattest",
                    "--rpid", APP)
    for name, data in MAPS.items():
        for _ in range(2):
            bundle = bench.phone_bundle(SAMPLE, f"apple-{name}", "--apple", APP, "--apple-map", data.hex())
            bench.agree(bundle.path, f"the map {name}", 0, trust=trust)
            bench.agree(bundle.path, f"the map {name}, of a key on disk", 4)
            expect(hashlib.sha256(APP.encode()).digest() in bundle.entries[ASSERTION], "another app")


def recorded(bench):
    """A genuine assertion has the right form, but is no signature over this manifest. One that is cut has no form."""
    files = sorted(bench.shared.glob("appattest/*.yaml"))
    if not files:
        raise Skipped("no App Attest vectors in the shared folder")
    for file in files:
        for text in re.findall(r"^assertionBase64: (\S+)$", file.read_text(), re.M):
            genuine = base64.b64decode(text)
            for data, about in ((genuine, "not a signature over this manifest"), (genuine[:-1], "not like those"),
                                (genuine + b"\0", "not like those"), (b"", "not like those"),
                                (genuine.replace(b"signature", b"Signature"), "not like those")):
                bench.refused(SAMPLE, "recorded", "--assertion", bench.write("assertion", data), about=about)


def place_of_key(bench):
    """The public key is where README.md says, in genuine attestations."""
    files = sorted(bench.shared.glob("appattest/*.yaml"))
    if not files:
        raise Skipped("no App Attest vectors in the shared folder")
    for file in files:
        text = file.read_text()
        attestation = base64.b64decode(re.search(r"^attestationBase64: (\S+)$", text, re.M)[1])
        pem = re.search(r"-----BEGIN.*?-----END PUBLIC KEY-----", text, re.S)[0].replace("\n  ", "\n")
        point = load_pem_public_key(pem.encode()).public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        key = attestation.partition(bytes.fromhex("a5010203262001215820"))[2]
        expect(b"\x04" + key[:32] + key[35:67] == point, f"{file.name}: the public key is somewhere else")
        key_id = re.search(r"^keyIdBase64: (\S+)$", text, re.M)[1]
        expect(hashlib.sha256(point).digest() == base64.b64decode(key_id), f"{file.name}: the key id is another hash")


TESTS = [
    ("assertions in the form of App Attest, with every map: accepted as those of the app", form),
    ("recorded assertions of App Attest: of the right form, and refused as a signature over this manifest", recorded),
    ("the public key in recorded attestations is where README says", place_of_key),
]
