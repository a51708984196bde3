"""http with profile realitycam: counters rise in the order of sending after any failure, and answers are obeyed."""
import threading
import time

from Kit.outcomes import IS_LONG, PATIENCE, every, expect, long
from Kit.sending import AT_ONCE, DEVICE, completed, wait_until
from Kit.servers.capture_api import Answer
from Kit.servers.realitycam_api import RealityCamAPI
from Sending.answers.tries import some

SECONDS = 60
KILLS = 60
SHARE = 15 if IS_LONG else 2  # captures for each of two queues


class Rig:
    """A rig with a key for RealityCam, and a server that knows the key. The rig is that of the bench."""

    def __init__(self, bench, *options, **server):
        self.rig = bench.rig()
        self.key = self.rig.folder / "keys/realitycam.key"
        self.key.parent.mkdir(mode=0o700)
        capbundle(bench, "key", "new", "--key", self.key)
        public = (self.key.parent / "realitycam.key.pub").read_bytes()
        self.api = RealityCamAPI(public, **server)
        self.options = options

    def __enter__(self):
        self.api.__enter__()
        add(self.rig, self.api, self.key, *self.options)
        return self.rig, self.api

    def __exit__(self, *how):
        self.api.__exit__(*how)


def capbundle(bench, *words):
    bench.template.run(*words, seconds=PATIENCE).must(0, about=words[1])


def add(rig, api, key, *options):
    rig.dest("api", "http", "--profile", "realitycam", "--url", api.url, "--device-id", DEVICE, "--realitycam-key", key,
             "--retry", AT_ONCE, *options)


def content(bench, api, bundles, evidence="pass"):
    """Checks that the server holds each photo once, verified every request, and that the counters rise."""
    api.content()
    expect(not api.broken, f"requests break rules: {api.broken[:3]}")
    api.holds(*map(bench.photo, bundles))
    verdicts = {api.evidence[bench.photo(bundle)] for bundle in bundles}
    expect(verdicts == {evidence}, f"the server's verdicts are {verdicts}")
    flat = [counter for pair in api.counted for counter in pair]
    expect(flat == sorted(set(flat)), f"counters do not rise: {flat}")


def first_delivery(bench):
    """Captures land with good evidence; polls and dest test use counters too. The receipt is for a part, so that prune
    keeps the bundle."""
    with Rig(bench) as (rig, api):
        api.is_strict, bundles = True, bench.stock[:4]
        rig.push(*bundles[:3])
        rig.send("--until-empty", code=0)
        api.verdicts = ["complete"]
        rig.push(bundles[3])
        rig.send("--until-empty", code=0)
        completed(rig, *bundles)
        content(bench, api, bundles)
        expect({request.status for request in api.seen("poll")} == {200}, "a poll was refused, or none was sent")
        tested = rig.run("dest", "test", "api").must(0, about="dest test")
        expect("RealityCam key" in (tested.text + tested.out.decode()), "dest test does not look at the key")
        expect(all(request.key is None for request in api.seen()), "an Idempotency-Key is sent")
        receipt = rig.receipt(bundles[0])
        expect(receipt["part"] == "realitycam" and receipt["body_sha256"] == api.stored[0].digest, f"receipt {receipt}")
        expect(rig.status()["parts_only"]["captures"] == 4, "status does not count what was sent in part")
        rig.run("prune", "--older-than", "0s").must(0, about="prune")
        expect(rig.spool_file(bundles[0]).read_bytes() == bundles[0].data, "prune deleted what was sent in part")
        freed = rig.run("prune", "--older-than", "0s", "--accept-parts").must(0, about="prune --accept-parts")
        expect(len(freed.out.splitlines()) == 4, f"prune --accept-parts prints {freed.out!r}")


def lost_answers(bench):
    """After a lost answer the queue asks, and takes over the id; it does not send again."""
    def adopts(_, answer):
        with Rig(bench) as (rig, api):
            api.answer(answer)
            rig.push(*bench.stock[:2])
            rig.send("--until-empty", code=0)
            expect(len(api.seen()) == 2, f"{len(api.seen())} uploads of two captures")
            confirmed = [rig.receipt(bundle)["confirmed_by"] for bundle in bench.stock[:2]]
            expect(confirmed == ["verify-file", "answer"], f"the receipts are from {confirmed}")
            content(bench, api, bench.stock[:2])

    cases = {"cut": Answer(when="stored", then="cut"), "reset": Answer(when="stored", then="reset"),
             "500": Answer(500, "INTERNAL_ERROR", when="stored"),
             "half an answer": Answer(when="stored", then="cut", only=200)}
    every(some(cases, 1), adopts)


def photo_is_there(bench):
    """A 500 for a photo that the server has already is answered by one question, and is the last upload."""
    with Rig(bench) as (rig, api):
        rig.push(bench.stock[0])
        rig.send("--once", code=0)
        other = bench.rig()
        add(other, api, rig.folder / "keys/realitycam.key")
        other.push(bench.stock[0])
        other.send("--until-empty", code=0)
        expect([request.status for request in api.seen()] == [202, 500], "other answers than 202 and 500")
        expect(other.delivery(bench.stock[0]).remote_id == api.stored[0].id, "the id was not taken over")
        content(bench, api, bench.stock[:1])


