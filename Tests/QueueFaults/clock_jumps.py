"""The clock jumps by 30 days before any step of a capture's life, and back: everything is delivered, nothing is deleted.

The real tool runs under libfaketime, which changes only the wall clock of each command. StoredWaitsTests shows what each
stored time means, starts of the machine, and jumps in the middle of a run.
"""
import contextlib

from Kit.invariants import clean, gives
from Kit.outcomes import expect, long
from Kit.servers.scripted import Reply, Scripted, in_json
from QueueFaults.wrong_clocks import faked

RETRY = "0,1x9"  # so that the longest delay of the table is a second


class Store(Scripted):
    """Takes bundles and ends of sessions, unless `says` is the answer to everything."""

    def __init__(self):
        super().__init__(lambda request: self.says or (Reply(201) if request.method == "PUT" else in_json({})))
        self.says = None


class Life:
    """A queue with four captures, and the steps of their lives. A step may end with any code but those of damage."""

    def __init__(self, bench, store):
        self.rig, self.store, self.bundles = bench.rig(), store, bench.stock[:4]
        self.rig.run("dest", "add", "web", "--kind", "put", "--url", f"{store.url}/{{sha256}}", "--session-end-url",
                     f"{store.url}/end", "--retry", RETRY, "--lifetime", "20d", "--proof", "status").must(0, about="dest add")

    def run(self, *words, says=None):
        self.store.says = says
        self.rig.run(*words).must(0, 14, 15, about=" ".join(words))

    STEPS = {
        "push": lambda life: life.rig.push(life.bundles[0], options=("--session", "roof")),
        "429": lambda life: life.run("run", says=Reply(429, {"Retry-After": "1"})),
        "push after a block": lambda life: life.rig.push(life.bundles[1]),
        "a failure": lambda life: life.run("run", "--until-empty", "--max-duration", "2s", says=Reply(500)),
        "push with a span": lambda life: life.rig.push(life.bundles[2], options=("--not-before", "+1s")),
        "a success": lambda life: life.run("run", "--until-empty", "--max-duration", "3s"),
        "the end of a session": lambda life: life.run("session", "end", "roof"),
        "an end that nobody hears": lambda life: life.run("run", says=Reply(500)),
        "push of the last": lambda life: life.rig.push(life.bundles[3]),
        "a block that needs the user": lambda life: life.run("run", says=Reply(401)),
        "resume": lambda life: life.run("resume"),
        "hold": lambda life: life.run("hold", life.bundles[3].id),
        "release": lambda life: life.run("release", life.bundles[3].id),
        "prune": lambda life: expect(not life.rig.prune(), "prune deletes what was just stored"),
    }

    def play(self, offset, wrong):
        """Plays all steps, those in `wrong` with a clock that is off, and then judges with the right clock."""
        for name, step in self.STEPS.items():
            with faked(self.rig, offset) if name in wrong else contextlib.nullcontext():
                step(self)
        self.judge(hears=offset == "+30d" and wrong != ["resume"])

    def judge(self, hears):
        rig, bundles = self.rig, self.bundles
        said = rig.run("status", "--check").must(*[15] if hears else [0, 15], about="status --check")
        expect(not hears or b"sending can wait" in said.out, f"status --check says {said.out!r}")
        self.run("run", "--until-empty", "--max-duration", "30s")
        states = rig.query("SELECT state, error_message FROM deliveries")
        expect(states == [("completed", None)] * 4, f"are {states}")
        expect(rig.query("SELECT sent_at IS NOT NULL FROM markers") == [(1,)], "the end of the session is not told")
        taken = {request.path.strip("/") for request in self.store.seen("PUT")}
        expect(taken >= {bundle.sha256 for bundle in bundles}, "the server has not seen all of them")
        expect(not rig.prune(), "deleted too early")
        gives(rig, *bundles)
        expect(not rig.prune("--accept-clock"), "--accept-clock deletes what was just stored")
        rig.run("status", "--check").must(0, about="status --check after --accept-clock")
        rig.aged(*bundles, days=8)
        expect(set(rig.prune()) == {bundle.id for bundle in bundles}, "eight days later they stay")
        clean(rig)


def lives(bench, *cases):
    for offset, wrong in cases:
        with Store() as store:
            try:
                Life(bench, store).play(offset, wrong)
            except Exception as error:
                error.args = (f"{offset} at {', '.join(wrong)}: {error}",)
                raise


def ahead(bench):
    """The clock is ahead until the first capture has failed, and at the end of the session, and then right."""
    lives(bench, ("+30d", ["push", "429", "push after a block", "a failure", "push with a span",
                           "an end that nobody hears"]))


@long
def one_step(bench):
    lives(bench, *((offset, [name]) for name in Life.STEPS for offset in ("+30d", "-30d")))


@long
def from_a_step(bench):
    names = list(Life.STEPS)
    lives(bench, *((offset, names[index:]) for index in range(len(names)) for offset in ("+30d", "-30d")))


TESTS = [
    ("ahead while captures are pushed, refused and fail, and then right", ahead),
    ("at each step, ahead and behind", one_step),
    ("from each step on, ahead and behind", from_a_step),
]
