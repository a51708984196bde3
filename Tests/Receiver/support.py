"""Code that all families share: the tools, bundles and bodies, a running receiver, and a client for it."""
import base64
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import shutil
import socket
import subprocess
import time

from outcomes import PATIENCE, expect

ROOT = pathlib.Path(__file__).resolve().parents[2]
RAW = ROOT / "Samples/desk-lamp/raw"
# No device and no capture has this id.
UNKNOWN = "5b1f4a52-0c7e-4c5d-8e11-2d9f60a7c3b8"
CAPTURES, VERIFY_FILE, REGISTER = "/api/v1/captures", "/api/v1/verify-file", "/api/v1/devices/register"


def wait_until(condition, what, seconds=PATIENCE):
    """Waits until `condition()` is true, and returns its value."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        expect(time.monotonic() < end, f"waited {seconds} s in vain: {what}")
        time.sleep(0.02)
    return found


class Tools:
    """The three programs, and a temporary folder with the bundles that tests ask for."""

    def __init__(self, capbundle, capqueue, receiver, folder):
        self.programs = {"capbundle": capbundle, "capqueue": capqueue, "receiver": receiver}
        self.folder, self._rigs, self._numbers = folder, {}, iter(range(1_000_000))
        names = [name for name in os.environ if not name.startswith(("CAPBUNDLE_", "CAPQUEUE_", "XDG_"))]
        self.environment = {name: os.environ[name] for name in names} | {
            "HOME": str(folder), "LC_ALL": "C.UTF-8", "PATH": f"{capbundle.parent}:{os.environ['PATH']}"}

    def run(self, program, *words, environment=None, data=None, allowed=(0,)):
        """Runs a program to its end, and returns its standard output."""
        done = subprocess.run([self.programs.get(program, program), *map(str, words)], input=data, check=False,
                              capture_output=True, timeout=PATIENCE, env=environment or self.environment)
        expect(done.returncode in allowed, f"{program} {words[0]}: exit {done.returncode}: {done.stderr.decode()[-300:]}")
        return done.stdout

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


class Body:
    """An upload body: its bytes, the type of the form, and the bundle that it was made from."""

    def __init__(self, bundle, data, content_type):
        self.bundle, self.data, self.content_type = bundle, data, content_type

    @property
    def photo(self):
        return hashlib.sha256((RAW / "photo.jpg").read_bytes()).hexdigest()


class Rig:
    """A device: a key, and the bundles and bodies that are made with it."""

    def __init__(self, tools, name):
        self.tools, self.name, self.folder = tools, name, tools.scratch(name)
        self.key = self.folder / "device.key"
        self.environment = tools.environment | {"CAPBUNDLE_KEY": str(self.key)}
        self.key_id = self.run("key", "new").decode().strip()
        self.jwk = json.loads(self.run("key", "public", "--format", "jwk"))
        self._bodies = {}

    def run(self, *words, data=None, allowed=(0,)):
        return self.tools.run("capbundle", *words, environment=self.environment, data=data, allowed=allowed)

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
        """Returns the upload body of a bundle."""
        data, headers = self.folder / f"{bundle.name}.body", self.folder / f"{bundle.name}.headers"
        for file in (data, headers):
            file.unlink(missing_ok=True)
        self.run("multipart", bundle, "-o", data, "--headers", headers)
        return Body(bundle, data.read_bytes(), headers.read_text().partition(": ")[2].strip())

    def capture(self, name="first", seconds=0):
        """Returns the body of a capture of the sample's scene; each name has another time."""
        if name not in self._bodies:
            number = len(self._bodies) + seconds
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


class Answer:
    """A status, headers and JSON of an answer; without an answer, `status` is None."""

    def __init__(self, status=None, headers=None, data=b""):
        self.status, self.headers, self.bytes = status, headers or {}, data
        try:
            self.json = json.loads(data)
        except ValueError:
            self.json = None

    @property
    def code(self):
        return (self.json or {}).get("error", {}).get("code")

    @property
    def data(self):
        return (self.json or {}).get("data")

    def __str__(self):
        return f"{self.status} {self.code or self.data}"


class Receiver:
    """A running receiver in its own folder, and a client for it."""

    def __init__(self, tools, folder=None, *options, program=()):
        self.tools, self.options, self.program = tools, options, list(program)
        self.folder = folder or tools.scratch("receiver") / "captures"
        self.log = self.folder.parent / f"{self.folder.name}.log"
        self.process = None
        self.devices = {}

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*self.program, self.tools.programs["receiver"], "serve", self.folder, "--port", "0", *self.options],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, env=self.tools.environment)
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

    # Devices

    def command(self, *words, allowed=(0,)):
        return self.tools.run("receiver", words[0], self.folder, *words[1:], allowed=allowed).decode()

    def invite(self, name, *options):
        """Returns the id and the secret of a new invitation."""
        lines = dict(line.split("=", 1) for line in self.command("invite", name, *options).splitlines() if "=" in line)
        return lines["id"], lines["secret"]

    def register(self, rig, device_id, secret, **changed):
        """Sends a registration and returns the answer."""
        body = {"invitation": secret, "public_key": rig.jwk} | changed
        data = json.dumps(body).encode()
        headers = rig.signed(data, device_id) | {"Content-Type": "application/json"}
        return self.ask("POST", REGISTER, headers, data)

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

    def ask(self, method, path, headers=None, data=None, port=None):
        """Sends a request and returns the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.request(method, path, data, headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read())

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

    def send(self, data, seconds=PATIENCE):
        """Sends bytes as they are, and returns the answer."""
        with socket.create_connection(("127.0.0.1", self.port), seconds) as link:
            with contextlib.suppress(ConnectionError):
                link.sendall(data)
            return answer_of(link)

    def queue(self, *words, allowed=(0,)):
        return self.tools.run("capqueue", *words, "--queue", self.folder / "queue", allowed=allowed)

    def held(self):
        """Returns the ids of all captures in the receiver's queue."""
        lines = self.queue("list", "--json").decode().splitlines()
        return sorted(json.loads(line)["id"] for line in lines)


def same(answer, status, code=None):
    expect((answer.status, answer.code) == (status, code), f"expected {status} {code}, got {answer}")
    if code:
        expect(set(answer.json["error"]) == {"code", "message"} and set(answer.json["meta"]) == {
            "request_id", "timestamp"}, f"the envelope is {answer.json}")


def answer_of(link):
    answer = http.client.HTTPResponse(link)
    try:
        answer.begin()
        return Answer(answer.status, dict(answer.getheaders()), answer.read())
    except (http.client.HTTPException, ConnectionError, TimeoutError):
        return Answer()


def head(method, path, headers):
    """Returns the head of a request, byte for byte as given; a list as a value repeats the header."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    for name, value in headers.items():
        lines += [f"{name}: {one}" for one in (value if isinstance(value, list) else [value]) if one is not None]
    return "\r\n".join(lines + ["", ""]).encode("latin-1")


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
    left = list((receiver.folder / "bodies").iterdir())
    expect(not left, f"{len(left)} files are left in bodies/")
