"""While a run sends, the next delivery is claimed already; it neither delays what users ask for nor counts as a try."""
import functools
import threading

from Kit.outcomes import expect, long
from Kit.queues import BEGUN
from Kit.sending import wait_until
from Kit.servers.capture_api import Answer
from Kit.tracing import calls_in, require_strace, strace
from Sending.scenes import Scene, sending

MONDAY = ("--session", "monday")


class Ahead(Scene):
    """The first upload is under way, and the second delivery is claimed."""

    def __enter__(self):
        super().__enter__()
        wait_until(lambda: self.states()[:2] == ["uploading"] * 2, "a claim ahead")
        return self

    def given_back(self, about):
        wait_until(lambda: self.states()[1] == "pending", f"{about}: the claim ahead is given back")
        row = self.rig.delivery(self.bundles[1])
        expect((row.attempts, row.in_doubt, row.tried_at) == (0, 0, None), f"{about}: it counts as a try: {row}")

    def wait_until_noticed(self):
        """Makes a later change, and waits until the run reports it: it then knows of all earlier ones."""
        self.rig.http(self.api.url, name="other")

        def noticed():
            # The run reports no pause of a destination that is paused when it first sees it.
            for command in "pause", "resume":
                self.rig.run(command, "--dest", "other").must(0, about=command)
            return self.running.saw("paused", destination="other")

        wait_until(noticed, "the run reports that the other destination was paused")


def only_one(bench):
    """The third delivery of a lane is not claimed."""
    with Ahead(bench) as scene:
        expect(scene.states() == ["uploading", "uploading", "pending"], f"they are {scene.states()}")
        scene.gate.set()
        scene.running.end().must(0, about="the run")
        expect(scene.sent() == [bundle.id for bundle in scene.bundles], "another order")
        for bundle in scene.bundles:
            row, tries = scene.rig.delivery(bundle), scene.rig.tries(bundle)
            expect((row.attempts, len(tries)) == (1, 1), f"{row.attempts} attempts, {len(tries)} tries")


def handed_over(bench):
    """What was claimed ahead for a lane that still sends goes to a lane that has nothing to send."""
    with Scene(bench, count=6, options=("--concurrency", "2")) as scene:
        wait_until(lambda: sorted(scene.states()) == ["completed"] * 5 + ["uploading"], "all others are sent beside the first")
        scene.gate.set()
        scene.running.end().must(0, about="the run")


def shared(bench):
    """With two transfers at a time neither claims ahead what the other could send now."""
    with Scene(bench, count=2, options=("--concurrency", "2")) as scene:
        # The server holds whichever comes first.
        wait_until(lambda: sorted(scene.states()) == ["completed", "uploading"], "one is sent beside the other")
        scene.gate.set()
        scene.running.end().must(0, about="the run")


def given_back(words, bench):
    """`pause` and `pause --dest` give it back at once, while the transfer goes on."""
    with Ahead(bench, words=("run", "--watch", "--grace", "0s")) as scene:
        scene.rig.run(*words).must(0, about="pause")
        scene.given_back(" ".join(words))
        expect(scene.states()[0] == "uploading", "the transfer was stopped")
        scene.running.stop()
        scene.rig.run("resume", *words[1:]).must(0, about="resume")
        scene.ends_well()


def changed_destination(bench):
    """Other settings give it back at once, so that it is sent with them."""
    with Ahead(bench, words=("run", "--watch")) as scene:
        scene.rig.run("dest", "set", "api", "--lifetime", "30d").must(0, about="dest set")
        wait_until(lambda: any(one.outcome == "parked" for one in scene.rig.tries(scene.bundles[1])), "it is given back")
        scene.gate.set()
        scene.rig.run("wait", "--all", "--timeout", "60s", seconds=70).must(0, about="wait")
        scene.running.stop()
        scene.ends_well()


