"""What blocks a destination, what this costs a capture, and when a failed capture is tried again."""
import time

from Kit.outcomes import IS_LONG, every, expect
from Kit.sending import AT_ONCE
from Kit.servers.scripted import Reply, Scripted



def sent(server):
    """Returns the hashes in the order of the PUTs."""
    return [request.path.strip("/") for request in server.seen("PUT")]


def taking(request):
    return Reply(201 if request.method == "PUT" else 405)


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
        expect("web: the destination refused all" in result.text, f"the run does not say why it sends nothing: {result.text!r}")
        result = rig.run("status", "--check").must(15, about="status --check")
        says = b"12 captures cannot be sent, because web is blocked (refusing): "
        expect(result.out.startswith(says), f"status --check says {result.out!r}")
        rig.run("dest", "set", "web", "--url", server.url + "/{sha256}").must(0, about="dest set")
        rig.send("--until-empty", code=0)
        expect({(row.state, row.attempts) for row in rig.deliveries()} == {("completed", 1)}, f"{rig.states()}")
        rig.run("status", "--check").must(0, about="status --check when all landed")


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


TESTS = [
    ("with a mistake in a URL no capture fails for good", wrong_url),
    ("a refusal of one capture alone", refused_alone),
]
