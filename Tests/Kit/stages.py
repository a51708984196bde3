"""Plays the stages of `make test`, or of `make test-all`, and shows what came out.

A stage is a command. Two stages run at a time, because few stages keep two processors busy. A failure ends no other
stage (unless --first asks for it), so one run shows everything that is wrong. The output of each stage is kept in
.build/results, with its result and the tree that it tested.
"""
import argparse
import json
import os
import re
import shlex
import subprocess
import threading
import time

from Kit import clocks, outputs, processes
from Kit.outcomes import ROOT, ending, on_signals

RESULTS = ROOT / ".build/results"
SLOWEST = 10
LIMIT = 2400  # seconds until a stage of `make test` counts as hanging; CI ends a run after an hour


class Stage:
    """A command and its result.

    `reads` finds the tests in its output. `again(title, seed)` returns the words that repeat a failed test. `alone` is
    for a stage that needs the whole machine. It may begin when the stages that it `needs` have passed.
    """

    def __init__(self, name, *words, reads=outputs.command, again=None, alone=False, needs=(), limit=LIMIT,
                 **environment):
        self.name, self.words = name, [str(word) for word in words]
        self.reads, self.alone, self.needs = reads, alone, needs
        self.again = again or (lambda title, seed: self.words)
        self.limit, self.environment = limit, environment
        self.seconds, self.code, self.seed, self.tests = 0, None, None, []
        self.is_kept = self.is_cut = False  # is_cut: the run ended this stage early

    @property
    def log(self):
        return RESULTS / f"{self.name}.log"

    @property
    def passed(self):
        return self.code == 0 and not self.is_cut and not self.count("FAIL")

    def count(self, word):
        return sum(test.weight for test in self.tests if test.word == word)

    def run(self, is_over):
        """Runs the command to its end, or until `is_over()`, and reads the tests that it reports."""
        clocks.forget_the_killed()  # for those that call faketime in a shell
        began = time.monotonic()
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log, "wb") as log:
            try:
                process = subprocess.Popen(
                    self.words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                    env=os.environ | self.environment, start_new_session=True)
            except OSError as error:
                self.fail(f"cannot be started: {error}")
                return
            hangs = self._wait(process, began + self.limit, is_over)
        self.seconds = time.monotonic() - began
        text = self.log.read_text(errors="replace")
        self.seed = (re.findall(r"^seed (\d+)$", text, re.M) or [None])[0]
        self.tests = outputs.excused(self.reads(text, self.code))
        if self.is_cut:  # tests that failed before count, but not that it ended early
            self.tests = [test for test in self.tests if test.title]
        elif hangs:
            self.fail(f"still running after {self.limit} s; the last lines are in {self.log}")
        elif self.code and not self.count("FAIL"):
            self.fail(f"{ending(self.code)}; the last lines are in {self.log}")
        elif not self.count("FAIL") and not self.count("ok"):
            self.fail("no test passed")

    def _wait(self, process, end, is_over):
        """Waits for the end of the command, and ends it when its time is over; returns whether it was hanging."""
        while True:
            try:
                self.code = process.wait(0.1)
                processes.kill([process.pid], os.killpg)  # what it left, such as a server of a killed test
                return False
            except subprocess.TimeoutExpired:
                self.is_cut = is_over()
                if self.is_cut or time.monotonic() > end:
                    self.code = processes.end(process) or 1
                    return not self.is_cut

    def fail(self, reason):
        self.code = self.code or 1
        self.tests.append(outputs.Test("FAIL", "", reason, 0))

    def repeat(self, title):
        """Returns the command that repeats a failed test, for a shell in the root of the repository."""
        settings = [f"{name}={value.replace(str(ROOT), '$PWD')}" for name, value in self.environment.items()]
        return " ".join([*settings, *map(quoted, self.again(title, self.seed))])

    def failures(self):
        return [test for test in self.tests if test.word == "FAIL"]


def quoted(word):
    return word if word.startswith("$(.ci/") else shlex.quote(word.removeprefix(f"{ROOT}/"))


