"""What blocks a destination, what this costs a capture, and when a failed capture is tried again."""
import json
import threading
import time

from Kit.outcomes import IS_LONG, every, expect
from Kit.sending import AT_ONCE
from Kit.servers.scripted import Reply, Scripted
from Sending.answers.tries import some


def sent(server):
    """Returns the hashes in the order of the PUTs."""
    return [request.path.strip("/") for request in server.seen("PUT")]


def taking(request):
    return Reply(201 if request.method == "PUT" else 405)


def wrong_url(bench):
    """With a mistake in the URL nothing fails for good and the run ends; all captures land once the URL is right."""
    bundles = bench.stock[:12]
    with Scripted(lambda request: Reply(415) if "/wrong/" in request.path else taking(request)) as server:
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.url + "/wrong/{sha256}", "--concurrency", "4")
        rig.push(*bundles)
        start = time.monotonic()
        result = rig.send("--until-empty", code=15)
        expect(time.monotonic() - start < 60, "the run waits for what only the user can put right")
        expect({(row.state, row.attempts) for row in rig.deliveries()} == {("pending", 0)}, f"{rig.states()}")
        expect(len(sent(server)) < 10, f"{len(sent(server))} transfers to a server that refuses all")
        place = rig.destination("web")
        expect(place.blocked_reason == "refusing" and "415" in place.blocked_message, f"{place.blocked_message!r}")
        expect("web: the destination refused all" in result.text, f"the run does not say why it sends nothing: {result.text!r}")
        result = rig.run("status", "--check").must(15, about="status --check")
        says = b"12 captures cannot be sent, because web is blocked (refusing): "
        expect(result.out.startswith(says), f"status --check says {result.out!r}")
        rig.run("dest", "set", "web", "--url", server.url + "/{sha256}").must(0, about="dest set")
        rig.send("--until-empty", code=0)
        expect({(row.state, row.attempts) for row in rig.deliveries()} == {("completed", 1)}, f"{rig.states()}")
        rig.run("status", "--check").must(0, about="status --check when all landed")


def a_block_of_before(bench):
    """A run that obeys what a server asked of an earlier one says so, although nothing happens."""
    bundle = bench.stock[0]
    with Scripted(lambda _: Reply(503, {"Retry-After": "600"})) as server:
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.url + "/{sha256}")
        rig.push(bundle)
        first = rig.send("--until-empty", "--max-duration", "5s", code=15)
        expect("web is blocked (wait) until " not in first.text, f"the first run says it twice: {first.text!r}")
        again = rig.send("--once", code=15)
        expect(again.text.count("web is blocked (wait) until ") == 1, f"a later run says {again.text!r}")
        expect(len(server.seen("PUT")) <= 1, "the later run asked again")


class Choosy:
    """Refuses these bundles with a status, and takes all others as `taking` does."""

    def __init__(self, status, bad):
        self.status, self.bad = status, {bundle.sha256 for bundle in bad}

    def __call__(self, request):
        return Reply(self.status) if request.path.strip("/") in self.bad else taking(request)


class Orderly(Choosy):
    """Answers the PUTs one by one, in the order of the push, and each only when all lanes wait for an answer: so the
    client has come back from every earlier answer. Once the last bad one and five behind it are answered, it answers
    as they come."""

    def __init__(self, status, bad, bundles, lanes):
        super().__init__(status, bad)
        self.order = [bundle.sha256 for bundle in bundles]
        self.lanes, self.waiting, self.answered = lanes, set(), 0
        self.last = max(map(bundles.index, bad)) + 6
        self.change = threading.Condition()

    def is_next(self, number):
        return self.answered >= self.last or number == self.answered and len(self.waiting) == self.lanes

    def __call__(self, request):
        if request.method != "PUT":
            return super().__call__(request)
        number = self.order.index(request.path.strip("/"))
        with self.change:
            self.waiting.add(number)
            self.change.notify_all()
            if not self.change.wait_for(lambda: self.is_next(number), 60):
                self.answered = len(self.order)
            self.waiting.discard(number)
            self.answered = max(self.answered, number + 1)
            self.change.notify_all()
        return super().__call__(request)


