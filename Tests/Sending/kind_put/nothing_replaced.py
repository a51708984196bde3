"""put: no capture replaces another one, at URLs that the user wrote and at fetched URLs."""
import base64
import hashlib
import json

from Kit.outcomes import every, expect
from Kit.servers.raw_server import Bare, answer, saying
from Kit.servers.scripted import Reply, Scripted
from Sending.answers.tries import confirmed_by, is_left, sent, some


class Shelf:
    """A store that obeys If-None-Match. With `is_read` it returns its files, with `tells` also their digests. With
    `is_final` it replaces nothing, whatever the request says."""

    def __init__(self, kept=(), is_read=True, tells=False, refusal=412, is_final=False):
        self.kept, self.is_read, self.tells, self.refusal = dict(kept), is_read, tells, refusal
        self.is_final = is_final

    def __call__(self, request):
        there = request.path in self.kept
        if request.method == "PUT":
            if there and (self.is_final or request.headers.get("if-none-match") == "*"):
                return Reply(self.refusal)
            self.kept[request.path] = request.body
            return Reply(201)
        if not self.is_read:
            return Reply(403)
        if not there:
            return Reply(404)
        data = self.kept[request.path]
        digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
        headers = {"x-amz-checksum-sha256": digest} if self.tells else {}
        if request.method == "HEAD":
            return Reply(200, headers | {"Content-Length": str(len(data))})
        return Reply(200, headers, data)


def torn(bench):
    """A broken server left half a bundle under a name with the hash: PUT replaces it, because it sends no condition."""
    bundle = bench.stock[0]
    shelf = Shelf({f"/{bundle.sha256}": bundle.data[:700]})
    with Scripted(shelf) as server:
        sent(bench, "put", server.url + "/{sha256}", code=0)
        put, = server.seen("PUT")
    expect("if-none-match" not in put.headers, "a condition keeps the torn bytes")
    expect(shelf.kept == {put.path: bundle.data}, "the server has other bytes")


def not_replaced(bench):
    """After 409 and 412 the server is asked what it has: the same bytes complete the capture, others are a conflict,
    unreadable ones are unclear. Nothing is replaced, at a fetched URL and at one that the user wrote."""
    bundle = bench.stock[0]
    other = bundle.data[:-600] + bytes([bundle.data[-600] ^ 1]) + bundle.data[-599:]
    cases = {"412, the same, read": (412, bundle.data, {}, "completed", "bytes"),
             "409, others of that length": (409, other, {}, "conflict", None),
             "412, nobody may read": (412, bundle.data, {"is_read": False}, "failed", None),
             "409, own URL, the same": (409, bundle.data, {"tells": True, "is_final": True}, "completed", "digest"),
             "412, own URL, others": (412, other, {"tells": True, "is_final": True}, "conflict", None),
             "409, the same, by digest": (409, bundle.data, {"tells": True}, "completed", "digest"),
             "412, others, by digest": (412, other, {"tells": True}, "conflict", None),
             "412, others, longer": (412, bundle.data + b"\0", {}, "conflict", None),
             "412, a beginning": (412, bundle.data[:700], {}, "conflict", None)}

    def judge(name, case):
        status, data, how, state, proof = case
        with Scripted(None) as server:
            place, options = ("/place", ("--url-command", f"echo {server.url}/place")) if "own" not in name else (
                f"/{bundle.sha256}", ("--url", server.url + "/{sha256}"))
            server.answer = shelf = Shelf({place: data}, refusal=status, **how)
            code = {"completed": 0, "conflict": 14, "failed": 15}[state]
            rig = sent(bench, "put", None, *options, retry="0,600", code=code)
        row = is_left(rig, state, 1)
        expect(shelf.kept == {place: data}, "the bytes were replaced")
        expect(row.in_doubt == (1 if state == "failed" else 0), f"in doubt: {row.in_doubt}")
        if proof:
            confirmed_by(rig, proof)

    every(some(cases, 3), judge)


