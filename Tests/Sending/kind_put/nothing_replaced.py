"""put: no capture replaces another one, at URLs that the user wrote and at fetched URLs."""
import base64
import hashlib
import json

from checks import every, expect
from nginx import fresh
from raw_server import Bare, answer, saying
from rigs import AT_ONCE
from scripted import Reply, Scripted


class Shelf:
    """A store that obeys If-None-Match. With `is_read` it returns its files, with `tells` also their digests."""

    def __init__(self, kept=(), is_read=True, tells=False, refusal=412):
        self.kept, self.is_read, self.tells, self.refusal = dict(kept), is_read, tells, refusal

    def __call__(self, request):
        there = request.path in self.kept
        if request.method == "PUT":
            if there and request.headers.get("if-none-match") == "*":
                return Reply(self.refusal)
            self.kept[request.path] = request.body
            return Reply(201)
        if not self.is_read:
            return Reply(403)
        if not there:
            return Reply(404)
        data = self.kept[request.path]
        headers = {"x-amz-checksum-sha256": base64_sha256(data)} if self.tells else {}
        if request.method == "HEAD":
            return Reply(200, headers | {"Content-Length": str(len(data))})
        return Reply(200, headers, data)


def base64_sha256(data):
    return base64.b64encode(hashlib.sha256(data).digest()).decode()


def fetched(bench, server, bundle, *options):
    """Returns a rig whose command prints the same URL, /place of a server, for every capture."""
    rig = bench.rig()
    rig.dest("web", "put", "--url-command", f"echo {server.url}/place", "--retry", AT_ONCE, *options)
    rig.push(bundle)
    return rig


def refused(bench):
    """Several captures can share an id (a redacted copy has the id of its original), so a URL needs the hash."""
    rig = bench.rig()
    result = rig.dest("web", "put", "--url", "http://127.0.0.1:9/in/{id}.bundle", code=78)
    expect("hint:" in result.text and "{sha256}" in result.text, f"dest add says {result.text!r}")
    rig.dest("web", "put", "--url", "http://127.0.0.1:9/in/{id}-{sha256}.bundle")
    rig.run("dest", "set", "web", "--url", "http://127.0.0.1:9/{id}").must(78, about="dest set")
    shown = rig.run("dest", "show", "web").out
    expect(b"{id}-{sha256}" in shown, f"dest set changed it: {shown!r}")


def blocked(bench):
    """If an older version accepted such a URL, the destination is blocked with a hint; after the change all land."""
    rig, bundles = bench.rig(), bench.stock[:2]
    with fresh(bench) as server:
        rig.dest("web", "put", "--url", server.template())
        old = json.dumps({"url": f"{server.url}/store/{{id}}.bundle"}, separators=(",", ":"))
        rig.push(*bundles)
        with rig.database() as database:
            database.execute("UPDATE destinations SET settings = ?", (old,))
        for mode in ("--once", "--until-empty"):
            result = rig.send(mode, code=15)
            expect("{sha256}" in result.text and "dest set web --url" in result.text, f"run says {result.text!r}")
        expect({(row.state, row.attempts) for row in rig.deliveries()} == {("pending", 0)}, "an attempt was used")
        expect(rig.destination("web").blocked_reason == "address", f"blocked as {rig.destination('web').blocked_reason}")
        result = rig.run("dest", "test", "web").must(78, about="dest test")
        expect("{sha256}" in result.text, f"dest test says {result.text!r}")
        expect(not server.log(), "the server was asked")
        rig.run("dest", "set", "web", "--url", server.template()).must(0, about="dest set")
        rig.send("--until-empty", code=0)
        server.keeps(*bundles)


def torn(bench):
    """A broken server left half a bundle under a name with the hash: PUT replaces it, because it sends no condition."""
    rig, bundle = bench.rig(), bench.stock[0]
    shelf = Shelf({f"/{bundle.sha256}": bundle.data[:700]})
    with Scripted(shelf) as server:
        rig.dest("web", "put", "--url", server.url + "/{sha256}")
        rig.push(bundle)
        rig.send(code=0)
        put, = server.seen("PUT")
    expect("if-none-match" not in put.headers, "a condition keeps the torn bytes")
    expect(shelf.kept == {put.path: bundle.data}, "the server has other bytes")


def not_replaced(bench):
    """If something exists at a fetched URL, the same bytes complete the capture, other bytes are a conflict, and
    unreadable bytes are unclear. Nothing is replaced."""
    bundle = bench.stock[0]
    other = bundle.data[:-600] + bytes([bundle.data[-600] ^ 1]) + bundle.data[-599:]
    cases = {f"{status}, {name}": (status, *case) for status in (409, 412) for name, case in {
        "the same, by digest": (bundle.data, {"tells": True}, "completed", "digest"),
        "the same, read": (bundle.data, {}, "completed", "bytes"),
        "others, by digest": (other, {"tells": True}, "conflict", None),
        "others of that length": (other, {}, "conflict", None),
        "others, longer": (bundle.data + b"\0", {}, "conflict", None),
        "a beginning": (bundle.data[:700], {}, "conflict", None),
        "nobody may read": (bundle.data, {"is_read": False}, "failed", None)}.items()}

    def judge(name, case):
        status, data, how, state, proof = case
        shelf = Shelf({"/place": data}, refusal=status, **how)
        with Scripted(shelf) as server:
            rig = fetched(bench, server, bundle, "--retry", "0,600")
            rig.send("--once", code={"completed": 0, "conflict": 14, "failed": 15}[state])
        row = rig.delivery(bundle)
        expect((row.state, row.attempts) == (state, 1), f"is {row.state} after {row.attempts}: {row.error_message}")
        expect(shelf.kept == {"/place": data}, "the bytes were replaced")
        expect(row.in_doubt == (1 if state == "failed" else 0), f"in doubt: {row.in_doubt}")
        if proof:
            expect(rig.receipt(bundle)["confirmed_by"] == proof, f"the receipt is {rig.receipt(bundle)}")

    every(cases, judge)


