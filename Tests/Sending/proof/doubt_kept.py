"""A capture that was sent whole, without an answer, is in doubt, whatever ended its transfer: the server is asked."""
import base64
import contextlib
import functools
import hashlib
import signal
import threading

from Kit.outcomes import IS_LONG, expect
from Kit.queues import BEGUN
from Kit.sending import AT_ONCE, completed, freeze, wait_until
from Kit.servers.capture_api import Answer, CaptureAPI
from Kit.servers.scripted import Reply, Scripted
from Kit.servers.sigv4 import Keys
from Sending.runs.claims_ahead import Ahead
from Sending.scenes import Scene, sending

KINDS = ("http", "put", "s3")


class Store:
    """What a put or s3 server does: it stores the first upload, and does not answer it before the gate opens."""

    def __init__(self, gate, slow="PUT"):
        self.gate, self.slow, self.kept, self.puts, self.asked = gate, slow, {}, 0, 0

    def __call__(self, request):
        self.puts += request.method == "PUT"
        self.asked += request.method == "HEAD"
        if request.method == "PUT" and request.path not in self.kept:
            self.kept[request.path] = request.body
            if self.slow == "PUT":
                self.gate.wait(60)
            return Reply(200)
        if request.method == "PUT":
            return Reply(412 if "if-none-match" in request.headers else 200)
        if self.slow == "HEAD" and not self.gate.is_set():
            self.gate.wait(60)
        data = self.kept.get(request.path)
        if data is None:
            return Reply(404)
        digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
        return Reply(200, {"Content-Length": str(len(data)), "Repr-Digest": f"sha-256=:{digest}:",
                           "ETag": f'"{hashlib.md5(data).hexdigest()}"'})


class Swallowed:
    """A run whose only capture was stored by a server of each kind, and none of them has answered yet."""

    def __init__(self, bench, slow="PUT", kinds=KINDS, **api):
        self.bench, self.rig, self.bundle, self.gate = bench, bench.rig(), bench.stock[0], threading.Event()
        self.kinds, self.store, self.api = kinds, Store(self.gate, slow), CaptureAPI(bench.public)
        self.api.is_idempotent, self.api.duplicates = False, "twice"
        for name, value in api.items():
            setattr(self.api, name, value)

    def __enter__(self):
        self._stack = contextlib.ExitStack()
        self._stack.enter_context(self.api)
        self._stack.callback(self.gate.set)
        store = self._stack.enter_context(Scripted(self.store))
        self.rig.env |= Keys("one", "secret").environment
        self.api.answer(Answer(when="stored", then="hang"))
        if "http" in self.kinds:
            self.rig.http(self.api.url, name="http")
        for kind, url in (("put", store.url + "/put/{sha256}"), ("s3", store.url + "/bucket")):
            if kind in self.kinds:
                self.rig.dest(kind, kind, "--url", url, "--retry", AT_ONCE)
        self.rig.push(self.bundle, options=[word for kind in self.kinds for word in ("--dest", kind)])
        self.running = self.rig.start("run", "--watch", "--grace", "0s")
        self._stack.callback(self.running.kill)
        wait_until(lambda: all(self.stored()[kind] for kind in self.kinds), "each server has stored it")
        if self.store.slow == "HEAD":
            wait_until(lambda: self.store.asked, "the server is asked")
        return self

    def __exit__(self, *_):
        self._stack.close()

    def stored(self):
        """How often each server has stored it, or was sent it again."""
        puts = len([path for path in self.store.kept if path.startswith("/put/")])
        there = len(self.store.kept)
        return {"http": len(self.api.stored), "put": puts, "s3": there - puts}

    def rows(self):
        return {kind: self.rig.delivery(self.bundle, kind) for kind in self.kinds}

    def are(self, state, about):
        rows = self.rows()
        found = {kind: (row.state, row.in_doubt) for kind, row in rows.items()}
        expect(found == {kind: (state, 1) for kind in self.kinds}, f"{about}: they are {found}")
        return {kind: row.idempotency_key for kind, row in rows.items()}

    def run(self, *words):
        return self.rig.run(*words, self.bundle.id).must(0, about=words[0])

    def end_run(self):
        """Ends the run, so that its claims are settled, and lets the servers answer again."""
        result = self.running.stop()
        self.gate.set()
        open_ends = [one for kind in self.kinds for one in self._tries(kind) if one[0] is None]
        expect(not open_ends, "a try was not settled")
        return result

    def _tries(self, kind):
        with self.rig.database() as database:
            return database.execute("SELECT outcome FROM attempts WHERE delivery = ?",
                                    (self.rig.delivery(self.bundle, kind).id,)).fetchall()

    def lands_once(self, keys=None):
        self.gate.set()
        self.rig.send("--until-empty", code=0)
        rows = self.rows()
        found = {kind: (row.state, row.in_doubt) for kind, row in rows.items()}
        expect(found == {kind: ("completed", 0) for kind in self.kinds}, f"in the end they are {found}")
        expect(len(self.api.stored) == len(self.api.seen()) == ("http" in self.kinds),
               f"http: {len(self.api.seen())} uploads, {len(self.api.stored)} are stored")
        wanted = len({"put", "s3"} & set(self.kinds))
        expect(self.store.puts == wanted, f"{self.store.puts} PUTs for {wanted} places")
        if keys is not None:
            expect({kind: row.idempotency_key for kind, row in rows.items()} == keys, "another Idempotency-Key")


