#!/usr/bin/env python3
"""Tests the tests: an early end is reported, and messages of strace do not count as output of the tool: check.py

It needs no build. It runs the stages of .ci/test with small commands, and a script as strace, which fails as strace
can.
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import types

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(ROOT / "Tests/Faults"), str(ROOT / "Tests/Outcomes")]
from bench import Rig  # noqa: E402  (the lines above make these modules importable)
from checks import Result  # noqa: E402
from injection import Call, prefix, sweep  # noqa: E402
from outcomes import Failed, Outcomes, expect  # noqa: E402
from tracing import NotInjected, TRIES, calls_in  # noqa: E402

CLOSING = "Test run with [1-9][0-9]* tests.* passed"
REMARK = "strace: Failed to tamper with process 42: unexpectedly got no error (return value 0x1)"
# Counts its runs in $RUNS. The first $BAD runs make no fault and report that; the others run the command.
STRACE = f"""#!/bin/sh
echo >>"$RUNS"
[ "$(wc -l <"$RUNS")" -gt "$BAD" ] || echo "{REMARK}" >&2
echo "strace: Process 43 attached" >&2
while [ "${{1#/}}" = "$1" ] || [ ! -x "$1" ]; do shift; done
exec "$@"
"""
TOOL = """#!/bin/sh
echo "tool: error: no space left" >&2
exit 74
"""


def run_stages(*stages, before=""):
    script = "\n".join(["set -eu", ". .ci/stages", before, *stages, 'echo "all $stages passed"'])
    return subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def ends_with(ended, *words):
    """Checks that the stage failed, and that its last message contains these words."""
    expect(ended.returncode != 0, f"exit 0 after {ended.stdout!r}")
    told = ended.stderr[ended.stderr.find("make test: FAILED at: "):]
    expect(ended.stderr.count("FAILED at") == 1, f"says {ended.stderr!r}")
    for word in words:
        expect(word in told, f"no {word!r} in {told!r}")


def stages_pass():
    closed = "echo 'Test run with 3 tests in 1 suite passed after 1 second.'"
    ended = run_stages("stage one true", f"stage_with_last_words '{CLOSING}' two {closed}")
    expect((ended.returncode, ended.stderr) == (0, ""), f"exit {ended.returncode}: {ended.stderr!r}")
    expect("all 2 passed" in ended.stdout and "in 1 suite" in ended.stdout, f"prints {ended.stdout!r}")


def stage_fails():
    ended = run_stages("stage one true", "stage two sh -c 'exit 3' two", "stage three true")
    ends_with(ended, "exit 3 two: exit code 3\n")


def stage_is_killed():
    for number, name in ((9, "SIGKILL"), (11, "SIGSEGV"), (15, "SIGTERM")):
        ended = run_stages(f"stage one sh -c 'kill -{number} $$' one")
        ends_with(ended, f"one: ended by signal {number} ({name})\n")


def stage_is_cut_short():
    """If a stage ends with exit code 0, or by a signal, before the closing line, its last lines are shown."""
    stage = f"stage_with_last_words '{CLOSING}' one"
    ends_with(run_stages(f"{stage} echo 'Test seven started.'"), "exit code 0 without", "Test seven started.")
    ended = run_stages(f"{stage} sh -c 'echo Test eight started.; kill -9 $$'")
    ends_with(ended, "ended by signal 9 (SIGKILL) without", "Test eight started.")
    ended = run_stages(f"{stage} sh -c 'echo Test run with 3 tests passed; exit 1'")
    ends_with(ended, "exit code 1")


def between_stages():
    ends_with(run_stages("stage one true", "sh -c 'exit 5'"), "after: true: exit code 5")
    ended = run_stages("stage one true", "kill -TERM $$", "stage two true")
    ends_with(ended, "ended by signal 15 (SIGTERM)")


def stages_side_by_side():
    """The stages of a function that runs beside others are counted, and its failure is reported once. If another stage
    fails, the function is ended."""
    def both(beside, after):
        return run_stages("beside others", *after, "rejoin", "stage last true", before=f"others() {{ {beside}; }}")

    ended = both("stage first echo one; stage second echo two", ["stage third echo three"])
    expect((ended.returncode, ended.stderr) == (0, ""), f"exit {ended.returncode}: {ended.stderr!r}")
    expect("all 4 passed" in ended.stdout and "one" in ended.stdout, f"prints {ended.stdout!r}")
    ends_with(both("stage first sh -c 'exit 7' it; stage second true", ["stage third true"]), "exit 7 it: exit code 7\n")
    # A shell can forget the exit code of a process that ended long ago. Here it does, because it is asked twice.
    forgotten = 'wait "$other_group" || true'
    ended = both("stage first true", [forgotten])
    expect((ended.returncode, ended.stderr) == (0, ""), f"exit {ended.returncode}: {ended.stderr!r}")
    ends_with(both("stage first sh -c 'exit 7' it", [forgotten]), "exit 7 it: exit code 7\n")
    ends_with(both("sh -c 'kill -9 $PPID'", [forgotten]), "the stages beside the others")
    with tempfile.TemporaryDirectory() as name:
        mark = pathlib.Path(name) / "still"
        begun = pathlib.Path(name) / "begun"
        ended = both(f"stage first sh -c 'touch {begun}; while :; do echo >>{mark}; sleep 0.05; done'",
                     [f"while ! [ -e {begun} ]; do sleep 0.05; done; stage third sh -c 'exit 5' that"])
        ends_with(ended, "exit 5 that: exit code 5\n")
        mark.write_text("")
        time.sleep(0.5)
        expect(mark.read_text() == "", "the stages beside go on after the end")


def codes_are_named():
    for code, words in ((-9, "signal 9 (SIGKILL)"), (3, "exit 3"), (-int(signal.SIGRTMAX), "signal 64")):
        try:
            Result(code, b"", b"").must(0)
        except Failed as reason:
            expect(words in str(reason), f"no {words!r} in {str(reason)!r}")


def trials(folder, bad):
    """Sweeps over one call while strace makes no fault in `bad` runs; returns problems, number of runs, last result."""
    for name, text in (("strace", STRACE), ("tool", TOOL)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    bench = types.SimpleNamespace(binary=folder / "tool", raw=None)
    rig = Rig(bench, folder / "rig")
    rig.env |= {"PATH": f"{folder}:{os.environ['PATH']}", "RUNS": str(folder / "runs"), "BAD": str(bad)}
    results = []

    def trial(call):
        results.append(rig.run(prefix=prefix(call, "error=ENOSPC"), executable=folder / "strace"))
        return [] if results[-1].text == "tool: error: no space left\n" else [results[-1].text]

    try:
        problems = sweep([Call("write", 1, "")], trial)
    finally:
        runs = (folder / "runs").read_text().count("\n")
    return problems, runs, results


def calls_are_whole():
    """With two threads at once each call is found once, with its result, in the order in which calls began."""
    lines = ['10    openat(AT_FDCWD, "queue", O_RDONLY <unfinished ...>', "11    fdatasync(7 <unfinished ...>",
             "10    <... openat resumed>) = 9", "10    fsync(9)    = 0", "11    <... fdatasync resumed>) = -1 EIO (broken)",
             "12    exit_group(0 <unfinished ...>", "12    +++ exited with 0 +++"]
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder, "trace")
        log.write_text("\n".join(lines))
        found = calls_in(log)
    expect(found == [("10", "openat", 'AT_FDCWD, "queue", O_RDONLY) = 9'), ("11", "fdatasync", "7) = -1 EIO (broken)"),
                     ("10", "fsync", "9)    = 0"), ("12", "exit_group", "0")], f"found {found}")


def remarks_are_no_words():
    with tempfile.TemporaryDirectory() as folder:
        problems, runs, results = trials(pathlib.Path(folder), 0)
    expect(not problems and runs == 1, f"{problems} after {runs} runs")
    expect(b"attached" in results[0].remarks, f"the remarks are {results[0].remarks!r}")
    try:
        results[0].must(0)
    except Failed as reason:
        expect("attached" in str(reason), f"a failure does not show the remarks: {reason}")


def made_again():
    with tempfile.TemporaryDirectory() as folder:
        problems, runs, results = trials(pathlib.Path(folder), 2)
    expect(not problems and (runs, len(results)) == (3, 1), f"{problems}; {len(results)} of {runs} runs count")


def never_made():
    with tempfile.TemporaryDirectory() as folder:
        try:
            trials(pathlib.Path(folder), 1000)
        except NotInjected as reason:
            expect("unexpectedly got no error" in str(reason), f"the reason is {reason}")
        else:
            raise Failed("a fault that was never made counts")
        expect((pathlib.Path(folder) / "runs").read_text().count("\n") == TRIES, "not as often as said")


TESTS = {
    "stages that pass": stages_pass, "a stage that fails: its exit code": stage_fails,
    "a stage that is killed: the signal": stage_is_killed, "tests without their closing line": stage_is_cut_short,
    "what ends between stages": between_stages, "stages that run side by side": stages_side_by_side,
    "a tool that is killed: the signal": codes_are_named,
    "a trace of several threads has whole calls": calls_are_whole,
    "strace's remarks are not the tool's words": remarks_are_no_words,
    "a fault that strace did not make is made again": made_again, "and is skipped when it never can": never_made,
}


def main():
    outcomes = Outcomes()
    for title, function in TESTS.items():
        outcomes.run(title, function)
    return outcomes.close()


if __name__ == "__main__":
    sys.exit(main())
