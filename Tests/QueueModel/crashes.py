"""A command that is killed: at a system call that strace counts, or after a while.

strace kills at the entry of a call, before the kernel acts on it, and so reaches each step of a write. A kill after a
while is cheaper, and reaches what happens between calls and in several threads at once.
"""
import dataclasses
import os
import signal
import subprocess

from injection import CALLS  # noqa: F401  (for those who learn which of them a command makes)
from outcomes import PATIENCE, Skipped
from tracing import require_strace, separate


@dataclasses.dataclass(frozen=True)
class Crash:
    """Where to kill, as a fraction of what the command usually does, so that it can be chosen before that is known."""
    traced: bool
    fraction: float


def run(argv, where, stdin, **options):
    """Exit code (-9 of a command that was killed, None of one that hangs), output, errors."""
    prefix, delay = where or ([], None)
    with subprocess.Popen([*prefix, *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True, **options) as tool:
        try:
            out, err = tool.communicate(stdin, timeout=PATIENCE if delay is None else delay)
        except subprocess.TimeoutExpired:
            os.killpg(tool.pid, signal.SIGKILL)  # the group: behind strace the tool itself would live on
            out, err = tool.communicate()
            return (None if delay is None else tool.returncode), out, err
    # Kills alone are thrown here, and those strace always makes.
    return tool.returncode, out, separate(err)[0]


def can_trace():
    try:
        require_strace()
    except Skipped:
        return False
    return True
