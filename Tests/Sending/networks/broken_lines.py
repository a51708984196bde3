"""Connections that break, and answers that are too short, too long, too slow or incomplete."""
import os

from Kit.outcomes import IS_LONG, every, expect
from Kit.servers.capture_api import CaptureAPI
from Kit.servers.fault_proxy import Fault, FaultProxy
from Kit.servers.raw_server import CHUNK, Bare
from Sending.answers.tries import is_left, sent
from Sending.scenes import Many

CUTS = 99 if IS_LONG else 19
MANY = "0x100"  # a retry table of 100 attempts without waiting


def cut_at_many_places(bench):
    """If the connection is cut at a hundred places, with FIN or RST, the capture lands in the end and nothing leaks."""
    for is_reset in (False, True) if IS_LONG else (True,):
        rig, bundle = bench.rig(), bench.bundles(1)[0]
        with CaptureAPI(bench.public) as api, FaultProxy(api.port) as proxy:
            length = len(bench.body(bundle)) + 700  # about the length of the request with its head
            faults = [Fault(cut_after=1 + number * length // CUTS, reset=is_reset) for number in range(CUTS)]
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
            expect(len(proxy.connections) <= CUTS + 2, f"{len(proxy.connections)} connections for {CUTS} cuts")
            sent = sum(connection.up for connection in proxy.connections)
            expect(sent <= (CUTS + 3) * length, f"{sent} bytes on the wire for {CUTS} cuts at {length}")
            expect(max(descriptors) < 48, f"{max(descriptors)} files open during {CUTS} attempts")


def open_files(pid):
    try:
        return [len(os.listdir(f"/proc/{pid}/fd"))]
    except OSError:
        return []


HUNDRED = b"HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: 100000000\r\n\r\n" \
    + b'{"data":{"capture_id":"x","more":"'
LINES = {
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
    "100 MB": Fault(reply=HUNDRED + b"z" * 100_000_000),
    "slowly up": Fault(rate=20_000), "the reply slowly down": Fault(reply_rate=400),
}


def lines(bench):
    """Whatever the line does, the capture lands and is stored once, and an invalid or endless answer is no success."""
    def proxy_of(case, api):
        proxy = FaultProxy(api.port)
        proxy.plan(LINES[case])
        return proxy

    # The short form has every second line.
    bundle, cases = bench.stock[0], LINES if IS_LONG else dict(list(LINES.items())[::2])
    with Many(bench, cases, behind=proxy_of) as many:
        many.push(bundle)
        many.rig.send("--once", code=15, seconds=200)
        first = {case: many.row(case, bundle) for case in cases}
        many.rig.run("resume").must(0, about="resume")
        many.rig.send("--until-empty", code=0, seconds=200)

        def lands(case, fault):
            api, row = many.apis[case], many.row(case, bundle)
            if fault.reply not in ("pass", "twice") or fault.close:
                expect(first[case].state != "completed" or '"verify-file"' in first[case].receipt,
                       "completed by an invalid answer")
            elif fault.reply == "pass":
                expect(len(api.seen()) == 1, "a slow transfer is sent again")
            api.holds(bench.photo(bundle))
            expect((row.state, row.remote_id) == ("completed", api.stored[0].id), f"is {row.state}")
            down = many.between[case].connections[0].down
            expect(down < 60_000_000, f"{down} bytes of an answer were read")

        every(cases, lands)


def no_http(bench):
    """A server of another protocol burns no attempt, unlike a broken line."""
    def serve(client, _):
        client.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")
        while client.recv(CHUNK):
            pass

    with Bare(serve) as bare:
        rig = sent(bench, "put", bare.url + "/{sha256}", retry="0,600", code=15)
    row = is_left(rig, "pending", 0, "failing")
    expect("does not speak HTTP" in row.error_message, f"says {row.error_message!r}")


TESTS = [
    ("a server that speaks another protocol", no_http),
    ("uploads that are cut at many places", cut_at_many_places),
    ("closed, garbled, doubled, endless, slow lines", lines),
]
