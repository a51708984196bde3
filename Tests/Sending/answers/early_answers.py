"""Answers that arrive before the body was sent: a refusal counts, a success does not."""
import dataclasses
import gzip
import socket
import threading

from Kit.outcomes import every, expect
from Kit.sending import failed
from Kit.servers.capture_api import Answer, CaptureAPI
from Kit.servers.fault_proxy import RESET
from Kit.servers.raw_server import CHUNK, Bare, answer, received, saying
from Sending.answers.tries import is_left, sent, some

EARLY = 100_000  # how many bytes of a body are read before the answer


class Hurried:
    """Answers the first connection after EARLY bytes, and the later ones correctly.

    After the early answer it drains the rest of the body, does not read it, or closes, which makes a reset.
    """

    def __init__(self, status, then):
        self.status, self.then, self.seen, self.over = status, then, [], threading.Event()

    def __call__(self, client, number):
        if number > 1:
            return saying(lambda heard: answer(201 if heard.method == "PUT" else 405), self.seen)(client, number)
        received(client, EARLY)
        client.sendall(answer(self.status, "Connection: close"))
        if self.then == "not read":
            # Keep the connection open for as long as the test takes.
            self.over.wait(60)
        elif self.then == "drained":
            client.shutdown(socket.SHUT_WR)
            while client.recv(CHUNK):
                pass


def early_put(bench):
    """A refusal counts, although the connection breaks. After 200 or 201 the capture is tried again, since the server
    cannot have the rest."""
    big = bench.big()
    cases = {"413, reset": (413, "reset", "permanently_failed", 1, None),
             "200, drained": (200, "drained", "failed", 1, None),
             "401, reset": (401, "reset", "pending", 0, "credentials"),
             "201, not read": (201, "not read", "failed", 1, None)}

    def judge(name, case):
        status, then, state, attempts, held = case
        server = Hurried(status, then)
        with Bare(server) as bare:
            rig = sent(bench, "put", bare.url + "/{sha256}", bundles=[big], code=(14, 15))
            row = is_left(rig, state, attempts, held, big)
            expect(not row.in_doubt, "in doubt, although the body was not sent whole")
            if status > 299:
                said = f"{row.error_message} {rig.destination('it').blocked_message}"
                expect(str(status) in said, f"the reason is {said!r}")
                return
            failed(rig, big)
            server.over.set()
            rig.send("--until-empty", code=0)
            is_left(rig, "completed", 2, None, big)
        bodies = [heard.body for heard in server.seen if heard.method == "PUT"]
        expect(bodies == [big.data], "other bytes arrived")

    every(some(cases, 2), judge)


def early_answers(bench):
    """A refusal that arrives before the whole body was sent counts, not the broken connection. A success does not."""
    answers = {
        "413": (Answer(413, "PAYLOAD_TOO_LARGE"), "permanently_failed", 1, None),
        "401": (Answer(401, "DEVICE_AUTH_REQUIRED"), "pending", 0, "credentials"),
        "202": (Answer(202, body={"data": {"capture_id": "c-1", "status": "complete"}}), "failed", 1, None),
        "503": (Answer(503), "pending", 0, "failing"),
        "400": (Answer(400, "VALIDATION_ERROR"), "permanently_failed", 1, None),
        "429": (Answer(429, headers={"Retry-After": "1000"}), "pending", 0, "wait"),
        "a redirect": (Answer(301, headers={"Location": "/x"}), "pending", 0, "endpoint"),
    }
    cases = {f"{name} after {reads} bytes, then {then}": (reads, then, *case) for reads in (1_000_000, 0)
             for then in ("reset", "close") for name, case in answers.items()}

    def judge(name, case):
        reads, then, says, *left = case
        with CaptureAPI(bench.public, buffer=65536) as api:
            api.answer(dataclasses.replace(says, when="early", reads=reads, then=then))
            rig = sent(bench, "http", api.url, bundles=[bench.big()])
        row = is_left(rig, *left, bench.big())
        expect(len(api.seen()) == 1 and not row.in_doubt and not row.remote_id, "sent again, in doubt, or with an id")

    every(some(cases, 1), judge)


def torn_answers(bench):
    """An answer before a reset is read in its codings and after interim answers. With `--bwlimit` the connection is reset
    while the next bytes are held back, so that sending them fails before anything is read."""
    page, html = b"<html><head><title>T</title></head></html>", "Content-Type: text/html"
    parts = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (page[:9], page[9:])) + b"0\r\n\r\n"
    cases = {"chunked": (answer(400, html, "Transfer-Encoding: chunked", body=parts), "edge.400"),
             "gzip": (answer(400, html, "Content-Encoding: gzip", body=gzip.compress(page)), "edge.400"),
             "after 100": (b"HTTP/1.1 100 Continue\r\n\r\n" + answer(511), "edge.511"),
             "after 100, often": (b"HTTP/1.1 100\r\n\r\n" * 3000 + answer(511), "edge.511")}

    def judge(name, case):
        data, code = case

        def serve(client, _):
            received(client, 0)
            client.sendall(data)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)

        big = bench.big(300_000)
        with Bare(serve) as bare:
            rig = sent(bench, "http", bare.url, "--bwlimit", "400kB", bundles=[big], code=15)
        row = is_left(rig, "pending", 0, "failing", big)
        expect(row.error_code == code, f"{row.error_code}: {row.error_message}")

    every(some(cases, 2), judge)


def expectation_refused(bench):
    """417 to `Expect: 100-continue`, as older lighttpd and squid answer before they close: the request is repeated
    without it, in the same attempt, and later requests do not ask."""
    bundles = [bench.big(17 << 20), bench.big((17 << 20) + 1)]
    asked = []

    def serve(client, _):
        while head := peeked(client):
            asked.append("expect:" in head.lower())
            if asked[-1]:
                client.sendall(answer(417, "Connection: close"))
                return
            client.sendall(answer(201 if received(client).method == "PUT" else 405))

    with Bare(serve) as bare:
        rig = sent(bench, "put", bare.url + "/{sha256}", bundles=bundles, code=0)
    for bundle in bundles:
        is_left(rig, "completed", 1, None, bundle)
    expect(asked.count(True) == 1, f"it asked {asked.count(True)} times")


def peeked(client):
    """The head of the next request, which stays to be read."""
    while True:
        data = client.recv(CHUNK, socket.MSG_PEEK)
        if not data or b"\r\n\r\n" in data:
            return data.partition(b"\r\n\r\n")[0].decode("latin-1")


TESTS = [
    ("417 and a closed connection: the body is sent without Expect", expectation_refused),
    ("an early answer before a reset, in codings and after interim answers", torn_answers),
    ("put: a refusal before the body has arrived counts, 200 and 201 do not", early_put),
    ("early answers count, whatever the connection does then", early_answers),
]
