"""File systems that a test mounts in its own mount namespace, invisible to other tests."""
import contextlib
import ctypes
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

from Kit.outcomes import Failed, Result, Skipped, expect

CLONE_NEWNS = 0x20000
# KiB that a disk has left in turn: no more than a page at first, and in the end more than any command needs.
ROOMS = (*range(0, 64, 4), *range(64, 128, 16), *range(128, 512, 32), *range(512, 1024, 128), 1536, 2048, 4096, 6144)
ENOUGH = 3  # rooms in a row in which a command succeeds, before larger ones are left out
FULL = re.compile("no space left on device|disk is full|are free on the disk|quota|no inode left", re.IGNORECASE)
# A file system of which nobody knows whether its renames are one step.
OVERLAY = ('mkdir "$0.lower" "$0.upper" "$0.work" && chmod 700 "$0.upper" && '
           'mount -t overlay -o "lowerdir=$0.lower,upperdir=$0.upper,workdir=$0.work" none "$0"')
# The file is removed at once: the space comes back when the last process that sees the mount has ended.
IMAGE = ('mount --make-rprivate /; truncate -s 32G "$0.img"; mkfs.ext4 -q -F -m 0 -O ^resize_inode "$0.img"; '
         'mount -o loop,barrier=0 "$0.img" "$0"; rm "$0.img"; chmod 1777 "$0"')
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
    holder = subprocess.Popen(["unshare", "-m", "sh", "-c", f'{{ {mount}; }} >&2 && echo mounted && exec cat', place],
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


def use_a_usual_disk():
    """Moves temporary files off a disk on which `status` finds fault: memory, FUSE, or ext4 without a journal.

    Root gets an image of ext4 that only this process and its children see. The value is a function that removes it.
    """
    for place in (tempfile.gettempdir(), "/var/tmp"):
        if _is_usual(place):
            os.environ["TMPDIR"] = tempfile.tempdir = place
            return lambda: None
    if os.geteuid() or ctypes.CDLL(None).unshare(CLONE_NEWNS):
        sys.exit("run.py: the temporary files are in memory or on a disk without a journal: set TMPDIR to a folder elsewhere")
    place = tempfile.mkdtemp(prefix="tests-")
    subprocess.run(["sh", "-ec", IMAGE, place], check=True)
    os.environ["TMPDIR"] = tempfile.tempdir = place
    return lambda: subprocess.run(["sh", "-c", 'umount -l "$0"; rmdir "$0"', place], check=False)


def _is_usual(folder):
    """Whether nothing is said of this file system, as Spec/queue.md section 2.1 has it."""
    kind = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True, check=False).stdout.strip()
    device = os.stat(folder).st_dev
    name = os.path.basename(os.path.realpath(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}"))
    try:
        has_journal = re.search("^data=", pathlib.Path(f"/proc/fs/ext4/{name}/options").read_text(), re.MULTILINE)
    except OSError:
        has_journal = True
    return bool(has_journal) and kind not in ("tmpfs", "ramfs", "fuseblk", "fuse", "nfs", "cifs", "smb2", "msdos")


def small(size, options=""):
    return f'mount -t tmpfs -o size={size},mode=700{options} none "$0"'


@functools.cache
def _separated(_):
    """Gives this thread, and what it starts, mounts of its own."""
    require_mounts()
    if ctypes.CDLL(None).unshare(CLONE_NEWNS):
        raise Skipped("this process cannot have mounts of its own")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)


@contextlib.contextmanager
def nearly_full(rig, room):
    """Makes the rig's folder a disk with room for `room` KiB more. The value is a function that empties the disk."""
    _separated(threading.get_ident())
    aside = rig.folder.with_name(f"{rig.folder.name}.aside")
    shutil.copytree(rig.folder, aside, symlinks=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m,mode=755", "none", rig.folder], check=True)
    filler = rig.folder / "filler"
    try:
        shutil.copytree(aside, rig.folder, symlinks=True, dirs_exist_ok=True)
        with open(filler, "wb") as file:
            there = os.statvfs(rig.folder)
            os.posix_fallocate(file.fileno(), 0, there.f_bavail * there.f_frsize - room * 1024)
        yield filler.unlink
    finally:
        subprocess.run(["umount", "-l", rig.folder], check=True)
        shutil.rmtree(aside, ignore_errors=True)


def at_every_room(scene, trial):
    """Runs `trial(rig, room, free)`, which says whether the command succeeded, with a new rig and more room each time.

    Without any room the command must fail, unless the scene `copes` with a full disk; with enough it must succeed.
    """
    problems, successes = [], []
    for room in ROOMS:
        rig = scene.rig()
        try:
            with nearly_full(rig, room) as free:
                successes.append(trial(rig, room, free))
        except Failed as reason:
            successes.append(False)
            problems.append(f"{room} KiB: {reason}")
        finally:
            shutil.rmtree(rig.folder, ignore_errors=True)
        if successes[-ENOUGH:] == [True] * ENOUGH:
            break
    expect(not problems, f"{len(problems)} of {len(successes)}: {'; '.join(problems[:3])}")
    expect(successes[-1], "never succeeds")
    expect(scene.copes or not successes[0], "succeeds on a full disk, so the test tests nothing")
