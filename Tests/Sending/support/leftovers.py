"""Processes that a command of the user's left behind."""
import contextlib
import os
import pathlib
import signal


def left(rig):
    """Those of the noted processes that live on."""
    found = []
    for pid in (rig.out / "pids").read_text().split() if (rig.out / "pids").exists() else []:
        with contextlib.suppress(OSError):
            if b"4242" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(int(pid))
    return found


@contextlib.contextmanager
def cleaned(rig):
    """Whatever comes of the test, no hook of it stays."""
    try:
        yield
    finally:
        for pid in left(rig):
            os.kill(pid, signal.SIGKILL)
