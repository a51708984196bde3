"""The four receivers, each with its framework, its server and its folder, and a capture that has every kind of part."""
import contextlib
import importlib.metadata
import json
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import zlib

from Kit import processes
from Kit.outcomes import ROOT, expect
from Kit.queues import Bundle
from Kit.rigs import PHOTO
from Kit.sending import DEVICE, SendingBench, wait_until
from Kit.servers import nginx

SAMPLES = ROOT / "Samples/receivers"
PATH = "/api/v1/captures"
SECONDS = 30  # how long to wait for the first answer of a server
WIDTH, HEIGHT = 256, 192
# Without buffering the receiver itself sees a body that breaks off.
NGINX = """
    server {{
        listen 127.0.0.1:{port};
        client_max_body_size 32m;
        fastcgi_request_buffering off;
        location {path} {{
            include /etc/nginx/fastcgi_params;
            fastcgi_param SCRIPT_FILENAME {script};
            fastcgi_param CAPTURES {store};
            fastcgi_pass 127.0.0.1:{behind};
        }}
    }}
"""


def png(rows, bits):
    """A grey PNG of 8 or 16 bits."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    lines = b"".join(b"\0" + struct.pack(f">{len(row)}{'H' if bits == 16 else 'B'}", *row) for row in rows)
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), bits, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def photo(seed, size=3_000_000):
    """A photo with line ends, dashes and NUL in it, which a parser of forms could take for its own."""
    noise = random.Random(seed).randbytes(size).replace(b"\xff", b"\r\n--")
    return PHOTO[:-2] + noise + PHOTO[-2:]


class Server:
    """A receiver that listens at `port`; `store` is its folder."""

    def __init__(self, bench, name):
        self.folder = bench.folder / name
        self.store, self.port = self.folder / "captures", nginx.free_port()
        self.url, self.log = f"http://127.0.0.1:{self.port}", self.folder / "log"
        for part in ("devices", "kept"):
            (self.store / part).mkdir(parents=True)
        self.register(bench, DEVICE, f"{bench.template.key}.pub")

    def register(self, bench, device, public):
        """Makes a device known to the receiver, as Samples/receivers.md says."""
        shutil.copy(public, self.store / f"devices/{device}.pem")
        trust = self.store / f"devices/{device}.trust"
        bench.template.run("trust", "add", "rig", public, "--trust", trust).must(0, about="trust add")

    def kept(self):
        """Returns the names of the bundles that it holds."""
        return sorted(path.name for path in (self.store / "kept").iterdir())

    def at_rest(self, about):
        """Waits until nothing is left of any request. A server may notice late that a line broke."""
        wait_until(lambda: all(path.name in ("devices", "kept") for path in self.store.iterdir()),
                   f"{about}: files of a request are left", 20)


class Bench(SendingBench):
    """The tools, and a server for each receiver by its name in `servers`."""

    def __init__(self, capqueue, capbundle, folder, seed):
        super().__init__(capqueue, capbundle, folder, seed)
        (folder / "bin").mkdir()
        (folder / "bin/capbundle").symlink_to(self.binary)
        self.env = self.template.env | {"PATH": f"{folder}/bin:{os.environ['PATH']}:/usr/sbin", "TMPDIR": str(folder),
                                        "PYTHONDONTWRITEBYTECODE": "1"}
        self.template.env["CAPBUNDLE_DECODE"] = str(self.decoder)  # for depth.png
        self.other_key = folder / "other.key"
        self.template.run("key", "new", "--key", self.other_key).must(0, about="key new")
        self.servers = {}

    def start(self, stack):
        """Starts each receiver, and prints the versions of what it runs on."""
        starts = {"FastAPI": self._fastapi, "Django": self._django, "PHP": self._php, "Node": self._node}
        for name, start in starts.items():
            server = self.servers[name] = Server(self, name)
            print(f"{name}: {start(server, stack)}", flush=True)
            wait_until(lambda: _answers(server.port), f"{name} does not answer, see {server.log}", SECONDS)

    def capture(self, name, size=3_000_000):
        """Returns a new bundle with a photo of this size, a depth map, location.json, confidence.png and source/depth.png."""
        raw = self.folder / f"raws/{name}"
        raw.mkdir()
        (raw / "photo.jpg").write_bytes(photo(f"{self.seed} {name}", size))
        (raw / "depth.png").write_bytes(png([[800 + 3 * row + column for column in range(WIDTH)] for row in range(HEIGHT)], 16))
        (raw / "confidence.png").write_bytes(png([[column % 3 for column in range(WIDTH)] for _ in range(HEIGHT)], 8))
        (raw / "metadata.json").write_text(json.dumps({
            "captured_at": "2026-03-14T09:26:53.589+01:00", "device_model": "Gerät 1",
            "depth_map_dimensions": {"width": WIDTH, "height": HEIGHT}, "location": {"latitude": 52.5163, "longitude": 13.3777}}))
        target = self.folder / f"{name}.bundle"
        self.template.pack(target, "--keep-source", raw=raw).must(0, about="pack")
        return Bundle.at(target)

    def signed(self, body, key=None, *options):
        """Returns the headers of a request with this body, as `capbundle sign-request` makes them."""
        file = self.folder / f"signed{next(self.numbers)}"
        file.write_bytes(body)
        made = self.template.run("sign-request", file, "--device-id", DEVICE, "--key", key or self.template.key, "--format",
                                 "json", *options).must(0, about="sign-request")
        file.unlink()
        boundary = body[2:body.index(b"\r\n")].decode()
        return json.loads(made.out)["headers"] | {"Content-Type": f"multipart/form-data; boundary={boundary}"}

    def _run(self, server, stack, *words, **more):
        with open(server.log, "wb") as log:
            leader = subprocess.Popen([*map(str, words)], cwd=server.folder, stdin=subprocess.DEVNULL, stdout=log,
                                      stderr=subprocess.STDOUT, env=self.env | {"HOME": str(server.folder)} | more,
                                      start_new_session=True)
        stack.callback(processes.end, leader)

    def _fastapi(self, server, stack):
        self._run(server, stack, sys.executable, "-m", "uvicorn", "fastapi_receiver:app", "--app-dir", SAMPLES, "--port",
                  server.port)
        return _versions("fastapi", "starlette", "uvicorn", "cryptography")

    def _django(self, server, stack):
        self._run(server, stack, sys.executable, "-m", "gunicorn", "-k", "gthread", "--threads", "4", "--pythonpath", SAMPLES,
                  "-b", f"127.0.0.1:{server.port}", "django_receiver:get_wsgi_application()")
        return _versions("django", "gunicorn", "cryptography")

    def _node(self, server, stack):
        self._run(server, stack, self._program("node", "nodejs"), SAMPLES / "node_receiver.js", PORT=str(server.port))
        return self._said("node", "--version")

    def _php(self, server, stack):
        behind = nginx.free_port()
        self._run(server, stack, self._program("php-cgi", "php-cgi"), "-b", f"127.0.0.1:{behind}", "-d",
                  "enable_post_data_reading=0", PHP_FCGI_CHILDREN="2")
        places = NGINX.format(port=server.port, behind=behind, path=PATH, script=SAMPLES / "receiver.php", store=server.store)
        stack.enter_context(nginx.running(server.folder / "nginx", places, server.port))
        return f"{self._said('php-cgi', '-v')}, {self._said('nginx', '-v')}"

    def _program(self, name, package):
        found = shutil.which(name, path=self.env["PATH"])
        expect(found, f"{name} is not installed (Debian: {package})")
        return found

    def _said(self, *words):
        """Returns the first line of what a program says of its version."""
        done = subprocess.run(words, env=self.env, capture_output=True, text=True, check=True)
        return (done.stdout or done.stderr).splitlines()[0]


def _versions(*names):
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)


def _answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