class Play:
    """All stages of a run, two at a time."""

    def __init__(self, stages, options):
        self.todo, self.options = list(stages), options
        self.done, self.is_over, self.tree, self.error = [], False, tree(), None
        # What others need is made again even if it passed, because a build may have been changed since.
        self._made = {name for stage in stages for name in stage.needs}
        self._changed = threading.Condition()
        self._busy = []

    def run(self):
        threads = [threading.Thread(target=self._lane) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():  # a wait without end may miss a signal that comes just before it
                thread.join(0.2)
        if self.error:
            raise self.error

    def stop(self, *_):
        """Ends the run: each lane ends its stage, and begins no other one."""
        self.is_over = True

    def _lane(self):
        try:
            while (stage := self._next()) is not None:
                self._play(stage)
        except Exception as error:  # such as a closed pipe; the other lane would wait for this stage for ever
            self.error = error
            self.stop()

    def _play(self, stage):
        kept = self.options.resume and stage.name not in self._made and read_result(stage, self.tree)
        if not kept:
            say(f"== {stage.name}")
            stage.run(lambda: self.is_over)
            write_result(stage, self.tree)
        with self._changed:
            self._busy.remove(stage)
            self.done.append(stage)
            self._changed.notify_all()
        word = "ended" if stage.is_cut else "ok  " if stage.passed else "FAIL"
        say(f"-- {word} {stage.name}: {stage.count('ok')} passed, {stage.count('FAIL')} failed, {stage.count('skip')} "
            "skipped, " + ("kept from an earlier run" if kept else f"{stage.seconds:.0f} s"))
        for test in stage.failures():
            say(f"   FAIL {test.title}{': ' if test.title else ''}{test.reason}")
        if self.options.first and not stage.passed:
            self.stop()

    def _next(self):
        """Waits for a stage that may begin, and returns it; None at the end."""
        with self._changed:
            while True:
                if not self.todo or self.is_over:
                    return None
                for stage in list(self.todo):  # in the order of the plan, where stages come after those that they need
                    failed = [other.name for other in self.done if other.name in stage.needs and not other.passed]
                    if failed:
                        self.todo.remove(stage)
                        stage.fail(f"not run, because {', '.join(failed)} failed")
                        self.done.append(stage)
                names = {stage.name for stage in self.done}
                for stage in self.todo:
                    is_free = not self._busy or not (stage.alone or self._busy[0].alone)
                    if stage.alone and not is_free:
                        break  # or others would go before it for ever
                    if is_free and set(stage.needs) <= names:
                        self.todo.remove(stage)
                        self._busy.append(stage)
                        return stage
                if not self.todo:
                    return None
                self._changed.wait(1)


def say(text):
    print(text + "\n", end="", flush=True)  # in one piece, because two lanes print


def tree():
    """Returns the name of the tree that is checked out, or None if the work tree differs from it."""
    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    return None if git("status", "--porcelain", "--untracked-files=normal") else git("rev-parse", "HEAD^{tree}") or None


def identity(stage, tested):
    """What must be equal for a result to count again: the tree, the command and its settings."""
    return [tested, stage.words, stage.environment]


def write_result(stage, began):
    """Keeps the result of a stage for RESUME=1. `began` is the tree at the beginning of the run."""
    facts = {"stage": stage.name, "of": identity(stage, began if tree() == began else None), "passed": stage.passed,
             "seconds": stage.seconds, "code": stage.code, "tests": [vars(test) for test in stage.tests]}
    (RESULTS / f"{stage.name}.json").write_text(json.dumps(facts))


def read_result(stage, tested):
    """Takes the result of an earlier run, if the stage passed on exactly this tree, and returns whether it did."""
    try:
        facts = json.loads((RESULTS / f"{stage.name}.json").read_text())
        if not tested or not facts["passed"] or facts["of"] != identity(stage, tested):
            return False
        stage.tests = [outputs.Test(**test) for test in facts["tests"]]
        stage.seconds, stage.code, stage.is_kept = facts["seconds"], 0, True
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return True


def table(stages, seconds):
    rows = [("stage", "seconds", "passed", "failed", "skipped")]
    rows += [(stage.name, f"{stage.seconds:.0f}{'*' if stage.is_kept else ''}", *(str(stage.count(word)) for word in
             ("ok", "FAIL", "skip"))) for stage in stages]
    sums = [sum(stage.count(word) for stage in stages) for word in ("ok", "FAIL", "skip")]
    rows.append(("together", f"{seconds:.0f}", *map(str, sums)))
    width = max(len(row[0]) for row in rows)
    for row in rows:
        say(f"{row[0]:<{width}} " + " ".join(f"{cell:>8}" for cell in row[1:]))
    if any(stage.is_kept for stage in stages):
        say("* kept from an earlier run on the same tree")
    return sums


def closing(stages, seconds, is_whole):
    """Prints the table, the slowest tests, the failures and the verdict; returns the exit code."""
    say("")
    passed, failed, _ = table(stages, seconds)
    slowest = sorted((test for stage in stages for test in stage.tests if test.title), key=lambda test: -test.seconds)
    say("\nthe slowest tests:" if slowest else "")
    for test in slowest[:SLOWEST]:
        say(f"{test.seconds:8.1f} s  {test.title}")
    for stage in stages:
        for test in stage.failures():
            say(f"\nFAIL {stage.name}: {test.title}{': ' if test.title else ''}{test.reason}")
            say(f"  alone: {stage.repeat(test.title)}")
    missing = "" if is_whole and not any(stage.is_cut for stage in stages) else "; it ended before all stages had run"
    say(f"\n{passed} passed, {failed} failed")
    verdict = failed == 0 and passed > 0 and is_whole and all(stage.passed for stage in stages)
    say(f"{'everything passed' if verdict else 'NOT everything passed'} in {seconds:.0f} s{missing}")
    return 0 if verdict else 1


def main(words):
    parser = argparse.ArgumentParser(prog="Tests/run.py", description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="the stages of `make test-all`")
    parser.add_argument("--only", default="", metavar="WORD",
                        help="the stages with this word in their names, and the stages that these need")
    parser.add_argument("--first", action="store_true", help="stop at the first failure")
    parser.add_argument("--resume", action="store_true",
                        help="leave out what passed on exactly this tree; builds are repeated")
    parser.add_argument("--list", action="store_true", help="print the stages and their commands")
    options = parser.parse_args(words)
    from Kit import plan  # the plan uses Stage
    known = plan.stages(options.all)
    chosen = {stage.name for stage in known if options.only in stage.name}
    if not chosen:
        parser.error(f"no stage has {options.only!r} in its name")
    for stage in reversed(known):  # what a stage needs stands before it
        chosen |= set(stage.needs) if stage.name in chosen else set()
    stages = [stage for stage in known if stage.name in chosen]
    if options.list:
        for stage in stages:
            say(f"{stage.name}: {stage.repeat('')}")
        return 0
    return play(stages, options)


def play(stages, options):
    began, run = time.monotonic(), Play(stages, options)
    on_signals(run.stop)
    run.run()
    return closing(run.done, time.monotonic() - began, len(run.done) == len(stages))
