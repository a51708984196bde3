"""Answers that arrive before the body was sent: a refusal counts, a success does not."""
import dataclasses
import socket
import threading

from capture_api import Answer, CaptureAPI
from checks import every, expect
from raw_server import CHUNK, Bare, answer, received, saying
from rigs import AT_ONCE, failed

ID = "7e57ab1e-0000-4000-8000-000000000051"
EARLY = 5000  # how many bytes of a body are read before the answer


class Hurried:
    """Answers the first connection after EARLY bytes and may drain the rest; answers later ones correctly."""

    def __init__(self, status, drains):
        self.status, self.drains, self.seen, self.over = status, drains, [], threading.Event()

    def __call__(self, client, number):
        if number > 1:
            return saying(lambda heard: answer(201 if heard.method == "PUT" else 405), self.seen)(client, number)
        received(client, EARLY)
        client.sendall(answer(self.status, "Connection: close"))
        if not self.drains:
            # Stop reading, and keep the connection open for as long as the test takes.
            return self.over.wait(60)
        client.shutdown(socket.SHUT_WR)
        while client.recv(CHUNK):
            pass


def early_put(bench):
    """After 200 or 201 during a body of 8 MB the capture is tried again, since the server cannot have the rest."""
    big = bench.big()

    def judge(name, case):
        server = Hurried(*case)
        with Bare(server) as bare:
            rig = bench.rig()
            rig.dest("web", "put", "--url", bare.url + "/{sha256}", "--retry", AT_ONCE)
            rig.push(big)
            rig.send("--once", code=15)
            row = failed(rig, big)
            expect(not row.in_doubt, "in doubt, although the body was not sent whole")
            expect(rig.destination("web").blocked_reason is None, f"blocked as {rig.destination('web').blocked_reason}")
            server.over.set()
            rig.send("--until-empty", code=0)
            expect(rig.delivery(big).state == "completed", f"then it is {rig.delivery(big).state}")
            bodies = [heard.body for heard in server.seen if heard.method == "PUT"]
            expect(bodies == [big.data], "the server has other bytes")

    every({f"{status}, {name}": (status, drains) for status in (200, 201)
           for name, drains in (("drained", True), ("not read", False))}, judge)


def early_api(bench):
    """After 202 with an id during a body there is no receipt, and the next attempt lands."""
    big = bench.big()
    yes = {"data": {"capture_id": ID, "status": "complete"}}

    def judge(name, then):
        rig = bench.rig()
        with CaptureAPI(bench.public, buffer=CHUNK) as api:
            api.answer(Answer(202, body=yes, when="early", reads=EARLY, then=then))
            rig.http(api.url)
            rig.push(big)
            rig.send("--once", code=15)
            row = failed(rig, big)
            expect(not row.remote_id, f"keeps the id {row.remote_id}")
            rig.send("--until-empty", code=0)
            api.holds(bench.photo(big))
            expect(rig.delivery(big).remote_id == api.stored[0].id, "keeps another id")

    every({"drained": "keep", "reset": "reset"}, judge)


def early_answers(bench):
    """An answer that arrives before the whole body was sent decides the result; the broken connection does not."""
    cases = {
        "413": (Answer(413, "PAYLOAD_TOO_LARGE"), "permanently_failed", 1),
        "401": (Answer(401, "DEVICE_AUTH_REQUIRED"), "pending", 0),
        "400": (Answer(400, "VALIDATION_ERROR"), "permanently_failed", 1),
        "429": (Answer(429, headers={"Retry-After": "1000"}), "pending", 0),
        "503": (Answer(503), "failed", 1), "a redirect": (Answer(301, headers={"Location": "/x"}), "pending", 0),
    }
    for reads in (0, 1_000_000):
        for then in ("close", "reset"):
            def judged(name, case):
                answer, state, attempts = case
                rig, bundle = bench.rig(), bench.big()
                with CaptureAPI(bench.public, buffer=65536) as api:
                    api.answer(dataclasses.replace(answer, when="early", reads=reads, then=then))
                    rig.http(api.url)
                    rig.push(bundle)
                    rig.send("--once")
                    row = rig.delivery(bundle)
                    about = f"after {reads} bytes, then {then}"
                    expect((row.state, row.attempts) == (state, attempts), f"{about}: is {row.state} after "
                           f"{row.attempts} attempts: {row.error_code} {row.error_message}")
                    expect(len(api.seen()) == 1 and not row.in_doubt, f"{about}: sent again, or in doubt")

            every(cases, judged)


FAMILY = [
    ("put: 200 and 201 before the body has arrived", early_put),
    ("http: 202 with an id before the body has arrived", early_api),
    ("early answers count, whatever the connection does then", early_answers),
]
