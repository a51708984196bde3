"""openssl, sha256sum and joserfc: the request signature is a standard one, and the JSON Web Key is the same key."""
import base64
import hashlib
import json
import re
import time
import uuid
from unittest.mock import ANY

from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from joserfc.jwk import ECKey
from joserfc.jws import JWSRegistry

from Kit.sending import DEVICE as LOWER
from Judges.bench import expect, flip
from Judges.bodies import bodies

DEVICE = LOWER[:8].upper() + LOWER[8:]  # an id keeps its case
# Builds the message of section 2 of Spec/upload.md with tools that are installed everywhere.
VERIFY = """
set -e
timestamp=$(sed -n 's/^X-Device-Timestamp: //p' request)
sed -n 's/^X-Device-Signature: //p' request | base64 -d > request.sig
printf '%s|%s' "$timestamp" "$(sha256sum < "$BODY" | cut -d ' ' -f 1)" > request.msg
openssl dgst -sha256 -verify "$KEY" -signature request.sig request.msg
"""


def _sign(bench, body, *options, key=None, form="curl", input=None):
    """Returns the headers that sign-request prints, by name."""
    text = bench.capbundle("sign-request", body, "--device-id", DEVICE, "--key", key or bench.key, *options,
                           "--format", form, input=input).out.decode()
    if form == "json":
        return json.loads(text)
    expect(re.fullmatch(r"X-Device-Id: \S+\nX-Device-Timestamp: \d+\nX-Device-Signature: \S+\n", text),
           "sign-request prints other lines")
    return dict(line.split(": ") for line in text.splitlines())


def _verified(bench, headers, body, key):
    bench.write("request", "".join(f"{name}: {value}\n" for name, value in headers.items()).encode())
    result = bench.run("sh", "-c", VERIFY, code=None, env={"BODY": str(body), "KEY": str(key)})
    expect((result.code == 0) == (result.out == b"Verified OK\n"), "openssl says one thing and exits another")
    return result.code == 0


