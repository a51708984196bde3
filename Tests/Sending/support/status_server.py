"""A server whose answer depends on the path: scenario 7 is below /7. It records all uploads to each scenario."""
import email.utils
import http.server
import json
import socket
import threading
import time

CHUNK = 65536
SMALL = 65536  # bytes of the receive buffer: too few for a body, so a client cannot finish one that nobody reads
CAPTURE = "7e57ab1e-0000-4000-8000-000000000202"


class StatusServer:
    """Two origins (ports) with the same scenarios. Each scenario answers once; its later requests are accepted."""

    def __init__(self, scenarios):
        self.scenarios, self._log = scenarios, {number: [] for number in range(len(scenarios))}

    def __enter__(self):
        self._servers = [Origin(self), Origin(self)]
        self._threads = [threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
                         for server in self._servers]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        for server, thread in zip(self._servers, self._threads):
            server.shutdown()
            thread.join()
            server.server_close()

    def url(self, number, origin=0):
        return f"http://127.0.0.1:{self._servers[origin].server_address[1]}/{number}"

    def verify_url(self, number):
        return f"{self.url(number)}/verify-file"

    def log(self, number):
        """Returns the methods of the requests to a scenario in order; ASK stands for a question about a file."""
        return list(self._log[number])

    def note(self, number, word):
        """Records a request to the scenario, and returns how many earlier ones sent something."""
        count = sum(one in ("POST", "PUT") for one in self._log[number])
        self._log[number].append(word)
        return count


class Origin(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def __init__(self, owner):
        self.owner = owner
        super().__init__(("127.0.0.1", 0), Handler, bind_and_activate=False)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        self.server_bind()
        self.server_activate()

    def handle_error(self, request, client_address):
        """Ignores connections that clients end early."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def handle_expect_100(self):
        return True if not self.scenario.is_whole else super().handle_expect_100()

    @property
    def scenario(self):
        return self.server.owner.scenarios[int(self.path.split("/")[1])]

    def do_HEAD(self):
        # HEAD never tells what the server holds; other tests cover that.
        self.note("HEAD")
        self.answer(405)

    do_GET = do_HEAD

    def do_POST(self):
        if self.path.endswith("/verify-file"):
            self.note("ASK")
            self.read()
            return self.answer(200, {"data": {"status": "no_record"}})
        it, is_first = self.scenario, self.note(self.command) == 0
        if not it.is_whole and is_first:
            return self.answer_early(it.status)
        self.read()
        if is_first:
            return self.answer(it.status, *self.body_of(it), **self.headers_of(it))
        return self.accept()

    do_PUT = do_POST

    def note(self, word):
        return self.server.owner.note(int(self.path.split("/")[1]), word)

    def read(self):
        left = int(self.headers.get("Content-Length", 0))
        while left and (data := self.rfile.read1(min(CHUNK, left))):
            left -= len(data)

    def body_of(self, it):
        if it.is_edge:
            return "<html><body>blocked</body></html>", "text/html"
        if it.code:
            return {"error": {"code": it.code, "message": "scripted"}}, "application/json"
        if it.kind == "http" and it.status == 202:
            return {"data": {"capture_id": CAPTURE, "status": "complete"}}, "application/json"
        return "scripted", "text/plain"

    def headers_of(self, it):
        found = {"Retry-After": it.after} if it.after else {}
        if it.to:
            number = int(self.path.split("/")[1])
            found["Location"] = self.server.owner.url(number, 0 if it.to == "same" else 1) + "/moved"
        return found

    def accept(self):
        if self.command == "PUT":
            return self.answer(201)
        return self.answer(202, {"data": {"capture_id": CAPTURE, "status": "complete"}})

    def answer(self, status, body=b"", kind="application/json", **headers):
        data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        if status in (204, 304):
            data = b""
        head = {"Date": email.utils.formatdate(usegmt=True), "Content-Type": kind, "Content-Length": str(len(data))}
        if status == 204:
            del head["Content-Length"]
        head |= headers
        lines = [f"HTTP/1.1 {status} Scripted", *(f"{name}: {value}" for name, value in head.items()), "", ""]
        self.connection.sendall("\r\n".join(lines).encode() + (b"" if self.command == "HEAD" else data))

    def answer_early(self, status):
        """Answers before the body was read and closes as nginx does: it drops further bytes for a while."""
        self.close_connection = True
        self.answer(status, "scripted", "text/plain", Connection="close")
        self.connection.shutdown(socket.SHUT_WR)
        end = time.monotonic() + 5
        self.connection.settimeout(0.1)
        while time.monotonic() < end:
            try:
                if not self.connection.recv(CHUNK):
                    return
            except TimeoutError:
                pass
            except OSError:
                return
