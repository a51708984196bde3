#!/usr/bin/env python3
"""Rows put into persist-queue's SQLite queue one by one, each safe on the disk before the next; says in a line of JSON how
long they took.   usage: rows.py FOLDER COUNT

Version 1.1.0 sets nothing but `journal_mode=WAL`, so it works at the level that SQLite was compiled with: FULL (2) unless
somebody changed that, and then an fdatasync follows each put, as it does for each row of ours. Another level would promise
less, so it is refused here.
"""
import json
import sys
import time

import persistqueue

FULL = 2

queue = persistqueue.SQLiteQueue(sys.argv[1], auto_commit=True)
level = queue._putter.execute("PRAGMA synchronous").fetchone()[0]
if level < FULL:
    sys.exit(f"this SQLite has synchronous={level} as its default: its rows are not safe when put returns")
count, times = int(sys.argv[2]), []
item = {"id": "38ca8c35-40b2-8b2d-9346-fd7fd5e3e146", "sha256": "ab" * 32, "bytes": 1_600_000, "state": "pending"}
begin = time.perf_counter()
for number in range(count):
    before = time.perf_counter()
    queue.put(item)
    times.append(time.perf_counter() - before)
seconds = time.perf_counter() - begin
print(json.dumps({"seconds": seconds, "count": count, "p99_ms": sorted(times)[len(times) * 99 // 100] * 1000}))
