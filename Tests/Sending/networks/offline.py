"""Without a network no attempt is used, however long this lasts, and captures are sent as soon as it is back."""
import time

from capture_api import CaptureAPI
from checks import every, expect
from fault_proxy import FaultProxy
from nginx import free_port, fresh
from rigs import AT_ONCE, wait_until
from scripted import Reply, Scripted
from wires import Wire

SECONDS = 55


def taking(request):
    return Reply(405 if request.method == "HEAD" else 201)


def rig_to(bench, url, *bundles, options=()):
    rig = bench.rig()
    rig.env["RES_OPTIONS"] = "timeout:1 attempts:1"  # makes the resolver give up soon
    rig.dest("web", "put", "--url", url + "/{sha256}", "--retry", AT_ONCE, *options)
    rig.push(*(bundles or bench.stock[:2]))
    return rig


def nothing_burned(rig, about=""):
    rows = {(row.state, row.attempts) for row in rig.deliveries()}
    expect(rows == {("pending", 0)}, f"{about}: {rows}")
    held = rig.destination("web")
    expect(held.blocked_reason == "offline", f"{about}: blocked as {held.blocked_reason}: {held.blocked_message!r}")


def completed(rig):
    rows = {(row.state, row.attempts) for row in rig.deliveries()}
    expect(rows == {("completed", 1)}, f"it came to {rows}")


def nobody_there(bench):
    """With a refused connection, an unknown name or an address without a route every run is offline."""
    places = {"refused": f"http://127.0.0.1:{free_port()}", "no such name": "http://captures.invalid:8080",
              "TLS, refused": f"https://127.0.0.1:{free_port()}", "no proxy there": "http://127.0.0.1:8080"}

    def judge(name, url):
        proxy = ("--proxy", f"http://127.0.0.1:{free_port()}") if name == "no proxy there" else ()
        rig = rig_to(bench, url, options=proxy)
        for _ in range(12):  # more runs than the table has attempts
            rig.send(code=15)
            nothing_burned(rig, name)
        rig.run("dest", "test", "web").must(15, about="dest test")
        expect("offline" in str(rig.status()["destinations"]), f"status says {rig.status()['destinations']}")

    every(places, judge)


def there_again(bench):
    """`run --watch` waits until a server listens at the address, and then needs one attempt for each capture."""
    with fresh(bench) as server, FaultProxy(server.ports["plain"]) as proxy:
        proxy.down()
        rig = rig_to(bench, f"{proxy.url}/store")
        with rig.start("run", "--watch", "--json") as running:
            wait_until(lambda: running.saw("offline"), "the destination to be offline")
            rig.push(bench.stock[2])
            nothing_burned(rig)
            proxy.up()
            wait_until(lambda: rig.states() == {"completed"}, "all to land")
            expect(running.saw("ready", destination="web"), "no event says that it continues")
            running.stop().must(0, 15, 130, 143, about="run --watch")
        completed(rig)


def probes_send_nothing(bench):
    """Probes of an offline destination only connect: the first request of a returned server is the transfer."""
    with Scripted(taking) as server, FaultProxy(server.port) as proxy:
        proxy.down()
        rig = rig_to(bench, proxy.url)
        with rig.start("run", "--watch", "--json") as running:
            wait_until(lambda: running.saw("offline"), "the destination to be offline")
            proxy.up()
            wait_until(lambda: rig.states() == {"completed"}, "all to land")
            running.stop().must(0, 15, 130, 143, about="run --watch")
        expect({one.method for one in server.requests} <= {"PUT", "HEAD"}, "a request outside the transfer")
        expect(len(server.seen("PUT")) == 2, f"{len(server.seen('PUT'))} transfers of 2 bundles")


def mended(bench):
    """A cut wire makes the destination offline; the kernel reports the repair, so the run does not wait longer."""
    with Wire() as wire, wire.serving(Scripted(taking, wire.address)) as server:
        rig = wire.inside(rig_to(bench, server.url))
        wire.cut()
        with rig.start("run", "--watch", "--json") as running:
            wait_until(lambda: running.saw("offline"), "the destination to be offline")
            since = time.time()
            # Probes run 1, 3, 7, 15 and then 31 seconds after the cut. A delivery before that was not started by a
            # probe.
            time.sleep(16)
            nothing_burned(rig)
            wire.mend()
            wait_until(lambda: rig.states() == {"completed"}, "all to land")
            late = max(row.completed_at for row in rig.deliveries()) / 1000 - since
            expect(late < 30, f"it landed {late:.1f} s after the wire was cut")
            running.stop().must(0, 15, 130, 143, about="run --watch")
        completed(rig)


def cut_while_idle(bench):
    """Captures that are pushed after the wire was cut wait, and land when it is mended.

    The first may go out over the kept connection, because nothing reports that its other end is gone. That try counts.
    """
    with Wire() as wire, wire.serving(Scripted(taking, wire.address)) as server:
        options = ("--stall-timeout", "3s", "--answer-timeout", "3s")
        rig = wire.inside(rig_to(bench, server.url, options=options))
        with rig.start("run", "--watch", "--json") as running:
            wait_until(lambda: rig.states() == {"completed"}, "the first to land")
            wire.cut()
            rig.push(*bench.stock[2:5])
            wait_until(lambda: rig.destination("web").blocked_reason == "offline", "the destination to be offline")
            wire.mend()
            wait_until(lambda: rig.states() == {"completed"}, "all to land")
            running.stop().must(0, 15, 130, 143, about="run --watch")
        burned = sum(row.attempts - 1 for row in rig.deliveries())
        expect(burned <= 1, f"{burned} attempts were used")


