"""What blocks a destination, what this costs a capture, and when a failed capture is tried again."""
import time

from Kit.outcomes import IS_LONG, every, expect, long
from Kit.sending import AT_ONCE, wait_until
from Kit.servers.capture_api import Answer, CaptureAPI
from Kit.servers.scripted import Reply, Scripted
from Sending.scenes import sending

TABLE = (0, 1, 2, 4, 8, 300, 300, 300, 300, 300)  # Spec/queue.md section 6


def put_to(bench, server, *bundles):
    rig = bench.rig()
    rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", AT_ONCE)
    if bundles:
        rig.push(*bundles)
    return rig


def sent(server):
    """Returns the hashes in the order of the PUTs."""
    return [request.path.strip("/") for request in server.seen("PUT")]


def taking(request):
    return Reply(201 if request.method == "PUT" else 405)


def over(rig):
    """Ends the block of the destination, so that no test waits five minutes."""
    with rig.database() as database:
        database.execute("UPDATE destinations SET blocked_until = 1 WHERE blocked_until IS NOT NULL")


def between_tries(rig, bundle):
    """Returns the delivery once no try is under way; a running try counts until its result is known."""
    return wait_until(lambda: (row := rig.delivery(bundle)).state != "uploading" and row, "the try to end")


def burned(rig):
    return sum(row.attempts for row in rig.deliveries())


@long
def always_told_to_wait(bench):
    """If the most urgent capture is always told to wait, the others land first, and then it uses its attempts."""
    bad, *others = bench.stock[:5]

    def reply(request):
        return Reply(429, {"Retry-After": "1"}) if bad.sha256 in request.path and request.method == "PUT" \
            else taking(request)

    with Scripted(reply) as server:
        rig = put_to(bench, server)
        rig.push(bad, options=("--priority", "10"))
        rig.push(*others)
        with rig.start("run", "--watch") as running:
            wait_until(lambda: all(rig.delivery(one).state == "completed" for one in others), "the others to land")
            order = sent(server)
            expect(order[0] == bad.sha256, "the most urgent is not the first")
            expect(order[1:5] == [one.sha256 for one in others], f"it comes before others: {order}")
            wait_until(lambda: sent(server).count(bad.sha256) >= 3, "it to be tried again")
            # No other capture landed since its last try but one.
            before = between_tries(rig, bad).attempts
            expect(before <= 1, f"{before} attempts are used")
            rig.push(bench.stock[5])
            wait_until(lambda: between_tries(rig, bad).attempts > before, "an attempt to be used after a landing")
            running.stop()


def wrong_url(bench):
    """With a mistake in the URL nothing fails for good and the run ends; all captures land once the URL is right."""
    bundles = bench.stock[:12]
    with Scripted(lambda request: Reply(400) if "/wrong/" in request.path else taking(request)) as server:
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.url + "/wrong/{sha256}", "--concurrency", "4")
        rig.push(*bundles)
        start = time.monotonic()
        result = rig.send("--until-empty", code=15)
        expect(time.monotonic() - start < 60, "the run waits for what only the user can put right")
        expect({(row.state, row.attempts) for row in rig.deliveries()} == {("pending", 0)}, f"{rig.states()}")
        expect(len(sent(server)) < 10, f"{len(sent(server))} transfers to a server that refuses all")
        place = rig.destination("web")
        expect(place.blocked_reason == "refusing" and "400" in place.blocked_message, f"{place.blocked_message!r}")
        expect("refuses" in result.text, f"there is no message about it: {result.text[-300:]!r}")
        result = rig.run("status", "--check").must(15, about="status --check")
        says = b"12 captures cannot be sent, because web is blocked (refusing): "
        expect(result.out.startswith(says), f"status --check says {result.out!r}")
        rig.run("dest", "set", "web", "--url", server.url + "/{sha256}").must(0, about="dest set")
        rig.send("--until-empty", code=0)
        expect({(row.state, row.attempts) for row in rig.deliveries()} == {("completed", 1)}, f"{rig.states()}")
        rig.run("status", "--check").must(0, about="status --check when all landed")


@long
def refused_run_by_run(bench):
    """Five refusals over five short runs block too; then every five minutes another is tried, until one lands."""
    bundles, answer = bench.stock[:8], [400]
    with Scripted(lambda request: Reply(answer[0]) if request.method == "PUT" else Reply(405)) as server:
        rig = put_to(bench, server)
        for bundle in bundles[:4]:
            rig.push(bundle)
            rig.send("--once", code=14)
        rig.push(*bundles[4:])
        rig.send("--once", code=15)
        expect(len(sent(server)) == 5 and rig.states() == {"pending"}, f"{len(sent(server))} transfers, {rig.states()}")
        rig.send("--once", code=15)
        expect(len(sent(server)) == 5, "a run does not know the result of the one before")
        for number, status in enumerate((400, 503, 413), 5):
            answer[0] = status
            over(rig)
            rig.send("--once", code=15)
            expect(sent(server)[5:] == [one.sha256 for one in bundles[5:number + 1]], f"tried were {sent(server)[5:]}")
            expect(rig.states() == {"pending"} and burned(rig) == 0, f"{rig.states()}, {burned(rig)} attempts")
            left = rig.destination("web").blocked_until / 1000 - time.time()
            expect(240 < left <= 300, f"the next try is in {left:.0f} s")
        answer[0] = 201
        over(rig)
        rig.send("--until-empty", code=0)
        expect(rig.destination("web").blocked_reason is None, "a success does not lift the block")


