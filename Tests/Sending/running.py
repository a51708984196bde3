"""Runs beside what users do meanwhile: pausing, holding, cancelling, signals, a second run."""
import functools
import signal
import threading
import time

from capture_api import Answer, CaptureAPI
from checks import expect
from rigs import wait_until

ENDED = {signal.SIGTERM: (15, 143, -signal.SIGTERM), signal.SIGINT: (15, 130, -signal.SIGINT),
         signal.SIGHUP: (15, 129, -signal.SIGHUP)}


class Scene:
    """A server that keeps the first upload waiting, and a run in the middle of it."""

    def __init__(self, bench, count=3, is_half=False, words=("run", "--until-empty"), options=()):
        self.bench, self.rig, self.gate = bench, bench.rig(), threading.Event()
        self.api = CaptureAPI(bench.public, buffer=65536 if is_half else None)
        first = bench.big() if is_half else bench.stock[0]
        self.bundles = [first, *bench.stock[1:count]]
        self.reads, self.words, self.options = 500_000 if is_half else None, words, options

    def __enter__(self):
        self.api.__enter__()
        self.api.answer(Answer(gate=self.gate, reads=self.reads))
        self.rig.http(self.api.url, *self.options)
        self.rig.push(*self.bundles)
        self.running = self.rig.start(*self.words)
        wait_until(self.is_in_flight, "the first upload is under way")
        return self

    def __exit__(self, *_):
        self.running.kill()
        self.gate.set()
        self.api.__exit__()

    def is_in_flight(self):
        expect(self.running.is_alive, f"the run has ended: {self.running.err.read_text()[-300:]!r}")
        requests = self.api.seen()
        return requests and (requests[0].length == self.reads if self.reads else requests[0].digest)

    def states(self):
        return [self.rig.delivery(bundle).state for bundle in self.bundles]

    def ends_well(self):
        """One more run brings all the rest, and the server holds each once."""
        self.gate.set()
        self.rig.send("--until-empty", code=0)
        self.api.holds(*map(self.bench.photo, self.bundles))
        expect(set(self.states()) == {"completed"}, f"in the end they are {self.states()}")


def two_runs(bench):
    """The second run of a queue answers 10 at once; the first goes on."""
    with Scene(bench) as scene:
        for words in (["--once"], ["--until-empty"], ["--watch"]):
            scene.rig.send(*words, code=10, about=f"run {words[0]} beside a run")
        scene.gate.set()
        scene.running.end().must(0, about="the first run")
        scene.ends_well()


def asked_to_end(number, bench):
    """What is under way is brought to its end, nothing new is begun."""
    with Scene(bench) as scene:
        scene.running.tell(number)
        scene.rig.push(bench.stock[9])
        expect(scene.running.is_alive, "the run ends with a transfer under way")
        scene.gate.set()
        scene.running.end().must(*ENDED[number], about=number.name)
        expect(scene.states() == ["completed", "pending", "pending"], f"they are {scene.states()}")
        expect(len(scene.api.seen()) == 1, "another transfer was begun")
        scene.bundles.append(bench.stock[9])
        scene.ends_well()


def asked_twice(is_half, bench):
    """A second signal parks at once: no attempt is burned, and what was sent whole is in doubt."""
    with Scene(bench, is_half=is_half, words=("run", "--until-empty", "--grace", "1h")) as scene:
        scene.running.tell()
        time.sleep(0.5)  # two signals that wait for the same moment are one to the kernel
        expect(scene.running.is_alive, "one signal ends it at once")
        scene.running.stop().must(*ENDED[signal.SIGTERM], about="the second signal")
        row = scene.rig.delivery(scene.bundles[0])
        expect((row.state, row.attempts) == ("pending", 0), f"is {row.state} after {row.attempts} attempts")
        expect(bool(row.in_doubt) == (not is_half), f"in doubt: {row.in_doubt}")
        scene.ends_well()


def grace(bench):
    """When its time is over, what is under way is parked."""
    with Scene(bench, words=("run", "--until-empty", "--grace", "1s")) as scene:
        scene.running.stop().must(*ENDED[signal.SIGTERM], about="after the grace")
        expect(scene.states() == ["pending"] * 3, f"they are {scene.states()}")
        expect(scene.rig.delivery(scene.bundles[0]).attempts == 0, "the parked one burned an attempt")
        scene.ends_well()


def duration(bench):
    """--max-duration ends a run as a signal does."""
    with Scene(bench, words=("run", "--watch", "--max-duration", "1s", "--grace", "1s")) as scene:
        scene.running.end().must(15, about="after --max-duration")
        expect(scene.states() == ["pending"] * 3, f"they are {scene.states()}")
        scene.ends_well()


