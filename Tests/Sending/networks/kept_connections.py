"""Kept connections that the server closes just as the next request begins: the request is sent once more."""
import json
import socket

from Kit.outcomes import every, expect
from Kit.servers.capture_api import Answer
from Kit.servers.fault_proxy import RESET
from Kit.servers.raw_server import Bare, answer, received
from Sending.answers.tries import is_left, posted, sent


class Closing:
    """A server for PUT that closes each connection as its second request begins, or only the first one."""

    def __init__(self, is_always=False, reads=None, is_reset=False):
        self.is_always, self.reads, self.is_reset, self.puts = is_always, reads, is_reset, []

    def __call__(self, client, number):
        requests = 0
        while heard := self.next(client, requests):
            requests += 1
            if heard.method == "PUT":
                self.puts.append(heard.body)
            if requests == 2 and (self.is_always or number == 1):
                if self.is_reset:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                return
            client.sendall(answer(201 if heard.method == "PUT" else 405))

    def next(self, client, requests):
        return received(client, self.reads if requests == 1 else None)


def put(bench):
    """A small bundle lands in one attempt, with a second body on a fresh connection; so does what was not handed over.
    Once an attempt: a server that always does so costs an attempt."""
    first, second = bench.stock[:2]
    cases = {"closed": (Closing(), 1), "reset": (Closing(is_reset=True), 1)}

    def judge(name, case):
        server, attempts = case
        with Bare(server) as bare:
            # HEAD would be the second request, so the first PUT is proven by its status alone.
            rig = sent(bench, "put", bare.url + "/{sha256}", "--proof", "status", bundles=[first, second], code=0)
        is_left(rig, "completed", 1, None, first)
        is_left(rig, "completed", attempts, None, second)
        expect(server.puts == [first.data, second.data, second.data], f"{len(server.puts)} bodies came")

    every(cases, judge)


def once(bench):
    """If the connection to the endpoint that names the URL ends so, and then that for the PUT, the attempt counts."""
    asked = []

    def endpoint(client, number):
        while received(client):
            asked.append(number)
            if len(asked) == 2:
                return
            client.sendall(answer(200, body=json.dumps({"url": f"{bare.url}/{len(asked)}"}).encode()))

    with Bare(Closing()) as bare, Bare(endpoint) as desk:
        rig = sent(bench, "put", None, "--url-endpoint", desk.url, "--proof", "status", retry="0,600",
                   bundles=bench.stock[:2], code=15)
    is_left(rig, "completed", 1, None, bench.stock[0])
    row = is_left(rig, "failed", 1, None, bench.stock[1])
    expect(asked[:2] == [1, 1] and len(asked) == 3 and row.error_code == "curl.52" and row.in_doubt, f"asked {asked}, {row.error_code}")


def large(bench):
    """A body of 64 KiB or more that was handed over whole is not repeated in the attempt: the server is asked first."""
    big = bench.big(70_000)
    server = Closing()
    with Bare(server) as bare:
        rig = sent(bench, "put", bare.url + "/{sha256}", "--proof", "status", bundles=[bench.stock[0], big],
                   retry="0,600", code=15)
    expect(is_left(rig, "failed", 1, None, big).in_doubt, "not in doubt")
    expect(server.puts == [bench.stock[0].data, big.data], "the body was sent again")


def signed(bench):
    """http: the same key, and a new time stamp and signature."""
    rig, api = posted(bench, Answer(), Answer(when="read", then="cut"), count=2, code=0)
    for bundle in bench.stock[:2]:
        is_left(rig, "completed", 1, None, bundle)
    _, one, two = api.seen()
    expect(one.key == two.key and one.digest == two.digest, "another key or body")
    stamps = [int(request.headers["x-device-timestamp"]) for request in (one, two)]
    expect(stamps[0] < stamps[1] and one.headers["x-device-signature"] != two.headers["x-device-signature"],
           f"stamps {stamps}")
    api.holds(*map(bench.photo, bench.stock[:2]))


TESTS = [
    ("put: a second body on a fresh connection, in the same attempt", put),
    ("once an attempt", once),
    ("a large body is not repeated", large),
    ("http: the same key, a new time stamp", signed),
]
