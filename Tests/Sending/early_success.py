"""A yes that is none: before the body has arrived, from a portal, or beside a refusal. And requests made ambiguous."""
import dataclasses
import re
import socket
import threading

from capture_api import Answer, CaptureAPI
from checks import every, expect
from rigs import AT_ONCE
from scripted import Reply, Scripted
from sockets import SocketServer

ID = "7e57ab1e-0000-4000-8000-000000000051"
CHUNK = 65536
EARLY = 5000  # bytes of a body that are read before the answer
PAGE = b"<html><body>Please log in to the network</body></html>"


@dataclasses.dataclass
class Heard:
    """A request, word for word."""

    method: str
    path: str
    headers: list  # pairs, names in lower case
    body: bytes

    def values(self, name):
        return [value for one, value in self.headers if one == name]


class Bare(SocketServer):
    """`serve(client, number)` is a function of the test's."""

    def __init__(self, serve, context=None):
        super().__init__()
        self._serve, self._context = serve, context
        self.scheme = "https" if context else "http"

    def serve(self, client, number):
        if not self._context:
            self._serve(client, number)
            return
        with self._context.wrap_socket(client, server_side=True) as wrapped:
            self._serve(wrapped, number)


def received(client, limit=None):
    """The next request of a connection, of its body `limit` bytes or all; None where the connection ends instead."""
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
    """All bytes of an answer. Its length is told unless a line says how long it is."""
    is_told = any(line.lower().startswith(("content-length:", "transfer-encoding:")) for line in lines)
    told = [] if is_told or status == 204 else [f"Content-Length: {len(body)}"]
    return "\r\n".join([f"HTTP/1.1 {status} Scripted", *lines, *told, "", ""]).encode("latin-1") + body


def saying(reply, seen=None):
    """For `Bare`: answers request after request by what `reply(heard)` gives."""
    def serve(client, _):
        while heard := received(client):
            if seen is not None:
                seen.append(heard)
            client.sendall(reply(heard))
    return serve


def failed(rig, bundle):
    """It is to be tried again, nobody believes that it has landed, and `prune` keeps its bytes."""
    row = rig.delivery(bundle)
    expect((row.state, row.attempts) == ("failed", 1) and not row.receipt, f"is {row.state} after {row.attempts} "
           f"attempts, {row.error_code} {row.error_message}, receipt {row.receipt}")
    rig.run("prune", "--older-than", "0s").must(0, about="prune")
    expect(rig.spool_file(bundle).read_bytes() == bundle.data, "prune has deleted the only copy")
    return row


class Hurried:
    """The first connection is answered after EARLY bytes, and the rest is drained or not; all others are honest."""

    def __init__(self, status, drains):
        self.status, self.drains, self.seen, self.over = status, drains, [], threading.Event()

    def __call__(self, client, number):
        if number > 1:
            return saying(lambda heard: answer(201 if heard.method == "PUT" else 405), self.seen)(client, number)
        received(client, EARLY)
        client.sendall(answer(self.status, "Connection: close"))
        if not self.drains:
            # Nobody reads on, and nothing is broken either, for as long as the test takes.
            return self.over.wait(60)
        client.shutdown(socket.SHUT_WR)
        while client.recv(CHUNK):
            pass


def early_put(bench):
    """200 and 201 after some thousand bytes of 8 MB: tried again, since nobody can have the rest."""
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
            expect(rig.destination("web").held_code is None, f"held as {rig.destination('web').held_code}")
            server.over.set()
            rig.send("--until-empty", code=0)
            expect(rig.delivery(big).state == "completed", f"then it is {rig.delivery(big).state}")
            bodies = [heard.body for heard in server.seen if heard.method == "PUT"]
            expect(bodies == [big.data], "the server has other bytes")

    every({f"{status}, {name}": (status, drains) for status in (200, 201)
           for name, drains in (("drained", True), ("not read", False))}, judge)


def early_api(bench):
    """202 with an id after some thousand bytes of a body: no receipt; the next attempt lands."""
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


def portals(bench):
    """200 and a page to the body, and to HEAD an answer that tells no length: that proves nothing."""
    bundle = bench.stock[0]
    heads = {"chunked": answer(200, "Content-Type: text/html", "Transfer-Encoding: chunked"),
             "204": answer(204), "200, no length": answer(200, "Transfer-Encoding: chunked", "ETag: \"7\"")}

    def judge(name, head):
        page = answer(200, "Content-Type: text/html", body=PAGE)
        with Bare(saying(lambda heard: head if heard.method == "HEAD" else page)) as server:
            rig = bench.rig()
            rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", "0,600")
            rig.push(bundle)
            rig.send("--once", code=15)
        row = failed(rig, bundle)
        expect(row.error_code == "put.length", f"failed as {row.error_code}: {row.error_message}")

    every(heads, judge)


