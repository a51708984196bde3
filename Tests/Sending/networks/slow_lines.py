"""A transfer that moves is never given up, however slow: neither for its total time, nor while the kernel sends."""
import socket
import time

from checks import expect
from rigs import AT_ONCE
from sockets import SocketServer

SECONDS = 20
PIECE, PAUSE = 65536, 0.4  # 160 kB per second


class Sipping(SocketServer):
    """Reads a body slowly through a small buffer, so that it waits in the client's kernel, and answers 201."""

    def __init__(self):
        super().__init__()
        self.seconds = self.last = 0

    def __enter__(self):
        super().__enter__()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, PIECE)
        return self

    def serve(self, client, number):
        data = b""
        while b"\r\n\r\n" not in data:
            data += client.recv(1)
        if data.startswith(b"HEAD"):
            client.sendall(b"HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n")
            return
        left = int(data.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        start = time.monotonic()
        while left and (part := client.recv(min(left, PIECE))):
            left -= len(part)
            time.sleep(PAUSE * len(part) / PIECE)
        self.seconds = time.monotonic() - start
        client.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def slow_reader(bench):
    """The kernel takes a body at once and sends it for ten seconds; then the two seconds for the answer begin."""
    rig, bundle = bench.rig(), bench.big(1_500_000)
    with Sipping() as server:
        rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", AT_ONCE, "--answer-timeout", "2s",
                 "--stall-timeout", "2s")
        rig.push(bundle)
        rig.send("--once", code=0)
        expect(server.seconds > 5, f"it was read within {server.seconds:.1f} s: the test shows nothing")
    row = rig.delivery(bundle)
    expect((row.state, row.attempts) == ("completed", 1), f"is {row.state} after {row.attempts}")


def slow_by_choice(bench):
    """A rate limit of the user is not a standstill, even if its pauses are as long as --stall-timeout."""
    rig, bundle = bench.rig(), bench.stock[0]
    rate = max(256, len(bundle.data) // 8)
    with Sipping() as server:
        rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", AT_ONCE, "--stall-timeout", "1s",
                 "--bwlimit", f"{rate}")
        rig.push(bundle)
        rig.send("--once", code=0)
        expect(server.seconds > 3, f"it was sent within {server.seconds:.1f} s: the test shows nothing")
    row = rig.delivery(bundle)
    expect((row.state, row.attempts) == ("completed", 1), f"is {row.state} after {row.attempts}")


FAMILY = [
    ("the time for an answer starts when the other side has the body", slow_reader),
    ("a slow --bwlimit is not a standstill", slow_by_choice),
]
