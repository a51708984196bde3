"""Samples/receive.py in its own process, and requests to it from honest and hostile clients."""
import base64
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import socket
import subprocess
import sys
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

from bench import ROOT, SAMPLE, SPEC, Bundle, expect
from bodies import Body, raw_folder

DEVICES = {"judge": "3f2b8c1e-5d47-4b1a-9c0e-7a6f1d2e3b4c", "stranger": "5b1f4a52-0c7e-4c5d-8e11-2d9f60a7c3b8"}
CAPTURES, VERIFY_FILE = "/api/v1/captures", "/api/v1/verify-file"
BOUNDARY = "----a form of a test"
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
FORM_TYPE = f'multipart/form-data; boundary="{BOUNDARY}"'
START = "import receive; vars(receive).update({settings}); receive.main()"


class Receiver:
    """A running receive.py that knows both devices and trusts both keys, and a client for it."""

    def __init__(self, bench, name, settings):
        self.bench, self.folder = bench, bench.scratch(name)
        (self.folder / "bin").mkdir()
        (self.folder / "bin/capbundle").symlink_to(bench.binary)
        self.kept, trust = self.folder / "kept", self.folder / "trust"
        self.kept.mkdir()
        self.keys = {"judge": DiskKey(bench.key), "stranger": DiskKey(bench.stranger)}
        public = {"judge": bench.public, "stranger": bench.stranger_public}
        for device in DEVICES:
            bench.capbundle("trust", "add", device, public[device], "--trust", trust)
        devices = [word for device in DEVICES for word in ("--device", DEVICES[device], public[device])]
        environment = bench.environment | {"PATH": f"{self.folder}/bin:{bench.environment['PATH']}",
                                           "PYTHONPATH": str(ROOT / "Samples")}
        self.said = self.folder / "said"
        with open(self.said, "wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-B", "-c", START.format(settings=settings), self.kept, "--trust", trust, *devices],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, env=environment)
        self.port = int(self.process.stdout.readline().decode().rpartition(":")[2] or 0)

    def end(self):
        """Checks that receive.py printed no error, whatever was sent, and left no partial file."""
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()
        said = self.said.read_text(errors="replace")
        expect(not said, f"receive.py said {said.strip().splitlines()[-1:]}")
        left = [path.name for path in self.kept.iterdir() if path.name.startswith(".receiving")]
        expect(not left, f"{left} is left")

    def status_of(self, name):
        """Returns a number from /proc/PID/status."""
        lines = pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))

    def signed(self, data, device="judge", at=None, **changed):
        """Returns the headers of a request; None as a value omits a header, and a list repeats it."""
        at = at or str(int(time.time() * 1000))
        signature = self.keys[device].signature(f"{at}|{hashlib.sha256(data).hexdigest()}".encode())
        return {"X-Device-Id": DEVICES[device], "X-Device-Timestamp": at, "Content-Length": str(len(data)),
                "X-Device-Signature": base64.b64encode(signature).decode()} | changed

    def post(self, data, device="judge", path=CAPTURES, **changed):
        return self.ask(request("POST", path, self.signed(data, device, **changed)) + data)

    def look_up(self, form, content_type=FORM_TYPE):
        headers = {"Content-Type": content_type, "Content-Length": str(len(form))}
        return self.ask(request("POST", VERIFY_FILE, headers) + form)

    def ask(self, data, seconds=30):
        """Sends these bytes; returns (status, JSON) of the answer, or (None, None) if there is none."""
        with socket.create_connection(("127.0.0.1", self.port), seconds) as link:
            with contextlib.suppress(ConnectionError):
                link.sendall(data)
            return answer_of(link)

    def bundle(self, capture_id):
        return (self.kept / f"{capture_id}.bundle").read_bytes()


@contextlib.contextmanager
def receiving(bench, name, **settings):
    """Runs a receive.py with these constants, and ends it afterwards."""
    receiver = Receiver(bench, name, settings)
    try:
        yield receiver
    except BaseException:
        receiver.process.kill()
        receiver.process.wait(10)
        receiver.process.stdout.close()
        raise
    receiver.end()


def request(method, path, headers):
    """Returns the head of a request, byte for byte as given."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    for name, value in headers.items():
        lines += [f"{name}: {one}" for one in (value if isinstance(value, list) else [value]) if one is not None]
    return "\r\n".join(lines + ["", ""]).encode("latin-1")


def answer_of(link):
    answer = http.client.HTTPResponse(link)
    try:
        answer.begin()
        return answer.status, json.loads(answer.read() or b"null")
    except (http.client.BadStatusLine, ConnectionError):
        return None, None
    except ValueError:  # http.server's own answers are HTML, and have no head for HTTP/0.9
        return answer.status, None


def code(answer):
    status, value = answer
    return status, value["error"]["code"] if value and "error" in value else None


def form(*parts, boundary=BOUNDARY):
    """Returns a form; its parts are (header lines, data)."""
    made = b"".join(b"--%s\r\n%s\r\n\r\n%s\r\n" % (boundary.encode(), head.encode(), data) for head, data in parts)
    return made + b"--%s--\r\n" % boundary.encode()


def file_part(data):
    return 'Content-Disposition: form-data; name="file"; filename="photo.jpg"\r\nContent-Type: image/jpeg', data


def captures(bench):
    """Returns bodies of one scene by name: two devices, another time, and two others with the id of the first."""
    if not hasattr(bench, "shared_photo"):
        later = raw_folder(bench, "later", captured_at="2026-03-14T15:09:27.000+01:00")
        again = bench.folder / "received-again.bundle"
        bench.capbundle("pack", SAMPLE, "-o", again)
        bundles = {"first": bench.pack(), "stranger's": bench.pack("strangers", SAMPLE, "--key", bench.stranger),
                   "later": bench.pack("later", later), "packed again": Bundle(again), "chained": chained(bench)}
        bench.shared_photo = {name: Body(bench, bundle) for name, bundle in bundles.items()}
    return bench.shared_photo


def chained(bench):
    """Returns the plain bundle with a chain in its manifest: another manifest with the same key and id."""
    sys.path.append(str(SPEC / "Generator"))
    from bundle import assertion, container
    plain = bench.pack()
    manifest = json.dumps(json.loads(plain.manifest) | {"chain": {"seq": 1}}, sort_keys=True, separators=(",", ":"))
    made = assertion.make(manifest.encode(), DiskKey(bench.key), plain.entries["assertion.cbor"][-37:])
    payload = [(member.name, plain.entries[member.name]) for member in plain.members[3:]]
    return Bundle(bench.write("chained.bundle", container.pack(manifest.encode(), made, payload)))


class DiskKey:
    """The key of a key file; it has the method `sign` that Spec/Generator expects of a key."""

    def __init__(self, path):
        self.key = serialization.load_pem_private_key(path.read_bytes(), None)

    def signature(self, message):
        return self.key.sign(message, ec.ECDSA(hashes.SHA256()))

    def sign(self, message, _):
        r, s = utils.decode_dss_signature(self.signature(message))
        return r, min(s, ORDER - s)
