"""The write-ahead log is cut, changed, or missing, as after a power cut or in a copy of a live queue.

A reader keeps the first state open, so SQLite cannot move pages into the main file. The log grows with each push, and
the test knows which captures it contains at each length.
"""
import contextlib
import shutil
import sqlite3
import subprocess
import threading

from checks import every, expect
from invariants import check_says, clean, gives, holds, only_strays, words_for_people

FRAME, HEADER = 24 + 4096, 32


@contextlib.contextmanager
def held_back(rig):
    """Prevents checkpoints inside the `with` block."""
    with contextlib.closing(sqlite3.connect(rig.queue / "queue.sqlite", isolation_level=None)) as reader:
        reader.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM captures").fetchall()
        yield


class Log:
    """A queue in use, and the length of its log when each push was acknowledged."""

    def __init__(self, bench):
        self.rig = rig = bench.rig()
        self.first, self.pushed = bench.stock[0], bench.stock[1:7]
        rig.push(self.first)
        self.lengths = []
        wal = rig.queue / "queue.sqlite-wal"
        with held_back(rig):
            for bundle in self.pushed:
                rig.push(bundle)
                self.lengths.append(wal.stat().st_size)
            rig.uploaded(self.pushed[0])
            self.copy = bench.rig()
            shutil.copytree(rig.queue, self.copy.queue)
        self.wal = (self.copy.queue / "queue.sqlite-wal").read_bytes()
        expect(self.lengths == sorted(self.lengths) and self.lengths[0] > HEADER, f"the log grows to {self.lengths}")

    def with_log(self, bench, data):
        """Returns a copy of the queue with this log and without shared memory."""
        rig = bench.rig().like(self.copy)
        (rig.queue / "queue.sqlite-wal").write_bytes(data)
        (rig.queue / "queue.sqlite-shm").unlink(missing_ok=True)
        return rig

    def acknowledged(self, length):
        return [bundle for bundle, end in zip(self.pushed, self.lengths) if end <= length]


def log_of(bench):
    if not hasattr(bench, "log"):
        bench.log = Log(bench)
    return bench.log


def judged(rig, log, length, about):
    """Checks that captures acknowledged within `length` are there, and that repair adopts the bytes of the others."""
    there = [log.first, *log.acknowledged(length)]
    holds(rig, *there, about=about)
    strays = only_strays(rig, about)
    lost = [bundle for bundle in log.pushed if bundle not in there]
    expect(len(strays) >= len(set(lost) - set(in_rows(rig, lost))), f"{about}: {len(strays)} strays are reported")
    rig.run("check", "--repair").must(0, 15, about=f"{about}: check --repair")
    rows = clean(rig, f"{about}: after check --repair")
    expect(len(rows) == 1 + len(log.pushed), f"{about}: {len(rows)} captures after check --repair")
    gives(rig, log.first, log.pushed[-1], about=about)


def in_rows(rig, bundles):
    rows = rig.rows()
    return [bundle for bundle in bundles if bundle.id in rows]


def cut(bench):
    log = log_of(bench)
    chance = bench.chance("cuts")
    whole = len(log.wal)
    lengths = {0, 1, HEADER - 1, HEADER, HEADER + 1, HEADER + 24, whole - 1, whole, whole - FRAME}
    lengths |= {end + step for end in log.lengths for step in (-1, 0, 1)}
    lengths |= {chance.randrange(whole) for _ in range(8)}

    def judge(name, length):
        judged(log.with_log(bench, log.wal[:length]), log, length, name)

    every({f"cut to {length} bytes": length for length in sorted(lengths) if length <= whole}, judge)


def torn(bench):
    """If one byte of a frame changes, that frame and all later ones do not count, and all earlier ones do."""
    log = log_of(bench)
    chance = bench.chance("torn")

    def judge(name, place):
        data = bytearray(log.wal)
        data[place] ^= 0x40
        frame = HEADER + (place - HEADER) // FRAME * FRAME
        judged(log.with_log(bench, bytes(data)), log, frame, name)

    places = [log.lengths[2] + 8, *(chance.randrange(HEADER, len(log.wal)) for _ in range(7))]
    every({f"byte {place} changed": place for place in sorted(places)}, judge)


