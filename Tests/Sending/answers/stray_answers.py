"""Bytes that are not the answer to this request: unrequested, sent twice, not TLS, or endless."""
import base64
import contextlib
import hashlib
import json
import os
import re
import socket
import ssl
import struct
import threading

from certificates import Authority
from checks import every, expect
from raw_server import CHUNK, Bare, answer, received
from rigs import AT_ONCE, wait_until
from scripted import Scripted, Shelf

RESET = struct.pack("ii", 1, 0)  # SO_LINGER 0: closing sends RST


def no_tls(bench):
    """Anybody may have sent bytes that are not TLS, so they never count as an answer, whatever they spell."""
    authority = Authority(bench.folder / f"ca{next(bench.numbers)}")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.server())

    def serve(client, _):
        with socket.socket(fileno=os.dup(client.fileno())) as wire:
            received(client, 0)
            # The first five bytes are read by OpenSSL as the head of a record, and refused.
            wire.sendall(b"plain" + answer(413, "Connection: close"))
            while wire.recv(CHUNK):
                pass

    def judge(name, bundle):
        with Bare(serve, context) as server:
            rig = bench.rig()
            rig.dest("web", "put", "--url", server.url + "/{sha256}", "--ca", authority.path, "--retry", "0,600")
            rig.push(bundle)
            rig.send("--once", code=15)
        row = rig.delivery(bundle)
        expect(row.state in ("failed", "pending"), f"is {row.state}: {row.error_code} {row.error_message}")
        said = f"{row.error_code} {row.error_message} {rig.destination('web').blocked_message}"
        # Search for the whole word, because a port may contain these digits.
        expect(not re.search(r"\b413\b", said), f"413 counts: {said}")

    every({"small": bench.stock[0], "8 MB": bench.big()}, judge)


def unasked_answer(bench):
    """An unrequested 400 in a kept connection does not count as the answer to the next request."""
    first, second = bench.stock[:2]

    def judge(name, is_at_once):
        go, gone = threading.Event(), threading.Event()

        def serve(client, number):
            heard = received(client)
            if number > 1:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                return
            digest = base64.b64encode(hashlib.sha256(heard.body).digest()).decode()
            told, more = answer(200, f"Repr-Digest: sha-256=:{digest}:"), answer(400, "Connection: close")
            client.sendall(told + more if is_at_once else told)
            go.wait(60)
            if not is_at_once:
                client.sendall(more)
            gone.set()
            client.recv(1)

        with Bare(serve) as server:
            rig = bench.rig()
            rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", "0,600")
            rig.push(first)
            with rig.start("run", "--watch", "--json") as running:
                wait_until(lambda: running.saw("completed", id=first.id), "the first to land")
                go.set()
                wait_until(gone.is_set, "the unrequested answer")
                rig.push(second)
                wait_until(lambda: rig.tries(second) and rig.tries(second)[-1].ended_at, "the second to fail")
                running.stop()
        row = rig.delivery(second)
        expect((row.state, row.attempts) == ("failed", 1) and row.error_code != "http.400",
               f"is {row.state} after {row.attempts} attempts: {row.error_code} {row.error_message}")

    every({"with the answer": True, "later": False}, judge)


class Stammering:
    """An endpoint for `Bare` that returns URLs. `again` sends its last answer once more over the same connection."""

    def __init__(self, url):
        self.url, self.asked, self.last = url, 0, None

    def __call__(self, client, _):
        while heard := received(client):
            body = json.dumps({"url": f"{self.url}/{json.loads(heard.body)['sha256']}"}).encode()
            self.asked += 1
            self.last = client, answer(200, "Content-Type: application/json", body=body)
            client.sendall(self.last[1])

    def again(self):
        client, data = self.last
        with contextlib.suppress(OSError):  # the client may have closed its end
            client.sendall(data)


def answered_twice(bench):
    """put: if the URL endpoint repeats its answer during a PUT, this does not answer the next question."""
    bundles, shelf = bench.stock[:3], Shelf()

    def reply(request):
        if request.method == "PUT":
            desk.again()
        return shelf(request)

    with Scripted(reply) as store:
        desk = Stammering(store.url)
        with Bare(desk) as endpoint:
            rig = bench.rig()
            rig.dest("web", "put", "--url-endpoint", endpoint.url + "/sign", "--retry", AT_ONCE)
            rig.push(*bundles)
            rig.send("--until-empty", code=0)
    expect(rig.states() == {"completed"}, f"they are {rig.states()}")
    wrong = [bundle.id for bundle in bundles if shelf.kept.get(f"/{bundle.sha256}") != bundle.data]
    expect(not wrong and len(shelf.kept) == 3, f"{len(wrong)} of 3 are not under their URLs: {list(shelf.kept)}")
    expect(desk.asked == 3, f"the endpoint was asked {desk.asked} times")


def endless_header(bench):
    """A header line too long for libcurl, after the whole body, is unclear, but does not block the destination."""
    def serve(client, _):
        received(client)
        client.sendall(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 150_000 + b"\r\nContent-Length: 0\r\n\r\n")
        client.recv(1)

    with Bare(serve) as server:
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", "0,600")
        rig.push(bench.stock[0])
        rig.send("--once", code=15)
    row = rig.delivery(bench.stock[0])
    expect((row.state, row.in_doubt, row.attempts) == ("failed", 1, 1), f"is {row.state}, in doubt {row.in_doubt}, "
           f"after {row.attempts} attempts: {row.error_code} {row.error_message}")
    expect(rig.destination("web").blocked_reason is None, f"blocked as {rig.destination('web').blocked_reason}")


FAMILY = [
    ("bytes that are not TLS", no_tls),
    ("an answer that nobody asked for", unasked_answer),
    ("put: the URL endpoint answers twice", answered_twice),
    ("a header line of 150 kB", endless_header),
]
