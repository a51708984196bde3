"""Crowds of slow clients: memory stays bounded, and honest devices are served meanwhile."""
import contextlib
import functools
import pathlib
import random
import resource
import selectors
import socket
import threading
import time

from Kit.outcomes import expect
from Kit.sending import wait_until
from Receiver.links import FORM_TYPE, head
from Receiver.sieges import LIMIT, besieged
from Receiver.support import CAPTURES, UNKNOWN

CONNECTIONS = 1000
BODY = bytes(1_600_000)


class Crowd:
    """Many connections that first send some bytes and then one byte a second each, during a `with` block."""

    def __init__(self, port, count, first, drop):
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


# What each connection sends at first, what it sends each second, and the share of the connections that the receiver closes
# in the end.
CROWDS = {
    "trickle heads": (lambda siege: b"POST /api/v1/captures HTTP/1.1\r\nX-Slow: ", b"x", 1 / 2),
    "are silent": (lambda siege: b"", b"", 0),
    "trickle bodies of one device": (lambda siege: siege.upload(BODY), b"x", 1 / 4),
    "trickle bodies of strangers": (lambda siege: siege.upload(BODY, X_Device_Id=UNKNOWN), b"x", 1),
}


def crowded(first, drop, share, tools):
    """1,000 connections hardly move. Honest captures are taken meanwhile."""
    with besieged(tools) as siege:
        with Crowd(siege.port, CONNECTIONS, first(siege), drop) as crowd:
            wait_until(lambda: crowd.opened >= CONNECTIONS, "the crowd is there")
            for _ in range(3):
                siege.serves("beside the crowd")
            wait_until(lambda: crowd.closed >= CONNECTIONS * share, "slow connections are closed")


def deaf_clients(tools):
    """Clients send thousands of requests and read no answer."""
    with besieged(tools) as siege, contextlib.ExitStack() as stack:
        requests = head("GET", "/metrics", {}) * 2000
        for _ in range(50):
            link = stack.enter_context(siege.link())
            link.socket.setblocking(False)
            with contextlib.suppress(OSError):
                link.socket.send(requests)
        siege.serves("while nobody reads answers")


TESTS = [*((f"1,000 connections {name}", functools.partial(crowded, *crowd)) for name, crowd in CROWDS.items()),
         ("clients read no answers", deaf_clients)]