def choosy(bench, status, bad, good, *options, push=(), retry="0,0,0", lanes=1):
    """Sends bundles to such a server in one run; returns the rig, the hashes of the PUTs, and what the run printed."""
    bundles = sorted({*bad, *good}, key=bench.stock.index)
    reply = Choosy(status, bad) if lanes == 1 else Orderly(status, bad, bundles, lanes)
    with Scripted(reply) as server:
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", retry, "--concurrency", str(lanes), *options)
        for group, words in (*push, (bundles, ())):
            rig.push(*group, options=words)
        result = rig.send("--until-empty", "--json")
        return rig, sent(server), result


def own(rig, puts, result, bad, good, about):
    """Checks that the refusals were taken for the captures' own: they failed by the table, and nothing was blocked."""
    result.must(14, about=about)
    expect(b'"event":"blocked"' not in result.out, f"{about}: the destination is blocked")
    expect({rig.delivery(one).state for one in good} == {"completed"}, f"{about}: not all others landed")
    for bundle in bad:
        row = rig.delivery(bundle)
        expect((row.state, row.attempts) == ("permanently_failed", 3), f"{about}: {row.state} after {row.attempts}")
        expect(puts.count(bundle.sha256) <= 5, f"{about}: one is sent {puts.count(bundle.sha256)} times")
    said = rig.run("status", "--check").must(14, about=f"{about}: status --check").out.decode()
    expect(f"{len(bad)} captures" in said or len(bad) == 1 and "1 capture" in said, f"{about}: status says {said!r}")


