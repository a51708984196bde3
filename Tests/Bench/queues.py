"""Makes queues of many rows.

The tool makes the database, with one push, so that tables, indexes and triggers are the real ones; this code writes the
other rows, from a seed.
"""
import hashlib
import json
import os
import pathlib
import random
import sqlite3
import time
import uuid

from Bench import captures

CACHE = pathlib.Path(__file__).resolve().parents[2] / ".build/bench-queues"
WORTH_KEEPING = 50_000  # in rows; a smaller queue takes only a moment to make
HOUR, DAY = 3_600_000, 86_400_000
KEPT_FOR = 4 * DAY  # captures completed yesterday must be younger than a week when a kept queue is used again
BATCH = 20_000
SMALL_BUNDLE, SIDECAR = bytes(1000), b'{"format":"capqueue/sidecar/1"}'.ljust(600)

# The states of the captures in percent. Most captures of a queue that has run for a year are completed and removed;
# there are enough others that a statement is slow if it must look at all captures of a state.
LONG_USED = {"removed": 50, "aged": 10, "recent": 10, "pending": 20, "failed": 7, "held": 2, "permanently_failed": 1}
COMPLETED = ("removed", "aged", "recent")
SESSION = 50  # every tenth group of fifty captures is a session

COLUMNS = {
    "sessions": "id name opened_at ended_at",
    "captures": "seq id identity sha256 manifest_sha256 bytes captured_at device verdict pushed_at session priority holding "
                "state finished_at removed_at stored_at photo",
    "deliveries": "id capture destination state priority due elapsed_from attempts completed_at receipt idempotency_key "
                  "error_code error_message",
    "transitions": "delivery at from_state to_state event",
    "attempts": "delivery number token started_at ended_at outcome code bytes_sent",
}


def make(rig, name, rows, shares=LONG_USED):
    """Returns a queue of this many rows in a folder of the rig. Large queues are kept below .build and copied."""
    folder = started(rig, name)
    if rows < WORTH_KEEPING:
        fill(folder / "queue.sqlite", rows, shares)
        return folder
    kind = f"{rows}-{'-'.join(shares)}"
    kept = CACHE / f"{kind}.{fingerprint(folder / 'queue.sqlite')}"
    if not (kept.is_dir() and time.time() * 1000 - kept.stat().st_mtime * 1000 < KEPT_FOR):
        rig.run("rm", "-rf", *CACHE.glob(f"{kind}.*"))
        fill(folder / "queue.sqlite", rows, shares)
        CACHE.mkdir(parents=True, exist_ok=True)
        rig.run("cp", "-a", folder, kept.with_name("unfinished"))
        os.utime(kept.with_name("unfinished"))
        kept.with_name("unfinished").rename(kept)
    else:
        rig.run("rm", "-r", folder)
        rig.run("cp", "-a", kept, folder)
    # Read the database into memory, as for a queue in use: the first reader would otherwise pay for the disk.
    rig.run("cat", folder / "queue.sqlite")
    return folder


def started(rig, name):
    """Makes a queue with one capture, a default destination, and all folders of the spool, as if it was in use."""
    capqueue, folder, copies = rig.beside("capqueue"), rig.folder / name, rig.folder / "destination"
    raw = rig.raw("small/00000", 0, photo_bytes=captures.SMALL_PHOTO_BYTES)
    rig.capbundle("pack", raw, "-o", "first.bundle", "--force")
    rig.run("rm", "-rf", folder, copies)
    copies.mkdir(mode=0o700)
    rig.run(capqueue, "dest", "add", "disk", "--kind", "folder", "--path", copies, "--queue", folder)
    rig.run(capqueue, "push", "first.bundle", "--queue", folder)
    for number in range(256):
        (folder / f"spool/{number:02x}").mkdir(mode=0o700, exist_ok=True)
    return folder