def blocked(bench):
    """An answer that blocks the destination gives it back."""
    with Ahead(bench, words=("run", "--watch")) as scene:
        scene.api.answer(Answer(503, headers={"Retry-After": "3600"}))
        scene.gate.set()
        # The first is stored; the answer to the second blocks the destination while the third is claimed.
        wait_until(lambda: scene.states() == ["completed", "pending", "pending"], "the destination is blocked")
        row = scene.rig.delivery(scene.bundles[2])
        expect((row.attempts, row.in_doubt, row.tried_at) == (0, 0, None), f"it counts as a try: {row}")
        expect(len(scene.api.seen()) == 2, "the third was sent")


def changed(command, bench):
    """A claimed delivery that the user holds or cancels is not sent, once the run has heard of it."""
    with Ahead(bench, words=("run", "--until-empty", "--json")) as scene:
        scene.rig.run(command, scene.bundles[1].id).must(0, about=command)
        state = scene.states()[1]
        expect(state in ("held", "cancelled"), f"is {state}")
        scene.wait_until_noticed()
        scene.gate.set()
        scene.running.end().must(0 if state == "cancelled" else 15, about="the run")
        expect(scene.states() == ["completed", state, "completed"], f"they are {scene.states()}")
        expect(len(scene.api.seen()) == 2, "it was sent")


def overtaken(bench):
    """A capture of a higher priority that comes meanwhile is sent first."""
    with Ahead(bench, words=("run", "--until-empty", "--json")) as scene:
        urgent = bench.stock[9]
        scene.rig.push(urgent, options=("--priority", "9"))
        scene.bundles.append(urgent)
        scene.wait_until_noticed()
        scene.gate.set()
        scene.running.end().must(0, about="the run")
        first, second, third, _ = (bundle.id for bundle in scene.bundles)
        expect(scene.sent() == [first, urgent.id, second, third], f"the order is {scene.sent()}")


class Held(Ahead):
    """Behind the first upload there is a session whose first member is held."""

    def prepare(self):
        members = self.bench.stock[1:3]
        self.rig.push(*members, options=("--session", "monday"))
        self.rig.run("hold", members[0].id).must(0, about="hold")
        # The held one last: the second of the bundles is claimed ahead.
        self.bundles += [members[1], members[0]]


def released(bench):
    """A member of a session that is released meanwhile is sent before the next one, which was claimed ahead."""
    with Held(bench, count=1, words=("run", "--until-empty", "--json")) as scene:
        first, second, earlier = (bundle.id for bundle in scene.bundles)
        scene.rig.run("release", earlier).must(0, about="release")
        scene.wait_until_noticed()
        scene.gate.set()
        scene.running.end().must(0, about="the run")
        expect(scene.sent() == [first, earlier, second], f"the order is {scene.sent()}")


def one_transaction(push, bench):
    """The result of a delivery and the claim of a later one are committed together, so a delivery costs one sync of the log."""
    require_strace()
    bundles = bench.bundles(24)
    with sending(bench, bundles, push=push) as (rig, _):
        log = rig.folder / "trace"
        # Syncs take longer than transfers, as on an SD card.
        watched = strace("--seccomp-bpf", "-y", "-e", "trace=fdatasync", "-e", "inject=fdatasync:delay_exit=50000", log=log)
        rig.run("run", "--until-empty", prefix=watched).must(0, about="run")
        syncs = sum("queue.sqlite-wal" in text for _, _, text in calls_in(log))
        expect(len(bundles) <= syncs <= len(bundles) + 6, f"{syncs} syncs of the log for {len(bundles)} deliveries")


def session(bench):
    """The members of a session are sent one after the other, and nothing of another one comes between them."""
    bundles = bench.stock[:4]
    with Scene(bench, count=1) as scene:
        scene.rig.push(*bundles[1:3], options=("--session", "monday"))
        scene.rig.push(bundles[3])
        scene.bundles = list(bundles)
        scene.gate.set()
        scene.running.end().must(0, about="the run")
        order = [scene.api.stored[place].photo for place in range(4)]
        expect(order == [bench.photo(bundle) for bundle in bundles], "another order")


