"""Push hashes before it waits for the writers' lock, and a run waits for that lock as long as necessary."""
import os
import pathlib
import signal
import subprocess
import time

from bench import PHOTO
from checks import PATIENCE, expect
from wrong_clocks import faked
from many_processes import locked
from invariants import clean, gives
from spool_damage import flipped, overwrite
from tracing import calls_in, require_strace, strace

SIZE = 4_000_000


def big(bench):
    return bench.packed(f"hashing{next(bench.numbers)}", PHOTO[:-2] + b"\x29" * SIZE + PHOTO[-2:])


def bytes_read(process):
    """Returns how many bytes all threads of a process have read so far."""
    try:
        return int(pathlib.Path(f"/proc/{process.pid}/io").read_text().split("rchar:")[1].split()[0])
    except (OSError, IndexError):
        return 0


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        expect(time.monotonic() < end, f"waited in vain: {what}")
        time.sleep(0.02)


def pushed_at_the_lock(rig, bundle, meanwhile):
    """Pushes a stored bundle while another process has the lock; calls `meanwhile` once push has read everything."""
    with locked(rig.queue / "queue.lock"):
        tool = subprocess.Popen(rig.argv("push", bundle.path, "--json"), env=rig.env, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
        wait_until(lambda: bytes_read(tool) > 2 * SIZE or tool.poll() is not None, "the held bytes to be read")
        time.sleep(0.2)
        before = bytes_read(tool)
        meanwhile()
    out, err = tool.communicate(timeout=PATIENCE)
    expect(tool.returncode == 0, f"exit {tool.returncode}: {err[:200]!r}")
    expect(before > 2 * SIZE, f"{before} bytes were read before its turn")
    return out.decode()


def hashed_before(bench):
    """Push hashes stored bytes without the lock; under the lock it only compares inode and times."""
    rig, bundle = bench.rig(), big(bench)
    rig.push(bundle)
    said = pushed_at_the_lock(rig, bundle, lambda: None)
    expect('"held-already"' in said, f"says {said}")
    gives(rig, bundle)


def changed_meanwhile(bench):
    """If a file changes after push has hashed it and before it gets the lock, push hashes it again and restores it."""
    cases = {"a bit": lambda path, data: overwrite(path, flipped(data)), "gone": lambda path, data: path.unlink(),
             "another inode": lambda path, data: (path.with_suffix(".new").write_bytes(flipped(data)),
                                                  os.replace(path.with_suffix(".new"), path))}
    for name, change in cases.items():
        rig, bundle = bench.rig(), big(bench)
        rig.push(bundle)
        said = pushed_at_the_lock(rig, bundle, lambda: change(rig.spool_file(bundle), bundle.data))
        expect('"restored"' in said, f"{name}: says {said}")
        gives(rig, bundle, about=name)
        clean(rig, about=name)


def stray_changed_meanwhile(bench):
    """A stray file of a killed push that changes in the same moment is hashed again, too."""
    rig, bundle = bench.rig(), big(bench)
    rig.push(bench.stock[0])
    rig.stray(bundle)
    pushed_at_the_lock(rig, bundle, lambda: overwrite(rig.spool_file(bundle), flipped(bundle.data)))
    gives(rig, bundle)
    kept = [path.read_bytes() for path in (rig.queue / "quarantine").iterdir()]
    expect(kept == [flipped(bundle.data)], f"{len(kept)} files are set aside")


def by_several_threads(bench):
    """Several threads read the bundles of one push, and the results have the order of the arguments."""
    require_strace()
    rig, log = bench.rig(), bench.folder / f"threads{next(bench.numbers)}"
    bundles = bench.stock[:24]
    rig.before = strace("-e", "trace=openat", log=log)
    rig.push(*bundles)
    rig.before = []
    named = {str(bundle.path) for bundle in bundles}
    threads = {thread for thread, _, text in calls_in(log) if any(f'"{name}"' in text for name in named)}
    expect(len(threads) > 1, f"{len(bundles)} bundles are read by {len(threads)} thread")
    numbers = [row for row, in rig.query("SELECT id FROM captures ORDER BY seq")]
    expect(numbers == [bundle.id for bundle in bundles], "they are not kept in the order in which they were named")


def to_disk(bench):
    rig = bench.rig()
    (rig.out / "disk").mkdir()
    rig.run("dest", "add", "disk", "--kind", "folder", "--path", rig.out / "disk").must(0, about="dest add")
    rig.push(*bench.stock[:2])
    return rig


def busy_lock(bench):
    """If another process writes for longer than other commands would wait, the run keeps waiting and then sends."""
    rig = to_disk(bench)
    with faked(rig, "+0 x200", "-f"):
        with locked(rig.queue / "queue.lock"):
            tool = subprocess.Popen([*rig.before, *rig.argv("run", "--until-empty")], env=rig.env,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(3)  # 600 s on the clock of the run
            alive = tool.poll() is None
        _, err = tool.communicate(timeout=PATIENCE)
    expect(alive, f"the run ended while the lock was held: exit {tool.returncode}: {err[-300:]!r}")
    # A summary, and nothing is left but the clock, which is as wrong as faketime makes it.
    expect(tool.returncode == 15 and err.count(b"\n") == 2 and b"sent 2" in err and b"the clock differs" in err,
           f"exit {tool.returncode}: {err[-300:]!r}")
    expect(len(list((rig.out / "disk").glob("*.bundle"))) == 2, "it sends nothing after the wait")


def busy_database(bench):
    """Another program keeps a transaction open for longer than SQLite waits, and the run keeps waiting."""
    rig = to_disk(bench)
    with rig.database() as database:
        database.execute("BEGIN IMMEDIATE")
        tool = subprocess.Popen(rig.argv("run", "--until-empty"), env=rig.env, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
        time.sleep(12)
        alive = tool.poll() is None
        database.execute("ROLLBACK")
    _, err = tool.communicate(timeout=PATIENCE)
    expect(alive and tool.returncode == 0, f"exit {tool.returncode}: {err[-300:]!r}")
    expect(len(list((rig.out / "disk").glob("*.bundle"))) == 2, "it sends nothing after the wait")


def stopped_at_a_busy_lock(bench):
    """A run that got a signal does not wait for a lock for ever: it exits with 10 after a minute."""
    rig = to_disk(bench)
    with faked(rig, "+0 x200", "-f"), locked(rig.queue / "queue.lock"):
        tool = subprocess.Popen([*rig.before, *rig.argv("run", "--watch")], env=rig.env, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
        time.sleep(1.5)
        expect(tool.poll() is None, "the run ended before it was asked to")
        # faketime waits for the tool and returns its exit code.
        for child in pathlib.Path(f"/proc/{tool.pid}/task/{tool.pid}/children").read_text().split() or [tool.pid]:
            os.kill(int(child), signal.SIGTERM)
        _, err = tool.communicate(timeout=PATIENCE)
    expect(tool.returncode == 10, f"exit {tool.returncode}: {err[-300:]!r}")
    gives(rig, *bench.stock[:2])


TESTS = [
    ("several threads read bundles, and their order is kept", by_several_threads),
    ("stored bytes are hashed before push takes the lock", hashed_before),
    ("a file that changes after it was hashed is hashed again", changed_meanwhile),
    ("a stray that changes after it was hashed is hashed again", stray_changed_meanwhile),
    ("a busy lock does not end a run", busy_lock),
    ("a transaction of another program does not end a run", busy_database),
    ("a run that waits for a busy lock can be stopped", stopped_at_a_busy_lock),
]