def unasked(bench):
    """Where HEAD is not allowed the 201 still counts, and the receipt says that it is all there is."""
    def judge(name, status):
        with Scripted(lambda request: Reply(status if request.method == "HEAD" else 201)) as server:
            rig = bench.rig()
            rig.dest("web", "put", "--url", server.url + "/{sha256}")
            rig.push(bench.stock[0])
            rig.send("--once", code=0)
        expect(rig.receipt(bench.stock[0])["confirmed_by"] == "status", f"{rig.receipt(bench.stock[0])}")

    every({str(status): status for status in (405, 403, 404)}, judge)


def refused_in_the_first_answer(bench):
    """202 that tells in `status` that the capture was rejected: final, with the server's reason, as by a poll."""
    reason = "the depth map is flat"
    cases = {"failed": {"reason": reason}, "rejected": {"reason": reason}, "error": {"error": {"message": reason}},
             "Failed": {"reason": reason}, "REJECTED": {"reason": reason}}

    def judge(status, members):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api:
            api.answer(Answer(202, body={"data": {"capture_id": ID, "status": status} | members}))
            rig.http(api.url)
            rig.push(bundle)
            rig.send("--until-empty", code=14)
            expect(len(api.seen()) == 1, f"{len(api.seen())} uploads")
        row = rig.delivery(bundle)
        expect((row.state, row.receipt) == ("permanently_failed", None), f"is {row.state} with {row.receipt}")
        expect(reason in (row.error_message or ""), f"the reason is {row.error_message!r}")

    every(cases, judge)


def words_in_capitals(bench):
    """`PROCESSING` is processing, and `Rejected` of a poll is a rejection: words are compared without their case."""
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api:
        api.answer(Answer(202, body={"data": {"capture_id": ID, "status": "PROCESSING"}}))
        api.answer(Answer(200, body={"data": {"capture_id": ID, "status": "Rejected", "reason": "flat"}}), to="poll")
        rig.http(api.url)
        rig.push(bundle)
        rig.send("--once", code=15)
        expect(rig.delivery(bundle).state == "processing", f"is {rig.delivery(bundle).state}")
        rig.send("--until-empty", code=14)
        row = rig.delivery(bundle)
        expect((row.state, row.receipt) == ("permanently_failed", None), f"then {row.state} with {row.receipt}")


def fragments(bench):
    """A fragment is sent to nobody, so an id in it would let each capture take the place of the one before."""
    urls = {"put, the id": ("put", "http://127.0.0.1:9/x#{id}"), "put, a word": ("put", "http://127.0.0.1:9/{id}#x"),
            "put, the hash": ("put", "http://127.0.0.1:9/x#{sha256}"), "s3": ("s3", "http://127.0.0.1:9/b/{sha256}#x"),
            "http": ("http", "http://127.0.0.1:9/api/v1/captures#x")}

    def judge(name, case):
        rig = bench.rig()
        kind, url = case
        options = ("--key", rig.key, "--device-id", ID) if kind == "http" else ()
        rig.dest("web", kind, "--url", url, *options, code=78)

    every(urls, judge)


def own_headers(bench):
    """What the tool or libcurl says of a request by itself cannot be said by --header, however it is written."""
    names = ["Content-Length", "Transfer-Encoding", "Host", "Connection", "Expect", "Idempotency-Key", "TE",
             "Trailer", "Upgrade", "Content-Range", "content-length", "HOST"]

    def judge(name, _):
        rig = bench.rig()
        result = rig.dest("web", "put", "--url", "http://127.0.0.1:9/{id}", "--header", f"{name}: 5", code=78)
        expect(re.search(rf"\b{name}\b", result.text, re.IGNORECASE), f"the message does not name it: {result.text!r}")

    every({name: None for name in names}, judge)


def one_type(bench):
    """--header Content-Type takes the place of ours: exactly one goes out."""
    seen = []
    with Bare(saying(lambda heard: answer(201 if heard.method == "PUT" else 405), seen)) as server:
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.url + "/{sha256}", "--header", "Content-Type: application/x-capture")
        rig.push(bench.stock[0])
        rig.send(code=0)
    put, = (heard for heard in seen if heard.method == "PUT")
    expect(put.values("content-type") == ["application/x-capture"], f"the types are {put.values('content-type')}")


FAMILY = [
    ("put: 200 and 201 before the body has arrived", early_put),
    ("http: 202 with an id before the body has arrived", early_api),
    ("put: a captive portal", portals),
    ("put: 201, and HEAD is not allowed", unasked),
    ("http: 202 that says failed, rejected or error", refused_in_the_first_answer),
    ("http: words of the server in capitals", words_in_capitals),
    ("a URL with a fragment is refused", fragments),
    ("--header of what is not the user's to say is refused", own_headers),
    ("--header Content-Type", one_type),
]
