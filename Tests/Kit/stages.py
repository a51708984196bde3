"""Plays the stages of `make test`, or of `make test-all`, and shows what came out.

A stage is a command. Two stages run at a time, since few of them keep two processors busy. A failure ends no other stage
(unless --first asks for it), so one run shows everything that is wrong. What a stage prints is kept below
.build/results, with its result: its commit, and whether the work tree was clean.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import threading
import time

from Kit import outputs
from Kit.outcomes import ROOT, ending

RESULTS = ROOT / ".build/results"
SLOWEST = 10


class Stage:
    """A command and its result. `reads` counts what it printed; `alone` is for a stage that needs the whole machine."""

    def __init__(self, name, *words, reads=outputs.lines, again=None, alone=False, needs=(), **environment):
        self.name, self.words, self.reads, self.alone, self.needs = name, [str(word) for word in words], reads, alone, needs
        self.again = again or (lambda title: f"{' '.join(map(quoted, self.words))}")
        self.environment = environment
        self.seconds, self.code, self.tests, self.is_kept = 0, None, [], False

    @property
    def log(self):
        return RESULTS / f"{self.name}.log"

    @property
    def passed(self):
        return self.code == 0 and not self.count("FAIL")

    def count(self, word):
        return sum(test.weight for test in self.tests if test.word == word)

    def run(self, running):
        """Runs the command to its end, and reads the tests that it reports."""
        began = time.monotonic()
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log, "wb") as log:
            process = subprocess.Popen(self.words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                       env=os.environ | self.environment, start_new_session=True)
            running.append(process)
            self.code = process.wait()
            running.remove(process)
        self.seconds = time.monotonic() - began
        self.tests = outputs.excused(self.reads(self.log.read_text(errors="replace"), self.code))
        if self.code and not self.count("FAIL"):
            self.tests.append(outputs.Test("FAIL", "", f"{ending(self.code)}; the last lines are in {self.log}", 0))

    def failures(self):
        return [test for test in self.tests if test.word == "FAIL"]


def quoted(word):
    word = word.removeprefix(f"{ROOT}/")
    return word if re.fullmatch(r"[\w@%+=:,./*-]+", word) else "'" + word.replace("'", "'\\''") + "'"


class Play:
    """All stages of a run, two at a time."""

    def __init__(self, stages, options):
        self.todo, self.options = list(stages), options
        self.done, self.running, self.is_over = [], [], False
        self._changed = threading.Condition()
        self._busy = []

    def run(self):
        threads = [threading.Thread(target=self._lane) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def stop(self, *_):
        self.is_over = True
        for process in list(self.running):
            try:
                os.killpg(process.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass

    def _lane(self):
        while (stage := self._next()) is not None:
            kept = self.options.resume and read_result(stage)
            if not kept:
                say(f"== {stage.name}")
                stage.run(self.running)
                if not self.is_over:
                    write_result(stage)
            with self._changed:
                self._busy.remove(stage)
                self.done.append(stage)
                self._changed.notify_all()
            say(f"-- {'ok  ' if stage.passed else 'FAIL'} {stage.name}: {stage.count('ok')} passed, {stage.count('FAIL')} "
                f"failed, {stage.count('skip')} skipped, " + ("kept from an earlier run" if kept else f"{stage.seconds:.0f} s"))
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
                failed = {stage.name for stage in self.done if not stage.passed}
                for stage in list(self.todo):
                    if failed & set(stage.needs):
                        self.todo.remove(stage)
                        stage.tests = [outputs.Test("FAIL", "", f"not run, because {', '.join(stage.needs)} failed", 0)]
                        stage.code = 1
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
    print(text, flush=True)


def tree():
    """Returns the name of the tree that is checked out, or None if the work tree differs from it."""
    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    return None if git("status", "--porcelain") else git("rev-parse", "HEAD^{tree}") or None


def write_result(stage):
    """Keeps the result of a stage, so that RESUME=1 need not repeat it on the same tree."""
    tests = [vars(test) for test in stage.tests]
    facts = {"stage": stage.name, "words": stage.words, "tree": tree(), "seconds": stage.seconds, "code": stage.code,
             "tests": tests}
    (RESULTS / f"{stage.name}.json").write_text(json.dumps(facts))


def read_result(stage):
    """Takes the result of an earlier run, if the stage passed on exactly this tree, and returns whether it did."""
    try:
        facts = json.loads((RESULTS / f"{stage.name}.json").read_text())
        tests = [outputs.Test(**test) for test in facts["tests"]]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    now = tree()
    if not now or (facts["tree"], facts["words"], facts["code"]) != (now, stage.words, 0) or any(
            test.word == "FAIL" for test in tests):
        return False
    stage.seconds, stage.code, stage.tests, stage.is_kept = facts["seconds"], 0, tests, True
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
    say(f"\nthe {SLOWEST} slowest tests:")
    for test in slowest[:SLOWEST]:
        say(f"{test.seconds:8.1f} s  {test.title}")
    for stage in stages:
        for test in stage.failures():
            say(f"\nFAIL {stage.name}: {test.title}{': ' if test.title else ''}{test.reason}\n  alone: {stage.again(test.title)}")
    missing = "" if is_whole else "; it ended before all stages had run"
    say(f"\n{passed} passed, {failed} failed")
    verdict = failed == 0 and passed > 0 and is_whole and all(stage.passed for stage in stages)
    say(f"{'everything passed' if verdict else 'NOT everything passed'} in {seconds:.0f} s{missing}")
    return 0 if verdict else 1


def main(words):
    parser = argparse.ArgumentParser(prog="Tests/run.py", description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="the stages of `make test-all`")
    parser.add_argument("--only", default="", metavar="WORD", help="the stages whose names have this word, and the builds that they need")
    parser.add_argument("--first", action="store_true", help="stop at the first failure")
    parser.add_argument("--resume", action="store_true", help="leave out what passed on exactly this tree")
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
            say(f"{stage.name}: {' '.join(map(quoted, stage.words))}")
        return 0
    if options.all:
        os.environ["CAPTURE_TESTS"] = "all"
    began = time.monotonic()
    play = Play(stages, options)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, play.stop)
    play.run()
    return closing(play.done, time.monotonic() - began, len(play.done) == len(stages))
