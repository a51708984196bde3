"""A small HTTP server that answers with a function, for answers that no real server gives: wrong digests, lost replies.

    with Scripted(lambda request: Reply(201, {"ETag": '"0"'})) as server: ...
"""
import dataclasses
import json
import select
import socket
import urllib.parse

from Kit.servers.capture_http import Answer, ScriptedServer
from Kit.servers.raw_server import answer, received
from Kit.servers.sockets import SocketServer


@dataclasses.dataclass
class Reply:
    """An answer. With `lost` the server closes the connection instead."""

    status: int = 200
    headers: dict = dataclasses.field(default_factory=dict)
    body: bytes = b""
    lost: bool = False


def in_json(value, status=200):
    return Reply(status, {"Content-Type": "application/json"}, json.dumps(value).encode())


class Scripted(ScriptedServer):
    """Answers each request with `answer(request)`, and records all whole requests in `requests`."""

    def __init__(self, answer, address="127.0.0.1", port=0):
        super().__init__(address, port)
        self.answer = answer

    def handle(self, seen, headers, body):
        seen.body = body
        reply = self.answer(seen)
        self.requests.append(seen)
        return Answer(reply.status, body=reply.body, headers=reply.headers, type=None,
                      then="cut" if reply.lost else "keep")

    def seen(self, method):
        return [request for request in list(self.requests) if request.method == method]


class Tunnel(SocketServer):
    """A proxy that knows only CONNECT; `asked` lists the hosts that clients asked for."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def serve(self, client, number):
        heard = received(client)
        if heard is None:
            return
        self.asked.append(f"{heard.method} {heard.path}")
        if heard.method != "CONNECT":
            client.sendall(answer(405, "Connection: close"))
            return
        parts = urllib.parse.urlsplit("//" + heard.path)
        with socket.create_connection((parts.hostname, parts.port)) as server:
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            self._pump(client, server)

    @staticmethod
    def _pump(one, two):
        ways = {one: two, two: one}
        while True:
            for end in select.select(list(ways), [], [])[0]:
                data = end.recv(65536)
                if not data:
                    return
                ways[end].sendall(data)


class Shelf:
    """A plain store for `Scripted`. `kept` maps paths to bodies; `refuses` lists the paths that it no longer takes."""

    def __init__(self):
        self.kept, self.refuses = {}, set()

    def __call__(self, request):
        if request.method == "HEAD":
            return Reply(200, {"Content-Length": str(len(self.kept[request.path]))}) if request.path in self.kept \
                else Reply(404)
        if request.method != "PUT":
            return Reply(500)
        if request.path in self.refuses:
            return Reply(413)
        self.kept[request.path] = request.body
        return Reply(201)
