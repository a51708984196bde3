"""Connections that break, and answers that are too short, too long or incomplete."""
import os

from capture_api import CaptureAPI
from checks import every, expect
from fault_proxy import NONE, Fault, FaultProxy

MANY = "0x100"  # a retry table of 100 attempts without waiting


def cut_at_many_places(bench):
    """If the connection is cut at a hundred places, with FIN or RST, the capture lands in the end and nothing leaks."""
    for is_reset in (False, True):
        rig, bundle = bench.rig(), bench.bundles(1)[0]
        with CaptureAPI(bench.public) as api, FaultProxy(api.port) as proxy:
            length = len(bench.body(bundle)) + 700  # about the length of the request with its head
            faults = [Fault(cut_after=1 + number * length // 99, reset=is_reset) for number in range(99)]
            proxy.plan(*faults)
            # Questions bypass the proxy, so that each connection of the proxy is an upload.
            rig.http(proxy.url, "--verify-url", f"{api.url}/api/v1/verify-file", retry=MANY)
            rig.push(bundle)
            descriptors = []
            with rig.start("run", "--until-empty") as running:
                while running.is_alive:
                    descriptors += open_files(running.pid)
                running.end().must(0, about="run")
            api.holds(bench.photo(bundle))
            row = rig.delivery(bundle)
            expect(row.state == "completed", f"is {row.state} after {row.attempts} attempts")
            expect(len(proxy.connections) <= 101, f"{len(proxy.connections)} connections for 100 attempts")
            sent = sum(connection.up for connection in proxy.connections)
            expect(sent <= 102 * length, f"{sent} bytes on the wire for 100 attempts at {length}")
            expect(max(descriptors) < 48, f"{max(descriptors)} files open during 100 attempts")


def open_files(pid):
    try:
        return [len(os.listdir(f"/proc/{pid}/fd"))]
    except OSError:
        return []


def replies_cut_at_many_places(bench):
    """If the reply is cut at each of its bytes, half a reply never completes the capture, and it is stored once."""
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api, FaultProxy(api.port) as proxy:
        proxy.plan(*[Fault(reply_cut=number, reset=bool(number % 2)) for number in range(1, 420, 9)])
        # Without questions each try is an upload, and only the key prevents a second copy.
        rig.http(proxy.url, "--verify-url", "none", retry=MANY)
        rig.push(bundle)
        rig.send("--until-empty", code=0)
        api.holds(bench.photo(bundle))
        api.content()
        row = rig.delivery(bundle)
        expect((row.state, row.remote_id) == ("completed", api.stored[0].id), f"is {row.state} with {row.remote_id}")


def lines(bench):
    """With closed, refused, garbled, doubled or other bytes the capture still lands and is stored once."""
    cases = {
        "closed at once": Fault(close=True), "reset at once": Fault(close=True, reset=True),
        "the reply comes twice": Fault(reply="twice"), "the reply is garbled": Fault(reply="garble"),
        "another protocol": Fault(reply=b"SSH-2.0-OpenSSH_9.2\r\n"), "an old protocol": Fault(reply=b"ok\n"),
        "a status alone": Fault(reply=b"HTTP/1.1 202 Accepted\r\n\r\n"),
        "a head without end": Fault(reply=b"HTTP/1.1 202 Accepted\r\n" + b"X-A: b\r\n" * 200_000),
        "a line without end": Fault(reply=b"HTTP/1.1 202 " + b"A" * 2_000_000),
        "interim answers without end": Fault(reply=b"HTTP/1.1 102 Processing\r\n\r\n" * 100_000),
        "a length that is no number": Fault(reply=b"HTTP/1.1 202 A\r\nContent-Length: many\r\n\r\n{}"),
        "two lengths": Fault(reply=b"HTTP/1.1 202 A\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\n{}"),
        "half a chunk": Fault(reply=b"HTTP/1.1 202 A\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n{}"),
        "an encoding that it did not ask for": Fault(reply=b"HTTP/1.1 202 A\r\nContent-Encoding: gzip\r\n\r\n{}"),
        "slowly up": Fault(rate=20_000), "the reply slowly down": Fault(reply_rate=400),
    }

    def lands(name, fault):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api, FaultProxy(api.port) as proxy:
            proxy.plan(fault)
            rig.http(proxy.url)
            rig.push(bundle)
            rig.send("--once", code=(0, 15), seconds=200)
            held_by_it = rig.delivery(bundle).state
            if fault.reply not in ("pass", "twice") or fault.close:
                expect(held_by_it != "completed" or rig.receipt(bundle)["confirmed_by"] == "verify-file",
                       "completed by an invalid answer")
            rig.run("resume", "--dest", "api").must(0)
            rig.send("--until-empty", code=0, seconds=200)
            api.holds(bench.photo(bundle))
            expect(rig.delivery(bundle).state == "completed", f"is {rig.delivery(bundle).state}")

    every(cases, lands)


def large_answers(bench):
    """An answer of 100 MB is not read to its end and is not a success, nor is one that is cut."""
    hundred = b"HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: 100000000\r\n\r\n" \
        + b'{"data":{"capture_id":"x","more":"' + b"z" * 100_000_000
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api, FaultProxy(api.port) as proxy:
        proxy.plan(Fault(reply=hundred))
        rig.http(proxy.url)
        rig.push(bundle)
        rig.send("--until-empty", code=0)
        api.holds(bench.photo(bundle))
        expect(proxy.connections[0].down < 60_000_000, f"{proxy.connections[0].down} bytes of an answer were read")
        expect(rig.delivery(bundle).remote_id == api.stored[0].id, "the id is out of the answer that was cut")


def fragments(bench):
    """An answer that arrives byte by byte, or whose body is late, is read completely."""
    for fault in (Fault(reply_rate=200), NONE):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api, FaultProxy(api.port) as proxy:
            proxy.plan(fault)
            rig.http(proxy.url)
            rig.push(bundle)
            rig.send(code=0)
            expect(rig.delivery(bundle).remote_id == api.stored[0].id, "another id")
            expect(len(api.seen()) == 1, "sent again")


FAMILY = [
    ("uploads that are cut at a hundred places", cut_at_many_places),
    ("replies that are cut at many places", replies_cut_at_many_places),
    ("closed, garbled, doubled, slow lines", lines),
    ("an answer of 100 MB", large_answers),
    ("answers in fragments", fragments),
]