def two_in_one_place(bench):
    """If a command prints one URL for all captures, the second is a conflict and does not replace the first."""
    one, two = bench.stock[:2]
    shelf = Shelf()
    with Scripted(shelf) as server:
        rig = fetched(bench, server, one)
        rig.push(two)
        rig.send("--until-empty", code=14)
    expect([rig.delivery(bundle).state for bundle in (one, two)] == ["completed", "conflict"], f"{rig.states()}")
    expect(shelf.kept == {"/place": one.data}, "the first capture was replaced")


def own_condition(bench):
    """A condition from the user or the endpoint replaces ours, and is sent once."""
    bundle = bench.stock[0]

    def judge(name, case):
        options, headers = case
        seen = []

        def reply(heard):
            named = json.dumps({"url": f"{server.url}/place", "headers": headers}).encode()
            return answer(200, body=named) if heard.method == "POST" else answer(201 if heard.method == "PUT" else 405)

        with Bare(saying(reply, seen)) as server:
            rig = bench.rig()
            rig.dest("web", "put", "--url-endpoint", f"{server.url}/ask", *options)
            rig.push(bundle)
            rig.send(code=0)
        put, = (heard for heard in seen if heard.method == "PUT")
        expect(put.values("if-none-match") == ['"other"'], f"sent was {put.values('if-none-match')}")

    every({"the user's": (("--header", 'If-None-Match: "other"'), {}),
           "the endpoint's": ((), {"If-None-Match": '"other"'})}, judge)


def missing_folder(bench):
    """A 409 for a missing folder, as WebDAV sends it, is tried again, and the message says that nothing is there."""
    bundle = bench.stock[0]
    with Scripted(lambda request: Reply(409 if request.method == "PUT" else 404)) as server:
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.url + "/no/{sha256}", "--retry", "0,600")
        rig.push(bundle)
        result = rig.send("--once", code=15)
    row = rig.delivery(bundle)
    expect(row.state == "failed" and "finds nothing there" in result.text, f"is {row.state}: {row.error_message!r}")


def unknown_condition(bench):
    """To a server without If-None-Match the PUT is sent again without it, at the same URL, and later PUTs omit it."""
    bundles = bench.stock[:3]
    names = b'{"error":{"code":"BadHeader","message":"unsupported header \'if-none-match\'"}}'
    refusals = {"501": Reply(501), "400 that names it": Reply(400, {"Content-Type": "application/json"}, names)}

    def judge(name, refusal):
        def answer(request):
            if request.method != "PUT":
                return Reply(405)
            return refusal if "if-none-match" in request.headers else Reply(201)

        with Scripted(answer) as server:
            rig = bench.rig()
            asked = rig.folder / "asked"
            rig.dest("web", "put", "--url-command", f"echo x >> {asked}; echo {server.url}/$CAPQUEUE_SHA256")
            rig.push(*bundles)
            rig.send(code=0)
            sent = [("if-none-match" in put.headers, put.path[1:9], put.body) for put in server.seen("PUT")]
        wanted = [(True, bundles[0]), *((False, bundle) for bundle in bundles)]
        expect(sent == [(is_asked, bundle.sha256[:8], bundle.data) for is_asked, bundle in wanted],
               f"sent were {[one[:2] for one in sent]}")
        expect({row.attempts for row in rig.deliveries()} == {1}, "attempts were used")
        expect(len(asked.read_text().split()) == len(bundles), "a URL was asked for twice")

    every(refusals, judge)
    with Scripted(lambda request: Reply(400, {}, b"no")) as server:
        rig = fetched(bench, server, bundles[0])
        rig.send("--until-empty", code=14)
        expect(len(server.seen("PUT")) == 1, "a 400 that does not name the header is not final")


FAMILY = [
    ("a URL with {id} and without {sha256} is refused with a hint", refused),
    ("a destination of an older version with such a URL is blocked until it is changed", blocked),
    ("the next PUT replaces an incomplete object under the hash", torn),
    ("a PUT to a fetched URL replaces nothing", not_replaced),
    ("two captures for which a command prints the same URL", two_in_one_place),
    ("a condition from the user or the endpoint replaces ours", own_condition),
    ("a 409 for a missing folder is tried again, and says that nothing is there", missing_folder),
    ("a server that does not know If-None-Match gets the bytes without it", unknown_condition),
]
