"""Makes queues of many rows.

The tool makes the database, with one push, so that tables, indexes and triggers are the real ones. The other rows are
written by SQL alone, without indexes and triggers, which come back at the end; the counts are then those of the rows.
"""
import contextlib
import os
import sqlite3
import time

from Bench import captures
from Kit.outcomes import expect

HOUR, DAY = 3_600_000, 86_400_000
SMALL_BUNDLE, SIDECAR = bytes(1000), b'{"format":"capqueue/sidecar/1"}'.ljust(600)

# The kind of a row is a number below 100 that differs from row to row. Most captures of a queue that has run for a year
# are completed and removed; there are enough others that a statement is slow if it must look at all captures of a state.
KIND = "seq * 7919 % 100"
REMOVED, AGED, RECENT, PENDING, FAILED, HELD = 50, 60, 70, 90, 97, 99  # the first number of the next kind
STATE = f"""CASE WHEN kind < {RECENT} THEN 'completed' WHEN kind < {PENDING} THEN 'pending'
    WHEN kind < {FAILED} THEN 'failed' WHEN kind < {HELD} THEN 'held' ELSE 'permanently_failed' END"""

# Every tenth group of fifty captures is a session. What is completed was sent an hour after its push, or yesterday.
ROWS = f"""
CREATE TEMP TABLE made AS
    WITH RECURSIVE numbers (seq) AS (SELECT 2 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :rows),
        kinds AS (SELECT seq, {KIND} AS kind, :now - 40 * {DAY} - (:rows - seq) * 300 * {DAY} / :rows AS pushed,
            lower(hex(randomblob(16))) AS hex FROM numbers),
        times AS (SELECT *, {STATE} AS state, CASE WHEN kind < {AGED} THEN pushed + {HOUR}
            WHEN kind < {RECENT} THEN :now - seq % {DAY} END AS done FROM kinds)
    SELECT *, iif(seq / 50 % 10 = 0 AND seq >= 500, seq / 500, NULL) AS session, coalesce(done, pushed + {HOUR}) AS ended,
        iif(seq % 20 = 0, seq / 20 % 21 - 10, 0) AS priority, 1500000 + seq * 7919 % 200000 AS bytes,
        substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-4' || substr(hex, 14, 3) || '-8' || substr(hex, 18, 3) || '-'
            || substr(hex, 21, 12) AS id FROM times;
CREATE TEMP TABLE firsts AS
    SELECT session, min(seq) AS seq FROM made WHERE session IS NOT NULL AND state IN ('pending', 'failed') GROUP BY session;
CREATE INDEX temp.firsts_session ON firsts (session);
INSERT INTO sessions (id, name, opened_at, ended_at)
    SELECT session, 'session-' || session, min(pushed), iif(session % 2, min(pushed) + {HOUR}, NULL)
    FROM made WHERE session IS NOT NULL GROUP BY session;
INSERT INTO captures (seq, id, identity, sha256, manifest_sha256, bytes, captured_at, device, verdict, pushed_at, session,
        priority, holding, state, finished_at, removed_at, stored_at, photo)
    SELECT made.seq, made.id, randomblob(32), randomblob(32), randomblob(32), made.bytes, pushed - {HOUR}, device, verdict,
        pushed, made.session, made.priority, iif(kind < {REMOVED}, 'removed', 'spool'), made.state, done,
        iif(kind < {REMOVED}, done + 8 * {DAY}, NULL), pushed, randomblob(32)
    FROM made, captures AS first WHERE first.seq = 1 ORDER BY made.seq;
INSERT INTO deliveries (id, capture, destination, session, is_behind, state, priority, due, elapsed_from, attempts,
        completed_at, receipt, idempotency_key, error_code, error_message)
    SELECT seq, seq, destinations.id, session,
        coalesce(seq <> (SELECT seq FROM firsts WHERE firsts.session = made.session), 0), state, priority, ended, 0,
        CASE WHEN done THEN 1 WHEN state = 'failed' THEN 3 WHEN state = 'permanently_failed' THEN 10 ELSE 0 END, done,
        iif(done, json_object('bytes', bytes, 'kind', 'folder', 'path', '/mnt/disk/captures/' || made.id || '.bundle',
            'sha256', hex || hex, 'verified_at', done), NULL),
        iif(done OR state LIKE '%failed', made.id, NULL), iif(state LIKE '%failed', 'io.failed', NULL),
        iif(state LIKE '%failed', 'No space left on device', NULL)
    FROM made, destinations ORDER BY seq;
INSERT INTO transitions (delivery, at, to_state, event) SELECT seq, pushed, 'pending', 'push' FROM made;
INSERT INTO transitions (delivery, at, from_state, to_state, event)
    SELECT seq, ended - 1000, 'pending', 'uploading', 'claim' FROM made WHERE state NOT IN ('pending', 'held') UNION ALL
    SELECT seq, ended, iif(state = 'held', 'pending', 'uploading'), state,
        CASE state WHEN 'held' THEN 'hold' WHEN 'failed' THEN 'fail' WHEN 'completed' THEN 'complete' ELSE 'reject' END
        FROM made WHERE state <> 'pending';
INSERT INTO attempts (delivery, number, token, started_at, ended_at, outcome, code, bytes_sent)
    SELECT seq, 1, randomblob(16), ended - 1000, ended, state, iif(done, NULL, 'io.failed'), bytes
    FROM made WHERE state NOT IN ('pending', 'held');
DELETE FROM counts;
INSERT INTO counts SELECT 'capture', 0, state, count(*), sum(bytes), 0 FROM captures GROUP BY state;
INSERT INTO counts SELECT 'delivery', destination, deliveries.state, count(*), sum(bytes), 0
    FROM deliveries JOIN captures ON seq = capture GROUP BY destination, deliveries.state;
INSERT INTO counts SELECT 'spool', 0, '', count(*), sum(bytes), 0 FROM captures WHERE holding = 'spool';
"""


