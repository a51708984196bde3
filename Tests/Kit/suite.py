"""Plays one suite: finds its tests, gives each the suite's bench, times it, and prints a line for each.

A suite is a folder of Tests with a file `suite.py`, which has

    PROGRAMS   the programs under test, by the names of their options
    LANES      how many families may run at a time (1 if it is missing)
    bench      a context manager that takes the options and a temporary folder; its value is given to each test

and with modules that have a list TESTS of titles and functions. Such a module is a family; other modules contain shared
code. Families with a long SECONDS start first.
"""
import argparse
import concurrent.futures
import importlib
import os
import pathlib
import random
import shutil
import tempfile
import threading
import time

from Kit import processes
from Kit.outcomes import IS_LONG, ROOT, Failed, Skipped, expect, on_signals

PROGRAMS = {"capbundle": ".build/debug/capbundle", "capqueue": ".build/debug/capqueue",
            "receiver": ".build-receiver/release/receiver", "phone": ".build-phone/release/phone-pack"}


def families(suite):
    """Returns (name, module) of each family of a suite."""
    folder = ROOT / "Tests" / suite
    found = []
    for path in sorted(folder.rglob("*.py")):
        if path.name in ("suite.py", "run.py") or "TESTS" not in path.read_text():
            continue
        place = path.relative_to(folder).with_suffix("")
        module = importlib.import_module(".".join([suite, *place.parts]))
        if hasattr(module, "TESTS"):
            expect(module.TESTS, f"{path}: TESTS is empty")
            found.append((str(place), module))
    return sorted(found, key=lambda family: -getattr(family[1], "SECONDS", 0))


class Lines:
    """Prints and counts the outcomes of tests, from several threads."""

    def __init__(self, stops_at_first=False):
        self.counts = {"ok": 0, "FAIL": 0, "skip": 0}
        self._lock, self._stops_at_first, self.is_left = threading.Lock(), stops_at_first, False

    @property
    def is_over(self):
        return self.is_left or self._stops_at_first and self.counts["FAIL"] > 0

    def run(self, title, function, *arguments):
        """Runs one test and prints its line."""
        began = time.monotonic()
        try:
            function(*arguments)
        except Skipped as reason:
            self.say("skip", title, began, str(reason))
        except Failed as reason:
            self.say("FAIL", title, began, str(reason))
        except (Exception, SystemExit) as error:  # the other tests still run if one breaks
            # Print only the type, because the text of an error may quote contents of a capture.
            self.say("FAIL", title, began, f"the test broke: {type(error).__name__} at {_place(error)}")
        else:
            self.say("ok", title, began)

    def say(self, word, title, began, reason=""):
        with self._lock:
            if self.is_left:  # without its tools every test fails
                return
            self.counts[word] += 1
            text = f"{title}: {reason}" if reason else title
            print(f"{word:<4} {_printable(text)} ({time.monotonic() - began:.1f} s)", flush=True)

    def close(self):
        """Prints the closing line and returns the exit code. If no test ran, that is a failure."""
        print(f"{self.counts['ok']} passed, {self.counts['FAIL']} failed, {self.counts['skip']} skipped", flush=True)
        return 1 if self.counts["FAIL"] or not self.counts["ok"] else 0


def _place(error):
    """Returns the innermost line of our own code."""
    place, step = "", error.__traceback__
    while step:
        file = pathlib.Path(step.tb_frame.f_code.co_filename).resolve()
        if ROOT / "Tests" in file.parents:
            place = f"{file.name}:{step.tb_lineno}"
        step = step.tb_next
    return place


def _printable(text, limit=1000):
    """Returns the text without terminal control characters, cut to a limit."""
    text = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    return text if len(text) <= limit else f"{text[:limit]}…"


def parser_of(suite, module):
    parser = argparse.ArgumentParser(prog=f"Tests/run.py {suite}", description=module.__doc__)
    parser.add_argument("--only", default="", metavar="WORD", help="tests whose family or title has this word")
    parser.add_argument("--first", action="store_true", help="stop at the first failure")
    parser.add_argument("--seed", type=int, metavar="N", help="repeats the random choices of another run")
    parser.add_argument("--list", action="store_true", help="print the titles, and which of them are long")
    for name in module.PROGRAMS:
        parser.add_argument(f"--{name}", type=pathlib.Path, default=ROOT / PROGRAMS[name], metavar="FILE")
    for name, text in getattr(module, "FLAGS", {}).items():
        parser.add_argument(f"--{name}", action="store_true", help=text)
    for name, (number, text) in getattr(module, "NUMBERS", {}).items():
        parser.add_argument(f"--{name}", type=int, default=number, metavar="N", help=f"{text} ({number})")
    return parser


def options_of(suite, module, words):
    parser = parser_of(suite, module)
    options = parser.parse_args(words)
    for name in module.PROGRAMS:
        program = getattr(options, name)
        if not program.is_file():
            parser.error(f"there is no {program}: build it first, or name it with --{name}")
        setattr(options, name, program.resolve())
    options.seed = random.randrange(1_000_000) if options.seed is None else options.seed
    return options


def play(suite, words):
    """Plays the tests of a suite that its options choose, and returns the exit code."""
    module = importlib.import_module(f"{suite}.suite")
    options = options_of(suite, module, words)
    chosen = []
    for name, family in families(suite):
        tests = [(f"{name}: {title}", function) for title, function in family.TESTS]
        tests = [(title, function) for title, function in tests if options.only in title and
                 (IS_LONG or options.only or options.list or not getattr(function, "is_long", False))]
        chosen += [tests] if tests else []
    if options.list:
        for title, function in (test for tests in chosen for test in tests):
            print("long" if getattr(function, "is_long", False) else "    ", title)
        return 0
    expect(chosen, f"no test of {suite} has {options.only!r} in its title")
    print(f"seed {options.seed}", flush=True)
    lines = Lines(options.first)
    with tempfile.TemporaryDirectory(prefix=f"{suite}-", ignore_cleanup_errors=True) as folder:
        on_signals(lambda *_: leave(lines, folder))
        try:
            with module.bench(options, pathlib.Path(folder).resolve()) as bench:
                with concurrent.futures.ThreadPoolExecutor(getattr(module, "LANES", 1)) as pool:
                    playing = [pool.submit(_play_family, lines, tests, bench) for tests in chosen]
                    while concurrent.futures.wait(playing, 0.2).not_done:  # as Play.run waits
                        pass
                    for done in playing:
                        done.result()
        except Failed as reason:
            lines.say("FAIL", "what the tests need is made", time.monotonic(), str(reason))
    return lines.close()


def leave(lines, folder):
    """Ends this process at once, because a signal asks for it, with its tools and servers and without its files."""
    on_signals(lambda *_: None)
    lines.is_left = True
    print("ended before all tests had run", flush=True)
    end = time.monotonic() + 0.5
    while time.monotonic() < end:  # a test that has lost its tool may start another one
        processes.kill(processes.descendants(os.getpid()))
        time.sleep(0.05)
    shutil.rmtree(folder, ignore_errors=True)
    processes.kill(processes.descendants(os.getpid()))
    os._exit(130)


def _play_family(lines, tests, bench):
    for title, function in tests:
        if not lines.is_over:
            lines.run(title, function, bench)