def cut_amid(bench):
    """If a wire is cut during a body and mended after two seconds, the transfer continues or is repeated."""
    big = bench.big()
    with Wire() as wire, wire.serving(Scripted(taking, wire.address)) as server:
        rig = wire.inside(rig_to(bench, server.url, big, options=("--bwlimit", "4MB")))
        with rig.start("run", "--until-empty") as running:
            wait_until(lambda: server.connections, "the transfer to begin")
            wire.cut()
            time.sleep(2)
            wire.mend()
            running.end().must(0, about="run")
        puts = server.seen("PUT")
        expect(puts[-1].body == big.data, "other bytes came")
        row = rig.delivery(big)
        expect(row.state == "completed" and row.attempts <= 2, f"{row.state} after {row.attempts} attempts")


def flapping(bench):
    """While a wire fails every 100 ms there are few connections and no attempt is used; then all captures land."""
    with Wire() as wire, wire.serving(Scripted(taking, wire.address)) as server:
        rig = wire.inside(rig_to(bench, server.url, *bench.stock[:6]))
        wire.cut()
        with rig.start("run", "--watch", "--json") as running:
            wait_until(lambda: running.saw("offline"), "the destination to be offline")
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
            wait_until(lambda: rig.states() == {"completed"}, "all to land")
            running.stop().must(0, 15, 130, 143, about="run --watch")
        expect(len(server.seen("PUT")) <= 8, f"{len(server.seen('PUT'))} transfers of 6 bundles")


def link_without_server(bench):
    """A mended wire without a server leaves the destination offline, and probes continue until a server answers."""
    with Wire() as wire:
        port = 8080
        rig = wire.inside(rig_to(bench, f"http://{wire.address}:{port}"))
        wire.cut()
        with rig.start("run", "--watch", "--json") as running:
            wait_until(lambda: running.saw("offline"), "the destination to be offline")
            wire.mend()
            time.sleep(2)  # The probe runs within this time; on a machine that is too slow the test shows less.
            nothing_burned(rig, "a wire without a server")
            with wire.serving(Scripted(taking, wire.address, port)):
                wait_until(lambda: rig.states() == {"completed"}, "all to land")
            running.stop().must(0, 15, 130, 143, about="run --watch")
        completed(rig)


def fetched_url(bench):
    """If no server listens at a URL that was fetched late, the waits grow as usual, and no attempt is used."""
    rig = bench.rig()
    asked = rig.folder / "asked"
    rig.dest("web", "put", "--url-command", f"echo >> {asked}; echo http://127.0.0.1:{free_port()}/x")
    rig.push(bench.stock[0])
    with rig.start("run", "--watch") as running:
        time.sleep(12)
        running.stop().must(0, 15, 130, 143, about="run --watch")
    nothing_burned(rig)
    # The expected calls are at 0, 1, 3 and 7 s; one a second would be 12.
    count = len(asked.read_text().splitlines())
    expect(1 <= count <= 6, f"the command was asked {count} times in 12 s")


def somebody_comes(bench):
    """A refusing port counts as offline and costs no attempt; a run that waits delivers once a server is there."""
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api, FaultProxy(api.port) as proxy:
        proxy.down()
        rig.http(proxy.url)
        rig.push(*bench.stock[:2])
        with rig.start("run", "--watch", "--json") as running:
            wait_until(lambda: running.saw("offline", destination="api"), "the run says that it is offline")
            running.stop()
        rig.send("--until-empty", "--max-duration", "2s", code=15)
        rows = rig.deliveries()
        expect({(row.state, row.attempts, row.in_doubt) for row in rows} == {("pending", 0, 0)}, f"{rows[0]}")
        with rig.start("run", "--watch", "--json") as running:
            proxy.up()
            rig.run("wait", "--all", "--timeout", "90s", seconds=100).must(0, about="wait")
            wait_until(lambda: len(running.saw("completed")) == 2, "both arrive")
            expect(running.saw("ready", destination="api"), "no event says that it continues")
            running.stop()
        api.holds(*map(bench.photo, bench.stock[:2]))
        expect(rig.delivery(bundle).attempts == 1, f"{rig.delivery(bundle).attempts} attempts")


FAMILY = [
    ("nobody there: offline, nothing burned, run after run", nobody_there),
    ("a server that comes back is found", there_again),
    ("probes for a server send no request", probes_send_nothing),
    ("no server at a fetched URL: the waits grow", fetched_url),
    ("a wire that is cut and mended: the kernel reports it", mended),
    ("a wire that is cut while nothing waits", cut_while_idle),
    ("a wire that is cut during a body", cut_amid),
    ("a wire that flaps", flapping),
    ("a wire without a server behind it", link_without_server),
    ("nobody is there, and then somebody is", somebody_comes),
]
