"""Connections and requests that are made by hand: raw bytes, forms, answers that are read one by one."""
import contextlib
import http.client
import json
import socket
import types

from Kit.outcomes import PATIENCE

BOUNDARY = "a-form-of-a-test"
FORM_TYPE = f"multipart/form-data; boundary={BOUNDARY}"


class Answer:
    """A status, headers and JSON of an answer; without an answer, `status` is None."""

    def __init__(self, status=None, headers=None, data=b""):
        self.status, self.headers, self.bytes = status, headers or {}, data
        try:
            self.json = json.loads(data)
        except ValueError:
            self.json = None

    @property
    def code(self):
        return (self.json or {}).get("error", {}).get("code")

    @property
    def data(self):
        return (self.json or {}).get("data")

    @property
    def is_refusal(self):
        """Whether the request was refused, or its connection was closed."""
        return self.status is None or 400 <= self.status < 500

    def __str__(self):
        return f"{self.status} {self.code or self.data}"


class Link:
    """One connection that sends bytes as they are and reads answers one by one."""

    def __init__(self, port, address=None):
        """`address` is that of this side, such as 127.0.0.2."""
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE, (address, 0) if address else None)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()
        self.socket.close()

    def send(self, data):
        """Sends the bytes; returns how many the server's side took before it closed the connection."""
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < len(data):
                sent += self.socket.send(data[sent:sent + 65536])
        return sent

    def finish(self):
        """Says that nothing more will be sent."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def reset(self):
        """Closes the connection with RST instead of FIN."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self._file.close()
        self.socket.close()

    def is_closed(self):
        """Waits until the server sends or closes; whether it closed the connection."""
        with contextlib.suppress(ConnectionError):
            return self._file.read(1) == b""
        return True

    def answer(self):
        """Returns the next answer after any 100; it has no status if the server closed the connection."""
        # The answer must not close the file, which may already have bytes of the next answer.
        shared = types.SimpleNamespace(readline=self._file.readline, read=self._file.read, readinto=self._file.readinto,
                                       flush=lambda: None, close=lambda: None)
        answer = http.client.HTTPResponse(types.SimpleNamespace(makefile=lambda _: shared))
        try:
            answer.begin()
            return Answer(answer.status, dict(answer.getheaders()), answer.read())
        except (http.client.HTTPException, ConnectionError):
            return Answer()


def head(method, path, headers):
    """Returns the head of a request, byte for byte as given; a list as a value repeats the header."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    for name, value in headers.items():
        lines += [f"{name}: {one}" for one in (value if isinstance(value, list) else [value]) if one is not None]
    return "\r\n".join(lines + ["", ""]).encode("latin-1")


def form(*parts, end=b"--\r\n"):
    """Returns a form; its parts are (header lines, data)."""
    made = b"".join(b"--%s\r\n%s\r\n\r\n%s\r\n" % (BOUNDARY.encode(), lines.encode("latin-1"), data)
                    for lines, data in parts)
    return made + b"--" + BOUNDARY.encode() + end


def chunks(data, size=16_000):
    """Returns the data in the chunked transfer coding."""
    pieces = (data[start:start + size] for start in range(0, len(data), size))
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
