"""Runs that a signal or a closed pipe ends: nothing that they started runs on. And suites that end in odd ways."""
import ctypes
import os
import signal
import subprocess
import sys
import textwrap
import time

from Kit import processes
from Kit.outcomes import ROOT, expect

BEGIN = f"import pathlib, sys, types; sys.path.insert(0, {str(ROOT / 'Tests')!r})\n"
STAGES = BEGIN + """
from Kit import stages
stages.RESULTS = pathlib.Path(sys.argv[1])
line = f"setsid sleep 62.7 & echo $! >{sys.argv[1]}/pid; wait"
sys.exit(stages.play([stages.Stage("a", "true"), stages.Stage("b", "sh", "-c", line),
                      stages.Stage("c", "true", needs=("b",))], types.SimpleNamespace(first=False, resume=False)))
"""
# A suite named Fake, whose test starts a tool in a session of its own.
SUITE = BEGIN + """
sys.path.insert(0, sys.argv[1] + "/Tests")
from Kit import suite
suite.ROOT = pathlib.Path(sys.argv[1])
sys.exit(suite.play("Fake", sys.argv[2:]))
"""
TOOL = """
    from Kit.rigs import Home
    tool = "sleep 62.7 & echo $! >" + str(folder.parents[1] / "pid") + "; wait"
    Home(folder / "home").call("sh", "-c", tool)
"""


def begun(program, folder, *words, **how):
    """Starts a Python program, or a command if it is a list."""
    command = program if isinstance(program, list) else [sys.executable, "-c", program, folder, *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, stderr=subprocess.STDOUT,
                            env=os.environ | {"TMPDIR": str(folder / "tmp")}, **how)


def suite_of(folder, test, more="", name="Fake"):
    """Writes a suite with one test, whose lines are `test`, and more lines of its module."""
    place = folder / "Tests" / name
    place.mkdir(parents=True)
    (folder / "tmp").mkdir()
    (place / "suite.py").write_text("import contextlib\nPROGRAMS = ()\n@contextlib.contextmanager\n"
                                    "def bench(_, folder):\n    yield folder\n")
    (place / "family.py").write_text(f"def test(folder):\n{textwrap.indent(textwrap.dedent(test), '    ')}\n"
                                     f"TESTS = [('a title', test)]\n{more}\n")
    return folder


def ended(folder, program, number, **how):
    """Begins a program, waits for the tool that it starts, sends a signal, and returns (exit code, output, tool).

    The signal goes to the newest thread: the main thread then has to notice it without being woken, as it does when a
    signal comes just before it begins to wait.
    """
    with begun(program, folder, **how) as run:
        end = time.monotonic() + 60
        while not ((folder / "pid").exists() and (folder / "pid").read_text()) and time.monotonic() < end:
            time.sleep(0.02)
        ctypes.CDLL(None).tgkill(run.pid, max(map(int, os.listdir(f"/proc/{run.pid}/task"))), number)
        said = run.communicate(timeout=60)[0]
        return run.returncode, said, int((folder / "pid").read_text())


def by_signals(folder):
    for number, program in ((signal.SIGINT, STAGES), (signal.SIGTERM, STAGES), (signal.SIGTERM, SUITE)):
        place = suite_of(folder / f"{number}-{len(program)}", TOOL)
        code, said, tool = ended(place, program, number)
        expect(code in (1, 130) and "ended before all" in said and "\neverything passed" not in said,
               f"{number}: exit {code}: {said}")
        expect(not processes.began(tool), f"{number}: the tool still runs: {said}")
        expect(not list((place / "tmp").iterdir()), f"{number}: leaves {list((place / 'tmp').iterdir())}")


def below_make(folder):
    """SIGTERM for make alone reaches .ci/test, also with a choice of stages."""
    for number, words in enumerate((["test"], ["test", "ONLY=some stages"], ["test-all", "RESUME=1", "ONLY=x"])):
        place = folder / f"make{number}"
        (place / ".ci").mkdir(parents=True)
        (place / ".ci/test").write_text("#!/bin/sh\necho $$ >pid\nexec sleep 62.7\n")
        (place / ".ci/test").chmod(0o755)
        _, said, run = ended(place, ["make", "-f", ROOT / "Makefile", "-C", place, *words], signal.SIGTERM)
        expect(not processes.began(run), f"{words}: it still runs: {said}")


def beyond_hangup(folder):
    """nohup protects a run, but not what it tests."""
    line = "grep SigIgn /proc/self/status"
    program = STAGES.replace("setsid sleep 62.7 &", f"{line}; true & sleep 1;")
    folder = suite_of(folder / "nohup", "pass")
    code, said, _ = ended(folder, program, signal.SIGHUP,
                          preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    ignored = int((folder / "b.log").read_text().split()[1], 16)
    expect(code == 0 and not ignored & 1, f"exit {code}, ignored signals {ignored:x}: {said}")


def closed_pipe(folder):
    """Nobody reads the output, as with `make test | head -1`: the run ends, and has failed."""
    folder = suite_of(folder / "pipe", "pass")
    with begun(STAGES.replace('Stage("a", "true")', 'Stage("a", "sleep", "0.5")'), folder) as run:
        run.stdout.readline()
        run.stdout.close()
        expect(run.wait(60) == 1, f"exit {run.returncode}")
    tool = folder / "pid"
    expect(not tool.exists() or not processes.began(int(tool.read_text())), "a stage still runs")


def odd_suites(folder):
    """A suite that ends in an odd way has failed, says so, and says what is wrong."""
    cases = {"exits with 0": ("raise SystemExit(0)", "", (), "the test broke: SystemExit"),
             "no such test": ("pass", "", ("--only", "nothing"), "no test of Fake has 'nothing' in its title"),
             "an empty family": ("pass", "TESTS = []", (), "TESTS is empty"),
             "a family that breaks": ("pass", "raise ValueError", (), "ValueError")}
    for name, (test, more, words, said) in cases.items():
        with begun(SUITE, suite_of(folder / name, test, more), *words) as run:
            out = run.communicate(timeout=60)[0]
        expect(run.returncode and said in out, f"{name}: exit {run.returncode}: {out}")


TESTS = [("signals end a run with all that it started", by_signals), ("SIGTERM for make", below_make),
         ("nohup protects a run", beyond_hangup), ("a closed pipe ends a run", closed_pipe), ("suites that end in odd ways", odd_suites)]
