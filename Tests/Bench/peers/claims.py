#!/usr/bin/env python3
"""Claims and completes deliveries with nothing but SQLite, as a peer of capqueue.   usage: claims.py DATABASE COUNT

It makes two commits for each delivery, both synced, which leave the same rows as capqueue's, including the triggers'.
It looks up only what it needs, has no clock and no lock except SQLite's own, and only one destination. It prints its
seconds as a line of JSON.
"""
import json
import os
import sqlite3
import sys
import time

NEXT = """SELECT id, capture, state, priority, due, attempts FROM deliveries
    WHERE destination = 1 AND state IN ('pending', 'failed') AND tried_at IS NULL AND is_behind = 0 AND due <= ?
    ORDER BY priority DESC, due, id LIMIT 1"""
CHANGE = "INSERT INTO transitions (delivery, at, from_state, to_state, event) VALUES (?, ?, ?, ?, ?)"


def now():
    return int(time.time() * 1000)


def claim(db):
    token, at = os.urandom(16), now()
    db.execute("BEGIN IMMEDIATE")
    delivery, capture, state, _, _, attempts = db.execute(NEXT, (at,)).fetchone()
    digest, size = db.execute("SELECT sha256, bytes FROM captures WHERE seq = ?", (capture,)).fetchone()
    db.execute("UPDATE deliveries SET state = 'uploading', attempts = ?, token = ?, "
               "error_code = NULL, error_message = NULL WHERE id = ?",
               (attempts + 1, token, delivery))
    db.execute(CHANGE, (delivery, at, state, "uploading", "claim"))
    db.execute("UPDATE captures SET state = 'uploading', finished_at = NULL WHERE seq = ?", (capture,))
    db.execute("INSERT INTO attempts (delivery, number, token, started_at) VALUES (?, ?, ?, ?)",
               (delivery, attempts + 1, token, at))
    db.execute("COMMIT")
    return delivery, capture, token, digest, size


def complete(db, delivery, capture, token, digest, size):
    at = now()
    db.execute("BEGIN IMMEDIATE")
    db.execute("UPDATE attempts SET ended_at = ?, outcome = 'completed', bytes_sent = ? WHERE delivery = ? AND token = ?",
               (at, size, delivery, token))
    done = db.execute("UPDATE deliveries SET state = 'completed', token = NULL, "
                      "completed_at = ?, receipt = ? WHERE id = ? AND token = ?", (at, digest.hex(), delivery, token))
    if done.rowcount != 1:
        sys.exit("the claim was lost")
    db.execute(CHANGE, (delivery, at, "uploading", "completed", "complete"))
    db.execute("UPDATE captures SET state = 'completed', finished_at = ? WHERE seq = ?", (at, capture))
    db.execute("COMMIT")


def main():
    db = sqlite3.connect(sys.argv[1], isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    count = int(sys.argv[2])
    begin = time.perf_counter()
    for _ in range(count):
        complete(db, *claim(db))
    print(json.dumps({"seconds": time.perf_counter() - begin, "count": count}))


main()