def paused(bench):
    """`pause`: the current one is finished, no other begun, by no run, until `resume`."""
    with Scene(bench, words=("run", "--watch", "--json")) as scene:
        scene.rig.run("pause").must(0, about="pause")
        wait_until(lambda: scene.running.saw("paused"), "the run notices")
        scene.gate.set()
        wait_until(lambda: scene.running.saw("completed"), "the current one is finished")
        scene.rig.push(bench.stock[9])
        expect(scene.rig.status()["paused"] is True, "status does not say so")
        scene.running.stop()
        scene.rig.send("--until-empty", code=15, about="run of a paused queue")
        expect(len(scene.api.seen()) == 1, "a paused queue sends")
        with scene.rig.start("run", "--watch") as running:
            scene.rig.run("resume").must(0, about="resume")
            scene.rig.run("wait", "--all", "--timeout", "60s", seconds=70).must(0, about="wait")
            running.stop()
        expect(not scene.rig.status().get("paused"), "status says paused after resume")
        scene.bundles.append(bench.stock[9])
        scene.ends_well()


def paused_now(is_half, bench):
    """`pause --now` gives back what is under way, and burns nothing."""
    with Scene(bench, is_half=is_half, words=("run", "--watch")) as scene:
        scene.rig.run("pause", "--now").must(0, about="pause --now")
        wait_until(lambda: scene.states() == ["pending"] * 3, "all are given back")
        row = scene.rig.delivery(scene.bundles[0])
        expect((row.attempts, bool(row.in_doubt)) == (0, not is_half), f"{row.attempts} attempts, {row.in_doubt}")
        expect(len(scene.api.seen()) == 1 and scene.running.is_alive, "goes on sending, or has ended")
        scene.running.stop()
        scene.rig.run("resume").must(0, about="resume")
        scene.ends_well()


def paused_destination(bench):
    """`pause --dest`: one destination stands still, the other does not."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as one, CaptureAPI(bench.public) as two:
        rig.http(one.url, name="one")
        rig.http(two.url, name="two")
        rig.run("pause", "--dest", "one").must(0, about="pause --dest")
        rig.push(*bench.stock[:2], options=("--dest", "one", "--dest", "two"))
        rig.send("--until-empty", code=15)
        two.holds(*map(bench.photo, bench.stock[:2]))
        expect(not one.requests, "a paused destination is sent to")
        paused_ones = [line["name"] for line in rig.status()["destinations"] if line.get("paused")]
        expect(paused_ones == ["one"], f"status shows {paused_ones} as paused")
        rig.run("resume", "--dest", "one").must(0, about="resume --dest")
        rig.send("--until-empty", code=0)
        one.holds(*map(bench.photo, bench.stock[:2]))
        rig.run("pause", "--dest", "none").must(78, about="pause of no destination")


def stopped_by_user(command, state, is_half, bench):
    """`hold` or `cancel` of what is under way stops it at once, and the next one goes."""
    with Scene(bench, is_half=is_half) as scene:
        scene.rig.run(command, scene.bundles[0].id).must(0, about=command)
        wait_until(lambda: len(scene.api.seen()) > 1, "the next one goes")
        expect(scene.states()[0] == state, f"is {scene.states()[0]} after {command}")
        # Whatever the server still says to the first, the user's word stays.
        scene.gate.set()
        scene.running.end()
        expect(scene.states() == [state, "completed", "completed"], f"they are {scene.states()}")
        scene.rig.run({"hold": "release", "cancel": "retry"}[command], scene.bundles[0].id).must(0)
        scene.ends_well()


FAMILY = [
    ("two runs at one queue: 10", two_runs),
    *((f"{number.name}: what is under way is finished", functools.partial(asked_to_end, number)) for number in ENDED),
    ("a second signal parks what is sent whole", functools.partial(asked_twice, False)),
    ("a second signal parks what is half sent", functools.partial(asked_twice, True)),
    ("--grace", grace),
    ("--max-duration", duration),
    ("pause and resume", paused),
    ("pause --now of what is sent whole", functools.partial(paused_now, False)),
    ("pause --now of what is half sent", functools.partial(paused_now, True)),
    ("pause --dest", paused_destination),
    *((f"{command} while it is sent, {'half' if is_half else 'whole'}",
       functools.partial(stopped_by_user, command, state, is_half))
      for command, state in (("hold", "held"), ("cancel", "cancelled")) for is_half in (True, False)),
]
