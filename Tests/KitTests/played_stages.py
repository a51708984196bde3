"""Stages that end early or skip tests fail, all failures are shown, and RESUME=1 uses only results of the same tree."""
import contextlib
import io
import types

from Kit import outputs, stages
from Kit.outcomes import Failed, expect
from Kit.stages import Stage

PASSES = ["sh", "-c", "echo 'ok   one: two (0.1 s)'; echo '1 passed, 0 failed, 0 skipped'"]
SWIFT = "echo '✔ Test one() passed after 0.5 seconds.'"
SWIFT_CASES = ("echo '✘ Test goes(_:) recorded an issue with 1 argument name → \"a.txt\" at A.swift:4:1: it broke';"
               "echo '✘ Test goes(_:) with 4 test cases failed after 0.5 seconds with 1 issue.'")
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
    ends = {"exits": "exit 3", "dies": "kill -9 $$",
            "fails": "echo 'FAIL one: two: it broke (0.2 s)'; echo '0 passed, 1 failed'; exit 1"}
    code, said, done = played(folder, *(shell(*one) for one in ends.items()), Stage("gone", "/no/such/program"),
                              shell("waits", "true", needs=("gone",)), Stage("last", *PASSES))
    expect(code == 1 and len(done) == 6, f"exit {code}, {len(done)} stages")
    for words in ("ended by signal 9 (SIGKILL)", "exit 3", "it broke", "NOT everything passed", "1 passed, 5 failed\n",
                  "cannot be started", "alone: /no/such/program"):
        expect(words in said, f"no {words!r} in {said}")


def first_failure_ends_a_run(folder):
    """The stage beside it is ended and is not a failure, but a test that failed in it before is."""
    for line, failed in (("true", 1), ("echo 'FAIL one: two: broke (0.2 s)'", 2)):
        mark = folder / f"printed{failed}"
        code, said, done = played(folder, shell("fails", f"until [ -e {mark} ]; do sleep 0.05; done; exit 3"),
                                  shell("waits", f"{line}; touch {mark}; sleep 60"), Stage("last", *PASSES), first=True)
        expect(code == 1 and "ended before all stages" in said and len(done) < 3, said)
        expect(f"0 passed, {failed} failed\n" in said and "SIGTERM" not in said, said)


def needed_stages(folder):
    """What needs a failed stage is not run, nor what needs that; the message names only the stage that failed."""
    code, said, _ = played(folder, shell("build", "sleep 0.3; exit 1"), Stage("ready", *PASSES),
                           shell("tools", "true", needs=("ready", "build")),
                           Stage("tests", *PASSES, needs=("tools", "ready")))
    expect(code == 1 and "not run, because build failed" in said and "1 passed, 3 failed" in said, said)


def early_ends(folder):
    """A program that ends before its closing line has failed, whatever it printed and however it ended."""
    for name, line, reads in (("cut", "echo 'ok   one: two (0.1 s)'", outputs.lines), ("swift", SWIFT, outputs.swift),
                              ("empty", "echo 'seed 3'", outputs.lines), ("killed", f"{SWIFT}; kill -9 $$", outputs.swift),
                              ("broken", "echo 'FAIL one: two: three (0.1 s)'; exit 1", outputs.lines)):
        code, said, _ = played(folder, shell(name, line, reads=reads))
        expect(code == 1 and "closing line" in said, f"{name}: {said}")
    _, said, _ = played(folder, shell("cases", f"{SWIFT_CASES}; {SWIFT_END}", reads=outputs.swift))
    expect('goes(_:): name → "a.txt" A.swift:4:1: it broke' in said, said)
    code, said, _ = played(folder, shell("whole", f"{SWIFT}; {SWIFT_END}", reads=outputs.swift))
    expect(code == 0 and "1 passed, 0 failed\n" in said, said)


def skips(folder):
    for reason, wanted in (("only root can do this", 0), ("nobody knows why", 1)):
        line = f"echo 'ok   one: two (0.1 s)'; echo 'skip one: three: {reason} (0.1 s)'; echo '1 passed, 0 failed, 1 skipped'"
        code, said, _ = played(folder, shell("skips", line))
        expect(code == wanted, f"{reason}: exit {code}: {said}")
    for line in (" ", "only root", "| why", "only root |"):
        try:
            outputs.reasons(f"# a comment\n\nonly root | why\n{line}\n")
        except Failed:
            continue
        raise Failed(f"skips.txt may have the line {line!r}")


def nothing_is_no_pass(folder):
    code, said, _ = played(folder, shell("empty", "echo '0 passed, 0 failed'"), Stage("last", *PASSES))
    expect(code == 1 and "no test passed" in said, said)


def hanging(folder):
    """A stage that is still running at its limit is ended, with what it started."""
    code, said, _ = played(folder, shell("hangs", "setsid sleep 61.7 & echo $!; wait", limit=1))
    left = (folder / "results/hangs.log").read_text().split()[0]
    expect(code == 1 and "still running after 1 s" in said, said)
    expect(not stages.processes.began(int(left)), "what the stage started still runs")


def kept_results(folder):
    """A result counts again on exactly its tree: not after a change, and not from a work tree with changes."""
    mark, real, stages.RESULTS = folder / "mark", stages.tree, folder / "results"
    count = lambda: mark.read_text().count("x") if mark.exists() else 0  # noqa: E731
    # ["c", "b"] is a run that begins with one tree and ends with another one.
    trees = (["a"], ["a"], ["b"], [None], ["b"], ["c", "b"], ["b"], ["c"])
    try:
        for (first, *then), runs in zip(trees, (1, 1, 2, 3, 4, 5, 6, 7)):
            answers = iter([first, *then])
            stages.tree = lambda: next(answers, (then or [first])[-1])  # noqa: B023
            played(folder, shell("counted", f"printf x >>{mark}"), resume=True)
            expect(count() == runs, f"tree {first}: {count()} runs, expected {runs}")
        # Another setting makes another stage, and what others need is made again.
        for how, runs in (({"CAPTURE_TESTS": "all"}, 8), ({"CAPTURE_TESTS": "all"}, 8)):
            played(folder, shell("counted", f"printf x >>{mark}", **how), resume=True)
            expect(count() == runs, f"{how}: {count()} runs, expected {runs}")
        for runs in (9, 10):
            played(folder, shell("counted", f"printf x >>{mark}"), shell("last", "true", needs=("counted",)), resume=True)
            expect(count() == runs, f"a build: {count()} runs, expected {runs}")
    finally:
        stages.tree = real


TESTS = [
    ("stages that pass", everything_passes), ("a failure ends no other stage", failures_do_not_end_a_run),
    ("--first stops at the first failure", first_failure_ends_a_run), ("a stage whose build failed", needed_stages),
    ("tests without their closing line", early_ends), ("a skip without a reason in skips.txt fails", skips),
    ("a stage without a test", nothing_is_no_pass), ("a stage that hangs", hanging),
    ("a result is kept for its own tree", kept_results),
]
