"""HTTP/1.1 for servers whose answers a test scripts: connections are kept alive, and broken where a script says so."""
import contextlib
import dataclasses
import email.utils
import hashlib
import http.server
import json
import os
import socket
import struct
import threading
import time

CHUNK = 65536
RESET = struct.pack("ii", 1, 0)  # SO_LINGER 0: closing sends RST


@dataclasses.dataclass(frozen=True)
class Answer:
    """An answer that replaces the server's own answer.

    `when` says when the answer is sent: "early" (after `reads` bytes of the body, by default none), "read" (after the
    whole body, with nothing stored), or "stored" (after the request was carried out). `then` says what follows: "keep"
    the connection, "close" it, or send only the first `only` bytes of the answer and then "cut" or "reset" the
    connection or "hang". The server waits for `gate` after `reads` bytes of the body, by default after all of them.
    """

    status: int | None = None  # None: the server's own status
    code: str | None = "SCRIPTED"  # the error code in the JSON body
    body: object = None  # bytes, text, or a value to send as JSON; None: a body that fits the status
    headers: dict = dataclasses.field(default_factory=dict)
    type: str | None = "application/json"
    when: str = "read"
    then: str = "keep"
    only: int = 0
    raw: bytes | None = None  # the whole answer with its head
    gate: threading.Event | None = None
    reads: int | None = None

    @property
    def asks(self):
        """Whether the server carries the request out."""
        return self.when == "stored" or self.status is None and self.raw is None


@dataclasses.dataclass
class Seen:
    """A request, with as much of its body as arrived."""

    method: str
    path: str
    headers: dict  # by name in lower case
    port: int  # the client's port; requests over one connection have the same one
    at: float = dataclasses.field(default_factory=time.monotonic)
    length: int = 0  # how many bytes of the body arrived
    digest: str | None = None  # the SHA-256 of the whole body
    status: int | None = None  # the status of the answer
    body: bytes = b""  # only Scripted keeps it

    @property
    def key(self):
        return self.headers.get("idempotency-key")

    @property
    def json(self):
        return json.loads(self.body)


class ScriptedServer:
    """A server on loopback, which lists in `problems` what broke.

    Each kind of server has a method `handle(seen, headers, body)`, which carries a whole request out and returns status
    and JSON of the answer, or an Answer. `error(code, message, headers)` is the JSON of a scripted refusal.
    """

    shift, poison = 0, {}

    def __init__(self, address="127.0.0.1", port=0, buffer=None):
        self.address, self.port, self.buffer = address, port, buffer
        self.requests, self.problems, self.connections = [], [], 0
        self.closing = threading.Event()

    def __enter__(self):
        self._server = Server(self)
        self.port = self._server.server_address[1]
        self.url = f"http://{self.address}:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.end()

    @property
    def now(self):
        """The time of the server's clock in milliseconds."""
        return int((time.time() + self.shift) * 1000)

    def script(self, method, path, peek=False):
        """Returns the answer to the request that begins, or None for the server's own; `peek` does not use it up."""

    def began(self, seen):
        """Records a request whose head has arrived."""

    def wait(self, gate):
        while gate and not gate.wait(0.05) and not self.closing.is_set():
            pass


class Server(http.server.ThreadingHTTPServer):
    """The sockets of a ScriptedServer."""

    request_queue_size = 128
    daemon_threads = True

    def __init__(self, owner):
        self.owner, self.clients = owner, set()
        super().__init__((owner.address, owner.port), Exchange, bind_and_activate=False)
        if owner.buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, owner.buffer)
        self.server_bind()
        self.server_activate()

    def handle_error(self, request, client_address):
        """Ignores connections that end during a request, because many tests cause that; any other error is reported."""

    def end(self):
        self.server_close()
        for connection in list(self.clients):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class Exchange(http.server.BaseHTTPRequestHandler):
    """One connection, which handles one request after another."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        super().setup()
        self.owner = self.server.owner
        self.owner.connections += 1
        self.server.clients.add(self.connection)

    def finish(self):
        self.server.clients.discard(self.connection)
        super().finish()

    def log_message(self, *_):
        pass

    def handle_expect_100(self):
        script = self.owner.script(self.command, self.path, peek=True)
        return True if script and script.when == "early" else super().handle_expect_100()

    def do_POST(self):
        try:
            self.exchange()
        except OSError:  # the client is gone, or the test broke the connection on purpose
            self.close_connection = True
        except Exception as error:
            self.owner.problems.append(f"the server broke: {error!r}")
            self.close_connection = True

    do_GET = do_HEAD = do_PUT = do_DELETE = do_OPTIONS = do_PATCH = do_POST

    def exchange(self):
        owner = self.owner
        seen = Seen(self.command, self.path, {name.lower(): value for name, value in self.headers.items()},
                    self.client_address[1])
        owner.began(seen)
        script = owner.script(self.command, self.path) or Answer()
        if script.when == "early":
            self.read(seen, script.reads or 0)
            owner.wait(script.gate)
            return self.deliver(seen, script, script.status, None)
        body = self.read(seen, script.reads)
        if script.reads is not None:
            owner.wait(script.gate)
            body += self.read(seen)
        if seen.length != int(self.headers.get("Content-Length", 0)):
            self.close_connection = True  # the client ended the connection before the end of the body
            return None
        seen.digest = hashlib.sha256(body).hexdigest()
        if script.reads is None:
            owner.wait(script.gate)
        script = owner.poison.get(seen.digest, script)
        found = owner.handle(seen, self.headers, body) if script.asks else (script.status, None)
        if isinstance(found, Answer):
            script, found = found, (found.status, None)
        return self.deliver(seen, script, script.status or found[0], found[1])

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
        if script.body is not None:
            data = script.body
        elif not script.asks and status >= 400:
            data = self.owner.error(script.code, "scripted", self.headers)
        body = data if isinstance(data, bytes) else (data or "").encode() if isinstance(data, str | None) \
            else json.dumps(data).encode()
        reason = self.responses[status][0] if status in self.responses else "Whatever"
        headers = {"Date": email.utils.formatdate(self.owner.now / 1000, usegmt=True), "Content-Type": script.type,
                   "Content-Length": str(len(body))}
        if "X-Request-Id" in self.headers:
            headers["X-Request-Id"] = self.headers["X-Request-Id"]
        if is_early or script.then == "close":
            headers["Connection"] = "close"
        if not body or not script.type:
            del headers["Content-Type"]
        headers |= script.headers
        lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        return "\r\n".join(lines).encode() + (b"" if self.command == "HEAD" else body)

    def linger(self, seconds):
        """Reads and drops further bytes until the client closes, so that the client can still read the answer."""
        end = None if seconds is None else time.monotonic() + seconds
        self.connection.settimeout(0.05)
        while not self.owner.closing.is_set() and (end is None or time.monotonic() < end):
            try:
                if not self.connection.recv(CHUNK):
                    return
            except TimeoutError:
                pass
