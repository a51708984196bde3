"""The lines of Spec/queue-alarms.md, and how one is judged.

    line = Causes()

    @line("the user holds it")
    def held(scene):
        scene.pushed(scene.folder())
        scene.run("hold", "--all").must(0)
        scene.judge()

    TESTS = line.tests

A cause leaves a capture that cannot arrive, and calls `judge` while whatever keeps it is still there.
"""
import contextlib
import dataclasses
import functools
import os
import re

from Alarms import alerts
from Kit.clocks import shifted
from Kit.disks import mounted
from Kit.outcomes import ROOT, expect, long
from QueueFaults.monitoring import metrics

PAGE = ROOT / "Spec/queue-alarms.md"
ROW = re.compile(r"\| (?P<cause>.+?) \| (?P<check>.+?) \| (?P<after>.+?) \| (?P<run>.+?) \| (?P<alert>.+?) \|")
GREEN = re.compile(r"\| (?P<cause>[^|]+?) \| [^|]+ \|")
MINUTE, HOUR = 60, 3600
AGE = ("--max-age", "1d")  # as tell.sh and the alerts have it
NO_RUN = "CapqueueNotRunning"  # after an hour, as designed: the tests run the tool now and then


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of the table. `concerns` is empty if `status --check` fails to read the queue."""

    code: int
    concerns: frozenset
    after: str
    runs: tuple  # the codes with which `run` may end; empty if there is no run
    alerts: tuple

    @property
    def is_by_age(self):
        return self.after == "a day"

    @property
    def count(self):
        """How many runs it takes."""
        words = {"a run": 1, "three runs": 3, "five runs": 5}
        return words.get(self.after, 1)


@functools.cache
def table():
    """All lines by their causes, in the order of the page. What stays green has no line, but None."""
    found = {}
    for text in PAGE.read_text().splitlines():
        row = ROW.fullmatch(text)
        green = GREEN.fullmatch(text)
        cause = (row or green or {"cause": "---"})["cause"]
        if cause in ("cause", "what", "---"):
            continue
        expect(cause not in found, f"{PAGE.name} has {cause!r} twice")
        found[cause] = row and line_of(row)
    return found


def line_of(row):
    code, _, concerns = row["check"].partition(" ")
    return Line(int(code), frozenset(re.findall(r"`([\w.]+)`", concerns)), row["after"],
                tuple(map(int, re.findall(r"\d+", row["run"]))), tuple(re.findall(r"\w+", row["alert"])))


class Causes:
    """The tests of a family: a cause for each of its lines."""

    def __init__(self):
        self.tests = []

    def __call__(self, title, quick=False):
        def add(cause):
            def test(bench):
                play(title, cause, bench)
            self.tests.append((title, test if quick else long(test)))
            return cause
        return add


def play(title, cause, bench):
    expect(title in table(), f"{PAGE.name} has no line for it")
    scene = Scene(bench, table()[title])
    cause(scene)
    expect(scene.is_judged, "the cause does not judge")


class Scene:
    """A queue, and the line by which it is judged. `place` is the mount in which the tool runs, if it needs one."""

    def __init__(self, bench, line):
        self.bench, self.line, self.rig, self.place = bench, line, bench.rig(), None
        self.is_judged = False

    @property
    def queue(self):
        return self.rig.env.get("CAPQUEUE_DIR", self.rig.queue)

    def run(self, *words, **how):
        return (self.place or self.rig).run(*words, **how)

    # Methods for causes.

    def folder(self, name="a"):
        """Adds a destination that is a folder, and returns the folder."""
        folder = self.rig.out / name
        folder.mkdir(exist_ok=True)
        self.run("dest", "add", name, "--kind", "folder", "--path", folder).must(0, about=f"dest add {name}")
        return folder

    def put(self, server, *options, name="a"):
        self.run("dest", "add", name, "--kind", "put", "--url", f"{server.url}/{{sha256}}", *options).must(0, about="dest add")

    def push(self, count=1, *options):
        """Pushes the first bundles of the stock, and returns them."""
        bundles = self.bench.stock[:count]
        self.run("push", *options, *(bundle.path for bundle in bundles)).must(0, about="push")
        return bundles

    def is_refused(self, *codes):
        """Checks that nothing more can be pushed."""
        self.run("push", self.bench.stock[9].path).must(*codes, about="push")

    def own_to(self, user):
        """Gives all files to a user who has no processes, and returns the beginning of commands that run as this user."""
        for place in (self.rig.folder, *self.rig.folder.rglob("*")):
            os.chown(place, user, user)
        return ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups")

    @contextlib.contextmanager
    def on_a_disk(self, mount):
        """Makes a mount the disk of the queue, which has a destination and a capture that waits."""
        self.rig.env["CAPQUEUE_DIR"] = str(self.rig.folder / "disk/queue")
        with mounted(self.rig, self.rig.folder / "disk", mount) as self.place:
            self.folder()
            self.push()
            yield

    # The judgement.

    def judge(self, *options, sends=None, age=0, again=True):
        """Runs as often as the line says, and looks at the queue before, in between and afterwards.

        `options` are those of the run; `sends` replaces it; `age` is how many seconds later the wait begins; `again` is whether
        a run can meet it by clocks that are a day ahead.
        """
        self.is_judged = True
        line = self.line
        sends = sends or (lambda: self.run("run", *options).must(*line.runs, about="run"))
        if line.after == "at once":
            self.is_red("before a run")
        elif line.after != "10 minutes":
            self.is_green("before a run")
        for number in range(line.count if line.runs else 0):
            sends()
            if number + 1 < line.count:
                self.is_green(f"after {number + 1} runs")
        if line.after == "10 minutes":
            self.is_green("after 9 minutes", 9 * MINUTE)
            series = self.is_red("after 11 minutes", 11 * MINUTE)
        elif line.is_by_age:
            series = self.is_green("two minutes later", 2 * MINUTE)
            self.is_green("23 hours later", age + 23 * HOUR)
            self.is_red("25 hours later", age + 25 * HOUR)
            if line.runs and not age and again:
                with self.later(25 * HOUR):
                    sends()
                self.is_red("25 hours later, after a run", 25 * HOUR)
        elif line.after == "an hour":
            self.is_green("after the run")
            with self.later(HOUR):
                sends()
            series = self.is_red("after a run an hour later", HOUR)
        else:
            series = self.is_red("after the run")
        self.alarms(series, age)

    def stays_green(self, *moments):
        """Looks so many seconds later."""
        self.is_judged = True
        for seconds in moments:
            series = self.is_green(f"after {seconds} s", seconds)
        alerts.play(self.rig.folder, series, None, ("25h", alerts.none_fires()))

    def turns_red(self, seconds):
        with self.later(seconds):
            self.run("status", "--check", *AGE).must(15, about="a day later")

    def later(self, seconds):
        """Moves all clocks of the commands, as sleep does: the wall clock, and those that count from the start."""
        return Later(self.rig, seconds)

    def look(self, seconds=0):
        """Returns the code of `status --check`, the concerns of the metrics, and the series; None if nothing can be read."""
        with self.later(seconds):
            code = self.run("status", "--check", *AGE).must(0, self.line.code if self.line else 0, about="status --check").code
            if self.line and not self.line.concerns and code == self.line.code:
                self.run("status", "--prometheus").must(code, about="status --prometheus")
                return code, None, {}
            series = metrics(self, *AGE)
        return code, {dict(key[1:])["code"] for key, value in series.items() if key[0] == "capqueue_concerns" and value}, series

    def is_green(self, about, seconds=0):
        code, concerns, series = self.look(seconds)
        expect((code, concerns) == (0, set()), f"{about}: red too early, {code} {concerns}")
        return series

    def is_red(self, about, seconds=0):
        code, concerns, series = self.look(seconds)
        wanted = self.line.concerns or None
        expect((code, concerns) == (self.line.code, wanted), f"{about}: is {code} {concerns}, not {self.line.code} {wanted}")
        waits = max(value for key, value in series.items() if key[0] == "capqueue_destination_oldest_waiting_seconds") \
            if self.line.is_by_age else 0
        expect(not self.line.is_by_age or waits > 24 * HOUR, f"{about}: the series says {waits} s")
        return series

    def alarms(self, series, age):
        """The alert of the line fires within a day and two hours, and before that none, but the one that nothing runs."""
        line = self.line
        early = ("2m", alerts.none_fires()) if not line.is_by_age or NO_RUN in line.alerts else ("23h", alerts.none_fires(NO_RUN))
        is_late = series and "CapqueueFailed" not in line.alerts
        alerts.play(self.rig.folder, series, age if line.is_by_age else None,
                    *((f"{age // HOUR + 26}h", alerts.fires(name)) for name in line.alerts), *[early] if is_late else [])


class Later:
    """While it is entered, the commands of a rig run that much later."""

    def __init__(self, rig, seconds):
        self.rig, self.seconds = rig, seconds

    def __enter__(self):
        if self.seconds:
            span = str(self.seconds)
            self.rig.before = ["unshare", "--time", "--fork", "--boottime", span, "--monotonic", span,
                               *shifted(f"+{span}s", "--exclude-monotonic")]
            self.rig.env["NO_FAKE_STAT"] = "1"  # the times of files stay as they are

    def __exit__(self, *_):
        self.rig.before = []
        self.rig.env.pop("NO_FAKE_STAT", None)