def member(bench):
    """The next member is claimed while one is sent, and begins when that one has landed, also after news of other captures."""
    with Ahead(bench, words=("run", "--until-empty", "--json"), push=MONDAY) as scene:
        expect(scene.states() == ["uploading", "uploading", "pending"], f"they are {scene.states()}")
        scene.rig.push(bench.stock[9])
        scene.wait_until_noticed()
        scene.gate.set()
        scene.running.end().must(0, about="the run")
        expect(scene.sent()[:3] == [bundle.id for bundle in scene.bundles], "another order")
        tries = [len(scene.rig.tries(bundle)) for bundle in scene.bundles]
        expect(tries == [1, 1, 1], f"the members have {tries} tries")


def member_changed(words, bench):
    """A member that was claimed ahead is changed twice: it is still sent before the one after it."""
    with Ahead(bench, words=("run", "--until-empty", "--json"), push=MONDAY) as scene:
        for word in words:
            scene.rig.run(word, scene.bundles[1].id).must(0, about=word)
        scene.wait_until_noticed()
        scene.gate.set()
        scene.running.end().must(0, about="the run")
        expect(scene.sent() == [bundle.id for bundle in scene.bundles], f"the order is {scene.sent()}")


class HeldMember(Scene):
    """A session whose second member is held, so that the third is claimed ahead."""

    def prepare(self):
        self.rig.run("hold", self.bundles[1].id).must(0, about="hold")


def member_before(bench):
    """An earlier member that is released meanwhile comes first, also if the run does not hear of it."""
    require_strace()
    with HeldMember(bench, push=MONDAY) as scene:
        wait_until(lambda: scene.states() == ["uploading", "held", "uploading"], "a claim ahead")
        deaf = strace("-P", scene.rig.queue / "run.bell", "-e", "trace=openat", "-e", "inject=openat:error=ENOENT")
        scene.rig.run("release", scene.bundles[1].id, prefix=deaf).must(0, about="release")
        scene.gate.set()
        scene.running.end().must(0, about="the run")
        expect(scene.sent() == [bundle.id for bundle in scene.bundles], f"the order is {scene.sent()}")


def member_waits(bench):
    """A member that was claimed ahead waits again if the one before it does not land."""
    gate = threading.Event()
    with Ahead(bench, push=MONDAY) as scene:
        scene.api.answer(Answer(500, gate=gate))
        scene.gate.set()
        wait_until(lambda: scene.states() == ["completed", "uploading", "uploading"], "the third is claimed ahead")
        gate.set()
        scene.running.end().must(0, about="the run")
        first, second, third = (bundle.id for bundle in scene.bundles)
        expect(scene.sent() == [first, second, third], f"the order is {scene.sent()}")
        outcomes = [[one.outcome for one in scene.rig.tries(bundle)] for bundle in scene.bundles]
        expect(outcomes == [["completed"], ["unclear", "completed"], ["parked", "completed"]], f"the tries are {outcomes}")
        expect(scene.rig.delivery(scene.bundles[2]).attempts == 1, "the claim ahead counts as a try")


def member_taken(bench):
    """A transfer that ended takes the member that was claimed ahead for it, while its result is stored: nothing else is
    claimed before the next member."""
    bundles = bench.bundles(12)
    for _ in range(4):
        rig = bench.rig()
        rig.to_folder()
        for first in range(0, len(bundles), 4):
            rig.push(bundles[first])
            rig.push(*bundles[first + 1:first + 3], options=("--session", f"roof-{first}"))
            rig.push(bundles[first + 3])
        lines = rig.run("run").must(0, about="run").out.decode().splitlines()
        expect([line.split()[0] for line in lines] == [bundle.id for bundle in bundles], "another order")


