"""Builds everything with ThreadSanitizer in .build-tsan, and plays the tests of CaptureQueue and four scenarios of Sending.

usage: Tests/run.py Threads [--only WORD]

A race is a failure, with its report in .build-tsan/races, even if the test itself passed. First a planted race must be
reported, and threads that wait for a lock must not be.
"""
import argparse
import os
import shutil
import subprocess
import sys

from Kit import outputs
from Kit.outcomes import ROOT, Failed, ending, expect
from Kit.suite import Lines

HERE, BUILD = ROOT / "Tests/Threads", ROOT / ".build-tsan"
RACES, PROGRAMS = BUILD / "races", BUILD / "debug"
# Transfers side by side, a claim that goes to another thread, an end from outside in mid-transfer, a block of all threads.
SCENARIOS = ("runs/watch_wait_status: --concurrency",
             "runs/claims_ahead: a lane sends what was claimed ahead for another one",
             "runs/signals_and_pauses: pause --now of a capture that is half sent",
             "order/blocked_destinations: a server that refuses all, in each run")
# Without the long tests: the others take eight minutes here.
SETTINGS = os.environ | {"TSAN_OPTIONS": f"log_path={RACES}/race exitcode=0", "CAPTURE_TESTS": ""}
HOUR = 3600


def call(*words, seconds=HOUR, **how):
    return subprocess.run([str(word) for word in words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=seconds, check=False, **{"input": "", **how})


def must(*words, **how):
    done = call(*words, **how)
    expect(done.returncode == 0, f"{words[0]}: {ending(done.returncode)}: {done.stdout[-2000:]}")
    return done.stdout


def build():
    """The object file goes to the linker of every program, so that no target of ours depends on it."""
    BUILD.mkdir(exist_ok=True)
    waiting = BUILD / "mutex.o"
    must("clang", "-O1", "-fPIC", "-fsanitize=thread", "-Wall", "-Werror", "-c", HERE / "mutex.c", "-o", waiting)
    must("swiftc", "-O", "-swift-version", "5", "-sanitize=thread", HERE / "planted.swift", waiting, "-o", BUILD / "planted")
    must("swift", "build", "--build-tests", "--sanitize=thread", "--scratch-path", BUILD, "-Xlinker", waiting)


def reports():
    """What ThreadSanitizer wrote since the last call; the files stay."""
    found = [path for path in sorted(RACES.glob("race.*")) if path.stat().st_size]
    texts = [path.read_text(errors="replace") for path in found]
    for path in found:
        path.rename(path.with_name(f"kept-{path.name}"))
    return texts


def without_races(test):
    def judged():
        try:
            test()
        finally:
            texts = reports()
            print(call("swift", "demangle", "--simplified", input="\n".join(texts)).stdout, flush=True)
        summaries = sorted({line for text in texts for line in text.splitlines() if line.startswith("SUMMARY: ")})
        expect(not texts, f"{len(texts)} processes had races, see {RACES}: {'; '.join(summaries)[:600]}")
    return judged


def planted():
    must(BUILD / "planted", "racing", env=SETTINGS)
    expect(any("WARNING: ThreadSanitizer: data race" in text for text in reports()), "a race is not reported")
    expect(must(BUILD / "planted", "locked", env=SETTINGS).strip() == "8000", "a lock does not lock")
    texts = reports()
    expect(not texts, f"threads that wait for a lock count as a race: {''.join(texts)[:2000]}")


def swift_tests():
    done = call(PROGRAMS / "capture-bundlePackageTests.xctest", "--testing-library", "swift-testing", "--filter",
                "^CaptureQueueTests[.]", env=SETTINGS)
    tests = outputs.swift(done.stdout, done.returncode)
    failed = [f"{test.title}: {test.reason}" for test in tests if test.word == "FAIL"]
    print(f"{sum(test.word == 'ok' for test in tests)} tests of CaptureQueue passed", flush=True)
    expect(not failed and done.returncode == 0, f"{ending(done.returncode)}: {'; '.join(failed)[:1000]}")


def scenario(title):
    def test():
        words = [f"--{name}={PROGRAMS}/{name}" for name in ("capqueue", "capbundle")]
        done = call(sys.executable, "Tests/run.py", "Sending", *words, "--only", title, env=SETTINGS)
        expect(done.returncode == 0 and "1 passed, 0 failed" in done.stdout, done.stdout[-1000:])
    return test


TESTS = [("a planted race is reported, and a lock is none", planted), ("the tests of CaptureQueue", without_races(swift_tests)),
         *((title, without_races(scenario(title))) for title in SCENARIOS)]


def main():
    parser = argparse.ArgumentParser(prog="Tests/run.py Threads", description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", metavar="WORD", help="what has this word in its title")
    options = parser.parse_args()
    chosen = [(title, test) for title, test in TESTS if options.only in title]
    if not chosen:
        raise Failed(f"no test has {options.only!r} in its title")
    build()
    shutil.rmtree(RACES, ignore_errors=True)
    RACES.mkdir(parents=True)
    lines = Lines()
    for title, test in chosen:
        lines.run(f"Threads: {title}", test)
    return lines.close()