def replay(bench):
    """A counter that is a little too low is passed at once. One that is far too low needs the user."""
    with Rig(bench) as (rig, api):
        api.is_strict, api.counter = True, 2
        rig.push(*bench.stock[:2])
        rig.send("--until-empty", code=0)
        expect([request.status for request in api.seen()] == [401, 202, 202], "not one refusal and two landings")
        completed(rig, *bench.stock[:2])
        # The server has seen many more counters, for example from a copy of the key.
        api.counter = 1000
        rig.push(bench.stock[2])
        stuck = rig.send("--until-empty", code=15)
        row = rig.delivery(bench.stock[2])
        expect((row.state, row.attempts) == ("pending", 0), f"is {row.state} after {row.attempts} attempts")
        expect(rig.destination().blocked_reason == "credentials", f"blocked as {rig.destination().blocked_reason}")
        expect("key recover --realitycam" in stuck.text, f"no hint at the counter: {stuck.text!r}")
        key = rig.folder / "keys/realitycam.key"
        capbundle(bench, "key", "recover", "--realitycam", "--counter", "1000", "--key", key)
        rig.send("--until-empty", code=0)
        expect(set(api.evidence.values()) == {"pass"}, f"evidence {api.evidence}")


def clock(bench):
    """A wrong clock is corrected by the server's time, with a new body and new counters."""
    def lands(_, shift):
        with Rig(bench) as (rig, api):
            api.shift = shift
            rig.push(*bench.stock[:3])
            rig.send("--until-empty", code=0)
            expect([request.status for request in api.seen()] == [401, 202, 202, 202], "not one refusal")
            expect(api.seen()[0].digest != api.seen()[1].digest, "the body of a refused request was sent again")
            completed(rig, *bench.stock[:3])
            api.problems.clear()  # the refused timestamp
            content(bench, api, bench.stock[:3])

    every(some({"an hour ahead": -3600, "an hour behind": 3600, "400 days ahead": -400 * 86_400}, 1), lands)


@long
def lower_level(bench):
    """A device at a lower level sends no assertion, and the server does not call its captures suspicious."""
    with Rig(bench, "--without-assertion", level="unverified") as (rig, api):
        rig.push(*bench.stock[:2])
        rig.send("--until-empty", code=0)
        content(bench, api, bench.stock[:2], evidence="unavailable")


@long
def killed(bench):
    """Kills at random moments: each capture lands once, with good evidence, in one order of counters."""
    chance = bench.chance("kills of runs to RealityCam")
    with Rig(bench) as (rig, api):
        bundles = bench.stock[:20]
        rig.push(*bundles)
        longest = 0.05
        for _ in range(KILLS):
            with rig.start("run", "--until-empty") as running:
                end = time.monotonic() + chance.uniform(0, longest)
                while time.monotonic() < end and running.is_alive:
                    time.sleep(0.001)
                is_over = not running.is_alive
            longest *= 0.97 if is_over else 1.04
            if is_over and rig.states() == {"completed"}:
                break
        rig.send("--until-empty", code=0, seconds=120)
        expect(rig.states() == {"completed"}, f"states are {rig.states()}")
        content(bench, api, bundles)


def two_queues(bench):
    """Two queues with one key, sent at the same time, keep one order of counters."""
    with Rig(bench) as (rig, api):
        other = bench.rig()
        add(other, api, rig.folder / "keys/realitycam.key")
        rig.push(*bench.stock[:SHARE])
        other.push(*bench.stock[SHARE:2 * SHARE])
        with rig.start("run", "--until-empty") as one, other.start("run", "--until-empty") as two:
            one.end().must(0, about="the first queue")
            two.end().must(0, about="the second queue")
        content(bench, api, bench.stock[:2 * SHARE])


def waits_its_turn(bench):
    """While one upload waits for its answer, no other request with the key is made."""
    with Rig(bench) as (rig, api):
        gate = threading.Event()
        api.answer(Answer(gate=gate, when="stored"))
        other = bench.rig()
        add(other, api, rig.folder / "keys/realitycam.key")
        rig.push(bench.stock[0])
        other.push(bench.stock[1])
        with rig.start("run", "--until-empty") as one:
            wait_until(lambda: api.requests, "the first upload arrives")
            # It has nothing under way, so its grace is not for it.
            with other.start("run", "--until-empty", "--grace", "1h") as two:
                time.sleep(1)
                expect(len(api.requests) == 1, "the second queue did not wait")
                stopped = two.stop()
                expect(stopped.code == 143, f"a run that waits for its turn ends with {stopped.code}")
            gate.set()
            one.end().must(0, about="the first queue")
        expect(other.delivery(bench.stock[1]).attempts == 0, "waiting used an attempt")
        other.send("--until-empty", code=0)
        content(bench, api, bench.stock[:2])


@long
def another_key(bench):
    """The key that signs bundles does not sign requests, and nothing is sent."""
    with Rig(bench) as (rig, api):
        rig.run("dest", "set", "api", "--realitycam-key", rig.key).must(0, about="dest set")
        rig.push(bench.stock[0])
        rig.send("--once", code=15)
        expect(not api.requests, "the key of bundles signed for RealityCam")
        expect(rig.destination().blocked_reason == "local", f"blocked as {rig.destination().blocked_reason}")
        expect("signs bundles" in rig.destination().blocked_message, rig.destination().blocked_message)


TESTS = [
    ("captures land with good evidence; the receipt is for a part", first_delivery),
    ("after a lost answer the queue asks, and does not send again", lost_answers),
    ("a 500 for a photo that is there is the last upload", photo_is_there),
    ("REPLAY_DETECTED: higher counters at once; a second time needs the user", replay),
    ("a wrong clock: a new body with the server's time", clock),
    ("a device at a lower level sends no assertion", lower_level),
    (f"{KILLS} kills: one order of counters, good evidence", killed),
    ("two queues with one key keep one order of counters", two_queues),
    ("while one upload waits, no other request with the key is made", waits_its_turn),
    ("the key of bundles is refused", another_key),
]
