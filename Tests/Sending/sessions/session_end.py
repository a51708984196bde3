"""Each destination is notified of a session's end when all members have landed, at least once, with one key."""
import json
import threading
import time
import uuid

from Kit.outcomes import IS_LONG, every, expect, long
from Kit.rigs import PHOTO
from Kit.sending import AT_ONCE, wait_until
from Kit.servers.scripted import Reply, Scripted, in_json
from Kit.tracing import require_strace, strace


class Store(Scripted):
    """Accepts bundles and ends of sessions. `says` lists the next answers to ends, `refuses` the hashes to refuse.

    With a `gate` it waits for that before it answers an end; `told` lists the ends that it received.
    """

    def __init__(self):
        super().__init__(self._reply)
        self.says, self.refuses, self.gate, self.told = [], set(), None, []

    def _reply(self, request):
        if request.method == "PUT":
            return Reply(422 if request.path.strip("/") in self.refuses else 201)
        if request.method != "POST":
            return Reply(405)
        if self.gate:
            self.told.append(request)
            self.gate.wait(30)
        return self.says.pop(0) if self.says else in_json({"ok": True})

    @property
    def ends(self):
        return self.seen("POST")


def rig_to(bench, server, *options, bundles=()):
    rig = bench.rig()
    add(rig, "web", server, *options)
    if bundles:
        rig.push(*bundles, options=("--session", "roof"))
    return rig


def add(rig, name, server, *options):
    rig.dest(name, "put", "--url", f"{server.url}/{{sha256}}", "--session-end-url", f"{server.url}/sessions/roof",
             "--retry", AT_ONCE, *options)


def end(rig, *options):
    rig.run("session", "end", "roof", *options).must(0, about="session end")


def markers(rig):
    with rig.database() as database:
        return database.execute("SELECT key, attempts, sent_at, answer FROM markers ORDER BY destination").fetchall()


def told(request, bundles, incomplete=False):
    """Checks the body of a session end."""
    body = request.json
    expect(set(body) == {"captures", "ended_at", "incomplete", "session"}, f"members are {sorted(body)}")
    expect((body["session"], body["incomplete"]) == ("roof", incomplete), f"it says {body}")
    wanted = [{"id": bundle.id, "sha256": bundle.sha256} for bundle in bundles]
    expect(sorted(body["captures"], key=str) == sorted(wanted, key=str), f"its captures are {body['captures']}")
    expect(uuid.UUID(request.headers["idempotency-key"]), "no key")
    expect(request.headers["content-type"].startswith("application/json"), f"{request.headers}")


def once(bench):
    """Members arrive in their order, even with four transfers at once, and then the end, once, with a key."""
    bundles = bench.stock[:6]
    with Store() as server:
        rig = rig_to(bench, server, "--concurrency", "4", bundles=bundles)
        end(rig)
        result = rig.send("--until-empty", "--json", code=0)
        paths = [one.path.strip("/") for one in server.requests if one.method in ("PUT", "POST")]
        expect(paths == [*(bundle.sha256 for bundle in bundles), "sessions/roof"], f"they came as {paths}")
        told(server.ends[0], bundles)
        events = [json.loads(line) for line in result.out.splitlines()]
        expect([(one["destination"], one["session"]) for one in events if one["event"] == "session"] ==
               [("web", "roof")], "there is no event")
        (key, _, sent_at, _), = markers(rig)
        expect(key == server.ends[0].headers["idempotency-key"] and sent_at, f"recorded is {markers(rig)}")
        rig.send("--until-empty", code=0)
        rig.send(code=0)
        expect(len(server.ends) == 1, "later runs tell it again")


@long
def by_one(bench):
    """While one of four transfers waits for the answer to an end, the others do not send it too and do not spin."""
    with Store() as server:
        rig = rig_to(bench, server, "--concurrency", "4", bundles=bench.stock[:6])
        end(rig)
        server.gate = threading.Event()
        with rig.start("run", "--until-empty") as running:
            wait_until(lambda: server.told, "the end to be told")
            rig.push(bench.stock[6])  # wakes the others
            wait_until(lambda: len(server.seen("PUT")) == 7 or len(server.told) > 1, "the others to do something")
            before = running.cpu_seconds
            time.sleep(2)
            spent = running.cpu_seconds - before
            server.gate.set()
            running.end().must(0, about="run")
        expect(len(server.told) == 1, f"told {len(server.told)} times")
        expect(spent < 0.5, f"{spent:.1f} s of processor time in 2 s of waiting")


