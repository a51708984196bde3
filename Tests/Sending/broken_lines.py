"""Faults 1, 20, 22 and 24: connections that break, and answers that are too early, too short, too long or not whole."""
import dataclasses
import os
import threading

from capture_api import Answer, CaptureAPI
from checks import every, expect
from fault_proxy import NONE, Fault, FaultProxy
from rigs import wait_until

MANY = "0x100"  # a retry table of 100 attempts without waiting


def killed_half_sent(bench):
    """Fault 1: killed while half of the body is sent; the next run takes it up at once, under the same key."""
    rig, bundle = bench.rig(), bench.big()
    with CaptureAPI(bench.public, buffer=65536) as api:
        gate = threading.Event()
        api.answer(Answer(gate=gate, reads=200_000))
        rig.http(api.url)
        rig.push(bundle)
        with rig.start("run") as running:
            wait_until(lambda: api.requests and api.requests[0].length == 200_000, "the first part arrives")
            running.kill()
        gate.set()
        rig.send("--until-empty", code=0)
        api.holds(bench.photo(bundle))
        row = rig.delivery(bundle)
        expect(row.state == "completed" and row.attempts == 1, f"is {row.state} after {row.attempts} attempts")
        expect(len({request.key for request in api.seen()}) == 1, "another key after the kill")
        expect(len(rig.tries(bundle)) >= 1, "no attempt is recorded")


def cut_at_many_places(bench):
    """Fault 24: cut after N bytes, a hundred times, by FIN and by RST: it lands in the end, and nothing leaks."""
    for is_reset in (False, True):
        rig, bundle = bench.rig(), bench.bundles(1)[0]
        with CaptureAPI(bench.public) as api, FaultProxy(api.port) as proxy:
            length = len(bench.body(bundle)) + 700  # with the head, roughly
            faults = [Fault(cut_after=1 + number * length // 99, reset=is_reset) for number in range(99)]
            proxy.plan(*faults)
            # Questions go past the proxy, so that each of its connections is an upload.
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
    """The reply is cut after each so many bytes: never completed by half a reply, and stored once."""
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api, FaultProxy(api.port) as proxy:
        proxy.plan(*[Fault(reply_cut=number, reset=bool(number % 2)) for number in range(1, 420, 9)])
        # Without questions each try is an upload, and the key alone keeps the server from storing it again.
        rig.http(proxy.url, "--verify-url", "none", retry=MANY)
        rig.push(bundle)
        rig.send("--until-empty", code=0)
        api.holds(bench.photo(bundle))
        api.content()
        row = rig.delivery(bundle)
        expect((row.state, row.remote_id) == ("completed", api.stored[0].id), f"is {row.state} with {row.remote_id}")


def lines(bench):
    """What else a line does: closed, refused, garbled, doubled, other bytes. It lands, and is stored once."""
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
                       "completed by what was no answer")
            rig.run("resume", "--dest", "api").must(0)
            rig.send("--until-empty", code=0, seconds=200)
            api.holds(bench.photo(bundle))
            expect(rig.delivery(bundle).state == "completed", f"is {rig.delivery(bundle).state}")

    every(cases, lands)


def early_answers(bench):
    """Fault 20: an answer that comes before the body is sent counts, and not the connection that then breaks."""
    cases = {
        "413": (Answer(413, "PAYLOAD_TOO_LARGE"), "permanently_failed", 1),
        "401": (Answer(401, "DEVICE_AUTH_REQUIRED"), "pending", 0),
        "400": (Answer(400, "VALIDATION_ERROR"), "permanently_failed", 1),
        "429": (Answer(429, headers={"Retry-After": "1000"}), "pending", 0),
        "503": (Answer(503), "failed", 1), "a redirect": (Answer(301, headers={"Location": "/x"}), "pending", 0),
    }
    for reads in (0, 1_000_000):
        for then in ("close", "reset"):
            def judged(name, case):
                answer, state, attempts = case
                rig, bundle = bench.rig(), bench.big()
                with CaptureAPI(bench.public, buffer=65536) as api:
                    api.answer(dataclasses.replace(answer, when="early", reads=reads, then=then))
                    rig.http(api.url)
                    rig.push(bundle)
                    rig.send("--once")
                    row = rig.delivery(bundle)
                    about = f"after {reads} bytes, then {then}"
                    expect((row.state, row.attempts) == (state, attempts), f"{about}: is {row.state} after "
                           f"{row.attempts} attempts: {row.error_code} {row.error_message}")
                    expect(len(api.seen()) == 1 and not row.in_doubt, f"{about}: sent again, or in doubt")

            every(cases, judged)


def large_answers(bench):
    """Fault 22: an answer of 100 MB is not read to its end, and is no success; nor is one that is cut."""
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
    """An answer that comes byte by byte, or with its body long after its head, is read as a whole."""
    for fault in (Fault(reply_rate=200), NONE):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api, FaultProxy(api.port) as proxy:
            proxy.plan(fault)
            rig.http(proxy.url)
            rig.push(bundle)
            rig.send(code=0)
            expect(rig.delivery(bundle).remote_id == api.stored[0].id, "another id")
            expect(len(api.seen()) == 1, "sent again")


def nobody_there(bench):
    """A port that refuses is no network: nothing is burned, and a run that waits delivers once somebody is there."""
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
            expect(running.saw("ready", destination="api"), "no event says that it goes on")
            running.stop()
        api.holds(*map(bench.photo, bench.stock[:2]))
        expect(rig.delivery(bundle).attempts == 1, f"{rig.delivery(bundle).attempts} attempts")


FAMILY = [
    ("killed while half is sent", killed_half_sent),
    ("uploads that are cut at a hundred places", cut_at_many_places),
    ("replies that are cut at many places", replies_cut_at_many_places),
    ("closed, garbled, doubled, slow lines", lines),
    ("early answers count, whatever the connection does then", early_answers),
    ("an answer of 100 MB", large_answers),
    ("answers in fragments", fragments),
    ("nobody is there, and then somebody is", nobody_there),
]
