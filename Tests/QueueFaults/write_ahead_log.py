"""The write-ahead log is cut, changed, or missing, as after a power cut or in a copy of a live queue.

A reader keeps the first state open, so SQLite cannot move pages into the main file. The log grows with each push, and
the test knows which captures it contains at each length.
"""
import contextlib
import shutil
import sqlite3
import subprocess
import time

from Kit.outcomes import IS_LONG, PATIENCE, every, expect
from Kit.invariants import check_says, clean, gives, holds, only_strays, words_for_people

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
        self.first, self.pushed = bench.stock[0], bench.stock[1:7 if IS_LONG else 3]
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
    without_rows = {bundle.id for bundle in lost} - set(rig.rows())
    expect(len(strays) >= len(without_rows), f"{about}: {len(strays)} strays are reported")
    rig.run("check", "--repair").must(0, 15, about=f"{about}: check --repair")
    rows = clean(rig, f"{about}: after check --repair")
    expect(len(rows) == 1 + len(log.pushed), f"{about}: {len(rows)} captures after check --repair")
    gives(rig, log.first, log.pushed[-1], about=about)


def cut(bench):
    log = log_of(bench)
    chance = bench.chance("cuts")
    whole = len(log.wal)
    lengths = {log.lengths[1] - 1, chance.randrange(whole)}
    if IS_LONG:
        lengths |= {0, 1, HEADER - 1, HEADER, HEADER + 1, HEADER + 24, whole - 1, whole, whole - FRAME}
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

    places = [log.lengths[0] + 8, *(chance.randrange(HEADER, len(log.wal)) for _ in range(7 if IS_LONG else 0))]
    every({f"byte {place} changed": place for place in sorted(places)}, judge)


def copied_while_pushing(bench):
    """Each copy that is made during pushes opens, and has all captures that were acknowledged before the copy began."""
    rig, chance = bench.rig(), bench.chance("copies")
    rig.push(bench.stock[0])
    acknowledged, copies = [bench.stock[0]], []
    with held_back(rig):
        for bundle in bench.stock[1:13 if IS_LONG else 4]:
            tool = rig.begin("push", bundle.path)
            time.sleep(chance.random() * 0.15)
            copy = bench.rig()
            copy.queue.mkdir(mode=0o700)
            for name in ("queue.sqlite", "queue.sqlite-wal"):
                # Another process copies, because closing a file drops all locks that this process has on it, even the
                # reader's.
                subprocess.run(["cp", "-p", rig.queue / name, copy.queue / name], check=True)
            copies.append((copy, list(acknowledged)))
            _, err = tool.communicate(timeout=PATIENCE)
            expect(tool.returncode == 0, f"a push beside a reader: exit {tool.returncode}: {err[:200]!r}")
            acknowledged.append(bundle)
    for copy, before in copies:
        # Files get their names before the rows are committed, so the spool at the end has all files that a copy names.
        shutil.copytree(rig.queue / "spool", copy.queue / "spool")
        holds(copy, *before, about=f"a copy after {len(before)} pushes")
        only_strays(copy, f"a copy after {len(before)} pushes")


def gone(bench):
    """Without its log a queue has fewer rows and reports the unknown files; without shared memory it has all rows."""
    log = log_of(bench)
    for about, data in {"random bytes": bench.chance("shm").randbytes(32768), "no": None}.items() if IS_LONG else ():
        rig = bench.rig().like(log.copy)
        shared = rig.queue / "queue.sqlite-shm"
        shared.write_bytes(data) if data else shared.unlink()
        judged(rig, log, len(log.wal), f"{about} shared memory")
    rig = bench.rig().like(log.copy)
    (rig.queue / "queue.sqlite-wal").unlink()
    judged(rig, log, 0, "no log, stale shared memory")
    rig = log.with_log(bench, b"")
    (rig.queue / "queue.sqlite-wal").unlink()
    found = check_says(rig, 15, about="no log: check")
    expect(len(found) >= len(log.pushed), f"no log: check finds {len(found)} of {len(log.pushed)} strays")
    words_for_people(rig.run("push", log.pushed[0].path).must(0, about="no log: push again"))


TESTS = [
    ("a log cut at many lengths: every push whose frames are whole is there", cut),
    ("a log with a changed byte: every push before it is there", torn),
    ("copies of a queue that is pushed into: what was acknowledged before is there", copied_while_pushing),
    ("no log, no shared memory: nothing is lost in silence", gone),
]
