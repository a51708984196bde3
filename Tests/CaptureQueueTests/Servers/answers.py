#!/usr/bin/env python3
"""Answers each request with the status in its path, for OutageTests.

usage: answers.py

/STATUS/empty.../ is answered without a body, /STATUS/page.../ with a page, and /STATUS/later.../ only if the request has a
body: 404 otherwise. Prints its URL, and for each line of standard input {first two parts of a path: the sizes of the bodies
that came}. It ends when standard input ends.
"""
import collections
import json
import os
import socket
import sys
import threading

BODIES = collections.defaultdict(list)
PAGE = b"<!DOCTYPE html><html><head><title>Welcome to the hotel</title></head></html>"


def heard(stream):
    """Returns method, path and the size of the body of the next request; None at the end, and for what is not HTTP."""
    line = stream.readline()
    if not line.rstrip().endswith(b"HTTP/1.1"):
        return None
    method, path, _ = line.decode().split(" ", 2)
    length = 0
    while (line := stream.readline()).strip():
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    return method, path, len(stream.read(length))


def answer(method, path, size):
    status, form = path.split("/")[1:3]
    if size:
        BODIES[f"{status}/{form}"].append(size)
    if form.startswith("later") and not size:
        return 404, b""
    return int(status), PAGE if form.startswith("page") else b""


def serve(client):
    with client, client.makefile("rb") as stream:
        if client.recv(1, socket.MSG_PEEK) == b"\x16":  # a greeting of TLS
            return
        while request := heard(stream):
            status, body = answer(*request)
            kind = "text/html" if body.startswith(b"<") else "application/json"
            head = f"HTTP/1.1 {status} Scripted\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
            client.sendall(head.encode() + (b"" if request[0] == "HEAD" else body))
            if status < 200:
                return


def listen(server):
    while True:
        client, _ = server.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(client,), daemon=True).start()


def main():
    with socket.create_server(("127.0.0.1", 0)) as server:
        print(f"http://127.0.0.1:{server.getsockname()[1]}", flush=True)
        threading.Thread(target=listen, args=(server,), daemon=True).start()
        for _ in sys.stdin:
            print(json.dumps(BODIES), flush=True)
        os._exit(0)


if __name__ == "__main__":
    main()
