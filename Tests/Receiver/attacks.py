"""What hostile clients send: raw requests, and crowds of connections that hardly move."""
import contextlib
import json
import resource
import selectors
import socket
import threading
import time

BOUNDARY = "a-form-of-a-test"
FORM_TYPE = f"multipart/form-data; boundary={BOUNDARY}"


class Link:
    """One connection that sends bytes as they are and reads answers one by one."""

    def __init__(self, port, seconds=60):
        self.socket = socket.create_connection(("127.0.0.1", port), seconds)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.left = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
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
        self.socket.close()

    def answer(self):
        """Returns (status, JSON or text) of the next answer, without 100; (None, None) if the server closed."""
        while True:
            status, headers = self._head()
            if status is None:
                return None, None
            if status == 100:
                continue
            body = self._body(headers)
            with contextlib.suppress(ValueError):
                return status, json.loads(body)
            return status, body.decode("latin-1")

    def is_closed(self):
        """Reads until the server closes the connection; false if it does not within the time limit."""
        with contextlib.suppress(ConnectionError):
            try:
                while self.socket.recv(65536):
                    pass
            except TimeoutError:
                return False
        return True

    def _more(self):
        with contextlib.suppress(ConnectionError):
            piece = self.socket.recv(65536)
            self.left += piece
            return bool(piece)
        return False

    def _head(self):
        while b"\r\n\r\n" not in self.left:
            if not self._more():
                return None, {}
        text, _, self.left = self.left.partition(b"\r\n\r\n")
        first, *lines = text.decode("latin-1").split("\r\n")
        return int(first.split()[1]), {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}

    def _body(self, headers):
        if headers.get("transfer-encoding") == "chunked":
            body = b""
            while size := int(self._line(), 16):
                body += self._bytes(size)
                self._line()
            self._line()
            return body
        return self._bytes(int(headers.get("content-length", 0)))

    def _line(self):
        while b"\r\n" not in self.left and self._more():
            pass
        line, _, self.left = self.left.partition(b"\r\n")
        return line

    def _bytes(self, count):
        while len(self.left) < count and self._more():
            pass
        body, self.left = self.left[:count], self.left[count:]
        return body


class Crowd:
    """Many connections that first send some bytes and then one byte a second each, during a `with` block."""

    def __init__(self, port, count, first, drop=b"x"):
        self.port, self.count, self.first, self.drop = port, count, first, drop
        self.opened = self.closed = 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < count + 200:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count + 200), hard))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()

    def _run(self):
        """Replaces each connection that the server closed, so that the crowd never gets smaller."""
        with selectors.DefaultSelector() as selector:
            while not self._end.is_set():
                begin = time.monotonic()
                self._fill(selector)
                for key in list(selector.get_map().values()):
                    self._drip(selector, key.fileobj)
                self._end.wait(max(0.05, 1 - (time.monotonic() - begin)))
            for key in list(selector.get_map().values()):
                key.fileobj.close()

    def _fill(self, selector):
        # A few hundred at a time, because the backlog of the server's socket is bounded.
        for _ in range(min(250, self.count - len(selector.get_map()))):
            link = socket.socket()
            link.setblocking(False)
            link.connect_ex(("127.0.0.1", self.port))
            selector.register(link, selectors.EVENT_READ)
            self.opened += 1

    def _drip(self, selector, link):
        try:
            with contextlib.suppress(BlockingIOError):
                if selector.get_key(link).data is None:
                    link.send(self.first)
                    selector.modify(link, selectors.EVENT_READ, True)
                else:
                    link.send(self.drop)
            with contextlib.suppress(BlockingIOError):
                if not link.recv(65536):
                    raise ConnectionError
        except OSError:
            selector.unregister(link)
            link.close()
            self.closed += 1


def form(*parts):
    """Returns a form; its parts are (header lines, data)."""
    made = b"".join(b"--%s\r\n%s\r\n\r\n%s\r\n" % (BOUNDARY.encode(), lines.encode("latin-1"), data)
                    for lines, data in parts)
    return made + b"--%s--\r\n" % BOUNDARY.encode()


def chunks(data, size=16_000):
    """Returns the data in the chunked transfer coding."""
    pieces = (data[start:start + size] for start in range(0, len(data), size))
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
