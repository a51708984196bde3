"""A small HTTP server that answers with a function, for answers that no real server gives: wrong digests, lost replies.

    with Scripted(lambda request: Reply(201, {"ETag": '"0"'})) as server: ...
"""
import contextlib
import dataclasses
import http.server
import json
import select
import socket
import threading
import time
import urllib.parse

from sockets import SocketServer


@dataclasses.dataclass
class Request:
    """A complete request."""

    method: str
    path: str
    headers: dict  # by name in lower case
    body: bytes
    at: float = dataclasses.field(default_factory=time.monotonic)

    @property
    def json(self):
        return json.loads(self.body)


@dataclasses.dataclass
class Reply:
    """An answer. With `lost` the server closes the connection instead."""

    status: int = 200
    headers: dict = dataclasses.field(default_factory=dict)
    body: bytes = b""
    lost: bool = False


def in_json(value, status=200):
    return Reply(status, {"Content-Type": "application/json"}, json.dumps(value).encode())


class Scripted:
    """Answers each request with `answer(request)`, and records all requests in `requests`."""

    def __init__(self, answer, address="127.0.0.1", port=0):
        self.answer, self.address, self.port, self.requests, self.connections = answer, address, port, [], 0

    def __enter__(self):
        self._server = http.server.ThreadingHTTPServer((self.address, self.port), _Exchange)
        self._server.daemon_threads, self._server.owner = True, self
        self.port = self._server.server_address[1]
        self.url = f"http://{self.address}:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def seen(self, method):
        return [request for request in list(self.requests) if request.method == method]


class _Exchange(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.server.owner.connections += 1

    def log_message(self, *_):
        pass

    def handle(self):
        with contextlib.suppress(ConnectionError):
            super().handle()

    def _serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(self.command, self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        reply = self.server.owner.answer(request)
        self.server.owner.requests.append(request)
        if reply.lost:
            self.close_connection = True
            return
        self.send_response(reply.status)
        headers = {"Content-Length": str(len(reply.body))} | reply.headers
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    do_GET = do_HEAD = do_PUT = do_POST = _serve


class Tunnel(SocketServer):
    """A proxy that knows only CONNECT; `asked` lists the hosts that clients asked for."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def serve(self, client, number):
        head = b""
        while b"\r\n\r\n" not in head:
            data = client.recv(4096)
            if not data:
                return
            head += data
        method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
        self.asked.append(f"{method} {target}")
        if method != "CONNECT":
            client.sendall(b"HTTP/1.1 405 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        parts = urllib.parse.urlsplit("//" + target)
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
