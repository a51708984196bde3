#!/usr/bin/env python3
"""Runs the servers for the contract tests of the transports: nginx, SeaweedFS and the capture API.

usage: servers.py PUBLIC_KEY FOLDER   (with the Python of .ci/environment)

Prints one line of JSON with the URLs. Then it answers each line of standard input with one line, and ends when that
input ends:
  holds KIND SHA256   prints how many copies of these bytes the server has: of a bundle for put and s3, of a photo
                      for http
  forget KIND         deletes everything that the server has
"""
import contextlib
import hashlib
import json
import pathlib
import sys

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(1, str(TESTS))
from Kit.servers.capture_api import CaptureAPI  # noqa: E402  (the lines above make these modules importable)
from Kit.servers.nginx import Nginx  # noqa: E402
from Kit.sending import DEVICE  # noqa: E402
from Kit.servers.seaweed import Seaweed  # noqa: E402


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
        self.keys = set()  # the keys of all objects that were asked for

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
