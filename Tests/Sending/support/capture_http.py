"""The connections of the capture API: HTTP/1.1 with Python's http.server, kept alive, broken where scripted."""
import contextlib
import email.utils
import hashlib
import http.server
import json
import os
import re
import socket
import struct
import time

CHUNK = 65536
RESET = struct.pack("ii", 1, 0)  # SO_LINGER 0: closing sends RST
ROUTES = {"captures": ("POST", r"/api/v1/captures"), "verify": ("POST", r"/api/v1/verify-file"),
          "poll": ("GET", r"/api/v1/captures/[^/]+")}


def route_of(method, path):
    for route, (verb, pattern) in ROUTES.items():
        if re.fullmatch(pattern, path.partition("?")[0]):
            return route if method == verb else "method"
    return "other"


class Server(http.server.ThreadingHTTPServer):
    """A server that listens on a free loopback port."""

    request_queue_size = 128
    daemon_threads = True

    def __init__(self, api, buffer=None):
        self.api, self.connections = api, set()
        super().__init__(("127.0.0.1", 0), Exchange, bind_and_activate=False)
        if buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.server_bind()
        self.server_activate()

    def handle_error(self, request, client_address):
        """Ignores connections that end during a request, because many tests cause that; any other error is reported."""

    def end(self):
        self.server_close()
        for connection in list(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class Exchange(http.server.BaseHTTPRequestHandler):
    """One connection, which handles one request after another."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        super().setup()
        self.server.connections.add(self.connection)

    def finish(self):
        self.server.connections.discard(self.connection)
        super().finish()

    def log_message(self, *_):
        pass

    def handle_expect_100(self):
        script = self.server.api.scripted(route_of(self.command, self.path), peek=True)
        return True if script and script.when == "early" else super().handle_expect_100()

    def do_POST(self):
        try:
            self.exchange()
        except OSError:  # the client is gone, or the test broke the connection on purpose
            self.close_connection = True
        except Exception as error:
            self.server.api.problems.append(f"the server broke: {error!r}")
            self.close_connection = True

    do_GET = do_HEAD = do_PUT = do_DELETE = do_OPTIONS = do_PATCH = do_POST

    def exchange(self):
        api = self.server.api
        seen = api.Seen(self.command, self.path, {name.lower(): value for name, value in self.headers.items()},
                    self.client_address[1])
        api.requests.append(seen)
        script = api.scripted(route_of(self.command, self.path)) or api.Answer()
        if script.when == "early":
            self.read(seen, script.reads or 0)
            api.wait(script.gate)
            return self.deliver(seen, script, script.status, None)
        body = self.read(seen, script.reads)
        if script.reads is not None:
            api.wait(script.gate)
            body += self.read(seen)
        if seen.length != int(self.headers.get("Content-Length", 0)):
            self.close_connection = True  # the client ended the connection before the end of the body
            return None
        seen.digest = hashlib.sha256(body).hexdigest()
        if script.reads is None:
            api.wait(script.gate)
        script = api.poison.get(seen.digest, script)
        status, data = api.handle(seen, self.headers, body) if script.asks else (script.status, None)
        return self.deliver(seen, script, script.status or status, data)

    def read(self, seen, limit=None):
        """Reads the whole body, or only `limit` bytes of it."""
        length = int(self.headers.get("Content-Length", 0))
        goal = length if limit is None else min(limit, length)
        parts = []
        while seen.length < goal:
            part = self.rfile.read1(min(CHUNK, goal - seen.length))
            if not part:
                break
            parts.append(part)
            seen.length += len(part)
        return b"".join(parts)

    def deliver(self, seen, script, status, data):
        """Sends as much of the answer as the script allows."""
        seen.status = status
        is_early = script.when == "early"
        answer = script.raw if script.raw is not None else self.render(script, status, data, is_early)
        if script.then in ("cut", "reset", "hang") and not is_early:
            answer = answer[:script.only]
        self.connection.sendall(answer)
        if is_early or script.then != "keep":
            self.close_connection = True
        if script.then == "reset":
            if is_early:
                time.sleep(0.3)  # so that the answer arrives before the connection breaks
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            os.close(self.connection.detach())
        elif script.then == "hang":
            self.linger(None)
        elif is_early:
            self.connection.shutdown(socket.SHUT_WR)
            self.linger(5)

    def render(self, script, status, data, is_early):
        """Returns head and body of an answer in one piece."""
        api = self.server.api
        if script.body is not None:
            data = script.body
        elif not script.asks and status >= 400:
            data = api.error(script.code, "scripted", self.headers)
        body = data if isinstance(data, bytes) else (data or "").encode() if isinstance(data, str | None) \
            else json.dumps(data).encode()
        reason = self.responses[status][0] if status in self.responses else "Whatever"
        headers = {"Date": email.utils.formatdate(api.now / 1000, usegmt=True), "Content-Type": script.type,
                   "Content-Length": str(len(body))}
        if "X-Request-Id" in self.headers:
            headers["X-Request-Id"] = self.headers["X-Request-Id"]
        if is_early or script.then == "close":
            headers["Connection"] = "close"
        if not body:
            del headers["Content-Type"]
        headers |= script.headers
        lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        return "\r\n".join(lines).encode() + (b"" if self.command == "HEAD" else body)

    def linger(self, seconds):
        """Reads and drops further bytes until the client closes, so that the client can still read the answer."""
        end = None if seconds is None else time.monotonic() + seconds
        self.connection.settimeout(0.05)
        while not self.server.api.closing.is_set() and (end is None or time.monotonic() < end):
            try:
                if not self.connection.recv(CHUNK):
                    return
            except TimeoutError:
                pass