def interrupted(command, state, again, is_killed, bench):
    """`hold` and `cancel` leave doubt at once. It stays through the end or the death of the run, and what follows."""
    with Swallowed(bench) as it:
        if is_killed:
            freeze(it.rig.queue, it.running.pid)
        it.run(command)
        keys = it.are(state, f"after {command}")
        if is_killed:
            it.running.kill()
        else:
            it.end_run()
        it.are(state, "after the run")
        it.rig.send("--until-empty")
        it.are(state, "after another run")
        if again == "push":
            it.rig.push(it.bundle)
        else:
            it.run(again)
        expect(it.are("pending", f"after {again}") == keys, "the key has changed")
        it.lands_once(keys)


def again_during_the_run(bench):
    """Held and released at once: the same run asks before it sends again."""
    with Swallowed(bench) as it:
        it.run("hold")
        it.run("release")
        it.gate.set()
        wait_until(lambda: {row.state for row in it.rows().values()} == {"completed"}, "the run to complete it")
        it.end_run()
        it.lands_once()


def killed_later(bench):
    """The run goes on with other captures after `hold`, until its file of begun claims no longer names the first."""
    bundles = bench.bundles(6)
    with sending(bench, bundles) as (rig, api):
        api.is_idempotent, api.duplicates = False, "twice"
        api.answer(Answer(when="stored", then="hang"))
        with rig.start("run", "--watch") as running:
            wait_until(lambda: api.stored, "the server to store the first")
            rig.run("hold", bundles[0].id).must(0, about="hold")
            wait_until(lambda: [rig.delivery(one).state for one in bundles[1:]] == ["completed"] * 5, "the others")
            running.kill()
        rig.send("--once")
        row = rig.delivery(bundles[0])
        expect((row.state, row.in_doubt) == ("held", 1), f"is {row.state}, in doubt {row.in_doubt}")
        rig.run("release", bundles[0].id).must(0, about="release")
        rig.send("--until-empty", code=0)
        api.holds(*map(bench.photo, bundles))


def stopped(words, bench):
    """What stops a run or a destination leaves the same doubt at each kind of server."""
    with Swallowed(bench) as it:
        if words[0] == "SIGTERM":
            it.end_run()
        else:
            it.rig.run(*words).must(0, about=words[0])
            wait_until(lambda: {row.state for row in it.rows().values()} == {"pending"}, "they are given back")
            it.end_run()
            it.rig.run("resume").must(0)
        it.lands_once(it.are("pending", " ".join(words)))


def stopped_before_the_proof(bench):
    """The server has answered the upload, and the run is stopped while it looks at what is stored there."""
    with Swallowed(bench, slow="HEAD", kinds=("put", "s3")) as it:
        it.run("hold")
        it.end_run()
        it.are("held", "after hold")
        it.run("release")
        it.lands_once()
    with Swallowed(bench, slow="HEAD", kinds=("s3",)) as it:
        it.end_run()
        it.are("pending", "after SIGTERM")
        it.lands_once()


