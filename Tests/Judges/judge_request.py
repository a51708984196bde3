"""openssl, sha256sum and joserfc: the request signature is a standard one, and the JSON Web Key is the same key."""
import base64
import hashlib
import json
import re
import time
import uuid

from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from joserfc.jwk import ECKey
from joserfc.jws import JWSRegistry

from bench import expect, flip
from bodies import DEVICE, bodies

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
# Builds the message of section 2 of Spec/upload.md with tools that are installed everywhere.
VERIFY = """
set -e
timestamp=$(sed -n 's/^X-Device-Timestamp: //p' request)
sed -n 's/^X-Device-Signature: //p' request | base64 -d > request.sig
printf '%s|%s' "$timestamp" "$(sha256sum < "$BODY" | cut -d ' ' -f 1)" > request.msg
openssl dgst -sha256 -verify "$KEY" -signature request.sig request.msg
"""


def _sign(bench, body, *options, key=None, form="curl"):
    """Returns the headers that sign-request prints, by name."""
    text = bench.capbundle("sign-request", body, "--device-id", DEVICE, "--key", key or bench.key, *options,
                           "--format", form).stdout.decode()
    if form == "json":
        return json.loads(text)
    expect(re.fullmatch(r"X-Device-Id: \S+\nX-Device-Timestamp: \d+\nX-Device-Signature: \S+\n", text),
           "sign-request prints other lines")
    return dict(line.split(": ") for line in text.splitlines())


def _verified(bench, headers, body, key):
    bench.write("request", "".join(f"{name}: {value}\n" for name, value in headers.items()).encode())
    result = bench.run("env", f"BODY={body}", f"KEY={key}", "sh", "-c", VERIFY, expected=None)
    expect((result.returncode == 0) == (result.stdout == b"Verified OK\n"), "openssl says one thing and exits another")
    return result.returncode == 0


