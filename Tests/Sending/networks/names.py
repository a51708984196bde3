"""Names and addresses in a network namespace with a name server of its own: dead IPv6, several addresses, failing, slow
and moving names."""
import contextlib
import dataclasses
import ipaddress
import socket
import struct
import threading
import time

from Kit.outcomes import every, expect, long
from Kit.sending import completed, wait_until
from Kit.servers.scripted import Reply, Scripted
from Sending.wires import Wire, ip

A, AAAA, SERVFAIL = 1, 28, 2
NAME = "captures.test"
SECOND = "10.213.8.2"  # another address of the servers
DEAD = "10.213.9.1"  # the wire leads there, and nobody answers


@dataclasses.dataclass
class Names:
    """A name server for NAME. Without `addresses` it answers SERVFAIL, after `delay` seconds."""

    host: str
    addresses: list = dataclasses.field(default_factory=list)
    delay: float = 0

    def __enter__(self):
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((self.host, 53))
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._socket.close()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                query, client = self._socket.recvfrom(512)
                time.sleep(self.delay)
                self._socket.sendto(self.reply(query), client)

    def reply(self, query):
        end = query.index(b"\0", 12) + 5
        kind, = struct.unpack(">H", query[end - 4:end - 2])
        found = [ipaddress.ip_address(address).packed for address in self.addresses]
        data = [one for one in found if len(one) == {A: 4, AAAA: 16}.get(kind, 0)]
        head = struct.pack(">HHHHH", 0x8180 | (0 if self.addresses else SERVFAIL), 1, len(data), 0, 0)
        records = b"".join(b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(one)) + one for one in data)
        return query[:2] + head + query[12:end] + records


def taking(request):
    return Reply(201 if request.method == "PUT" else 405)


@contextlib.contextmanager
def named(bench, *bundles, **how):
    """A rig whose destination has a name, the server behind it, and the name server."""
    with Wire() as wire:
        for words in ((wire.far, "addr", "add", f"{SECOND}/32", "dev", "wire"),
                      (wire.near, "route", "add", f"{SECOND}/32", "via", wire.address),
                      (wire.near, "route", "add", f"{DEAD}/32", "via", wire.address),
                      (wire.near, "-6", "addr", "add", "fd12::1/64", "dev", "wire", "nodad"),
                      (wire.far, "route", "add", "blackhole", DEAD)):
            ip("-n", *words)
        with wire.serving(Scripted(taking, wire.address, 8080)) as server, \
                wire.serving(Names(wire.address, **how)) as names:
            rig = wire.inside(bench.rig())
            conf = rig.folder / "resolv.conf"
            conf.write_text(f"nameserver {wire.address}\noptions timeout:3 attempts:1\n")
            inside = rig.argv
            bind = f'mount --bind {conf} /etc/resolv.conf && exec "$@"'
            rig.argv = lambda *args: [*inside()[:2], "unshare", "--mount", "sh", "-c", bind, "sh", *inside(*args)[2:]]
            rig.dest("web", "put", "--url", f"http://{NAME}:8080/{{sha256}}", "--connect-timeout", "4s")
            rig.push(*bundles)
            yield wire, rig, server, names


@long
def dead_addresses(bench):
    """A dead IPv6 address, and a dead first address, cost no attempt."""
    bundle = bench.stock[0]
    cases = {"dead IPv6": ["fd12::2", Wire.address], "a dead first address": [DEAD, Wire.address]}

    def judge(name, addresses):
        with named(bench, bundle, addresses=addresses) as (_, rig, server, _):
            rig.send(code=0)
            completed(rig, bundle)
            expect(len(server.seen("PUT")) == 1, f"{len(server.seen('PUT'))} transfers")

    every(cases, judge)


@long
def failing_name(bench):
    """SERVFAIL is offline and costs no attempt; once the name resolves, the next run sends."""
    bundle = bench.stock[0]
    with named(bench, bundle) as (wire, rig, _, names):
        rig.send(code=15)
        row, place = rig.delivery(bundle), rig.destination("web")
        expect((row.state, row.attempts, place.blocked_reason) == ("pending", 0, "offline"),
               f"{row.state}, {row.attempts}, {place.blocked_reason}")
        names.addresses = [wire.address]
        rig.send(code=0)
        completed(rig, bundle)


@long
def slow_name(bench):
    """A name server that takes a second for each question costs no attempt."""
    bundle = bench.stock[0]
    with named(bench, bundle, addresses=[Wire.address], delay=1) as (_, rig, _, _):
        rig.send(code=0)
        completed(rig, bundle)


@long
def moving_name(bench):
    """A run that waits finds the new address when the server moves."""
    first, second = bench.stock[:2]
    with named(bench, first, addresses=[Wire.address]) as (wire, rig, server, names):
        with rig.start("run", "--watch", "--json") as running:
            wait_until(lambda: running.saw("completed", id=first.id), "the first to land")
            server.__exit__()
            with wire.serving(Scripted(taking, SECOND, 8080)) as moved:
                names.addresses = [SECOND]
                rig.push(second)
                wait_until(lambda: running.saw("completed", id=second.id), "the second to land at the new address", 60)
                expect(len(moved.seen("PUT")) == 1, "it went elsewhere")
            running.stop()
        completed(rig, first)


TESTS = [
    ("dead IPv6, and a dead first address", dead_addresses),
    ("SERVFAIL is offline", failing_name),
    ("a slow name server", slow_name),
    ("a name that moves while a run waits", moving_name),
]
