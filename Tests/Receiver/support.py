"""Code that all families share: the tools, bundles and bodies, a running receiver, and a client for it."""
import base64
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import shutil
import subprocess
import time
import types

from Kit.outcomes import PATIENCE, ROOT, expect
from Kit.rigs import Home
from Receiver.links import Answer, Link, head

RAW = ROOT / "Samples/desk-lamp/raw"
# No device and no capture has this id.
UNKNOWN = "5b1f4a52-0c7e-4c5d-8e11-2d9f60a7c3b8"
CAPTURES, VERIFY_FILE, REGISTER = "/api/v1/captures", "/api/v1/verify-file", "/api/v1/devices/register"


class Tools(Home):
    """The three programs, and a temporary folder with the bundles that tests ask for."""

    def __init__(self, capbundle, capqueue, receiver, folder):
        super().__init__(folder / "home")
        self.programs = {"capbundle": capbundle, "capqueue": capqueue, "receiver": receiver}
        self.folder, self._rigs, self._numbers = folder, {}, iter(range(1_000_000))
        self.env["PATH"] = f"{capbundle.parent}:{self.env['PATH']}"

    def run(self, program, *words, env=None, data=None, allowed=(0,)):
        """Runs a program to its end, and returns its standard output."""
        words = [self.programs.get(program, program), *map(str, words)]
        return self.call(*words, env=env, input=data).must(*allowed, about=f"{program} {words[1]}").out

    def scratch(self, name):
        """Returns a new folder."""
        folder = self.folder / f"{name}-{next(self._numbers)}"
        folder.mkdir(mode=0o700)
        return folder

    def rig(self, name="rig"):
        """Returns a rig with a key; the same name gives the same rig."""
        if name not in self._rigs:
            self._rigs[name] = Rig(self, name)
        return self._rigs[name]


class Rig:
    """A device: a key, and the bundles and bodies that are made with it."""

    def __init__(self, tools, name):
        self.tools, self.name, self.folder = tools, name, tools.scratch(name)
        self.key = self.folder / "device.key"
        self.env = {"CAPBUNDLE_KEY": str(self.key)}
        self.key_id = self.run("key", "new").decode().strip()
        self.jwk = json.loads(self.run("key", "public", "--format", "jwk"))
        self._bodies = {}

    def run(self, *words, data=None, allowed=(0,)):
        return self.tools.run("capbundle", *words, env=self.env, data=data, allowed=allowed)

    def raw(self, name, change=None, **files):
        """Returns a copy of the sample's raw folder. `change` changes the members of metadata.json; `files` replace
        whole files (photo for photo.jpg, depth for depth.f32)."""
        folder = self.folder / f"raw-{name}"
        shutil.copytree(RAW, folder)
        if change:
            metadata = json.loads((folder / "metadata.json").read_text())
            change(metadata)
            (folder / "metadata.json").write_text(json.dumps(metadata))
        for key, data in files.items():
            (folder / {"photo": "photo.jpg", "depth": "depth.f32"}[key]).write_bytes(data)
        return folder

    def pack(self, name, raw=RAW, *options):
        bundle = self.folder / f"{name}.bundle"
        self.run("pack", raw, "-o", bundle, *options)
        return bundle

    def body(self, bundle):
        """Returns the upload body of a bundle: the bundle, its bytes, and the type of the form."""
        data, headers = self.folder / f"{bundle.name}.body", self.folder / f"{bundle.name}.headers"
        for file in (data, headers):
            file.unlink(missing_ok=True)
        self.run("multipart", bundle, "-o", data, "--headers", headers)
        return types.SimpleNamespace(bundle=bundle, data=data.read_bytes(),
                                     content_type=headers.read_text().partition(": ")[2].strip())

    def capture(self, name="first"):
        """Returns the body of a capture of the sample's scene; each name has another time."""
        if name not in self._bodies:
            number = len(self._bodies)
            raw = self.raw(name, lambda metadata: metadata.update(
                captured_at=f"2026-03-14T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000+01:00"))
            self._bodies[name] = self.body(self.pack(name, raw))
        return self._bodies[name]

    def signed(self, data, device_id, at=None):
        """Returns the three headers of a request with this body."""
        at = int(time.time() * 1000) if at is None else at
        if data:
            words = ("sign-request", "-", "--device-id", device_id, "--timestamp", at)
            return dict(line.split(": ", 1) for line in self.run(*words, data=data).decode().splitlines())
        # capbundle signs no empty bodies, which only questions have.
        message = f"{at}|{hashlib.sha256(data).hexdigest()}".encode()
        signature = self.tools.run("openssl", "dgst", "-sha256", "-sign", self.key, data=message)
        return {"X-Device-Id": device_id, "X-Device-Timestamp": str(at),
                "X-Device-Signature": base64.b64encode(signature).decode()}


