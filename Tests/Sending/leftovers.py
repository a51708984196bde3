"""Finds processes that a user's command left behind."""
import contextlib
import os
import pathlib
import signal


def left(rig):
    """Returns the ids of the recorded processes that still run."""
    found = []
    for pid in (rig.out / "pids").read_text().split() if (rig.out / "pids").exists() else []:
        with contextlib.suppress(OSError):
            if b"4242" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(int(pid))
    return found


@contextlib.contextmanager
def cleaned(rig):
    """Kills all remaining hooks of the test at the end, whether it passed or not."""
    try:
        yield
    finally:
        for pid in left(rig):
            os.kill(pid, signal.SIGKILL)