def bad_ones(bench):
    """The others land at once, the bad ones fail by their table of tries, and the destination is never blocked."""
    cases = {"404, 1 of 12": (404, 1, 12, 1), "403, 2 of 16, four at once": (403, 2, 16, 4),
             "403, 1 of 500": (403, 1, 500, 1), "404, 5 of 500": (404, 5, 500, 1),
             "403, 50 of 500": (403, 50, 500, 1), "403, 50 of 500, four at once": (403, 50, 500, 4)}

    def judge(name, case):
        status, bad, count, lanes = case
        bundles = bench.bundles(count)
        bad = bundles[count // bad // 8::count // bad]
        good = [one for one in bundles if one not in bad]
        rig, puts, result = choosy(bench, status, bad, good, lanes=lanes)
        own(rig, puts, result, bad, good, name)

    every(some(cases, 2), judge)


def bad_member(bench):
    """A bad member holds up its session until it has failed by its table, and no other capture."""
    members, others = bench.stock[:4], bench.stock[4:8]
    push = [(members, ("--session", "monday"))]
    rig, puts, result = choosy(bench, 403, members[1:2], others, push=push)
    own(rig, puts, result, members[1:2], [members[0], *members[2:], *others], "a bad member")
    expect(puts.index(members[2].sha256) > max(map(puts.index, (one.sha256 for one in others))), "another order")


def all_bad(bench):
    """One other capture is tried in place of the first; refused too, the destination is blocked. After a 401 none is."""
    def judge(name, case):
        status, tries, reason = case
        rig, puts, result = choosy(bench, status, bench.stock[:8], [])
        result.must(15, about=name)
        expect(len(puts) == len(set(puts)) == tries, f"{name}: {len(puts)} PUTs of {len(set(puts))} captures")
        expect({(row.state, row.attempts) for row in rig.deliveries()} == {("pending", 0)}, f"{name}: {rig.states()}")
        place = rig.destination("web")
        expect(place.blocked_reason == reason and place.blocked_for == 300_000, f"{name}: {place}")

    every({"403": (403, 2, "credentials"), "404": (404, 2, "endpoint"), "401": (401, 1, "credentials")}, judge)


def all_bad_again(bench):
    """What was only tried since a refusal has not landed: each run blocks the destination anew, and no attempt counts."""
    with Scripted(Choosy(403, bench.stock[:2])) as server:
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", "0,0,0")
        rig.push(*bench.stock[:2])
        for turn in range(3):
            rig.run("resume", "--dest", "web").must(0, about="resume")
            rig.send("--until-empty", code=15)
            expect({(row.state, row.attempts) for row in rig.deliveries()} == {("pending", 0)}, f"{turn}: {rig.states()}")
        expect(len(sent(server)) == 6, f"{len(sent(server))} PUTs")


def earlier_member(bench):
    """An earlier member of its session that lands after a refusal does not show that the refusal is the capture's own."""
    earlier, bad = bench.stock[:2]
    with Scripted(Choosy(403, [bad])) as server:
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", "0,0,0")
        rig.push(earlier, bad, options=("--session", "monday"))
        rig.run("hold", earlier.id).must(0, about="hold")
        rig.send("--until-empty", code=15)
        for words in (("release", earlier.id), ("resume", "--dest", "web")):
            rig.run(*words).must(0, about=words[0])
        rig.send("--until-empty", code=15)
        states = [(row.state, row.attempts) for row in map(rig.delivery, (earlier, bad))]
        expect(states == [("completed", 1), ("pending", 0)], f"they are {states}")
        expect(rig.destination("web").blocked_reason == "credentials", "it is not blocked")


# What the first capture gets, how it is pushed, whether the user resumes, and why the destination is blocked.
CASES = {
    "401, of high priority": (401, ("--priority", "5"), False, "credentials"), "401, resumed": (401, (), True, "credentials"),
    "507, resumed": (507, (), True, "full"), "401, run again": (401, (), False, "credentials"),
}


def refused_alone(bench):
    """These refusals of one capture block the destination, since it may be at fault; each run begins with another."""
    first, *others = bench.stock[:3]

    def judge(name, case):
        status, options, is_resumed, reason = case

        def reply(request):
            if first.sha256 in request.path:
                return Reply(status)
            return Reply(201 if request.method == "PUT" else 405)

        with Scripted(reply) as server:
            rig = bench.rig()
            rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", AT_ONCE)
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

    every(CASES if IS_LONG else dict(list(CASES.items())[:3]), judge)


def without_a_url(bench):
    """One capture for which a url-command gives no URL fails by its table, and blocks nobody; if all are, one is named."""
    first, *others = bench.stock[:4]

    def judge(name, case):
        condition, words, code = case
        with Scripted(taking) as server:
            rig = bench.rig()
            rig.dest("web", "put", "--url-command", f"{condition} && {words} {server.url}/$CAPQUEUE_SHA256", "--retry", "0,0,0")
            rig.push(first, *others)
            result = rig.send("--until-empty", "--json", code=code)
            said = rig.run("status", "--check").must(code, about=f"{name}: status --check").out.decode()
            blocked = [line for line in map(json.loads, result.out.splitlines()) if line["event"] == "blocked"]
            if code == 14:
                expect({rig.delivery(one).state for one in others} == {"completed"} and not blocked, f"{blocked}")
                row = rig.delivery(first)
                expect((row.state, row.attempts) == ("permanently_failed", 3), f"{row.state} after {row.attempts}")
                return
            second = others[0].id
            expect(len(blocked) == 1 and second in blocked[0]["message"], f"{blocked}")
            expect("4 captures cannot be sent" in said and second in said, f"status --check says {said!r}")

    every({"one": (f'test "$CAPQUEUE_ID" != {first.id}', "echo", 14), "all": ("false", "echo", 15),
           "a wrong URL": ("true", "echo x", 15)}, judge)


TESTS = [
    ("with a mistake in a URL no capture fails for good", wrong_url),
    ("a refusal of one capture alone", refused_alone),
    ("a run names the block of an earlier run that it obeys", a_block_of_before),
    ("a capture without a URL blocks nobody, and is named", without_a_url),
    ("captures that the server refuses among others", bad_ones),
    ("a member of a session that the server refuses", bad_member),
    ("a server that refuses all", all_bad),
    ("a server that refuses all, in each run", all_bad_again),
    ("a refused member, and an earlier one that lands later", earlier_member),
]
