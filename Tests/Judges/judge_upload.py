"""curl and the capture API: Samples/upload.sh sends a capture to a server, and keeps it if the server refuses it."""
import hashlib
import json
import shutil
import uuid

from Kit.sending import DEVICE
from Kit.servers.capture_api import Answer, CaptureAPI
from Judges.bench import ROOT, SAMPLE, expect

SCRIPT = ROOT / "Samples/upload.sh"
USAGE, NO_CAPTURE = 64, 65


class Sender:
    """A folder with a raw capture, and the script with the binary under test as its `capbundle`."""

    def __init__(self, bench):
        self.bench, self.folder = bench, bench.scratch("upload")
        (self.folder / "bin").mkdir()
        (self.folder / "bin/capbundle").symlink_to(bench.binary)
        shutil.copytree(SAMPLE, self.folder / "a capture")
        self.bundle = self.folder / "a capture.bundle"

    def upload(self, url, code, raw="a capture"):
        path = f"{self.folder}/bin:{self.bench.env['PATH']}"
        return self.bench.run(SCRIPT, raw, url, DEVICE, code=code, cwd=self.folder, env={"PATH": path, "no_proxy": "*"})

    def keeps_the_bundle(self, after):
        expect(self.bench.verify(self.bundle) == 0, f"{after}: the bundle is lost or broken")
        left = sorted(path.name for path in self.folder.iterdir())
        expect(left == ["a capture", "a capture.bundle", "bin"], f"{after}: left behind: {left}")


def kept_on_failure(bench):
    sender, body = Sender(bench), bench.folder / "upload-body"
    taken = {"data": {"capture_id": str(uuid.uuid4()), "status": "complete"}}
    with CaptureAPI(bench.public.read_bytes()) as api:
        url = f"{api.url}/api/v1/captures"
        for answer in (Answer(503), Answer(401), Answer(200, body=taken), Answer(202, body={"data": {}})):
            api.answer(answer)
            sender.upload(url, 1, "a capture/")
            sender.keeps_the_bundle(f"after {answer.status}")
        said = sender.upload(url, 0).out
    expect(json.loads(said)["data"]["capture_id"] == api.stored[0].id, "the server's answer is not printed")
    api.content()
    bench.capbundle("multipart", sender.bundle, "-o", body)
    digests = {seen.digest for seen in api.requests}
    expect(digests == {hashlib.sha256(body.read_bytes()).hexdigest()}, "sent is not the body of the bundle each time")
    expect(len(api.requests) == 5, f"{len(api.requests)} requests")
    sender.upload(url, 1)
    sender.keeps_the_bundle("nobody listens")


def not_sent(bench):
    sender = Sender(bench)
    with CaptureAPI(bench.stranger_public.read_bytes()) as api:
        url = f"{api.url}/api/v1/captures"
        sender.upload(url, 1)
        expect("SIGNATURE_INVALID" in api.problems[0], f"a server that knows another key says {api.problems}")
        sender.upload(f"{url}/", USAGE)
        sender.bundle.unlink()
        (sender.folder / "a capture/photo.jpg").unlink()
        sender.upload(url, NO_CAPTURE)
    expect(len(api.requests) == 1 and not sender.bundle.exists(), "a broken capture is sent")


TESTS = [
    ("upload.sh: the bundle stays after each failure, and each try sends its body, signed by the device",
     kept_on_failure),
    ("upload.sh: another key, a URL with a slash, a broken capture", not_sent),
]