def outage(bench):
    """If all captures fail, five attempts are used; then answers of gateways use none, errors of the API itself do.

    The trials rotate, and no other destination is blocked.
    """
    bundles, trials = bench.stock[:8], 6 if IS_LONG else 2

    def judge(name, case):
        answer, most = case
        with CaptureAPI(bench.public) as api, CaptureAPI(bench.public) as good:
            api.always(answer)
            rig = bench.rig()
            rig.http(api.url, "--verify-url", "none")
            rig.http(good.url, name="good")
            rig.push(*bundles, options=("--dest", "api", "--dest", "good"))
            rig.send("--once", code=15)
            good.holds(*map(bench.photo, bundles))
            rows = [rig.delivery(bundle, "api") for bundle in bundles]
            expect(sorted(row.attempts for row in rows) == [0, 0, 0, 1, 1, 1, 1, 1], "other attempts before the block")
            shown = {line["name"]: line.get("blocked") for line in rig.status()["destinations"]}["api"]
            expect(shown and shown["reason"] == "failing" and shown["until"], f"status shows {shown}")
            for _ in range(trials):
                over(rig)
                rig.send("--once", code=15)
            attempts = sum(rig.delivery(bundle, "api").attempts for bundle in bundles)
            expect(attempts == most, f"{attempts} attempts are used, and {most} are right")
            digests = [request.digest for request in api.seen()]
            rotates = len(set(digests[:8])) == min(8, 5 + trials)
            expect(rotates and len(digests) == 5 + trials, "the trials do not rotate")

    every({"a gateway": (Answer(502, body="<html>", type="text/html"), 5), "the API": (Answer(503), 5 + trials)}, judge)


# What the first capture gets, how it is pushed, whether the user resumes, and why the destination is blocked.
CASES = {
    "404, resumed": (404, (), True, "endpoint"),
    "403, of high priority": (403, ("--priority", "5"), False, "credentials"),
    "no URL, run again": (None, (), False, None), "507, resumed": (507, (), True, "full"),
    "404, run again": (404, (), False, "endpoint"), "403, resumed": (403, (), True, "credentials"),
    "no URL, resumed": (None, (), True, None),
}


def refused_alone(bench):
    """A refusal of one capture blocks the destination, since the cause is unknown; each run begins with another."""
    first, *others = bench.stock[:3]

    def judge(name, case):
        status, options, is_resumed, reason = case

        def reply(request):
            if first.sha256 in request.path:
                return Reply(status)
            return Reply(201 if request.method == "PUT" else 405)

        with Scripted(reply) as server:
            rig = bench.rig()
            command = f'test "$CAPQUEUE_ID" != {first.id} && echo {server.url}/$CAPQUEUE_SHA256'
            url = ("--url", server.url + "/{sha256}") if status else ("--url-command", command)
            rig.dest("web", "put", *url, "--retry", AT_ONCE)
            rig.push(first, options=options)
            rig.push(*others)
            word = "--once" if status == 507 else "--until-empty"  # a full server is tried again after a while
            rig.send(word, code=15)
            held = rig.destination("web").blocked_reason
            expect(reason in (held, None), f"blocked as {held}")
            for _ in range(2):
                if is_resumed:
                    rig.run("resume", "--dest", "web").must(0, about="resume")
                rig.send(word, code=(14, 15))
            expect([rig.delivery(one).state for one in others] == ["completed"] * 2, "after three runs they wait")
            state, puts = rig.delivery(first).state, [request.path.strip("/") for request in server.seen("PUT")]
            expect(state in ("pending", "failed"), f"the first is {state}")
            expect(rig.spool_file(first).read_bytes() == first.data, "its bytes are gone")
            expect(puts.count(first.sha256) <= 3, f"it is sent {puts.count(first.sha256)} times")
            expect(status or set(puts) == {one.sha256 for one in others}, f"put were {puts}")

    every(CASES if IS_LONG else dict(list(CASES.items())[:3]), judge)


def the_table_itself(bench):
    """The waits follow the table, which does not double for ever: 300 s from the sixth attempt, ten attempts in all."""
    bundle = bench.stock[0]
    with sending(bench, [bundle], "--verify-url", "none", retry=None) as (rig, api):
        api.always(Answer(503))
        for number, delay in enumerate((*TABLE[1:], None), 1):
            rig.send("--once", code=14 if delay is None else 15)
            row, last = rig.delivery(bundle), rig.tries(bundle)[-1]
            expect(row.attempts == number, f"{row.attempts} attempts after {number} runs")
            if delay is None:
                expect(row.state == "permanently_failed", f"is {row.state} after ten attempts")
                continue
            # One is by the boot clock and the other by the wall clock, each cut to milliseconds.
            waits = (row.due - last.ended_at + 2) / 1000
            expect(row.state == "failed" and delay <= waits <= delay + 5, f"attempt {number + 1} waits {waits} s")
            overdue(rig, bundle)
        rig.send("--once", code=14)
        expect(len(api.seen()) == 10, f"{len(api.seen())} uploads")


def overdue(rig, bundle):
    """Makes all later retries due now, so that no test waits 300 s."""
    with rig.database() as database:
        database.execute("UPDATE deliveries SET due = ? WHERE id = ?", (int(time.time() * 1000),
                                                                       rig.delivery(bundle).id))


TESTS = [
    ("a capture that is always told to wait does not delay the others", always_told_to_wait),
    ("with a mistake in a URL no capture fails for good", wrong_url),
    ("a destination that refuses everything is blocked, run by run", refused_run_by_run),
    ("an outage: five attempts, and then only for errors of the API itself", outage),
    ("a refusal of one capture alone", refused_alone),
    ("the table of waiting times, and not a formula", the_table_itself),
]