def openssl_verifies(bench):
    """The timestamp is now, or that of --timestamp."""
    paths = {name: body.path for name, body in bodies(bench).items()}
    for length in (1, 4096, 1_000_003):
        data = bytes(range(251)) * (length // 251) + b"x" * (length % 251)
        paths[f"{length} bytes"] = bench.write(f"any-body{length}", data)
    for name, path in paths.items():
        before, headers = time.time_ns() // 1_000_000, _sign(bench, path)
        expect(_verified(bench, headers, path, bench.public), f"{name}: openssl refuses the signature")
        expect(headers["X-Device-Id"] == DEVICE, f"{name}: another device id")
        now = int(headers["X-Device-Timestamp"])
        expect(before <= now <= time.time_ns() // 1_000_000, f"{name}: the clock says {before}, the header {now}")
    for text, source, given in (("0", path, None), ("9007199254740991", "-", path.read_bytes())):
        told = _sign(bench, source, "--timestamp", text, form="json", input=given)
        wanted = {"X-Device-Id": DEVICE, "X-Device-Timestamp": text, "X-Device-Signature": ANY}
        expect(told == {"body_sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "headers": wanted,
                        "key_id": bench.key_id}, f"--timestamp {text}: the JSON says {told}")
        expect(_verified(bench, told["headers"], path, bench.public), f"--timestamp {text}: openssl refuses")


def openssl_refuses(bench):
    body = bodies(bench)["plain"]
    headers, other = _sign(bench, body.path), _sign(bench, body.path, key=bench.stranger)
    changed = bench.write("changed.body", flip(body.data, len(body.data) // 2))
    longer = bench.write("longer.body", body.data + b"\n")
    later = headers | {"X-Device-Timestamp": str(int(headers["X-Device-Timestamp"]) + 1)}
    for what, given, path, key, verdict in (
            ("another body", headers, changed, bench.public, False),
            ("a longer body", headers, longer, bench.public, False),
            ("another timestamp", later, body.path, bench.public, False),
            ("another key", headers, body.path, bench.stranger_public, False),
            ("--key, its own key", other, body.path, bench.stranger_public, True),
            ("--key, the usual key", other, body.path, bench.public, False)):
        expect(_verified(bench, given, path, key) == verdict, f"{what}: openssl does not say {verdict}")


def refused_words(bench):
    """A text that is not a UUID or not a time is refused before anything is signed."""
    body, plain = bodies(bench)["plain"].path, str(uuid.UUID(int=7))
    for name in ("", plain[:-1], plain + "0", plain.replace("-", ""), f"{{{plain}}}", f"urn:uuid:{plain}", plain + "\n",
                 f"{plain}\r\nX-Evil: 1", plain.replace("7", "g"), plain.replace("0", "\u0660", 1)):
        bench.refused(64, "sign-request", body, f"--device-id={name}")
    for text in ("-1", "18446744073709551616", "1.5", "1e3", "0x10", "", " 1"):
        bench.refused(64, "sign-request", body, "--device-id", DEVICE, f"--timestamp={text}")


def jwk(bench):
    """joserfc takes r and s of ES256 as 64 bytes; otherwise it is the same signature."""
    told, theirs = (json.loads(bench.capbundle("key", "public", "--format", "jwk", "--key", key).out)
                    for key in (bench.key, bench.stranger))
    key, stranger = ECKey.import_key(told), ECKey.import_key(theirs)
    expect(key.as_pem(private=False) == bench.public.read_bytes(), "the JWK and the PEM are two keys")
    expect(not key.is_private and key.curve_name == "P-256", "the JWK is private, or on another curve")
    words = [told.get(name) for name in ("kty", "crv", "alg", "use", "kid")]
    expect(words == ["EC", "P-256", "ES256", "sig", bench.key_id], f"other words: {words}")
    for name in "xy":
        expect(re.fullmatch(r"[A-Za-z0-9_-]{43}", told[name]), f"{name} is not 32 bytes of base64url")
    body = bodies(bench)["plain"]
    headers = _sign(bench, body.path)
    numbers = decode_dss_signature(base64.b64decode(headers["X-Device-Signature"]))
    signature = b"".join(number.to_bytes(32, "big") for number in numbers)
    message = f"{headers['X-Device-Timestamp']}|{hashlib.sha256(body.data).hexdigest()}".encode()
    algorithm = JWSRegistry.algorithms["ES256"]
    expect(algorithm.verify(message, signature, key), "joserfc refuses the signature under the JWK")
    expect(not algorithm.verify(message + b"0", signature, key), "joserfc accepts it for another message")
    expect(not algorithm.verify(message, signature, stranger), "joserfc accepts it under another JWK")


def jwk_of_sealed(bench):
    """An encrypted key shows its public half without the passphrase."""
    key = bench.scratch("sealed") / "device.key"
    secret = bench.write("sealed-passphrase", b"correct horse\n")
    secret.chmod(0o600)
    bench.capbundle("key", "new", "--key", key, "--passphrase-file", secret)
    told = json.loads(bench.capbundle("key", "public", "--format", "jwk", "--key", key).out)
    pem = bench.capbundle("key", "public", "--key", key).out
    expect(ECKey.import_key(told).as_pem(private=False) == pem, "JWK and PEM of an encrypted key are two keys")
    body = bodies(bench)["plain"].path
    bench.refused(77, "sign-request", body, "--device-id", DEVICE, "--key", key)
    headers = _sign(bench, body, "--passphrase-file", secret, key=key)
    expect(_verified(bench, headers, body, bench.write("sealed.pub", pem)), "openssl refuses its signature")


TESTS = [
    ("openssl and sha256sum verify the request signature: lines and JSON, file and pipe", openssl_verifies),
    ("openssl refuses it for another body, timestamp or key", openssl_refuses),
    ("no text but a UUID and a time gets into a header", refused_words),
    ("joserfc reads the JSON Web Key: it is the PEM's key, and verifies the request signature", jwk),
    ("an encrypted key shows its JSON Web Key, and signs only with its passphrase", jwk_of_sealed),
]
