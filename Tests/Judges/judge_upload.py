"""curl and Werkzeug: Samples/upload.sh sends a capture to a server, and keeps it if the server refuses it."""
import base64
import hashlib
import json
import shutil
import time
import uuid

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from werkzeug.wrappers import Request

from bench import ROOT, SAMPLE, expect
from bodies import DEVICE
from servers import Delivery, Tee, accepted, refused, served

SCRIPT = ROOT / "Samples/upload.sh"
USAGE, NO_CAPTURE = 64, 65
CLOCK = 300_000  # milliseconds by which a device's clock may be off


class Receiver:
    """A WSGI application that accepts uploads of one device. It first returns `answers`, whatever arrives."""

    def __init__(self, public):
        self.key = serialization.load_pem_public_key(public)
        self.answers, self.digests, self.problems = [], [], []

    def __call__(self, environ, start_response):
        environ["wsgi.input"] = tee = Tee(environ["wsgi.input"])
        delivery = Delivery(Request(environ), tee)
        problem = self.judge(delivery)
        self.digests.append(delivery.digest)
        if problem:
            self.problems.append(problem)
        answer = self.answers.pop(0) if self.answers else refused(400, "bad") if problem else accepted()
        return answer(environ, start_response)

    def judge(self, delivery):
        """Returns the problem with a request, or None."""
        timestamp = delivery.headers["X-Device-Timestamp"]
        signature = base64.b64decode(delivery.headers["X-Device-Signature"], validate=True)
        if abs(int(timestamp) - time.time() * 1000) > CLOCK:
            return "X-Device-Timestamp is not of now"
        if delivery.headers["X-Device-Id"] != DEVICE:
            return "X-Device-Id is of another device"
        try:
            self.key.verify(signature, f"{timestamp}|{delivery.digest}".encode(), ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            return "X-Device-Signature is not of this device, time and body"
        photo, metadata = delivery.parts["photo"][2], json.loads(delivery.parts["metadata"][2])
        wanted = base64.b64encode(hashlib.sha256(photo).digest()).decode()
        return None if metadata["photo_hash"] == wanted else "photo_hash is not that of the photo"


class Sender:
    """A folder with a raw capture, and the script with the binary under test as its `capbundle`."""

    def __init__(self, bench, name):
        self.bench, self.folder = bench, bench.scratch(name)
        (self.folder / "bin").mkdir()
        (self.folder / "bin/capbundle").symlink_to(bench.binary)
        shutil.copytree(SAMPLE, self.folder / "a capture")
        self.bundle = self.folder / "a capture.bundle"

    def upload(self, url, expected, raw="a capture"):
        path = f"{self.folder}/bin:{self.bench.environment['PATH']}"
        return self.bench.run("env", f"PATH={path}", "no_proxy=*", SCRIPT, raw, url, DEVICE, expected=(expected,),
                              cwd=self.folder)

    def keeps_the_bundle(self, after):
        expect(self.bench.verify(self.bundle) == 0, f"{after}: the bundle is lost or broken")
        left = sorted(path.name for path in self.folder.iterdir())
        expect(left == ["a capture", "a capture.bundle", "bin"], f"{after}: left behind: {left}")


def taken(bench):
    sender, server = Sender(bench, "upload-taken"), Receiver(bench.public.read_bytes())
    with served(server) as url:
        said = sender.upload(f"{url}/captures", 0, "a capture/").stdout
    expect(not server.problems and len(server.digests) == 1, f"the server says: {server.problems}")
    expect(uuid.UUID(json.loads(said)["data"]["capture_id"]), "the server's answer is not printed")
    sender.keeps_the_bundle("taken")
    body = bench.folder / "upload-body"
    bench.capbundle("multipart", sender.bundle, "-o", body)
    expect(hashlib.sha256(body.read_bytes()).hexdigest() == server.digests[0], "sent is not the body of the bundle")


def kept_on_failure(bench):
    sender, server = Sender(bench, "upload-failed"), Receiver(bench.public.read_bytes())
    with served(server) as url:
        for answer in (refused(503, "later"), refused(401, "device"), accepted(status=200), refused(202, "no capture_id")):
            server.answers = [answer]
            sender.upload(url, 1)
            sender.keeps_the_bundle(f"after {answer.status}")
        sender.upload(url, 0)
    expect(not server.problems, f"the server says: {server.problems}")
    expect(len(server.digests) == 5 and len(set(server.digests)) == 1, "another try sends something else")
    sender.upload(url, 1)
    sender.keeps_the_bundle("nobody listens")


def not_sent(bench):
    sender, server = Sender(bench, "upload-refused"), Receiver(bench.stranger_public.read_bytes())
    with served(server) as url:
        sender.upload(url, 1)
        expect(len(server.problems) == 1, "a server that knows another key takes it")
        sender.upload(f"{url}/captures/", USAGE)
        sender.bundle.unlink()
        (sender.folder / "a capture/photo.jpg").unlink()
        sender.upload(url, NO_CAPTURE)
    expect(len(server.digests) == 1 and not sender.bundle.exists(), "a broken capture is sent")


JUDGES = [
    ("upload.sh: what curl sends is the body of the bundle, signed by the device", taken),
    ("upload.sh: the bundle stays after each failure, and the next try sends the same bytes", kept_on_failure),
    ("upload.sh: another key, a URL with a slash, a broken capture", not_sent),
]
