#!/usr/bin/env python3
"""Puts rows into persist-queue's SQLite queue one by one, each durable before the next.   usage: rows.py FOLDER COUNT

It prints its seconds as a line of JSON. Version 1.1.0 of persist-queue sets only `journal_mode=WAL`, so it works at the
level with which SQLite was compiled: FULL (2) unless somebody changed that. An fdatasync then follows each put, as it
follows each row of capqueue. Another level would promise less, so it is refused here.
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
count = int(sys.argv[2])
item = {"id": "38ca8c35-40b2-8b2d-9346-fd7fd5e3e146", "sha256": "ab" * 32, "bytes": 1_600_000, "state": "pending"}
begin = time.perf_counter()
for number in range(count):
    queue.put(item)
print(json.dumps({"seconds": time.perf_counter() - begin, "count": count}))
