"""SeaweedFS as the S3 store of the tests: one process for the whole suite, on free ports.

    rig.dest("s3", "s3", "--url", seaweed.shared(bench).url + "/prefix")
    seaweed.shared(bench).client().get("prefix/key")
"""
import atexit
import os
import pathlib
import secrets
import socket
import subprocess
import sys
import threading
import time

from Kit.outcomes import Failed
from Kit.servers.sigv4 import Client, Keys

BUCKET = "captures"
# All ports that `weed mini` listens on; services that need no port are switched off.
PORTS = ("master", "volume", "filer", "s3", "admin")
OFF = ("-webdav=false", "-admin.ui=false", "-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false",
       "-s3.autoCreateBucket=false")
SECONDS = 60  # how long to wait for the first answer


def free_ports(count):
    """Returns different free ports below the range from which the kernel assigns ports."""
    found, probes = [], []
    try:
        while len(found) < count:
            probe = socket.socket()
            probes.append(probe)
            try:
                probe.bind(("127.0.0.1", 10_000 + secrets.randbelow(20_000)))
            except OSError:
                continue
            found.append(probe.getsockname()[1])
        return found
    finally:
        for probe in probes:
            probe.close()


_lock, _shared = threading.Lock(), []


def shared(bench):
    """Returns the one store of this suite, which the first call starts."""
    with _lock:
        if not _shared:
            _shared.append(Seaweed(bench.folder / "seaweed"))
            atexit.register(_shared[0].stop)
        return _shared[0]


class Seaweed:
    """A running store with one bucket and one pair of keys."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.keys = Keys("AKCAPQUEUE" + secrets.token_hex(5).upper(), secrets.token_hex(20))
        self.process, self.port, self.ports = None, 0, []
        for number in range(3):  # another process may take a port that was free a moment ago
            if self._start(self.folder / f"data{number}"):
                return
            self.stop()
        raise Failed(f"SeaweedFS does not start: {self._said()}")

    @property
    def url(self):
        """The value of `dest add --kind s3 --url`."""
        return f"http://127.0.0.1:{self.port}/{BUCKET}"

    def client(self, keys=None):
        return Client(self.port, keys or self.keys, BUCKET)

    def stop(self):
        """Kills the store at once, because it may ignore SIGTERM."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None
            for port in self.ports:
                for left in pathlib.Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
                    left.unlink(missing_ok=True)

    def _start(self, data):
        data.mkdir(parents=True)
        program = pathlib.Path(sys.executable).parent / "weed"
        if not program.exists():
            raise Failed(f"no SeaweedFS beside {sys.executable} (.ci/environment Sending)")
        # Each port has a second one for gRPC; without this setting it would be the port plus 10000.
        names = [f"{name}.port{kind}" for name in PORTS for kind in ("", ".grpc")]
        self.ports = free_ports(len(names))
        listening = dict(zip(names, self.ports))
        self.port = listening["s3.port"]
        words = ["mini", f"-dir={data}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", *OFF,
                 *(f"-{name}={port}" for name, port in listening.items()),
                 f"-filer.localSocket={data}/filer.sock", f"-s3.localSocket={data}/s3.sock"]
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(self.folder), "S3_BUCKET": BUCKET}
        with open(self.folder / "weed.log", "ab") as log:
            self.process = subprocess.Popen([program, *words], env=environment | self.keys.environment,
                                            cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self._answers()

    def _answers(self):
        """Whether the store begins to keep objects within SECONDS."""
        client, end = self.client(), time.monotonic() + SECONDS
        while time.monotonic() < end:
            if self.process.poll() is not None:
                return False
            try:
                if client.put("started", b"yes") == 200 and client.get("started") == b"yes":
                    return True
            except OSError:
                pass
            time.sleep(0.1)
        return False

    def _said(self):
        log = self.folder / "weed.log"
        return log.read_text(errors="replace")[-300:] if log.exists() else ""
