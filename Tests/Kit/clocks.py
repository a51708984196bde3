"""Commands whose wall clock is wrong, by libfaketime."""
import pathlib
import shutil

from Kit.outcomes import Skipped

SHARED = pathlib.Path("/dev/shm")


def shifted(offset, *options):
    """Returns what stands before a command to shift its wall clock by `offset`, or to begin at `@` a time.

    The program is used and not only LD_PRELOAD: that library would change the environment inside the tool and move it.
    """
    if not is_there():
        raise Skipped("faketime is not installed (Debian's package of that name)")
    forget_the_killed()
    return ["faketime", *options, "-f", offset]


def is_there():
    return shutil.which("faketime") is not None


def forget_the_killed():
    """Deletes the semaphores of faketimes that were killed: faketime 0.9.10 ends with 1 if a process before it had its id."""
    for file in SHARED.glob("*faketime_s*_*"):
        if not pathlib.Path("/proc", file.name.rpartition("_")[2]).exists():
            file.unlink(missing_ok=True)
