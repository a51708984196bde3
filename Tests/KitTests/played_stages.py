"""Stages: what ends early or is skipped fails, all failures are shown, and a result is kept for its own tree only."""
import contextlib
import io
import subprocess
import sys
import types

from Kit import outputs, stages
from Kit.outcomes import expect
from Kit.stages import Stage

PASSES = ["sh", "-c", "echo 'ok   one: two (0.1 s)'; echo '1 passed, 0 failed, 0 skipped'"]
SWIFT = "echo '✔ Test one() passed after 0.5 seconds.'"
SWIFT_END = "echo '✔ Test run with 1 test in 1 suite passed after 0.6 seconds.'"


def played(folder, *made, first=False, resume=False):
    """Plays stages with small commands; returns the exit code, what was printed, and the stages in their order."""
    said, stages.RESULTS = io.StringIO(), folder / "results"
    play = stages.Play(made, types.SimpleNamespace(first=first, resume=resume))
    with contextlib.redirect_stdout(said):
        play.run()
        code = stages.closing(play.done, 1, len(play.done) == len(made))
    return code, said.getvalue(), play.done


def shell(name, line, **how):
    return Stage(name, "sh", "-c", line, **how)


def everything_passes(folder):
    code, said, _ = played(folder, Stage("first", *PASSES), shell("second", "true"))
    expect(code == 0 and "2 passed, 0 failed\n" in said and "everything passed" in said, said)


def failures_do_not_end_a_run(folder):
    ends = {"exits": "exit 3", "dies": "kill -9 $$", "fails": "echo 'FAIL one: two: it broke (0.2 s)'; exit 1"}
    code, said, done = played(folder, *(shell(*one) for one in ends.items()), Stage("last", *PASSES))
    expect(code == 1 and len(done) == 4, f"exit {code}, {len(done)} stages")
    for words in ("ended by signal 9 (SIGKILL)", "exit 3", "it broke", "NOT everything passed", "1 passed, 3 failed\n"):
        expect(words in said, f"no {words!r} in {said}")


def first_failure_ends_a_run(folder):
    code, said, done = played(folder, shell("fails", "exit 3"), shell("waits", "exec sleep 60"), Stage("last", *PASSES), first=True)
    expect(code == 1 and "ended before all stages" in said and len(done) < 3, said)


def needed_stages(folder):
    code, said, _ = played(folder, shell("build", "exit 1"), Stage("tests", *PASSES, needs=("build",)))
    expect(code == 1 and "not run, because build failed" in said, said)


def early_ends(folder):
    """A program that ends with 0 before its closing line has failed."""
    for name, line, reads in (("cut", "echo 'ok   one: two (0.1 s)'", outputs.lines), ("swift", SWIFT, outputs.swift),
                              ("killed", f"{SWIFT}; kill -9 $$", outputs.swift)):
        code, said, _ = played(folder, shell(name, line, reads=reads))
        expect(code == 1 and "closing line" in said, f"{name}: {said}")
    code, said, _ = played(folder, shell("whole", f"{SWIFT}; {SWIFT_END}", reads=outputs.swift))
    expect(code == 0 and "1 passed, 0 failed\n" in said, said)


def skips(folder):
    for reason, wanted in (("only root can do this", 0), ("nobody knows why", 1)):
        line = f"echo 'ok   one: two (0.1 s)'; echo 'skip one: three: {reason} (0.1 s)'; echo '1 passed, 0 failed, 1 skipped'"
        code, said, _ = played(folder, shell("skips", line))
        expect(code == wanted, f"{reason}: exit {code}: {said}")


def nothing_is_no_pass(folder):
    code, said, _ = played(folder, shell("empty", "echo '0 passed, 0 failed'"))
    expect(code == 1, said)


def kept_results(folder):
    """A result counts again on exactly its tree: not after a change, and not from a work tree with changes."""
    mark, real, stages.RESULTS = folder / "mark", stages.tree, folder / "results"
    count = lambda: mark.read_text().count("x") if mark.exists() else 0  # noqa: E731
    try:
        for tree, runs in (("a", 1), ("a", 1), ("b", 2), (None, 3), ("b", 4)):
            stages.tree = lambda tree=tree: tree
            played(folder, shell("counted", f"printf x >>{mark}"), resume=True)
            expect(count() == runs, f"tree {tree}: {count()} runs, expected {runs}")
    finally:
        stages.tree = real


def suites_end_early(folder):
    """A suite that cannot begin has failed, and one without the test that was asked for too."""
    done = subprocess.run([sys.executable, "Tests/run.py", "KitTests", "--only", "no such test"], cwd=stages.ROOT,
                          capture_output=True, text=True, timeout=60, check=False)
    expect(done.returncode == 1 and "0 passed, 0 failed" in done.stdout, f"exit {done.returncode}: {done.stdout}")


TESTS = [
    ("stages that pass", everything_passes), ("a failure ends no other stage", failures_do_not_end_a_run),
    ("--first stops at the first failure", first_failure_ends_a_run), ("a stage whose build failed", needed_stages),
    ("tests without their closing line", early_ends), ("a skip without a reason in skips.txt fails", skips),
    ("a stage without a test", nothing_is_no_pass), ("a result is kept for its own tree", kept_results),
    ("a suite without a test", suites_end_early),
]
