"""put: each status has the class of Spec/upload.md, early answers count, and a block costs no attempts."""
import base64
import hashlib

from checks import every, expect
from fault_proxy import Fault, FaultProxy
from nginx import fresh
from rigs import AT_ONCE
from scripted import Reply, Scripted
from sockets import SocketServer

SECONDS = 20
# The statuses of section 4.1 for a put with a plain URL, as nginx answers after it has read the body.
FINAL = (400, 413, 422, 501, 505)
TRIED_AGAIN = (408, 429, 500, 503)
HELD = {401: "credentials", 403: "credentials", 407: "credentials", 404: "endpoint", 405: "endpoint",
        410: "endpoint", 507: "full", 509: "full"}


def filled(bench, url, *options, bundles=None):
    rig = bench.rig()
    rig.dest("web", "put", "--url", url, *options)
    rig.push(*(bundles or bench.stock[:1]))
    return rig


def final(bench):
    """There is no second try; reason and bytes are kept; `retry` sends the capture once the server accepts it."""
    bundle = bench.stock[0]

    def judge(name, status):
        with fresh(bench) as server:
            rig = filled(bench, server.template(), "--retry", AT_ONCE)
            server.says(status)
            rig.send("--until-empty", code=14)
            row = rig.delivery(bundle)
            expect((row.state, row.attempts) == ("permanently_failed", 1), f"{row.state} after {row.attempts}")
            expect(str(status) in f"{row.error_code} {row.error_message}", f"the reason is {row.error_message!r}")
            expect(rig.spool_file(bundle).exists(), "the bytes are gone")
            server.says()
            rig.run("retry", bundle.id).must(0, about="retry")
            rig.send(code=0)
            server.keeps(bundle)

    every({str(status): status for status in FINAL}, judge)


def tried_again(bench):
    """Each try uses an attempt until the table ends; a later try may succeed."""
    def judge(name, status):
        with fresh(bench) as server:
            rig = filled(bench, server.template(), "--retry", "0,0,0")
            server.says(status)
            rig.send("--until-empty", code=14)
            row = rig.delivery(bench.stock[0])
            expect((row.state, row.attempts) == ("permanently_failed", 3), f"{row.state} after {row.attempts}")
            expect(len(server.logged(3, method="PUT")) == 3, f"{len(server.log(method='PUT'))} requests")

    every({str(status): status for status in TRIED_AGAIN}, judge)


def held(bench):
    """The destination waits, no attempt is used and nothing more is sent; the next run delivers all captures."""
    bundles = bench.stock[:3]

    def judge(name, status):
        with fresh(bench) as server:
            rig = filled(bench, server.template(), "--retry", AT_ONCE, bundles=bundles)
            server.says(status)
            rig.send(code=15)
            place = rig.destination("web")
            expect(place.blocked_reason == HELD[status],
                   f"blocked as {place.blocked_reason}, {place.blocked_message!r}")
            expect(place.blocked_until and str(status) in place.blocked_message, f"held: {place.blocked_message!r}")
            expect(len(server.logged(1, method="PUT")) == 1, f"{len(server.log(method='PUT'))} requests")
            for bundle in bundles:
                row = rig.delivery(bundle)
                expect((row.state, row.attempts) == ("pending", 0), f"{row.state} after {row.attempts}")
            said = rig.status()["destinations"]
            expect(HELD[status] in str(said), f"status says {said}")
            server.says()
            rig.run("resume", "--dest", "web").must(0, about="resume")
            rig.send("--until-empty", code=0)
            server.keeps(*bundles)
            expect({row.attempts for row in rig.deliveries()} == {1}, "attempts were used")
            expect(rig.destination("web").blocked_reason is None, "it is held although it works")

    every({str(status): status for status in HELD}, judge)


def held_until_empty(bench):
    """A run with --until-empty does not wait for something that a user must correct; the next run tries at once."""
    with fresh(bench) as server:
        rig = filled(bench, server.template(), bundles=bench.stock[:2])
        server.says(403)
        result = rig.send("--until-empty", code=15)
        expect("403" in result.text or "credentials" in result.text, f"no message about it: {result.text[:300]!r}")
        server.says()
        rig.send("--until-empty", code=0)
        server.keeps(*bench.stock[:2])


def edges(bench):
    """A 403 with an HTML page comes from a proxy or firewall before the server, so the capture is tried again."""
    with fresh(bench) as server:
        rig = filled(bench, server.template("edge"), "--retry", "0,0,0")
        rig.send("--until-empty", code=14)
        row = rig.delivery(bench.stock[0])
        expect((row.state, row.attempts) == ("permanently_failed", 3), f"{row.state} after {row.attempts}")
        expect(rig.destination("web").blocked_reason is None, "an edge holds the destination")


def too_big(bench):
    """A 413 before the body was sent counts once, and later captures are sent."""
    big, other = bench.big(), bench.stock[0]
    with fresh(bench) as server:
        rig = filled(bench, server.template("small"), bundles=[big, other])
        rig.send("--until-empty", code=14)
        row = rig.delivery(big)
        expect((row.state, row.attempts) == ("permanently_failed", 1), f"{row.state} after {row.attempts}")
        expect("413" in f"{row.error_code} {row.error_message}", f"the reason is {row.error_message!r}")
        server.keeps(other, place="small")


