"""Other commands wake a run through `run.bell`."""
import os
import stat
import subprocess

from Kit.outcomes import Skipped, expect, long
from Kit.sending import wait_until
from Sending.runs.watch_wait_status import arrives

# A user namespace in which no process may use inotify.
DEAF = ("unshare", "-r", "-U", "sh", "-c", 'echo 0 > /proc/sys/user/max_inotify_instances && exec "$@"', "sh")


def replaces_a_pipe(bench):
    """A FIFO of release 1.0 is replaced by an empty file, which nobody writes and which goes with the run."""
    rig = bench.rig()
    rig.to_folder()
    rig.push(bench.stock[0])
    bell = rig.queue / "run.bell"
    os.mkfifo(bell)
    rig.push(bench.stock[1])  # rings the pipe that nobody reads
    with rig.start("run", "--watch") as running:
        arrives(rig, bench.stock[1], "its start")
        rig.push(bench.stock[2])
        arrives(rig, bench.stock[2], "push")
        found = bell.stat()
        expect(stat.S_ISREG(found.st_mode) and found.st_mode & 0o777 == 0o600 and found.st_size == 0,
               f"run.bell has the mode {found.st_mode:o} and {found.st_size} bytes")
        running.stop().must(0, 143, -15, about="the end of a run that watches")
    expect(not bell.exists(), "run.bell is left")


def without_inotify(bench):
    """Where inotify is refused, the run warns once, looks each second, and stops a transfer that is held."""
    if subprocess.run([*DEAF, "true"], capture_output=True, check=False).returncode:
        raise Skipped("namespaces cannot be made here")
    rig = bench.rig()
    rig.to_folder()
    (rig.out / "slowly").mkdir()
    rig.dest("slow", "folder", "--path", rig.out / "slowly", "--bwlimit", "100000")
    rig.before = list(DEAF)
    with rig.start("run", "--watch", "--json") as running:
        wait_until(lambda: running.saw("started"), "the run starts")
        rig.before = []
        rig.push(bench.stock[0])
        arrives(rig, bench.stock[0], "push")
        rig.push(bench.big(), options=("--dest", "slow"))
        wait_until(lambda: running.saw("attempt", id=bench.big().id), "the transfer begins")
        rig.run("hold", bench.big().id).must(0)
        wait_until(lambda: not (rig.status().get("run") or {}).get("transfers"), "the transfer is stopped")
        ended = running.stop().must(0, 143, -15, about="the end of a run that watches")
    expect(ended.out.count(b"inotify cannot be used") == 1, f"says {ended.out!r}")


TESTS = [
    ("the bell: a pipe of 1.0 is replaced by a file that stays empty", replaces_a_pipe),
    ("without inotify a run looks each second, and says so once", long(without_inotify)),
]