def killed(is_known, bench):
    """After a kill only the delivery that has begun is in doubt. Without its file the next run asks about both."""
    with Ahead(bench) as scene:
        scene.running.kill()
        scene.gate.set()
        if not is_known:
            (scene.rig.queue / BEGUN).unlink()
        scene.ends_well()
        questions = len(scene.api.seen("verify"))
        expect(questions == (1 if is_known else 2), f"{questions} questions")
        outcomes = [[one.outcome for one in scene.rig.tries(bundle)] for bundle in scene.bundles]
        second = ["parked", "completed"] if is_known else ["lost", "completed"]
        expect(outcomes == [["lost", "completed"], second, ["completed"]], f"the tries are {outcomes}")
        expect([scene.rig.delivery(bundle).attempts for bundle in scene.bundles] == [1, 1, 1], "other attempts")


def restarted(boot, number):
    """The head of the file after a restart of the machine."""
    return boot[:-1] + (b"0" if boot[-1:] != b"0" else b"1"), number


def another_run(boot, number):
    """The head of the file of another run, whose claims were recovered."""
    return boot, number[::-1]


def not_believed(change, bench):
    """A file with another head is not believed: what it does not name can have begun."""
    with Ahead(bench) as scene:
        scene.running.kill()
        scene.gate.set()
        file = scene.rig.queue / BEGUN
        head, rest = file.read_bytes()[:128], file.read_bytes()[128:]
        file.write_bytes(b" ".join(change(*head.rstrip(b"\0").split())).ljust(128, b"\0") + rest)
        scene.ends_well()
        expect(len(scene.api.seen("verify")) == 2, "the file is believed")


def failed_between(bench):
    """A run that ends before it recovers, since the spool is not mounted, leaves the file to the next one."""
    with Ahead(bench) as scene:
        scene.running.kill()
        scene.gate.set()
        spool, away = scene.rig.queue / "spool", scene.rig.queue / "spool.away"
        spool.rename(away)
        scene.rig.run("run", "--once").must(74, about="a run without the spool")
        away.rename(spool)
        scene.ends_well()
        expect(len(scene.api.seen("verify")) == 1, "the file went with the run that failed")


TESTS = [
    ("one delivery is claimed ahead", only_one),
    ("nothing is claimed ahead while another transfer has nothing to send", shared),
    ("a lane sends what was claimed ahead for another one", handed_over),
    ("a member that is released overtakes the next one, which was claimed ahead", released),
    ("pause gives the claim ahead back at once", functools.partial(given_back, ("pause",))),
    ("pause --dest gives the claim ahead back at once", functools.partial(given_back, ("pause", "--dest", "api"))),
    ("dest set gives the claim ahead back at once", changed_destination),
    ("a block gives the claim ahead back", blocked),
    ("a delivery that was claimed ahead is held", functools.partial(changed, "hold")),
    ("a delivery that was claimed ahead is cancelled", functools.partial(changed, "cancel")),
    ("a higher priority overtakes a claim ahead", overtaken),
    ("a delivery costs one transaction", long(functools.partial(one_transaction, ()))),
    ("a member of a session costs one transaction", long(functools.partial(one_transaction, MONDAY))),
    ("members of a session come one after the other", session),
    ("the next member of a session is claimed ahead", member),
    ("the next member waits if the one before does not land", member_waits),
    ("a member that is held and released keeps its place", functools.partial(member_changed, ("hold", "release"))),
    ("a member that is cancelled and retried keeps its place", long(functools.partial(member_changed, ("cancel", "retry")))),
    ("a member that is released without a bell comes before later ones", long(member_before)),
    ("a member that was claimed ahead is taken while a result is stored", long(member_taken)),
    ("killed with a claim ahead: it is not in doubt", functools.partial(killed, True)),
    ("killed with a claim ahead, and run.begun is lost", functools.partial(killed, False)),
    ("killed with a claim ahead, and the machine restarts", functools.partial(not_believed, restarted)),
    ("killed with a claim ahead, and the file is another run's", functools.partial(not_believed, another_run)),
    ("killed with a claim ahead, and the next run fails before it recovers", failed_between),
]