def not_before(bench):
    """No end is sent before `session end`, before the last member landed, or to a destination without members."""
    bundles = bench.stock[:3]
    with Store() as server:
        rig = rig_to(bench, server, bundles=bundles)
        rig.run("hold", bundles[1].id).must(0, about="hold")
        rig.send("--until-empty", code=(0, 15))
        expect(not server.ends, "told before the session ended")
        end(rig)
        rig.send("--until-empty", code=(0, 15))
        expect(not server.ends and not any(sent for _, _, sent, _ in markers(rig)), "told before the last member")
        rig.run("release", bundles[1].id).must(0, about="release")
        rig.send("--until-empty", code=0)
        expect(len(server.ends) == 1 and server.requests[-1].method == "POST", "not told, or too early")
        told(server.ends[0], bundles)
        add(rig, "other", server)
        rig.send("--until-empty", code=0)
        expect(len(server.ends) == 1, "a destination that has none of it was told")


def lost_answers(bench):
    """After a lost answer and a refusal the same key and body are sent again; only the success is recorded.

    Until then the end is remaining work, and it is due.
    """
    bundles = bench.stock[:2]
    answers = {"lost": Reply(lost=True), "401": Reply(401), "500": Reply(500), "a redirect": Reply(302)}

    def phase(rig):
        name, word, *_ = rig.run("session", "list").must(0, about="session list").out.decode().split()
        return name, word

    def judge(name, answer):
        with Store() as server:
            server.says = [answer] * 9
            rig = rig_to(bench, server, bundles=bundles)
            end(rig)
            rig.send("--once", code=15)
            expect(server.ends and rig.states() == {"completed"}, f"not told, or the members are {rig.states()}")
            expect(phase(rig) == ("roof", "due"), f"session list says {phase(rig)}")
            expect(all(sent is None for _, _, sent, _ in markers(rig)), f"recorded without a yes: {markers(rig)}")
            count, server.says = len(server.ends), [answer]
            rig.send("--until-empty", code=0)
            expect(len(server.ends) == count + 2, f"told {len(server.ends)} times")
            expect(len({one.headers["idempotency-key"] for one in server.ends}) == 1, "several keys")
            expect(len({one.body for one in server.ends}) == 1, "several bodies")
            (_, attempts, sent_at, _), = markers(rig)
            expect(sent_at and attempts >= 2, f"recorded is {markers(rig)}")
            expect(phase(rig) == ("roof", "told"), f"then session list says {phase(rig)}")

    every(answers if IS_LONG else dict(list(answers.items())[:2]), judge)


def asked_to_wait(bench):
    """A Retry-After counts for the end as it does for a capture."""
    with Store() as server:
        rig = rig_to(bench, server, bundles=bench.stock[:1])
        end(rig)
        server.says = [Reply(503, {"Retry-After": "3600"})]
        rig.send("--once", code=15)
        time.sleep(1.1)  # the least delay without it
        rig.send("--once", code=(0, 15))
        expect(len(server.ends) == 1, f"told {len(server.ends)} times")


def killed(bench):
    """After kill -9 between the server's answer and our commit, the end is sent again under the same key."""
    with Store() as server:
        rig = rig_to(bench, server, bundles=bench.stock[:2])
        end(rig)
        server.gate = threading.Event()
        with rig.start("run", "--until-empty") as running:
            wait_until(lambda: server.told, "the end to be told")
            running.kill()
        server.gate.set()
        wait_until(lambda: server.ends, "the first answer")
        expect(all(sent is None for _, _, sent, _ in markers(rig)), f"recorded without an answer: {markers(rig)}")
        rig.send("--until-empty", code=0)
        expect(len(server.ends) == 2, f"told {len(server.ends)} times")
        expect(len({one.headers["idempotency-key"] for one in server.ends}) == 1, "another key after the kill")


def incomplete(bench):
    """A member that failed for good delays the end until the user says that the session is complete without it."""
    bundles = bench.stock[:3]
    with Store() as server:
        server.refuses = {bundles[1].sha256}
        rig = rig_to(bench, server, bundles=bundles)
        end(rig)
        rig.send("--until-empty", code=14)
        expect(rig.delivery(bundles[1]).state == "permanently_failed", f"it is {rig.delivery(bundles[1]).state}")
        expect(not server.ends, "told although a member failed")
        end(rig, "--incomplete")
        rig.send("--until-empty", code=(0, 14))
        expect(len(server.ends) == 1, f"told {len(server.ends)} times")
        told(server.ends[0], [bundles[0], bundles[2]], incomplete=True)


def late_pushes(bench):
    """An ended session refuses a push; after --reopen its end is sent again, under a new key, with all members."""
    bundles = bench.stock[:3]
    with Store() as server:
        rig = rig_to(bench, server, bundles=bundles[:2])
        end(rig)
        rig.send("--until-empty", code=0)
        result = rig.run("push", "--session", "roof", bundles[2].path).must(64, about="push into an ended session")
        expect("roof" in result.text, f"push says {result.text!r}")
        rig.push(bundles[2], options=("--session", "roof", "--reopen"))
        rig.send("--until-empty", code=0)
        expect(len(server.ends) == 1, "told while the session is open again")
        end(rig)
        rig.send("--until-empty", code=0)
        expect(len(server.ends) == 2, f"told {len(server.ends)} times")
        told(server.ends[1], bundles)
        keys = [one.headers["idempotency-key"] for one in server.ends]
        expect(keys[0] != keys[1], "the same key for another end")