def make(rig, rows, name):
    """Returns a new queue of this many rows: a copy of one that is made once for all measures."""
    kept, folder = rig.home / f"queue-{rows}", rig.folder / name
    if not kept.is_dir():
        unfinished = started(rig, rig.home / "unfinished")
        fill(unfinished / "queue.sqlite", rows)
        judge(rig, unfinished)
        unfinished.rename(kept)
    rig.run("cp", "-a", "--reflink=auto", kept, folder)
    return folder


def started(rig, folder):
    """Makes a queue with one capture, a default destination, and all folders of the spool, as if it was in use."""
    capqueue, copies = rig.beside("capqueue"), rig.home / "destination"
    bundle, = rig.bundles(1, "small", photo_bytes=captures.SMALL_PHOTO_BYTES)
    rig.run("rm", "-rf", folder)
    copies.mkdir(mode=0o700, exist_ok=True)
    rig.run(capqueue, "dest", "add", "disk", "--kind", "folder", "--path", copies, "--queue", folder)
    rig.run(capqueue, "push", bundle, "--queue", folder)
    for number in range(256):
        (folder / f"spool/{number:02x}").mkdir(mode=0o700, exist_ok=True)
    return folder


def fill(database, rows):
    """Adds rows until there are this many captures. Only copies of this database are used, so it need not be durable."""
    db = sqlite3.connect(database, isolation_level=None)
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -2000000; "
                     "PRAGMA temp_store = MEMORY; PRAGMA locking_mode = EXCLUSIVE; PRAGMA foreign_keys = OFF; BEGIN")
    schema = db.execute("SELECT type, name, sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL"
                        " ORDER BY type").fetchall()
    for kind, name, _ in schema:
        db.execute(f"DROP {kind} {name}")
    for statement in ROWS.split(";\n"):
        db.execute(statement, {"rows": rows, "now": int(time.time() * 1000)})
    for *_, sql in schema:
        db.execute(sql)
    db.execute("COMMIT")
    db.execute("PRAGMA journal_mode = WAL")
    db.close()


def judge(rig, queue):
    """Checks that `status` counts the rows that were made, and that each of them refers to one that exists."""
    status, rows = rig.told(rig.beside("capqueue"), "status", "--json", "--queue", queue), dict(totals(queue))
    counted = {state: count["captures"] for state, count in status["captures"].items()}
    expect(counted == rows, f"status counts {counted}, and the rows are {rows}")
    expect(not query(queue, "PRAGMA foreign_key_check"), "rows refer to rows that do not exist")


def query(queue, statement):
    with contextlib.closing(sqlite3.connect(queue / "queue.sqlite")) as db:
        return db.execute(statement).fetchall()


def totals(queue):
    """Returns how many captures are in each state."""
    return query(queue, "SELECT state, count(*) FROM captures GROUP BY state ORDER BY state")


def write_aged(queue):
    """Writes a small bundle and a sidecar for each capture that is old enough to be released, since deletion never reads
    their contents. Returns the bundles."""
    found = query(queue, "SELECT lower(hex(sha256)) FROM captures WHERE holding = 'spool' AND state = 'completed' "
                         f"AND finished_at < {int(time.time() * 1000) - 30 * DAY}")
    files = [queue / f"spool/{digest[:2]}/{digest}.bundle" for digest, in found]
    for file in files:
        for path, content in ((file.with_suffix(".json"), SIDECAR), (file, SMALL_BUNDLE)):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb", buffering=0) as new:
                new.write(content)
    return files