def openssl_verifies(bench):
    for name, body in bodies(bench).items():
        headers = _sign(bench, body.path)
        expect(_verified(bench, headers, body.path, bench.public), f"{name}: openssl refuses the signature")
        expect(headers["X-Device-Id"] == DEVICE, f"{name}: another device id")
    empty = bench.capbundle("sign-request", bench.write("no-body", b""), "--device-id", DEVICE, expected=None)
    expect(empty.returncode == 2 and not empty.stdout, f"an empty body: exit {empty.returncode}, or a signature")
    for length in (1, 4096, 1_000_003):
        path = bench.write("any-body", bytes(range(251)) * (length // 251) + b"x" * (length % 251))
        expect(_verified(bench, _sign(bench, path), path, bench.public), f"{length} bytes: openssl refuses")


def openssl_refuses(bench):
    body = bodies(bench)["plain"]
    headers = _sign(bench, body.path)
    changed = bench.write("changed.body", flip(body.data, len(body.data) // 2))
    expect(not _verified(bench, headers, changed, bench.public), "another body is accepted")
    longer = bench.write("changed.body", body.data + b"\n")
    expect(not _verified(bench, headers, longer, bench.public), "a longer body is accepted")
    later = headers | {"X-Device-Timestamp": str(int(headers["X-Device-Timestamp"]) + 1)}
    expect(not _verified(bench, later, body.path, bench.public), "another timestamp is accepted")
    expect(not _verified(bench, headers, body.path, bench.stranger_public), "another key is accepted")
    other = _sign(bench, body.path, key=bench.stranger)
    expect(_verified(bench, other, body.path, bench.stranger_public), "--key: its own key is refused")
    expect(not _verified(bench, other, body.path, bench.public), "--key: the usual key signed")


def timestamps(bench):
    body = bodies(bench)["plain"].path
    before = time.time_ns() // 1_000_000
    now = int(_sign(bench, body)["X-Device-Timestamp"])
    expect(before <= now <= time.time_ns() // 1_000_000, f"the clock says {before}, the header {now}")
    for text in ("0", "1", "1773476813589", "9007199254740991"):
        headers = _sign(bench, body, "--timestamp", text)
        expect(headers["X-Device-Timestamp"] == text, f"--timestamp {text} gives {headers['X-Device-Timestamp']}")
        expect(_verified(bench, headers, body, bench.public), f"--timestamp {text}: openssl refuses")
    for text in ("-1", "9007199254740992", "18446744073709551616", "1.5", "1e3", "0x10", "", " 1"):
        result = bench.capbundle("sign-request", body, "--device-id", DEVICE, f"--timestamp={text}", expected=None)
        expect(result.returncode == 64 and not result.stdout, f"--timestamp={text}: exit {result.returncode}")


def fresh_signatures(bench):
    body = bodies(bench)["plain"].path
    seen, counters = set(), set()
    for _ in range(20):
        headers = _sign(bench, body, "--timestamp", "1773476813589")
        expect(_verified(bench, headers, body, bench.public), "openssl refuses one of them")
        raw = base64.b64decode(headers["X-Device-Signature"], validate=True)
        r, s = decode_dss_signature(raw)
        expect(0 < r < ORDER and 0 < s <= ORDER // 2, "s is above half of the order")
        seen.add(raw)
        counters.add(bench.capbundle("key", "show", "--json").stdout)
    expect(len(seen) == 20, "the same signature twice")
    expect(len(counters) == 1, "a counter was used")


def as_json(bench):
    body = bodies(bench)["plain"]
    told = _sign(bench, body.path, "--timestamp", "1773476813589", form="json")
    expect(told["body_sha256"] == hashlib.sha256(body.data).hexdigest(), "another body_sha256")
    expect(told["key_id"] == bench.key_id, "another key id")
    lines = _sign(bench, body.path, "--timestamp", "1773476813589")
    expect(lines.keys() == told["headers"].keys(), "other headers than as lines")
    expect(all(lines[name] == told["headers"][name] for name in lines if name != "X-Device-Signature"), "other values")
    expect(_verified(bench, told["headers"], body.path, bench.public), "openssl refuses the signature")
    piped = bench.capbundle("sign-request", "-", "--device-id", DEVICE, "--format", "json", input=body.data).stdout
    piped = json.loads(piped)
    expect(piped["body_sha256"] == told["body_sha256"], "a pipe has another hash")
    expect(_verified(bench, piped["headers"], body.path, bench.public), "openssl refuses a signature made from a pipe")


def ids(bench):
    """A text from Python's uuid is accepted as it is; any other text is refused before anything is signed."""
    body = bodies(bench)["plain"].path
    for name in (str(uuid.uuid4()), str(uuid.uuid4()).upper(), str(uuid.UUID(int=0))):
        shown = bench.capbundle("sign-request", body, "--device-id", name).stdout.decode().splitlines()[0]
        expect(shown == f"X-Device-Id: {name}", f"{name} becomes {shown}")
    plain = str(uuid.UUID(int=7))
    for name in ("", "rig", plain[:-1], plain + "0", plain.replace("-", ""), f"{{{plain}}}", f"urn:uuid:{plain}",
                 plain + "\n", f"{plain}\r\nX-Evil: 1", plain.replace("7", "g"), plain.replace("0", "\u0660", 1)):
        result = bench.capbundle("sign-request", body, f"--device-id={name}", expected=None)
        expect(result.returncode == 64 and not result.stdout, f"{name!r}: exit {result.returncode}")


def jwk(bench):
    text = bench.capbundle("key", "public", "--format", "jwk").stdout.decode()
    key, pem = ECKey.import_key(json.loads(text)), load_pem_public_key(bench.public.read_bytes())
    expect(key.raw_value.public_numbers() == pem.public_numbers(), "the JWK and the PEM are two keys")
    expect(not key.is_private and key.curve_name == "P-256", "the JWK is private, or on another curve")
    expect(key.as_pem(private=False) == bench.public.read_bytes(), "joserfc writes another PEM of it")
    told = json.loads(text)
    words = [told.get(name) for name in ("kty", "crv", "alg", "use")]
    expect(words == ["EC", "P-256", "ES256", "sig"], f"other words: {words}")
    expect(told["kid"] == bench.key_id, "kid is not the key id")
    for name in "xy":
        expect(re.fullmatch(r"[A-Za-z0-9_-]{43}", told[name]), f"{name} is not 32 bytes of base64url")


def jwk_verifies(bench):
    """joserfc takes r and s of ES256 as 64 bytes; otherwise it is the same signature."""
    body = bodies(bench)["plain"]
    key = ECKey.import_key(json.loads(bench.capbundle("key", "public", "--format", "jwk").stdout))
    stranger = ECKey.import_key(json.loads(bench.capbundle("key", "public", "--format", "jwk", "--key",
                                                           bench.stranger).stdout))
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
    folder = bench.scratch("sealed")
    folder.chmod(0o700)
    secret = bench.write("sealed-passphrase", b"correct horse\n")
    secret.chmod(0o600)
    bench.capbundle("key", "new", "--key", folder / "device.key", "--passphrase-file", secret)
    told = json.loads(bench.capbundle("key", "public", "--format", "jwk", "--key", folder / "device.key").stdout)
    pem = bench.capbundle("key", "public", "--key", folder / "device.key").stdout
    expect(ECKey.import_key(told).as_pem(private=False) == pem, "JWK and PEM of an encrypted key are two keys")
    body = bodies(bench)["plain"].path
    result = bench.capbundle("sign-request", body, "--device-id", DEVICE, "--key", folder / "device.key", expected=None)
    expect(result.returncode == 77 and not result.stdout, f"without its passphrase: exit {result.returncode}")
    headers = _sign(bench, body, "--passphrase-file", secret, key=folder / "device.key")
    expect(_verified(bench, headers, body, bench.write("sealed.pub", pem)), "openssl refuses its signature")


JUDGES = [
    ("openssl and sha256sum verify the request signature", openssl_verifies),
    ("openssl refuses it for another body, timestamp or key", openssl_refuses),
    ("the timestamp is now, or that of --timestamp", timestamps),
    ("20 signatures differ, verify, have a low s and use up no counter", fresh_signatures),
    ("sign-request --format json has the same values, and so has a pipe", as_json),
    ("device ids are UUIDs as given; no other text gets into a header", ids),
    ("joserfc reads the JSON Web Key: it is the PEM's key", jwk),
    ("joserfc verifies the request signature as ES256 under the JSON Web Key", jwk_verifies),
    ("an encrypted key shows its JSON Web Key, and signs only with its passphrase", jwk_of_sealed),
]