class Hasty(SocketServer):
    """Reads `reads` bytes of a request, answers, and closes without reading the rest: the kernel then sends a reset."""

    def __init__(self, status, reads):
        super().__init__()
        self.answer, self.reads = b"HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n" % status, reads

    def serve(self, client, number):
        if b"Expect: 100-continue" in client.recv(65536):
            client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        read = 0
        while read < self.reads and (data := client.recv(65536)):
            read += len(data)
        client.sendall(self.answer)


def reset_after_the_answer(bench):
    """If an answer during the body is followed by a reset, the answer counts, not the broken connection."""
    cases = {"413": (413, "permanently_failed", None), "401": (401, "pending", "credentials")}

    def judge(name, case):
        status, state, code = case
        with Hasty(status, 100_000) as server:
            rig = filled(bench, server.url + "/{sha256}", bundles=[bench.big()])
            rig.send(code=(14, 15))
            row = rig.delivery(bench.big())
            expect((row.state, rig.destination("web").blocked_reason) == (state, code), f"{row.state}, the destination "
                   f"{rig.destination('web').blocked_reason}: {row.error_code} {row.error_message}")
            expect(str(status) in f"{row.error_message} {rig.destination('web').blocked_message}", f"{row.error_message}")

    every(cases, judge)


def retry_after(bench):
    """429 with Retry-After blocks the whole destination for that time; nothing is sent meanwhile."""
    bundles = bench.stock[:3]
    with fresh(bench) as server:
        rig = filled(bench, server.template("limited"), bundles=bundles)
        rig.send("--until-empty", code=0)
        server.keeps(*bundles, place="limited")
        seen = sorted(server.logged(7), key=lambda one: float(one["at"]))
        refused = [one for one in seen if one["status"] == "429"]
        expect(len(refused) >= 2, f"{len(refused)} of {len(seen)} requests were refused: the test shows nothing")
        for one, after in zip(seen, seen[1:]):
            pause = float(after["at"]) - float(one["at"])
            expect(one["status"] != "429" or pause > 0.9, f"{pause:.3f} s after a 429 the next request")
    # A wait uses an attempt only if another capture landed since the last try, so the first wait uses none.
    more = sum(row.attempts - 1 for row in rig.deliveries())
    expect(more < len(refused), f"{more} attempts are used by {len(refused)} refusals")


def there_already(bench):
    """409 and 412: completed if a digest agrees, a conflict if it does not; never landed without a digest."""
    bundle = bench.stock[0]

    def told(data):
        return {"x-amz-checksum-sha256": base64.b64encode(hashlib.sha256(data).digest()).decode(),
                "Content-Length": str(len(data))}

    cases = {f"{status}, {name}": (status, headers, states) for status in (409, 412) for name, headers, states in (
        ("the same", told(bundle.data), {"completed"}),
        ("other bytes", told(b"x" + bundle.data[1:]), {"conflict"}),
        ("only a length", {"Content-Length": str(len(bundle.data))}, {"conflict", "permanently_failed"}))}

    def judge(name, case):
        status, headers, states = case
        with Scripted(lambda request: Reply(200, headers) if request.method == "HEAD" else Reply(status)) as server:
            rig = filled(bench, server.url + "/{sha256}", "--retry", "0,0")
            rig.send("--until-empty", code=0 if "completed" in states else 14)
            expect(rig.states() <= states, f"it is {rig.states()}, not {states}")
            expect(server.seen("HEAD"), "no HEAD was sent")

    every(cases, judge)


def slow_body(bench):
    """If a line stalls during the body until the server gives up, this counts as a failed try; the next one lands."""
    big = bench.big()
    with fresh(bench) as server, FaultProxy(server.ports["plain"]) as proxy:
        proxy.plan(Fault(stall_after=1_000_000))
        rig = filled(bench, f"{proxy.url}/slow/{{sha256}}.bundle", "--retry", AT_ONCE, "--stall-timeout", "4s",
                     bundles=[big])
        rig.send("--until-empty", code=0)
        row = rig.delivery(big)
        expect((row.state, row.attempts) == ("completed", 2), f"{row.state} after {row.attempts}")
        server.keeps(big, place="slow")


FAMILY = [
    ("statuses that are final: one try, and the reason is kept", final),
    ("statuses that are tried again until the table ends", tried_again),
    ("statuses that block the destination: no attempt is used, nothing is sent", held),
    ("--until-empty does not wait for refused credentials", held_until_empty),
    ("a 403 of an edge is tried again", edges),
    ("413 before the body was sent is final", too_big),
    ("an answer amid the body with a reset after it counts", reset_after_the_answer),
    ("429 with Retry-After blocks the destination", retry_after),
    ("409 and 412: the server is asked what it has", there_already),
    ("a body that stalls until the server gives up", slow_body),
]
