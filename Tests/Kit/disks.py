"""File systems that a test mounts in its own mount namespace, invisible to other tests."""
import contextlib
import functools
import os
import pathlib
import shutil
import subprocess
import sys

from Kit.outcomes import Result, Skipped, expect

READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"'


@functools.cache
def require_mounts():
    """Skips the test if no file system can be mounted in a separate mount namespace."""
    if not shutil.which("unshare"):
        raise Skipped("unshare is not installed")
    done = subprocess.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"], capture_output=True, check=False)
    if done.returncode:
        raise Skipped("nothing can be mounted here")


class Mounted:
    """A file system mounted on `place`: `run` uses it inside the namespace, `inside` is its path from outside."""

    def __init__(self, rig, place, pid):
        self.rig, self.place, self.pid = rig, place, pid
        self.prefix = ["nsenter", "-t", str(pid), "-m", "--wd=" + str(rig.out)]
        self.inside = pathlib.Path(f"/proc/{pid}/root{place}")

    def below(self, name):
        """Returns the same file system with a folder in it as the place."""
        return Mounted(self.rig, self.place / name, self.pid)

    def run(self, *args, prefix=(), **how):
        return self.rig.run(*args, prefix=[*self.prefix, *prefix], **how)

    def shell(self, script, *args):
        """Runs a shell command in the namespace; `$0` is the place."""
        done = subprocess.run([*self.prefix, "sh", "-c", script, self.place, *args], capture_output=True, check=False)
        return Result(done.returncode, done.stdout, done.stderr)

    def execute(self, *statements):
        """Changes rows from inside the namespace, because SQLite resolves names itself and would not find `inside`."""
        script = ("import sqlite3, sys\nwith sqlite3.connect(sys.argv[1]) as database:\n"
                  "    for statement in sys.argv[2:]: database.execute(statement)\ndatabase.close()")
        done = subprocess.run([*self.prefix, sys.executable, "-I", "-c", script, self.place / "queue.sqlite",
                               *statements], capture_output=True, check=False)
        expect(done.returncode == 0, f"a row cannot be changed: {done.stderr[-200:]!r}")

    def names(self):
        return sorted(os.listdir(self.inside))

    def free(self):
        there = os.statvfs(self.inside)
        return there.f_bavail * there.f_frsize


@contextlib.contextmanager
def mounted(rig, place, mount):
    """Mounts something on `place` with the shell command `mount`, in which the place is `$0`."""
    require_mounts()
    if not shutil.which("nsenter"):
        raise Skipped("nsenter is not installed")
    place.mkdir(exist_ok=True, parents=True)
    holder = subprocess.Popen(["unshare", "-m", "sh", "-c", f'{{ {mount}; }} && echo mounted && exec cat', place],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        if holder.stdout.readline() != b"mounted\n":
            raise Skipped(f"cannot be mounted: {holder.stderr.read().decode('utf-8', 'replace').strip()}")
        yield Mounted(rig, place, holder.pid)
    finally:
        holder.stdin.close()
        holder.wait(10)
        holder.stdout.close()
        holder.stderr.close()


def without_nameless_files():
    """Returns the prefix for a command that cannot use O_TMPFILE, because /proc has no links for it."""
    require_mounts()
    if not shutil.which("setpriv"):
        raise Skipped("setpriv is not installed")
    # Root cannot use the folder either, without the capabilities that override permissions.
    script = ('mount -t tmpfs -o mode=000 none /proc/$$/fd && '
              'exec setpriv --bounding-set=-dac_override,-dac_read_search "$@"')
    return ["unshare", "-m", "sh", "-c", script, "sh"]


def small(size, options=""):
    return f'mount -t tmpfs -o size={size},mode=700{options} none "$0"'
