#!/usr/bin/env python3
"""Runs the servers that the contract of a transport is tested against: nginx, SeaweedFS and the capture API.

usage: servers.py PUBLIC_KEY FOLDER   (the Python of .ci/environment Sending)

Prints a line of JSON with the URLs, then answers a line for each line on standard input, and ends with it:
  holds KIND SHA256   how many copies of these bytes the server has: a bundle's for put and s3, a photo's for http
  forget KIND         it loses all that it has
"""
import contextlib
import hashlib
import json
import pathlib
import sys

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(TESTS / name) for name in ("Sending/support", "QueueFaults", "Faults", "Outcomes")]
from capture_api import CaptureAPI  # noqa: E402  (after the lines above, so that they hold for it)
from nginx import Nginx  # noqa: E402
from rigs import DEVICE  # noqa: E402
from seaweed import Seaweed  # noqa: E402


def main():
    public, folder = pathlib.Path(sys.argv[1]).read_bytes(), pathlib.Path(sys.argv[2])
    seaweed = Seaweed(folder / "seaweed")
    with Nginx(folder / "nginx") as nginx, CaptureAPI(public) as api, contextlib.closing(Closing(seaweed)):
        servers = Servers(nginx, api, seaweed)
        say({"put": nginx.url, "http": api.url, "device": DEVICE, "s3": seaweed.url,
             "key": seaweed.keys.id, "secret": seaweed.keys.secret})
        for line in sys.stdin:
            word, kind, *rest = line.split()
            say({"answer": servers.holds(kind, *rest) if word == "holds" else servers.forget(kind)})


class Closing:
    def __init__(self, server):
        self.close = server.stop


class Servers:
    def __init__(self, nginx, api, seaweed):
        self.nginx, self.api, self.client = nginx, api, seaweed.client()
        self.keys = set()  # of objects that were asked for

    def holds(self, kind, digest):
        if kind == "http":
            return sum(capture.photo == digest for capture in self.api.stored)
        if kind == "put":
            return sum(hashlib.sha256(self.nginx.path(name).read_bytes()).hexdigest() == digest
                       for name in self.nginx.holds())
        key = f"{digest}.bundle"
        self.keys.add(key)
        data = self.client.get(key)
        return int(data is not None and hashlib.sha256(data).hexdigest() == digest)

    def forget(self, kind):
        if kind == "http":
            self.api.forget()
        elif kind == "put":
            for name in self.nginx.holds():
                self.nginx.path(name).unlink()
        else:
            for key in self.keys:
                self.client.delete(key)
        return 0


def say(words):
    print(json.dumps(words), flush=True)


if __name__ == "__main__":
    main()