class Client:
    """Asks for devices, whose ids are in `devices`; subclasses say how they connect."""

    def __init__(self):
        self.devices = {}

    def connection(self, port=None):
        raise NotImplementedError

    def ask(self, method, path, headers=None, data=None, port=None):
        """Sends a request and returns the answer."""
        with contextlib.closing(self.connection(port)) as connection:
            connection.request(method, path, data, headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read())

    def device(self, rig):
        return self.devices[rig.name]

    def register(self, rig, device_id, secret, **changed):
        """Sends a registration and returns the answer."""
        data = json.dumps({"invitation": secret, "public_key": rig.jwk} | changed).encode()
        return self.ask("POST", REGISTER, rig.signed(data, device_id) | {"Content-Type": "application/json"}, data)

    def upload(self, rig, body, **headers):
        """Sends a capture as a rig. Headers with the value None are left out."""
        made = rig.signed(body.data, self.device(rig)) | {"Content-Type": body.content_type}
        made |= {name.replace("_", "-"): value for name, value in headers.items()}
        return self.ask("POST", CAPTURES, {name: value for name, value in made.items() if value is not None}, body.data)

    def taken(self, rig, body, **headers):
        """Sends a capture, expects 202, and returns its id."""
        answer = self.upload(rig, body, **headers)
        expect(answer.status == 202 and answer.data["status"] == "complete", f"upload: {answer}")
        return answer.data["capture_id"]

    def asked(self, rig, capture):
        """Asks for a capture as a rig."""
        return self.ask("GET", f"{CAPTURES}/{capture}", rig.signed(b"", self.device(rig)))


class Receiver(Client):
    """A running receiver in its own folder, and a client for it."""

    def __init__(self, tools, folder=None, *options, program=()):
        super().__init__()
        self.tools, self.options, self.program = tools, options, list(program)
        self.folder = folder or tools.scratch("receiver") / "captures"
        self.log = self.folder.parent / f"{self.folder.name}.log"
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*self.program, self.tools.programs["receiver"], "serve", self.folder, "--port", "0", *self.options],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, env=self.tools.env)
        line = self.process.stdout.readline().decode().strip()
        expect(line.startswith("http://127.0.0.1:"), f"the receiver said {line!r}: {self.said()[-300:]}")
        self.url, self.port = line, int(line.rpartition(":")[2])
        return self

    def said(self):
        return self.log.read_text(errors="replace")

    def kill(self):
        """Ends the receiver as a crash does."""
        self.process.kill()
        self.process.wait(PATIENCE)
        self.process.stdout.close()

    def stop(self):
        """Ends the receiver with SIGTERM, and checks that it ends well."""
        self.process.terminate()
        code = self.process.wait(PATIENCE)
        self.process.stdout.close()
        expect(code == 0, f"the receiver ended with {code}: {self.said()[-300:]}")

    def status_of(self, name):
        """Returns a number from /proc/PID/status, such as VmHWM in kB."""
        lines = pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))

    def arriving(self):
        """Returns the sizes of the files without a name of bodies that are being received."""
        sizes = []
        for link in pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
                if "/queue/incoming/" in os.readlink(link):
                    sizes.append(link.stat().st_size)
        return sizes

    def left(self):
        """Returns the names of temporary files."""
        return [path.name for name in ("scratch", "queue/incoming") for path in (self.folder / name).iterdir()]

    def slots(self):
        """Returns how many bodies are being received."""
        text = self.ask("GET", "/metrics").bytes.decode()
        return int(next(line.split()[1] for line in text.splitlines() if line.startswith("receiver_bodies ")))

    # Devices

    def command(self, *words, allowed=(0,)):
        return self.tools.run("receiver", words[0], self.folder, *words[1:], allowed=allowed).decode()

    def invite(self, name, *options):
        """Returns the id and the secret of a new invitation."""
        lines = dict(line.split("=", 1) for line in self.command("invite", name, *options).splitlines() if "=" in line)
        return lines["id"], lines["secret"]

    def device(self, rig):
        """Returns the id of a rig, which registers the first time."""
        if rig.name not in self.devices:
            device_id, secret = self.invite(rig.name)
            answer = self.register(rig, device_id, secret)
            expect(answer.status == 201, f"registration: {answer}")
            self.devices[rig.name] = device_id
        return self.devices[rig.name]

    # Requests

    def head_of_upload(self, rig, body):
        """Returns the request line and the headers of an upload, for tests that send its body themselves."""
        headers = rig.signed(body.data, self.device(rig)) | {
            "Content-Type": body.content_type, "Content-Length": str(len(body.data))}
        return head("POST", CAPTURES, headers)

    def connection(self, port=None):
        return http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=PATIENCE)

    def link(self):
        return Link(self.port)

    def send(self, data):
        """Sends bytes as they are, and returns the answer."""
        with self.link() as link:
            link.send(data)
            return link.answer()

    def queue(self, *words, allowed=(0,)):
        return self.tools.run("capqueue", *words, "--queue", self.folder / "queue", allowed=allowed)

    def sha256(self, capture):
        """Returns the hash of the bundle that arrived."""
        return json.loads(self.queue("show", capture, "--json"))["sha256"]

    def held(self):
        """Returns the ids of all captures in the receiver's queue."""
        lines = self.queue("list", "--json").decode().splitlines()
        return sorted(json.loads(line)["id"] for line in lines)


def same(answer, status, code=None, about=""):
    expect((answer.status, answer.code) == (status, code), f"{about} expected {status} {code}, got {answer}".strip())
    if code:
        expect(set(answer.json["error"]) == {"code", "message"} and set(answer.json["meta"]) == {
            "request_id", "timestamp"}, f"the envelope is {answer.json}")


@contextlib.contextmanager
def receiving(tools, *options, **settings):
    """Runs a receiver, and ends it afterwards. It must not have logged a failure of its own."""
    receiver = Receiver(tools, None, *options, **settings).start()
    try:
        yield receiver
    except BaseException:
        receiver.kill()
        raise
    receiver.stop()
    expect("INTERNAL_ERROR" not in receiver.said(), f"the receiver logged {receiver.said()[-400:]}")
    expect(not receiver.left(), f"files are left: {receiver.left()}")
