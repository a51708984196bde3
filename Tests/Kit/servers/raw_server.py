"""A server that a test controls byte by byte: it shows each request verbatim and sends any bytes as the answer."""
import dataclasses

from Kit.servers.sockets import SocketServer

CHUNK = 65536


@dataclasses.dataclass
class Heard:
    """A request, verbatim."""

    method: str
    path: str
    headers: list  # pairs; names in lower case
    body: bytes

    def values(self, name):
        return [value for one, value in self.headers if one == name]


class Bare(SocketServer):
    """A server whose connections the test's function `serve(client, number)` handles."""

    def __init__(self, serve, context=None):
        super().__init__(context)
        self.serve = serve


def received(client, limit=None):
    """Reads the next request of a connection, with `limit` bytes of its body or all; None if the connection ends."""
    data = b""
    while b"\r\n\r\n" not in data:
        if not (part := client.recv(CHUNK)):
            return None
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    method, path, _ = first.split(" ")
    found = dict(headers)
    if "expect" in found:
        client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    length = int(found.get("content-length", 0))
    goal = length if limit is None else min(limit, length)
    parts, count = [body], len(body)
    while count < goal:
        if not (part := client.recv(CHUNK)):
            return None
        parts.append(part)
        count += len(part)
    return Heard(method, path, headers, b"".join(parts))


def answer(status, *lines, body=b""):
    """Returns all bytes of an answer. It adds Content-Length unless a line gives the length or the encoding."""
    is_told = any(line.lower().startswith(("content-length:", "transfer-encoding:")) for line in lines)
    told = [] if is_told or status == 204 else [f"Content-Length: {len(body)}"]
    return "\r\n".join([f"HTTP/1.1 {status} Scripted", *lines, *told, "", ""]).encode("latin-1") + body


def saying(reply, seen=None):
    """Returns a function for `Bare` that answers each request with the result of `reply(heard)`."""
    def serve(client, _):
        while heard := received(client):
            if seen is not None:
                seen.append(heard)
            client.sendall(reply(heard))
    return serve
