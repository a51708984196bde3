"""Without a network no attempt is used, however long this lasts, and captures are sent as soon as it is back."""
import contextlib
import time

from Kit.outcomes import expect, long
from Kit.sending import AT_ONCE, wait_until
from Kit.servers.fault_proxy import FaultProxy
from Kit.servers.nginx import port_of_nobody
from Kit.servers.scripted import Reply, Scripted
from Sending.scenes import ENDED
from Sending.wires import Wire

SECONDS = 25


def taking(request):
    return Reply(405 if request.method == "HEAD" else 201)


def rig_to(bench, url, *bundles, options=()):
    rig = bench.rig()
    rig.dest("web", "put", "--url", url + "/{sha256}", "--retry", AT_ONCE, *options)
    rig.push(*(bundles or bench.stock[:2]))
    return rig


@contextlib.contextmanager
def watching(rig):
    """Has `run --watch` beside the test, from when it found that the destination is offline until all have landed."""
    with rig.start("run", "--watch", "--json") as running:
        wait_until(lambda: running.saw("offline", destination="web"), "the destination to be offline")
        yield running
        wait_until(lambda: rig.states() == {"completed"}, "all to land")
        running.stop().must(0, *(code for codes in ENDED.values() for code in codes), about="run --watch")


def nothing_burned(rig, name="web", about=""):
    rows = {(row.state, row.attempts, row.in_doubt) for row in rig.deliveries()}
    expect(rows == {("pending", 0, 0)}, f"{about}: {rows}")
    held = rig.destination(name)
    expect(held.blocked_reason == "offline", f"{about}: blocked as {held.blocked_reason}: {held.blocked_message!r}")


def completed_at_once(rig):
    rows = {(row.state, row.attempts) for row in rig.deliveries()}
    expect(rows == {("completed", 1)}, f"it came to {rows}")


def nobody_there(bench):
    """With a refused connection, an unknown name or an address without a route every run is offline."""
    places = {"refused": (f"http://127.0.0.1:{port_of_nobody()}",), "unknown": ("http://captures.invalid:8080",),
              "tls": (f"https://127.0.0.1:{port_of_nobody()}",),
              "proxy": ("http://127.0.0.1:8080", "--proxy", f"http://127.0.0.1:{port_of_nobody()}")}
    rig = bench.rig()
    rig.env["RES_OPTIONS"] = "timeout:1 attempts:1"  # makes the resolver give up soon
    for name, (url, *options) in places.items():
        rig.dest(name, "put", "--url", url + "/{sha256}", "--retry", "0,0", *options)
    rig.push(bench.stock[0], options=[word for name in places for word in ("--dest", name)])
    for _ in range(3):  # more runs than the table has attempts
        rig.send(code=15)
        for name in places:
            nothing_burned(rig, name, name)
    for name in places:
        rig.run("dest", "test", name).must(15, about=f"dest test {name}")
    shown = [place["blocked"]["reason"] for place in rig.status()["destinations"]]
    expect(shown == ["offline"] * 4, f"status says {shown}")


def somebody_comes(bench):
    """A run that waits finds a server that comes back. Its probes only connect: the first request is the transfer."""
    with Scripted(taking) as server, FaultProxy(server.port) as proxy:
        proxy.down()
        rig = rig_to(bench, proxy.url)
        rig.send("--until-empty", "--max-duration", "1s", code=15)
        with watching(rig) as running:
            rig.push(bench.stock[2])
            nothing_burned(rig)
            proxy.up()
            wait_until(lambda: running.saw("ready", destination="web"), "an event that says that it continues")
        completed_at_once(rig)
        expect({one.method for one in server.requests} <= {"PUT", "HEAD"}, "a request outside the transfer")
        expect(len(server.seen("PUT")) == 3, f"{len(server.seen('PUT'))} transfers of 3 bundles")


@long
def mended(bench):
    """A cut wire makes the destination offline; the kernel reports the repair, so the run does not wait longer."""
    with Wire() as wire, wire.serving(Scripted(taking, wire.address)) as server:
        rig = wire.inside(rig_to(bench, server.url))
        wire.cut()
        with watching(rig):
            since = time.time()
            # Probes run 1, 3, 7, 15 and then 31 seconds after the cut. A delivery before that was not started by a
            # probe.
            time.sleep(16)
            nothing_burned(rig)
            wire.mend()
        late = max(row.completed_at for row in rig.deliveries()) / 1000 - since
        expect(late < 30, f"it landed {late:.1f} s after the wire was cut")
        completed_at_once(rig)


@long
def flapping(bench):
    """While a wire fails every 100 ms there are few connections and no attempt is used; then all captures land."""
    with Wire() as wire, wire.serving(Scripted(taking, wire.address)) as server:
        rig = wire.inside(rig_to(bench, server.url, *bench.stock[:6]))
        wire.cut()
        with watching(rig):
            for _ in range(30):
                wire.mend()
                time.sleep(0.05)
                wire.cut()
                time.sleep(0.05)
            connections = server.connections
            expect(connections < 30, f"{connections} connections in 30 flaps")
            burned = [row.attempts for row in rig.deliveries() if row.attempts > 1]
            expect(not burned, f"attempts were used: {burned}")
            wire.mend()
        expect(len(server.seen("PUT")) <= 8, f"{len(server.seen('PUT'))} transfers of 6 bundles")


@long
def fetched_url(bench):
    """If no server listens at a URL that was fetched late, the waits grow as usual, and no attempt is used."""
    rig = bench.rig()
    asked = rig.folder / "asked"
    rig.dest("web", "put", "--url-command", f"echo >> {asked}; echo http://127.0.0.1:{port_of_nobody()}/x")
    rig.push(bench.stock[0])
    with rig.start("run", "--watch") as running:
        time.sleep(12)
        running.stop().must(0, 15, 130, 143, about="run --watch")
    nothing_burned(rig)
    # The expected calls are at 0, 1, 3 and 7 s; one a second would be 12.
    count = len(asked.read_text().splitlines())
    expect(1 <= count <= 6, f"the command was asked {count} times in 12 s")


TESTS = [
    ("nobody there: offline, nothing burned, run after run", nobody_there),
    ("nobody is there, and then somebody is", somebody_comes),
    ("no server at a fetched URL: the waits grow", fetched_url),
    ("a wire that is cut and mended: the kernel reports it", mended),
    ("a wire that flaps", flapping),
]
