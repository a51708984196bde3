#!/usr/bin/env python3
"""Runs SeaweedFS for S3ObjectsTests.

usage: store.py FOLDER   (with the Python of .ci/environment)

Prints one line of JSON with the URL and the keys, and ends when standard input ends.
"""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(1, str(TESTS))
from Kit.servers.seaweed import Seaweed  # noqa: E402  (the lines above make it importable)


def main():
    store = Seaweed(pathlib.Path(sys.argv[1]) / "seaweed")
    try:
        print(json.dumps({"url": store.url, "key": store.keys.id, "secret": store.keys.secret}), flush=True)
        sys.stdin.read()
    finally:
        store.stop()


if __name__ == "__main__":
    main()
