"""Push hashes before it waits for the writers' lock, and a run waits for that lock as long as necessary."""
import contextlib
import functools
import os
import pathlib
import signal
import time

from Kit.rigs import PHOTO
from Kit.outcomes import PATIENCE, expect, long
from Kit.queues import few
from Kit.sending import wait_until
from QueueFaults.wrong_clocks import faked
from QueueFaults.many_processes import locked
from Kit.invariants import gives
from QueueFaults.spool_damage import flipped, overwrite

SIZE = 4_000_000


def big(bench):
    return bench.packed(f"hashing{next(bench.numbers)}", PHOTO[:-2] + b"\x29" * SIZE + PHOTO[-2:])


def bytes_read(process):
    """Returns how many bytes all threads of a process have read so far."""
    try:
        return int(pathlib.Path(f"/proc/{process.pid}/io").read_text().split("rchar:")[1].split()[0])
    except (OSError, IndexError):
        return 0


def pushed_at_the_lock(rig, bundle, meanwhile):
    """Pushes a stored bundle while another process has the lock; calls `meanwhile` once push has read everything."""
    with locked(rig.queue / "queue.lock"):
        tool = rig.begin("push", bundle.path, "--json")
        wait_until(lambda: bytes_read(tool) > 2 * SIZE or tool.poll() is not None, "the held bytes to be read")
        time.sleep(0.2)
        before = bytes_read(tool)
        meanwhile()
    out, err = tool.communicate(timeout=PATIENCE)
    expect(tool.returncode == 0, f"exit {tool.returncode}: {err[:200]!r}")
    expect(before > 2 * SIZE, f"{before} bytes were read before its turn")
    return out.decode()


def changed_meanwhile(bench):
    """Push hashes stored bytes without the lock; under the lock it compares inode and times. If a file has changed in
    between, push hashes it again and restores it."""
    changes = {"nothing": lambda path, data: None, "a bit": lambda path, data: overwrite(path, flipped(data)),
               "another inode": lambda path, data: (path.with_suffix(".new").write_bytes(flipped(data)),
                                                    os.replace(path.with_suffix(".new"), path)),
               "gone": lambda path, data: path.unlink()}
    bundle = big(bench)
    for name, change in few(changes, 2).items():
        rig = bench.rig()
        rig.push(bundle)
        said = pushed_at_the_lock(rig, bundle, lambda: change(rig.spool_file(bundle), bundle.data))
        expect(('"held-already"' if name == "nothing" else '"restored"') in said, f"{name}: says {said}")
        gives(rig, bundle, about=name)


def busy(hold, code, seconds, bench):
    """If another program holds the queue for longer than other commands would wait, the run waits, and then sends."""
    rig = bench.rig()
    disk = rig.to_folder()
    rig.push(*bench.stock[:2])
    with hold(rig):
        tool = rig.begin("run", "--until-empty")
        time.sleep(seconds)
        expect(tool.poll() is None, f"the run ended while it had to wait: exit {tool.returncode}")
    _, err = tool.communicate(timeout=PATIENCE)
    expect(tool.returncode == code and b"sent 2" in err, f"exit {tool.returncode}: {err[-300:]!r}")
    expect(len(list(disk.glob("*.bundle"))) == 2, "it sends nothing after the wait")


@contextlib.contextmanager
def lock(rig):
    with faked(rig, "+0 x200", "-f"), locked(rig.queue / "queue.lock"):
        yield


@contextlib.contextmanager
def transaction(rig):
    with rig.database() as database:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("ROLLBACK")


@long
def stopped_at_a_busy_lock(bench):
    """A run that got a signal does not wait for a lock for ever: it exits with 10 after a minute."""
    rig = bench.rig()
    rig.to_folder()
    rig.push(*bench.stock[:2])
    with lock(rig):
        tool = rig.begin("run", "--watch")
        time.sleep(1.5)
        expect(tool.poll() is None, "the run ended before it was asked to")
        # faketime waits for the tool and returns its exit code.
        for child in pathlib.Path(f"/proc/{tool.pid}/task/{tool.pid}/children").read_text().split() or [tool.pid]:
            os.kill(int(child), signal.SIGTERM)
        _, err = tool.communicate(timeout=PATIENCE)
    expect(tool.returncode == 10, f"exit {tool.returncode}: {err[-300:]!r}")
    gives(rig, *bench.stock[:2])


TESTS = [
    ("a file that changes after it was hashed is hashed again", changed_meanwhile),
    # Afterwards nothing is left but the clock, which is as wrong as faketime makes it. Its 3 s are 600 s for the run.
    ("a busy lock does not end a run", long(functools.partial(busy, lock, 15, 3))),
    ("a transaction of another program does not end a run", long(functools.partial(busy, transaction, 0, 12))),
    ("a run that waits for a busy lock can be stopped", stopped_at_a_busy_lock),
]
