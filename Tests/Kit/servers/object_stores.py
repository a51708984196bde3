"""Object stores that nobody here wrote, each with one bucket: rclone, moto, JuiceFS and OpenStack Swift, on free ports.

    with Moto(folder) as store:
        rig.dest("s3", "s3", "--url", store.url, *store.options)
"""
import os
import pathlib
import subprocess
import sys
import time

from Kit.outcomes import Failed
from Kit.servers.seaweed import free_ports
from Kit.servers.sigv4 import Client, Keys

BUCKET = "captures"
SECONDS = 90  # how long to wait for the first answer


class ObjectStore:
    """A store in a folder. A kind of it says which processes it needs in `commands`."""

    keys = Keys("AKCAPQUEUESTORES", "secret0123456789")
    options = ()  # of `dest add`

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.port, *self.ports = free_ports(5)
        self.processes = []

    def __enter__(self):
        try:
            self.prepare()
            for words in self.commands():
                self._start(words)
            self._wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
        self.processes = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/{BUCKET}"

    def client(self):
        return Client(self.port, self.keys, BUCKET)

    def prepare(self):
        """Writes what the processes read."""

    def commands(self):
        raise NotImplementedError

    def environment(self):
        return {"PATH": os.environ.get("PATH", ""), "HOME": str(self.folder)}

    def program(self, name):
        path = pathlib.Path(sys.executable).parent / name
        if not path.exists():
            raise Failed(f"no {name} beside {sys.executable} (.ci/environment)")
        return str(path)

    def run(self, words):
        done = subprocess.run(words, cwd=self.folder, env=self.environment(), capture_output=True, text=True,
                              timeout=SECONDS, check=False)
        if done.returncode:
            raise Failed(f"{words[:3]} ended with {done.returncode}: {done.stderr[-300:]}")

    def _start(self, words):
        with open(self.folder / "log", "ab") as log:
            self.processes.append(subprocess.Popen(words, cwd=self.folder, env=self.environment(),
                                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def _wait(self):
        """Waits until the store keeps objects, and makes the bucket."""
        client, end = self.client(), time.monotonic() + SECONDS
        while time.monotonic() < end:
            for process in self.processes:
                if process.poll() is not None:
                    raise Failed(f"a store ended: {(self.folder / 'log').read_text(errors='replace')[-300:]}")
            try:
                client.request("PUT", f"/{BUCKET}", body=b"")
                if client.put("started", b"yes") == 200 and client.get("started") == b"yes":
                    return
            except OSError:
                pass
            time.sleep(0.2)
        raise Failed(f"a store does not start: {(self.folder / 'log').read_text(errors='replace')[-300:]}")


class Rclone(ObjectStore):
    """`rclone serve s3`: stores what it gets, and repeats our checksum."""

    def prepare(self):
        (self.folder / "data" / BUCKET).mkdir(parents=True)

    def commands(self):
        return [[self.program("rclone"), "serve", "s3", "--auth-key", f"{self.keys.id},{self.keys.secret}", "--addr",
                 f"127.0.0.1:{self.port}", "--config", "/dev/null", str(self.folder / "data")]]


class Moto(ObjectStore):
    def commands(self):
        return [[sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]]


class JuiceFS(ObjectStore):
    """The S3 gateway of JuiceFS, which has one bucket, named like the volume."""

    def environment(self):
        return super().environment() | {"MINIO_ROOT_USER": self.keys.id, "MINIO_ROOT_PASSWORD": self.keys.secret}

    def prepare(self):
        self.meta = f"sqlite3://{self.folder}/meta.db"
        self.run([self.program("juicefs"), "format", "--storage", "file", "--bucket", f"{self.folder}/data", self.meta,
                  BUCKET])

    def commands(self):
        return [[self.program("juicefs"), "gateway", "--no-usage-report", "--cache-dir", f"{self.folder}/cache",
                 self.meta, f"127.0.0.1:{self.port}"]]


STARTER = """
import sys
from swift.common import utils
utils.SWIFT_CONF_FILE = sys.argv[1] + "/swift.conf"
from swift.common.wsgi import run_wsgi
sys.exit(run_wsgi(f"{sys.argv[1]}/{sys.argv[2]}.conf", sys.argv[2] + "-server"))
"""
RINGS = """
import sys
from swift.cli.ringbuilder import main
for words in ("create 4 1 0", f"add r1z1-127.0.0.1:{sys.argv[2]}/d1 1", "rebalance"):
    try:
        main(["swift-ring-builder", sys.argv[1] + ".builder", *words.split()])
    except SystemExit as end:
        if end.code not in (0, 1, None):
            raise
"""
SERVER = """[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
user = {user}
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
disable_fallocate = true
log_address = /nowhere
"""
PROXY = """[pipeline:main]
pipeline = catch_errors cache s3api tempauth proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:{nobody}
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
"""
POLICY = """[swift-hash]
swift_hash_path_suffix = suffix
swift_hash_path_prefix = prefix
[storage-policy:0]
name = one
default = yes
"""


class Swift(ObjectStore):
    """OpenStack Swift (Debian's python3-swift) with s3api: a proxy, and one server each for accounts, containers, objects."""

    keys = Keys("test:tester", "testing")
    options = ("--no-condition",)  # it answers 501 to If-None-Match
    python = "/usr/bin/python3"  # the packages of Debian are not in the environment of the tests

    def prepare(self):
        if subprocess.run([self.python, "-c", "import swift"], capture_output=True, check=False).returncode:
            raise Failed("OpenStack Swift is not installed (.ci/dependencies test)")
        (self.folder / "devices/d1").mkdir(parents=True)
        (self.folder / "swift.conf").write_text(POLICY)
        *names, nobody = self.ports
        for name, port in (*zip(("account", "container", "object"), names), ("proxy", self.port)):
            parts = PROXY.format(nobody=nobody) if name == "proxy" else (
                f"[pipeline:main]\npipeline = {name}-server\n[app:{name}-server]\nuse = egg:swift#{name}\n")
            (self.folder / f"{name}.conf").write_text(
                SERVER.format(port=port, folder=self.folder, user=os.environ.get("USER", "root")) + parts)
            if name != "proxy":
                self.run([self.python, "-c", RINGS, name, str(port)])

    def commands(self):
        return [[self.python, "-c", STARTER, str(self.folder), name]
                for name in ("account", "container", "object", "proxy")]
