"""Faults that strace makes: its remarks are not the tool's output, and a fault that was not made counts for nothing."""
import os
import pathlib
import signal
import tempfile
import types

from Kit.injection import Call, prefix, sweep
from Kit.outcomes import Failed, Result, expect
from Kit.rigs import Rig
from Kit.tracing import NotInjected, TRIES, calls_in

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


def codes_are_named(_):
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


def calls_are_whole(_):
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


def remarks_are_no_words(_):
    with tempfile.TemporaryDirectory() as folder:
        problems, runs, results = trials(pathlib.Path(folder), 0)
    expect(not problems and runs == 1, f"{problems} after {runs} runs")
    expect(b"attached" in results[0].remarks, f"the remarks are {results[0].remarks!r}")
    try:
        results[0].must(0)
    except Failed as reason:
        expect("attached" in str(reason), f"a failure does not show the remarks: {reason}")


def made_again(_):
    with tempfile.TemporaryDirectory() as folder:
        problems, runs, results = trials(pathlib.Path(folder), 2)
    expect(not problems and (runs, len(results)) == (3, 1), f"{problems}; {len(results)} of {runs} runs count")


def never_made(_):
    with tempfile.TemporaryDirectory() as folder:
        try:
            trials(pathlib.Path(folder), 1000)
        except NotInjected as reason:
            expect("unexpectedly got no error" in str(reason), f"the reason is {reason}")
        else:
            raise Failed("a fault that was never made counts")
        expect((pathlib.Path(folder) / "runs").read_text().count("\n") == TRIES, "not as often as said")


TESTS = [
    ("a tool that is killed: the signal", codes_are_named),
    ("a trace of several threads has whole calls", calls_are_whole),
    ("strace's remarks are not the tool's words", remarks_are_no_words),
    ("a fault that strace did not make is made again", made_again),
    ("and is skipped when it never can", never_made),
]