def rubbish_behind(bench):
    """Old frames follow the last valid frame, as in every log that SQLite has restarted."""
    log = log_of(bench)
    data = bench.chance("rubbish").randbytes(3 * FRAME)
    judged(log.with_log(bench, log.wal + data), log, len(log.wal), "random bytes behind the log")
    judged(log.with_log(bench, log.wal[:log.lengths[1]] + log.wal[HEADER:log.lengths[0]]), log, log.lengths[1],
           "older frames behind the log")


def copied_while_pushing(bench):
    """Each copy that is made during pushes opens, and has all captures that were acknowledged before the copy began."""
    rig = bench.rig()
    rig.push(bench.stock[0])
    acknowledged, copies, problems = [bench.stock[0]], [], []
    done = threading.Event()

    def push():
        try:
            for bundle in bench.stock[1:13]:
                rig.push(bundle)
                acknowledged.append(bundle)
        except Exception as error:  # reported by the waiting thread
            problems.append(str(error))
        finally:
            done.set()

    with held_back(rig):
        rig.push(bench.stock[13])  # from now on there is a log
        acknowledged.append(bench.stock[13])
        pusher = threading.Thread(target=push)
        pusher.start()
        while not done.is_set() or not copies:
            before = list(acknowledged)
            copy = bench.rig()
            copy.queue.mkdir(mode=0o700)
            for name in ("queue.sqlite", "queue.sqlite-wal"):
                # Another process copies, because closing a file drops all locks that this process has on it, even the
                # reader's.
                subprocess.run(["cp", "-p", rig.queue / name, copy.queue / name], check=True)
            copies.append((copy, before))
            done.wait(0.03)
        pusher.join()
    expect(not problems, f"a push beside a reader: {problems[:1]}")
    expect(len(acknowledged) == 14, f"{len(acknowledged)} pushes of 14 were acknowledged")
    for copy, before in copies[:: max(1, len(copies) // 8)]:
        # Files get their names before the rows are committed, so the spool at the end has all files that a copy names.
        shutil.copytree(rig.queue / "spool", copy.queue / "spool")
        holds(copy, *before, about=f"a copy after {len(before)} pushes")
        only_strays(copy, f"a copy after {len(before)} pushes")


def gone(bench):
    """Without its log a queue has fewer rows and reports the unknown files; without shared memory it has all rows."""
    log = log_of(bench)
    rig = bench.rig().like(log.copy)
    (rig.queue / "queue.sqlite-shm").unlink()
    judged(rig, log, len(log.wal), "no shared memory")
    rig = bench.rig().like(log.copy)
    (rig.queue / "queue.sqlite-shm").write_bytes(bench.chance("shm").randbytes(32768))
    judged(rig, log, len(log.wal), "shared memory of random bytes")
    rig = bench.rig().like(log.copy)
    (rig.queue / "queue.sqlite-wal").unlink()
    judged(rig, log, 0, "no log, stale shared memory")
    rig = log.with_log(bench, b"")
    (rig.queue / "queue.sqlite-wal").unlink()
    found = check_says(rig, 15, about="no log: check")
    expect(len(found) >= len(log.pushed), f"no log: check finds {len(found)} of {len(log.pushed)} strays")
    again = rig.run("push", log.pushed[0].path).must(0, about="no log: push again")
    words_for_people(again, about="no log: push again")
    judged(rig, log, 0, "no log")


TESTS = [
    ("a log cut at many lengths: every push whose frames are whole is there", cut),
    ("a log with a changed byte: every push before it is there", torn),
    ("a log with old frames after its end", rubbish_behind),
    ("copies of a queue that is pushed into: what was acknowledged before is there", copied_while_pushing),
    ("no log, no shared memory: nothing is lost in silence", gone),
]