def damaged_meanwhile(bench):
    """`check` finds damage during the transfer. Once the bytes are back, the servers are asked first."""
    with Swallowed(bench) as it:
        file = it.rig.spool_file(it.bundle)
        file.chmod(0o600)
        file.write_bytes(it.bundle.data[:-1] + b"\1")
        it.rig.run("check", "--read-data")
        it.are("quarantined", "after check")
        it.end_run()
        it.rig.push(it.bundle)
        it.are("pending", "pushed again")
        it.lands_once()


def restored(bench):
    """A salvage forgets what was sent, so everything is asked about."""
    with Swallowed(bench) as it:
        it.end_run()
        it.rig.run("salvage", "--force", "--release").must(0, about="salvage")
        it.are("pending", "after a salvage")
        it.lands_once()


def marked(bench):
    """`mark-uploaded` ends it: nothing is sent or asked again."""
    with Swallowed(bench, kinds=("http",)) as it:
        receipt = it.rig.folder / "receipt"
        receipt.write_text(it.bundle.sha256)
        it.rig.run("mark-uploaded", it.bundle.id, "--receipt", receipt).must(0, about="mark-uploaded")
        it.end_run()
        it.rig.send("--until-empty", code=0)
        expect(len(it.api.requests) == 1, f"{len(it.api.requests)} requests")


def retired(bench):
    """`dest retire --to` does not move what was held in doubt."""
    with Swallowed(bench) as it:
        it.run("hold")
        it.end_run()
        it.rig.http(it.api.url, name="other")
        for kind in KINDS:
            it.rig.run("dest", "retire", kind, "--to", "other").must(0, about="retire")
        it.are("held", "after dest retire --to")
        it.run("release")
        it.lands_once()


def retired_with_an_id(bench):
    """`dest retire --to` does not move what the server knows under an id, also if it is not in doubt."""
    rig, bundles = bench.rig(), bench.stock[:2]
    for name in ("one", "other"):
        rig.to_folder(name)
    rig.push(*bundles)
    rig.change("UPDATE deliveries SET remote_id = 'x' WHERE capture = 1")
    rig.run("dest", "retire", "one", "--to", "other").must(0, about="retire")
    places = [rig.delivery(bundle).destination_name for bundle in bundles]
    expect(places == ["one", "other"], f"they are for {places}")


def pruned(bench):
    """`prune --cancelled` names the destinations that may have what it deletes."""
    with Swallowed(bench) as it:
        it.run("cancel")
        it.end_run()
        other = bench.stock[1]
        it.rig.push(other)
        it.rig.run("cancel", other.id).must(0)
        for words in ("--dry-run", "--json"), ():
            said = it.rig.run("prune", "--cancelled", *words).must(0)
            expect(f"{it.bundle.id} was cancelled while it was sent; http, put, s3 may have it" in said.text
                   and said.text.count("may have it") == 1, f"it says {said.text!r}")
        expect(said.out.decode().split() == [it.bundle.id, other.id], f"it prints {said.out}")


def cannot_be_asked(bench):
    """A server that cannot be asked gets the same key again, and the run says that it may store the capture twice."""
    with Swallowed(bench, kinds=("http",), can_verify=False, is_idempotent=True) as it:
        it.run("cancel")
        it.end_run()
        it.run("retry")
        said = it.rig.send("--until-empty", code=0).text
        expect(f"{it.bundle.id} may be stored twice" in said and "Idempotency-Key" in said, f"it says {said!r}")
        first, second = it.api.seen()
        expect(first.key == second.key and first.key, "another Idempotency-Key")
        completed(it.rig, it.bundle, attempts=1)
        it.api.holds(bench.photo(it.bundle))


def undecided(bench):
    """A capture is cancelled while the server has not decided: after `retry` it is asked for its decision first."""
    for polls in (0, 1) if IS_LONG else (0,):
        bundle, rig = bench.stock[0], bench.rig()
        with CaptureAPI(bench.public) as api:
            api.is_idempotent, api.duplicates, api.verdicts = False, "twice", ["processing"]
            rig.http(api.url)
            rig.push(bundle)
            rig.send("--once")
            expect(rig.delivery(bundle).state == "processing", f"is {rig.delivery(bundle).state}")
            rig.run("cancel", bundle.id).must(0)
            expect(rig.delivery(bundle).in_doubt == 1, "it is not in doubt")
            rig.run("retry", bundle.id).must(0)
            if polls:
                rig.send("--once")
                expect(rig.delivery(bundle).state == "processing", "it does not wait for the decision")
            api.stored[0].verdicts = ["complete"]
            rig.send("--until-empty", code=0)
            completed(rig, bundle)
            api.holds(bench.photo(bundle))
            expect(len(api.seen()) == 1, f"{len(api.seen())} uploads")


