"""File systems of a test's own, in a mount namespace out of the way of all others."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys

from checks import Result, Skipped, expect
from real_disks import require_mounts

READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"'


class Mounted:
    """What is mounted on `place`, seen from inside the namespace by `run` and from outside by `inside`."""

    def __init__(self, rig, place, pid):
        self.rig, self.place, self.pid = rig, place, pid
        self.prefix = ["nsenter", "-t", str(pid), "-m", "--wd=" + str(rig.out)]
        self.inside = pathlib.Path(f"/proc/{pid}/root{place}")

    def below(self, name):
        """The same, for a folder in the place."""
        return Mounted(self.rig, self.place / name, self.pid)

    def run(self, *args, prefix=(), **how):
        return self.rig.run(*args, prefix=[*self.prefix, *prefix], **how)

    def shell(self, script, *args):
        """A shell command in the namespace; `$0` is the place."""
        done = subprocess.run([*self.prefix, "sh", "-c", script, self.place, *args], capture_output=True, check=False)
        return Result(done.returncode, done.stdout, done.stderr)

    def execute(self, *statements):
        """Changes rows. SQLite resolves names itself, and would look for `inside` outside."""
        script = ("import sqlite3, sys\nwith sqlite3.connect(sys.argv[1]) as database:\n"
                  "    for statement in sys.argv[2:]: database.execute(statement)\ndatabase.close()")
        done = subprocess.run([*self.prefix, sys.executable, "-I", "-c", script, self.place / "queue.sqlite",
                               *statements], capture_output=True, check=False)
        expect(done.returncode == 0, f"a row cannot be changed: {done.stderr[-200:]!r}")

    def free(self):
        there = os.statvfs(self.inside)
        return there.f_bavail * there.f_frsize


@contextlib.contextmanager
def mounted(rig, place, mount):
    """`place` with something mounted on it by the shell command `mount`, in which it is `$0`."""
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
    """What stands before a command for which O_TMPFILE is of no use, as on some file systems: no link from /proc."""
    require_mounts()
    if not shutil.which("setpriv"):
        raise Skipped("setpriv is not installed")
    # Closed to root as well, without the capabilities that open everything.
    script = ('mount -t tmpfs -o mode=000 none /proc/$$/fd && '
              'exec setpriv --bounding-set=-dac_override,-dac_read_search "$@"')
    return ["unshare", "-m", "sh", "-c", script, "sh"]


def small(size, options=""):
    return f'mount -t tmpfs -o size={size},mode=700{options} none "$0"'
