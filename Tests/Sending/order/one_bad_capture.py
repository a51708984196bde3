"""One capture is always refused: the others land, and runs end."""
import hashlib

from capture_api import Answer, CaptureAPI
from captures import arrivals, refuse
from checks import every, expect
from rigs import AT_ONCE
from scripted import Reply, Scripted, Shelf


def poison(bench):
    """All captures but the failing one land, nothing is blocked, and that one is given up after its own attempts."""
    rig, bundles = bench.rig(), bench.stock[:20]
    with CaptureAPI(bench.public) as api:
        rig.http(api.url)
        rig.push(*bundles)
        refuse(bench, api, bundles[0])
        result = rig.send("--until-empty", "--json", code=14)
        api.holds(*map(bench.photo, bundles[1:]))
        row = rig.delivery(bundles[0])
        expect((row.state, row.attempts) == ("permanently_failed", 10), f"is {row.state} after {row.attempts}")
        expect(b'"failing"' not in result.out, "one bad capture blocked the destination")


def lands_the_others(rig, bundles, is_resumed):
    """Checks that three runs deliver all bundles but the first, which stays; returns the first reason of the block."""
    for number in range(3):
        if number and is_resumed:
            rig.run("resume", "--dest", "web").must(0, about="resume")
        rig.send("--until-empty", code=(14, 15))
        held = held if number else rig.destination("web").blocked_reason
    states = [rig.delivery(bundle).state for bundle in bundles]
    expect(states[1:] == ["completed"] * (len(bundles) - 1), f"after three runs they are {states}")
    expect(states[0] in ("pending", "failed") and rig.spool_file(bundles[0]).exists(), f"the first is {states[0]}")
    return held


def refused_alone(bench):
    """404 or 403 to one capture blocks the destination, since the cause is unknown; each run begins with another."""
    bundles = bench.stock[:3]

    def judge(name, case):
        status, is_resumed, code = case

        def reply(request):
            if bundles[0].sha256 in request.path:
                return Reply(status)
            return Reply(201 if request.method == "PUT" else 405)

        with Scripted(reply) as server:
            rig = bench.rig()
            rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", AT_ONCE)
            rig.push(*bundles)
            held = lands_the_others(rig, bundles, is_resumed)
            expect(held == code, f"blocked as {held}")
            puts = [request.path.strip("/") for request in server.seen("PUT")]
            expect(puts.count(bundles[0].sha256) <= 3, f"the first is sent {puts.count(bundles[0].sha256)} times")

    every({f"{status}, {name}": (status, is_resumed, code) for status, code in ((404, "endpoint"), (403, "credentials"))
           for name, is_resumed in (("resumed", True), ("run again", False))}, judge)


def no_url_for_one(bench):
    """A command that has no URL for one capture does not stop the others."""
    bundles = bench.stock[:3]

    def judge(name, is_resumed):
        with Scripted(lambda request: Reply(201 if request.method == "PUT" else 405)) as server:
            rig = bench.rig()
            command = f'test "$CAPQUEUE_ID" != {bundles[0].id} && echo {server.url}/$CAPQUEUE_SHA256'
            rig.dest("web", "put", "--url-command", command, "--retry", AT_ONCE)
            rig.push(*bundles)
            lands_the_others(rig, bundles, is_resumed)
            paths = sorted(request.path.strip("/") for request in server.seen("PUT"))
            expect(paths == sorted(bundle.sha256 for bundle in bundles[1:]), f"put were {paths}")

    every({"resumed": True, "run again": False}, judge)


def urgent_poison(bench):
    """A capture of high priority that is refused with 403 delays the others only until the next runs."""
    first, *others = bundles = bench.stock[:3]

    def pushed(rig):
        rig.push(first, options=("--priority", "5"))
        rig.push(*others)
        lands_the_others(rig, bundles, False)

    def put():
        shelf = Shelf()
        with Scripted(lambda request: Reply(403) if first.sha256 in request.path else shelf(request)) as server:
            rig = bench.rig()
            rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", AT_ONCE)
            pushed(rig)

    def http():
        with CaptureAPI(bench.public) as api:
            api.poison[hashlib.sha256(bench.body(first)).hexdigest()] = Answer(403, "FORBIDDEN")
            rig = bench.rig()
            rig.http(api.url, name="web")
            pushed(rig)
            api.holds(*map(bench.photo, others))

    every({"put": put, "http": http}, lambda _, send: send())


def retry_goes_to_the_back(bench):
    """A retry comes after captures that were due before it."""
    rig, bundles = bench.rig(), bench.stock[:6]
    with CaptureAPI(bench.public) as api:
        refuse(bench, api, bundles[0])
        refuse(bench, api, bundles[1])
        rig.http(api.url, "--verify-url", "none", retry="0,0,0")
        rig.push(*bundles)
        rig.send("--until-empty", code=14)
        order = arrivals(bench, api, bundles)
        expect(order == [0, 1, 2, 3, 4, 5, 0, 1, 0, 1], f"they came as {order}")


FAMILY = [
    ("a capture that always fails keeps nobody back and does not block the destination", poison),
    ("a status for one capture alone", refused_alone),
    ("--url-command that fails for one capture alone", no_url_for_one),
    ("403 for one capture of high priority", urgent_poison),
    ("a retry goes behind what was due before it", retry_goes_to_the_back),
]