def fingerprint(database):
    """Returns a name that depends on the schema and on the contents of this file."""
    with sqlite3.connect(database) as db:
        schema = "\n".join(str(row) for row in db.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name"))
    db.close()
    return hashlib.sha256(schema.encode() + pathlib.Path(__file__).read_bytes()).hexdigest()[:16]


def fill(database, rows, shares):
    """Adds rows until there are this many captures. The triggers count them, as they do in use."""
    db = sqlite3.connect(database, isolation_level=None)
    # Only a copy of this database is measured, so it need not be durable.
    db.executescript("PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000; PRAGMA wal_autocheckpoint = 100000")
    statements = {table: f"INSERT INTO {table} ({', '.join(columns.split())}) "
                         f"VALUES ({', '.join('?' * len(columns.split()))})" for table, columns in COLUMNS.items()}
    (first, device, verdict), = db.execute("SELECT seq, device, verdict FROM captures").fetchall()
    destination, = db.execute("SELECT id FROM destinations").fetchone()
    writer = Writer(rows, shares, device, verdict, destination)
    for start in range(first + 1, rows + 1, BATCH):
        batch = {table: [] for table in COLUMNS}
        for sequence in range(start, min(start + BATCH, rows + 1)):
            writer.add(batch, sequence)
        db.execute("BEGIN")
        for table, values in batch.items():
            db.executemany(statements[table], values)
        db.execute("COMMIT")
    if wrong := rows < WORTH_KEEPING and db.execute("PRAGMA foreign_key_check").fetchall():
        raise ValueError(f"rows that refer to nothing: {wrong[:3]}")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


class Writer:
    """Yields the rows of one capture after the other; the same arguments give the same rows, except the times."""

    def __init__(self, rows, shares, device, verdict, destination):
        self.random, self.now = random.Random(rows), int(time.time() * 1000)
        self.rows, self.device, self.verdict, self.destination = rows, device, verdict, destination
        self.kinds = [kind for kind, share in shares.items() for _ in range(share)]
        self.session = None

    def add(self, batch, sequence):
        random, kind = self.random, self.random.choice(self.kinds)
        pushed = self.now - 40 * DAY - (self.rows - sequence) * 300 * DAY // self.rows
        done = None
        if kind in COMPLETED:
            done = self.now - random.randrange(DAY) if kind == "recent" else pushed + HOUR
        state = "completed" if done else kind
        digest, size = random.randbytes(32), random.randrange(1_500_000, 1_700_000)
        priority = random.randint(-10, 10) if random.random() < 0.05 else 0
        self.open_session(batch["sessions"], sequence, pushed)
        identifier = str(uuid.UUID(bytes=random.randbytes(16), version=4))
        batch["captures"].append((
            sequence, identifier, random.randbytes(32), digest, random.randbytes(32), size, pushed - HOUR, self.device,
            self.verdict, pushed, self.session, priority, "removed" if kind == "removed" else "spool", state, done,
            done + 8 * DAY if kind == "removed" else None, pushed, random.randbytes(32)))
        receipt = json.dumps({"bytes": size, "kind": "folder", "path": f"/mnt/disk/captures/{identifier}.bundle",
                              "sha256": digest.hex(), "verified_at": done}, separators=(",", ":")) if done else None
        tried = done or kind in ("failed", "permanently_failed")
        batch["deliveries"].append((
            sequence, sequence, self.destination, state, priority, pushed + (HOUR if tried else 0), 0,
            {"failed": 3, "permanently_failed": 10}.get(kind, 1 if tried else 0), done, receipt,
            identifier if tried else None, *(("io.failed", "No space left on device") if tried and not done else (None,) * 2)))
        self.history(batch, sequence, kind, pushed, done, size)

    def history(self, batch, sequence, kind, pushed, done, size):
        ended = done or pushed + HOUR
        batch["transitions"].append((sequence, pushed, None, "pending", "push"))
        if kind == "held":
            batch["transitions"].append((sequence, ended, "pending", "held", "hold"))
        elif kind != "pending":
            event, state = {"failed": ("fail", "failed"), "permanently_failed": ("reject", "permanently_failed")}.get(
                kind, ("complete", "completed"))
            batch["transitions"].append((sequence, ended - 1000, "pending", "uploading", "claim"))
            batch["transitions"].append((sequence, ended, "uploading", state, event))
            batch["attempts"].append((sequence, 1, self.random.randbytes(16), ended - 1000, ended, state,
                                      None if done else "io.failed", size))

    def open_session(self, sessions, sequence, pushed):
        if sequence % SESSION:
            return
        number = sequence // SESSION
        self.session = number if number % 10 == 0 else None
        if self.session:
            sessions.append((number, f"session-{number}", pushed, pushed + HOUR if number % 20 else None))


def totals(database):
    """Returns how many captures are in each state."""
    with sqlite3.connect(database) as db:
        found = db.execute("SELECT state, count(*) FROM captures GROUP BY state ORDER BY state").fetchall()
    db.close()
    return found


def spool_files(database):
    """Returns the names below the spool of the bundles that are old enough to be released."""
    with sqlite3.connect(database) as db:
        found = db.execute("SELECT lower(hex(sha256)) FROM captures WHERE holding = 'spool' AND state = 'completed' "
                           "AND finished_at < ?", [int(time.time() * 1000) - 30 * DAY]).fetchall()
    db.close()
    return [f"{digest[:2]}/{digest}" for digest, in found]


def write_spool(spool, names):
    """Makes a small bundle and a sidecar for each name. Deletion never reads their contents."""
    spool.mkdir(mode=0o700, exist_ok=True)
    for number in range(256):
        (spool / f"{number:02x}").mkdir(mode=0o700, exist_ok=True)
    for name in names:
        for suffix, content in (("json", SIDECAR), ("bundle", SMALL_BUNDLE)):
            file = os.open(f"{spool}/{name}.{suffix}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            os.write(file, content)
            os.close(file)