@long
def slow_disk(bench):
    """A run that sends what is due now tries an end once, also if it takes longer to store the answer than to wait."""
    require_strace()
    with Store() as server:
        rig = rig_to(bench, server, bundles=bench.stock[:1])
        rig.send(code=0)
        end(rig)
        server.says = [Reply(500)] * 4
        slow = strace("--seccomp-bpf", "-e", "trace=fdatasync", "-e", "inject=fdatasync:delay_exit=1200000")
        rig.run("run", "--once", prefix=slow, seconds=60).must(15, about="run --once")
        expect(len(server.ends) == 1, f"told {len(server.ends)} times")
        rig.send(code=15)
        expect(len(server.ends) == 2, "the next run does not tell it")


def portal(bench):
    """A login page with the status of a success does not confirm it: the end is reported again, under the same key."""
    with Store() as server:
        server.says = [Reply(200, {"Content-Type": "text/html"}, b"<html><head><title>Hotel</title></head></html>")]
        rig = rig_to(bench, server, bundles=bench.stock[:1])
        end(rig)
        result = rig.send("--once", code=15)
        expect("(Hotel) with a page of HTML" in result.text, f"run says {result.text!r}")
        expect(all(sent is None for _, _, sent, _ in markers(rig)), f"recorded is {markers(rig)}")
        rig.send("--until-empty", code=0)
        expect(len({one.headers["idempotency-key"] for one in server.ends}) == 1 and len(server.ends) == 2, "several keys")


def two_places(bench):
    """Each destination with members is notified separately, with its own key and its own captures."""
    bundles = bench.stock[:3]
    with Store() as one, Store() as two:
        rig = bench.rig()
        add(rig, "one", one)
        add(rig, "two", two)
        rig.push(*bundles, options=("--session", "roof", "--dest", "one", "--dest", "two"))
        end(rig)
        two.says = [Reply(500)]
        rig.send("--until-empty", code=0)
        expect((len(one.ends), len(two.ends)) == (1, 2), f"told {len(one.ends)} and {len(two.ends)} times")
        keys = {request.headers["idempotency-key"] for request in one.ends + two.ends}
        expect(len(keys) == 2, f"{len(keys)} keys for two destinations")
        told(one.ends[0], bundles)
        told(two.ends[1], bundles)


def end_refused(bench):
    """--until-empty ends if a session's end is always refused, and `status --check` names the destination."""
    with Store() as server:
        server.says = [Reply(500)] * 99
        rig = rig_to(bench, server, bundles=bench.stock[:1])
        end(rig)
        rig.send("--until-empty", code=15)
        said = rig.run("status", "--check").must(14, 15, about="status --check").out
        expect(b"web has not accepted the end of 1 session" in said, f"status --check says {said!r}")
        expect(5 <= len(server.ends) <= 10, f"the end is sent {len(server.ends)} times")
        expect(all(sent is None for _, _, sent, _ in markers(rig)), f"recorded without a yes: {markers(rig)}")


def names_what_was_sent(bench):
    """The end names the hash that the destination got, even if the queue holds another copy of the capture by now."""
    photo = PHOTO[:-2] + b"ended" * 400 + PHOTO[-2:]
    first, second = (bench.packed(f"ended-{number}", photo) for number in (1, 2))
    expect(first.id == second.id and first.sha256 != second.sha256, "the two are not copies of one capture")
    with Store() as server:
        rig = rig_to(bench, server, bundles=[first])
        rig.send("--until-empty", code=0)
        rig.aged(first, days=8)
        rig.run("prune").must(0, about="prune")
        rig.run("push", second.path).must(0, about="push of another copy")
        expect(rig.spool_file(second).exists(), "the second copy is not held")
        end(rig)
        rig.send("--until-empty", code=0)
        expect(len(server.ends) == 1, f"told {len(server.ends)} times")
        told(server.ends[0], [first])


TESTS = [
    ("members in their order, then the end, once, and recorded", once),
    ("one of four transfers sends an end", by_one),
    ("not before the end, nor before the last member", not_before),
    ("lost and refused answers: the same key until a yes", lost_answers),
    ("a server that asks to wait with the end", asked_to_wait),
    ("a run for what is due now tries an end once", slow_disk),
    ("a login page does not confirm the end of a session", portal),
    ("kill -9 between the answer and the commit", killed),
    ("--incomplete", incomplete),
    ("late pushes, and --reopen with a new key", late_pushes),
    ("two destinations, two keys", two_places),
    ("a session's end that is always refused", end_refused),
    ("a session's end names what was sent", names_what_was_sent),
]
