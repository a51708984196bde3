"""Two receivers behind nginx with the sample configuration, SeaweedFS behind both, and devices that send to them."""
import contextlib
import copy
import hashlib
import http.client
import json
import re
import sqlite3
import ssl
import subprocess

from Kit.outcomes import PATIENCE, ROOT, Failed, expect
from Kit.sending import AT_ONCE, wait_until
from Kit.servers import nginx
from Kit.servers.certificates import Authority
from Kit.servers.seaweed import shared
from Receiver.support import CAPTURES, RAW, Client, Receiver, Rig

CONFIGURATION = ROOT / "Samples/Receiver/nginx.conf"
RETRY = ("--retry", AT_ONCE)
LOG = """
    log_format chosen '$status $upstream_addr $request_method $request_uri $http_x_device_id';
    access_log {folder}/access.log chosen;
"""


class Cluster(Client):
    """SeaweedFS, two receivers that share it, and nginx before them with the sample configuration."""

    def __init__(self, tools, store=None):
        super().__init__()
        self.tools, self.store = tools, store or shared(tools)
        self.folder = tools.scratch("cluster")
        self.place = f"{self.store.url}/{self.folder.name}"
        self.port = nginx.free_port()
        self.url = f"https://localhost:{self.port}"
        self.authority = Authority(self.folder / "tls")
        self.trust = ssl.create_default_context(cafile=self.authority.path)

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.a, self.b = (self._receiver(name, stack) for name in "ab")
            stack.enter_context(self._nginx())
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *how):
        return self._stack.__exit__(*how)

    def _receiver(self, name, stack):
        """Starts a receiver that passes captures on to the store, as an operator sets it up."""
        tools = with_credentials(self.tools, self.store)
        receiver = Receiver(tools, self.folder / name, "--public-url", f"{self.url}/at/{name}", "--port",
                            str(nginx.free_port()), "--operator-port", "0")
        receiver.command("share", "--url", f"{self.place}/devices")
        receiver.queue("dest", "add", "store", "--kind", "s3", "--url", f"{self.place}/captures", *RETRY)
        receiver.start()
        stack.callback(ended, receiver)
        return receiver

    def _nginx(self):
        """Runs the sample configuration with other addresses, certificate and name."""
        certificate, key = self.authority.server()
        text, folder = CONFIGURATION.read_text(), self.folder / "nginx"
        for sample, ours in (("127.0.0.1:8081", f"127.0.0.1:{self.a.port}"),
                             ("127.0.0.1:8082", f"127.0.0.1:{self.b.port}"),
                             ("listen 443", f"listen 127.0.0.1:{self.port}"), ("captures.example.org;", "localhost;"),
                             ("/etc/letsencrypt/live/captures.example.org/fullchain.pem", str(certificate)),
                             ("/etc/letsencrypt/live/captures.example.org/privkey.pem", str(key))):
            expect(sample in text, f"{CONFIGURATION.name} does not contain {sample}")
            text = text.replace(sample, ours)
        return nginx.running(folder, LOG.format(folder=folder) + text, self.port)

    def connection(self, port=None):
        return http.client.HTTPSConnection("localhost", self.port, timeout=PATIENCE, context=self.trust)

    def chosen(self):
        """Returns the lines of nginx's log as (status, receivers that were asked, method, path, device id)."""
        lines = [line.rsplit(" ", 3) for line in (self.folder / "nginx/access.log").read_text().splitlines()]
        return [(*first.split(" ", 1), method, path, device) for first, method, path, device in lines]

    def receiver_of(self, rig, device_id):
        """Returns the receiver that nginx chooses for a device."""
        path = f"{CAPTURES}/{device_id}"
        self.ask("GET", path, rig.signed(b"", device_id))
        line = wait_until(lambda: [line for line in self.chosen() if line[3] == path], "nginx's log has the request")[0]
        return self.a if line[1].startswith(f"127.0.0.1:{self.a.port}") else self.b

    def senders(self, count):
        """Returns senders that are registered through nginx, half of them at each receiver by nginx's choice."""
        found = {self.a: [], self.b: []}
        for number in range(100):
            rig = Rig(self.tools, f"device-{number}")
            issuer, other = (self.a, self.b) if number % 2 else (self.b, self.a)
            device_id, secret = issuer.invite(rig.name)
            mine = found[self.receiver_of(rig, device_id)]
            if len(mine) < count // 2:
                answer = self.register(rig, device_id, secret)
                expect(answer.status == 201, f"registering through nginx: {answer}")
                expect(device_id in other.command("devices"), "the other receiver does not list the device")
                mine.append(Sender(self, rig, device_id))
            if all(len(senders) == count // 2 for senders in found.values()):
                return found[self.a] + found[self.b]
        raise Failed("nginx chooses the same receiver for nearly all devices")

    def objects(self):
        """Returns the objects below captures/ in the store: name and bytes."""
        prefix, client = f"{self.folder.name}/captures/", self.store.client()
        status, _, page = client.request("GET", client.path("").rstrip("/"),
                                         {"list-type": "2", "max-keys": "1000", "prefix": prefix})
        expect(status == 200, f"listing the store answers {status}")
        return {key[len(prefix):]: client.get(key) for key in re.findall(r"<Key>(.*?)</Key>", page.decode())}

    def keeps(self, bundles):
        """Checks that the store has exactly these bundles, once and byte for byte, when the queues are empty."""
        for receiver in (self.a, self.b):
            wait_until(lambda: json.loads(receiver.queue("status", "--json"))["backlog"]["captures"] == 0,
                       f"receiver {receiver.folder.name} passes its captures on")
        wanted = {f"{hashlib.sha256(data).hexdigest()}.bundle": data for data in bundles}
        found = self.objects()
        missing, strange = sorted(set(wanted) - set(found)), sorted(set(found) - set(wanted))
        expect(not missing and not strange, f"the store has {len(found)} objects instead of {len(wanted)}; missing: "
               f"{missing[:3]}, unexpected: {strange[:3]}")
        expect(found == wanted, "the store has other bytes")


def with_credentials(tools, store):
    """Returns the same tools with the store's credentials in their environment."""
    tools = copy.copy(tools)
    tools.env = tools.env | store.keys.environment
    return tools


def ended(receiver):
    if receiver.process.poll() is None:
        receiver.stop()


class Sender:
    """A device with a queue that delivers through nginx."""

    def __init__(self, cluster, rig, device_id):
        self.cluster, self.rig, self.id = cluster, rig, device_id
        self.queue = rig.folder / "queue"
        self.run("dest", "add", "receivers", "--kind", "http", "--url", cluster.url, "--ca", cluster.authority.path,
                 "--key", rig.key, "--device-id", device_id, *RETRY)

    def run(self, *words):
        return self.rig.tools.run("capqueue", *words, "--queue", self.queue, env=self.rig.env)

    def pack(self, count):
        """Packs and pushes captures of about 400 kB, and returns the bytes of their bundles.

        Each has a photo of its own, because servers of the API tell captures apart by their photos.
        """
        photo = (RAW / "photo.jpg").read_bytes()
        mark = self.id.replace("-", "").encode() * 10_000
        raws = [self.rig.raw(f"{number:03}", photo=photo[:-2] + bytes([number]) + mark + photo[-2:])
                for number in range(1, count + 1)]
        self.rig.run("pack", *raws, "--out-dir", self.rig.folder / "bundles")
        bundles = sorted((self.rig.folder / "bundles").iterdir())
        self.run("push", *bundles)
        return [bundle.read_bytes() for bundle in bundles]

    def start(self):
        """Starts a run that ends when everything is delivered."""
        with open(self.rig.folder / "run.log", "wb") as log:
            self.process = subprocess.Popen(
                [self.rig.tools.programs["capqueue"], "run", "--until-empty", "--queue", self.queue],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.rig.tools.env | self.rig.env)
        return self.process

    def deliveries(self):
        """Returns the rows of all deliveries."""
        with contextlib.closing(sqlite3.connect(self.queue / "queue.sqlite", timeout=20)) as database:
            database.row_factory = sqlite3.Row
            return database.execute("SELECT state, remote_id, remote_url, error_code FROM deliveries").fetchall()
