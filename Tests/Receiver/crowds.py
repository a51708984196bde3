"""Crowds of slow clients: memory stays bounded, and honest devices are served meanwhile."""
import contextlib
import pathlib
import random
import time

from attacks import FORM_TYPE, Crowd
from outcomes import expect
from sieges import LIMIT, STRANGER, besieged
from support import CAPTURES, head, wait_until

CONNECTIONS = 1000


def trickling_heads(tools):
    """1,000 connections send the head of a request letter by letter, and are closed in the end."""
    with besieged(tools) as siege:
        with Crowd(siege.port, CONNECTIONS, b"POST /api/v1/captures HTTP/1.1\r\nX-Slow: ") as crowd:
            wait_until(lambda: crowd.opened >= CONNECTIONS, "the crowd is there")
            for _ in range(3):
                siege.serves("while heads trickle")
            wait_until(lambda: crowd.closed >= CONNECTIONS // 2, "slow connections are closed")


def silent_connections(tools):
    """1,000 connections never send anything."""
    with besieged(tools) as siege:
        with Crowd(siege.port, CONNECTIONS, b"", drop=b"") as crowd:
            wait_until(lambda: crowd.opened >= CONNECTIONS, "the crowd is there")
            siege.serves("while connections are silent")


def trickling_bodies(tools):
    """1,000 connections in the name of one device send a body letter by letter."""
    with besieged(tools) as siege:
        first = siege.upload(bytes(1_600_000))
        with Crowd(siege.port, CONNECTIONS, first) as crowd:
            wait_until(lambda: crowd.opened >= CONNECTIONS, "the crowd is there")
            for _ in range(3):
                siege.serves("while bodies trickle")
            wait_until(lambda: crowd.closed >= CONNECTIONS // 4, "slow connections are closed")


def trickling_strangers(tools):
    """1,000 connections of an unknown device do not send the bodies that they promise."""
    with besieged(tools) as siege:
        first = siege.upload(bytes(1_600_000), X_Device_Id=STRANGER)
        with Crowd(siege.port, CONNECTIONS, first) as crowd:
            wait_until(lambda: crowd.opened >= CONNECTIONS, "the crowd is there")
            siege.serves("while strangers trickle")
            wait_until(lambda: crowd.closed >= CONNECTIONS, "refused connections are closed")


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


def many_gigabytes(tools):
    """Forty clients at once send a body of the largest size each, chunked."""
    with besieged(tools) as siege, contextlib.ExitStack() as stack:
        start = head("POST", CAPTURES, siege.signed(b"") | {"Content-Type": FORM_TYPE, "Transfer-Encoding": "chunked"})
        links = [stack.enter_context(siege.link()) for _ in range(40)]
        data = start + b"1400000\r\n" + bytes(LIMIT - 1)
        sent = {link: 0 for link in links}
        end = time.monotonic() + 20
        for link in links:
            link.socket.setblocking(False)
        while time.monotonic() < end and sent:
            for link in list(sent):
                try:
                    sent[link] += link.socket.send(data[sent[link]:sent[link] + 262144])
                    if sent[link] == len(data):
                        del sent[link]
                except BlockingIOError:
                    pass
                except OSError:
                    del sent[link]
            stored = siege.stored_bytes()
            expect(stored <= 16 * LIMIT, f"bodies/ has {stored >> 20} MiB")
        siege.serves("while large bodies arrive")


def churning(tools):
    """5,000 connections are opened and closed, some in the middle of a request."""
    with besieged(tools) as siege:
        chance, first = random.Random(1), siege.upload(bytes(1000)) + bytes(500)
        for number in range(5000):
            with contextlib.suppress(OSError), siege.link() as link:
                link.send(first[:chance.randrange(len(first))])
                if number % 3 == 0:
                    link.reset()
        siege.serves("after 5,000 connections")
        wait_until(lambda: not siege.bodies(), "no body is left")
        files = pathlib.Path(f"/proc/{siege.receiver.process.pid}/fd")
        wait_until(lambda: len(list(files.iterdir())) < 200, "the receiver closes the connections that clients closed")


TESTS = [("1,000 connections trickle heads", trickling_heads), ("1,000 connections are silent", silent_connections),
         ("1,000 connections of one device trickle bodies", trickling_bodies),
         ("1,000 connections of strangers trickle bodies", trickling_strangers),
         ("clients read no answers", deaf_clients), ("forty of the largest bodies at once", many_gigabytes),
         ("5,000 connections come and go", churning)]