def own_headers(bench):
    """A condition or a type from the user or the endpoint replaces ours, and is sent once."""
    def judge(name, case):
        options, headers = case
        seen = []

        def reply(heard):
            named = json.dumps({"url": f"{server.url}/place", "headers": headers}).encode()
            return answer(200, body=named) if heard.method == "POST" else answer(201 if heard.method == "PUT" else 405)

        with Bare(saying(reply, seen)) as server:
            sent(bench, "put", None, "--url-endpoint", f"{server.url}/ask", *options, "--proof", "status", code=0)
        put, = (heard for heard in seen if heard.method == "PUT")
        expect(put.values("if-none-match") == ['"other"'], f"sent was {put.values('if-none-match')}")
        expect(headers or put.values("content-type") == ["application/x-capture"], f"{put.values('content-type')}")

    own = ("--header", 'If-None-Match: "other"', "--header", "Content-Type: application/x-capture")
    every(some({"the user's": (own, {}), "the endpoint's": ((), {"If-None-Match": '"other"'})}, 1), judge)


def missing_folder(bench):
    """A 409 for a missing folder, as WebDAV sends it, is tried again, and the message says that nothing is there. The
    second one blocks the destination and names the folder, in this run or in the next, and costs no attempt. `dest
    test` finds it. With an S3 code, 409 is about something else."""
    made = set()

    def dav(request):
        if request.method == "OPTIONS":
            return Reply(200, {"DAV": "1,2"})
        if request.path == "/no/":
            return Reply(405 if made else 404)
        return Reply((201 if made else 409) if request.method == "PUT" else 404)

    with Scripted(dav) as server:
        rig = sent(bench, "put", server.url + "/no/{sha256}", "--proof", "status", retry="0,0,600", code=15)
        is_left(rig, "failed", 1)
        expect("finds nothing there" in rig.said.text, f"run says {rig.said.text!r}")
        for command in ("run", "--once"), ("dest", "test", "it"):
            said = rig.run(*command).text
            expect(f"{server.url}/no/ does not exist" in said, f"{command} says {said!r}")
        is_left(rig, "pending", 1, "endpoint")
        made.add(True)
        rig.run("dest", "test", "it").must(0, about="dest test")
        rig.send("--until-empty", code=0)
    with Scripted(dav) as server:
        made.clear()
        rig = sent(bench, "put", server.url + "/no/{sha256}", bundles=bench.stock[:2], retry="0,600", code=15)
        is_left(rig, "pending", 0, "endpoint", bench.stock[1])
    code = b"<Error><Code>OperationAborted</Code></Error>"
    with Scripted(lambda request: Reply(409, {"Content-Type": "application/xml"}, code) if request.method == "PUT"
                  else Reply(404)) as server:
        rig = sent(bench, "put", server.url + "/no/{sha256}", bundles=bench.stock[:2], retry="0,600", code=15)
    expect({row.attempts for row in rig.deliveries()} == {1} and not rig.destination("it").blocked_reason, "blocked")


def unknown_condition(bench):
    """To a server without If-None-Match the PUT is sent again without it, at the same URL, and later PUTs omit it."""
    bundles = bench.stock[:3]
    names = b'{"error":{"code":"BadHeader","message":"unsupported header \'if-none-match\'"}}'
    refusals = {"400 that names it": Reply(400, {"Content-Type": "application/json"}, names), "501": Reply(501)}

    def judge(name, refusal):
        def answer(request):
            if request.method != "PUT":
                return Reply(405)
            return refusal if "if-none-match" in request.headers else Reply(201)

        with Scripted(answer) as server:
            asked = bench.folder / f"asked{next(bench.numbers)}"
            command = f"echo x >> {asked}; echo {server.url}/$CAPQUEUE_SHA256"
            rig = sent(bench, "put", None, "--url-command", command, bundles=bundles, code=0)
            puts = [("if-none-match" in put.headers, put.path[1:9], put.body) for put in server.seen("PUT")]
        wanted = [(True, bundles[0]), *((False, bundle) for bundle in bundles)]
        expect(puts == [(is_asked, bundle.sha256[:8], bundle.data) for is_asked, bundle in wanted],
               f"sent were {[one[:2] for one in puts]}")
        expect({row.attempts for row in rig.deliveries()} == {1}, "attempts were used")
        expect(len(asked.read_text().split()) == len(bundles), "a URL was asked for twice")

    every(some(refusals, 1), judge)


TESTS = [
    ("the next PUT replaces an incomplete object under the hash", torn),
    ("409 and 412: the server is asked what it has, and nothing is replaced", not_replaced),
    ("a condition or type from the user or the endpoint replaces ours", own_headers),
    ("a 409 for a missing folder blocks the second time, and names the folder", missing_folder),
    ("a server that does not know If-None-Match gets the bytes without it", unknown_condition),
]
