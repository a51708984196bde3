#!/usr/bin/env python3
"""Has a built capqueue send to real servers over broken networks.

usage: run.py CAPQUEUE CAPBUNDLE [--only WORD] [--seed N]

The servers are SeaweedFS, nginx, and a strict capture API that parses by Werkzeug and verifies by `cryptography`; the
network is loopback, with a proxy that does the harm. Prints a line for each test and a closing line; exit 0 only if
none failed. A server program that is missing is a failure. Families run side by side, four at a time. What is left to
chance (when a run is killed) follows the seed, which is printed. .ci/environment Sending makes the Python to run it by.
"""
import concurrent.futures
import importlib
import pathlib
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[1:1] = [str(TESTS / name) for name in ("QueueFaults", "Faults", "Outcomes")]
import suite  # noqa: E402
from outcomes import Failed, Outcomes  # noqa: E402  (after the lines above, so that they hold for it)
from rigs import SendingBench  # noqa: E402

# Those that take longest come first, so that no thread is left with one of them at the end.
FAMILIES = ["stalls", "crashes", "tokens", "hooks", "processing", "order", "running", "broken_lines", "http_answers",
            "watching", "doubt", "poison", "proofs", "early_success", "secrets_kept", "second_look", "twins", "markers",
            "network_loss", "tls_trust", "s3_store", "put_basics", "put_presigned", "redirects", "retry_after",
            "defects", "skew", "events", "http_contract", "http_basics"]
THREADS = 4


class Lines(Outcomes):
    """Outcomes of several threads. Nothing is skipped: what is missing for a test is an error."""

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
        chosen = {name: tests for name in FAMILIES if (tests := tests_of(name, options.only))}
        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            for done in [pool.submit(run, outcomes, bench, *item, options.times) for item in chosen.items()]:
                done.result()
    return outcomes.close()


def tests_of(name, word):
    """The tests of a family that are asked for."""
    try:
        family = importlib.import_module(name).FAMILY
    except ImportError as error:
        sys.exit(f"{name} needs {error.name}: use the Python of .ci/environment Sending")
    return [(f"{name}: {title}", function) for title, function in family if word in f"{name}: {title}"]


def run(outcomes, bench, _, tests, shows_times):
    for title, function in tests:
        start = time.monotonic()
        outcomes.run(title, function, bench)
        if shows_times:
            print(f"     {time.monotonic() - start:.1f} s: {title}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
