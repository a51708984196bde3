"""Bytes that are not the answer to this request: unrequested, not TLS, or endless."""
import base64
import hashlib
import os
import re
import socket
import ssl
import threading

from Kit.servers.certificates import Authority
from Kit.outcomes import every, expect
from Kit.servers.fault_proxy import RESET
from Kit.servers.raw_server import CHUNK, Bare, answer, received
from Kit.sending import wait_until
from Sending.answers.tries import added, is_left, sent, some


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
            rig = sent(bench, "put", server.url + "/{sha256}", "--ca", authority.path, bundles=[bundle], code=15)
        row = rig.delivery(bundle)
        expect(row.state in ("failed", "pending"), f"is {row.state}: {row.error_code} {row.error_message}")
        said = f"{row.error_code} {row.error_message} {rig.destination('it').blocked_message}"
        # Search for the whole word, because a port may contain these digits.
        expect(not re.search(r"\b413\b", said), f"413 counts: {said}")

    every(some({"8 MB": bench.big(), "small": bench.stock[0]}, 1), judge)


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
            rig = added(bench, "put", server.url + "/{sha256}", bundles=[first], retry="0,600")
            with rig.start("run", "--watch", "--json") as running:
                wait_until(lambda: running.saw("completed", id=first.id), "the first to land")
                go.set()
                wait_until(gone.is_set, "the unrequested answer")
                rig.push(second)
                wait_until(lambda: rig.tries(second) and rig.tries(second)[-1].ended_at, "the second to fail")
                running.stop()
        # Every later connection is reset, as if nobody were behind the port.
        row = is_left(rig, "pending", 0, "failing", second)
        expect(row.error_code != "http.400", f"failed as {row.error_code}: {row.error_message}")

    every(some({"later": False, "with the answer": True}, 1), judge)


TESTS = [
    ("bytes that are not TLS", no_tls),
    ("an answer that nobody asked for", unasked_answer),
]