def half(command, again, bench):
    """A body that was not sent whole leaves no doubt once its transfer has ended, so nothing is asked."""
    with Scene(bench, is_half=True) as scene:
        first = scene.bundles[0]
        freeze(scene.rig.queue, scene.running.pid)
        scene.rig.run(command, first.id).must(0, about=command)
        expect(scene.rig.delivery(first).in_doubt == 1, "no doubt before the transfer has ended")
        scene.running.tell(signal.SIGCONT)
        scene.running.end()
        expect(scene.rig.delivery(first).in_doubt == 0, "in doubt")
        scene.rig.run(again, first.id).must(0, about=again)
        scene.ends_well()
        expect(not scene.api.seen("verify"), "the server is asked")


def not_begun(command, end, was_in_doubt, bench):
    """A claim ahead that is interrupted never began: its doubt ends with it, but a doubt from before stays."""
    with Doubtful(bench, was_in_doubt) as scene:
        second = scene.bundles[1]
        if end != "settled":
            freeze(scene.rig.queue, scene.running.pid)
        scene.rig.run(command, second.id).must(0, about=command)
        expect(scene.rig.delivery(second).in_doubt == 1, "no doubt although the claim may begin")
        if end == "settled":
            scene.wait_until_noticed()
            scene.gate.set()
            scene.running.end()
        else:
            scene.running.kill()
            if end == "unknown":
                (scene.rig.queue / BEGUN).unlink()
            scene.rig.send("--once")
        row, (one,) = scene.rig.delivery(second), scene.rig.tries(second)
        wanted = int(was_in_doubt or end == "unknown")
        expect((row.in_doubt, row.token) == (wanted, None), f"in doubt {row.in_doubt}, {row.token}")
        # With a doubt from before, the token went with the claim.
        expect(was_in_doubt or one.outcome == ("lost" if end == "unknown" else "parked"), f"its try is {one.outcome}")


class Doubtful(Ahead):
    """As `Ahead`; the second delivery may already be in doubt from an earlier try."""

    def __init__(self, bench, was_in_doubt):
        super().__init__(bench, words=("run", "--until-empty", "--json"))
        self.was_in_doubt = was_in_doubt

    def prepare(self):
        self.rig.change("UPDATE deliveries SET in_doubt = ? WHERE capture = (SELECT seq FROM captures WHERE id = ?)",
                        int(self.was_in_doubt), self.bundles[1].id)


WAYS = (("hold", "held", "release"), ("cancel", "cancelled", "retry"), ("cancel", "cancelled", "push"))
TESTS = [
    *((f"{command} after the last byte, then {again}{', the run killed' if is_killed else ''}",
       functools.partial(interrupted, command, state, again, is_killed))
      for command, state, again in WAYS for is_killed in (False, True)),
    ("hold and release after the last byte, during one run", again_during_the_run),
    ("hold after the last byte, then others are sent, and a kill", killed_later),
    *((f"{' '.join(words)} after the last byte", functools.partial(stopped, words))
      for words in (("SIGTERM",), ("pause", "--now"))),
    ("stopped after the answer, before the proof", stopped_before_the_proof),
    ("check finds damage after the last byte", damaged_meanwhile),
    ("a salvage after the last byte", restored),
    ("mark-uploaded after the last byte", marked),
    ("dest retire --to leaves what was held after the last byte", retired),
    ("dest retire --to leaves what has an id from the server", retired_with_an_id),
    ("prune --cancelled names what is in doubt", pruned),
    ("a server that cannot be asked: the same key, and a warning", cannot_be_asked),
    ("cancelled while the server decides: its decision is asked for", undecided),
    ("hold of what was half sent leaves no doubt", functools.partial(half, "hold", "release")),
    ("cancel of what was half sent leaves no doubt", functools.partial(half, "cancel", "retry")),
    *((f"{command} of a claim ahead, {end}{', in doubt before' if was else ''}",
       functools.partial(not_begun, command, end, was))
      for command, end, was in (("hold", "settled", False), ("cancel", "settled", True), ("cancel", "killed", False),
                                ("hold", "killed", True), ("hold", "unknown", False))),
]
