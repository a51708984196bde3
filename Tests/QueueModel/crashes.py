"""Kills a command at a system call that strace counts, or after some time.

strace kills at the entry of a call, before the kernel acts on it, and so reaches each step of a write. A kill after
some time is cheaper, and also hits code between calls and several threads at once.
"""
import dataclasses
import os
import signal
import subprocess

from injection import CALLS  # noqa: F401  (for modules that learn which calls a command makes)
from outcomes import PATIENCE, Skipped
from tracing import require_strace, separate


@dataclasses.dataclass(frozen=True)
class Crash:
    """A moment for a kill, as a fraction of the usual calls or time, which are not known when it is chosen."""
    traced: bool
    fraction: float


def run(argv, where, stdin, **options):
    """Runs a command; returns its exit code (-9 if killed, None if it hangs), output and errors."""
    prefix, delay = where or ([], None)
    with subprocess.Popen([*prefix, *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True, **options) as tool:
        try:
            out, err = tool.communicate(stdin, timeout=PATIENCE if delay is None else delay)
        except subprocess.TimeoutExpired:
            os.killpg(tool.pid, signal.SIGKILL)  # the group, because the tool behind strace would otherwise survive
            out, err = tool.communicate()
            return (None if delay is None else tool.returncode), out, err
    # These tests only kill, and strace always succeeds at that.
    return tool.returncode, out, separate(err)[0]


def can_trace():
    try:
        require_strace()
    except Skipped:
        return False
    return True
