"""Two receivers behind nginx with the sample configuration, SeaweedFS behind both, and devices that send to them."""
import contextlib
import copy
import hashlib
import http.client
import json
import re
import ssl

from Kit.outcomes import PATIENCE, ROOT, expect
from Kit.sending import AT_ONCE, wait_until
from Kit.servers import nginx
from Kit.servers.certificates import Authority
from Kit.servers.seaweed import shared
from Receiver.support import CAPTURES, Client, Receiver

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
