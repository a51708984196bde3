#!/usr/bin/env python3
"""Lets a built capqueue send to real servers over broken networks.

usage: run.py CAPQUEUE CAPBUNDLE [--only WORD] [--seed N]

The servers are SeaweedFS, nginx, and a strict capture API that parses with Werkzeug and verifies with `cryptography`.
The network is loopback, and a proxy damages it. The program prints a line for each test and a closing line, and exits
with 0 only if no test failed. A missing server program is a failure. Random choices, such as when a run is killed,
depend on the seed, which is printed. `.ci/environment Sending` makes the Python that runs this program.

Each file in a folder is a family of tests with a list FAMILY of titles and functions; a file beside this one is a
family if it has such a list. Code that several families use is in support/, and no family imports another. Four
families run at a time. Families with a long SECONDS, the time that they take, start first.
"""
import concurrent.futures
import importlib.util
import pathlib
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE / "support"), *(str(HERE.parent / name) for name in ("QueueFaults", "Faults", "Outcomes"))]
import suite  # noqa: E402
from outcomes import Failed, Outcomes  # noqa: E402  (the lines above make these modules importable)
from rigs import SendingBench  # noqa: E402

THREADS = 4


class Lines(Outcomes):
    """The outcomes of several threads. No test is skipped: a test fails if something that it needs is missing."""

    def __init__(self):
        super().__init__()
        self._lock = threading.Lock()

    def say(self, word, text):
        with self._lock:
            super().say("FAIL" if word == "skip" else word, text)


def main():
    options = suite.arguments("Tests of a capqueue binary against servers.")
    outcomes = Lines()
    with tempfile.TemporaryDirectory(prefix="capqueue-sending-", ignore_cleanup_errors=True) as folder:
        try:
            bench = SendingBench(options.capqueue, options.capbundle,
                                 pathlib.Path(folder).resolve(), options.seed)
        except Failed as reason:
            outcomes.say("FAIL", f"bundles are made: {reason}")
            return outcomes.close()
        # Start the longest families first, so that no thread is left with one of them at the end.
        chosen = sorted(families(), key=lambda item: -getattr(item[1], "SECONDS", 0))
        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            for done in [pool.submit(run, outcomes, bench, tests_of(name, module, options.only), options.times)
                         for name, module in chosen]:
                done.result()
    return outcomes.close()


def families():
    """Returns the name of each family, which is its path, and its module."""
    found = []
    for path in sorted(HERE.rglob("*.py")):
        place = path.relative_to(HERE)
        if place.parts[0] in ("run.py", "support"):
            continue
        module = loaded(path, ".".join(place.with_suffix("").parts))
        if hasattr(module, "FAMILY"):
            found.append((str(place.with_suffix("")), module))
        elif len(place.parts) > 1:
            sys.exit(f"{place} has no FAMILY: tests need one, and shared code belongs in support/")
    return found


def loaded(path, name):
    """Imports the module of a file. Files in folders get names with a dot, so that `import` finds none of them."""
    try:
        if "." not in name:
            return importlib.import_module(name)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses look their module up in sys.modules
        spec.loader.exec_module(module)
        return module
    except ImportError as error:
        sys.exit(f"{path.relative_to(HERE)} needs {error.name}: use the Python of .ci/environment Sending")


def tests_of(name, module, word):
    """Returns the tests of a family whose titles contain the word."""
    return [(f"{name}: {title}", function) for title, function in module.FAMILY if word in f"{name}: {title}"]


def run(outcomes, bench, tests, shows_times):
    for title, function in tests:
        start = time.monotonic()
        outcomes.run(title, function, bench)
        if shows_times:
            print(f"     {time.monotonic() - start:.1f} s: {title}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
