"""s3: stores that do less than SeaweedFS: no checksum, no condition, no length, no permission to look."""
import base64
import hashlib

from Kit.outcomes import IS_LONG, every, expect
from Kit.sending import AT_ONCE, completed
from Kit.servers.raw_server import Bare, answer, saying
from Kit.servers.scripted import Reply, Scripted

KEYS = {"AWS_ACCESS_KEY_ID": "AKLIMITED", "AWS_SECRET_ACCESS_KEY": "secret"}
XML = {"Content-Type": "application/xml"}
FOREIGN = '"0123456789abcdef0123456789abcdef"'  # an ETag that looks like an MD5, but not the MD5 of our bytes


class Limited:
    """Stores objects by path, and refuses requests that have one of the headers `unknown` {name: status}."""

    def __init__(self, **unknown):
        self.unknown, self.kept = {name.replace("_", "-"): status for name, status in unknown.items()}, {}

    def __call__(self, request):
        for name, status in self.unknown.items():
            if found := next((header for header in request.headers if header.startswith(name)), None):
                code = "NotImplemented" if status == 501 else "InvalidArgument"
                words = f"<Error><Code>{code}</Code><Message>Unsupported header '{found}'</Message></Error>"
                return Reply(status, XML, words.encode())
        if request.method == "PUT":
            self.kept[request.path] = request.body
            return Reply(200)
        if request.path not in self.kept:
            return Reply(404)
        if request.method == "DELETE":
            del self.kept[request.path]
            return Reply(204)
        data = self.kept[request.path]
        if request.method == "GET":
            return Reply(200, {}, data)
        return Reply(200, {"Content-Length": str(len(data)), "ETag": f'"{hashlib.md5(data).hexdigest()}"'})


def refused_header(bench):
    """No attempt is used while the destination waits; the message names the setting, and with it all land."""
    bundles = bench.stock[:2]
    cases = {"checksum": (Limited(x_amz_checksum=400), "--checksum md5", ("--checksum", "md5")),
             "condition": (Limited(if_none_match=501), "--no-condition", ("--no-condition",)),
             "no checksum": (Limited(x_amz_checksum=400), "--checksum md5", ("--checksum", "none"))}

    def judge(name, case):
        store, words, setting = case
        with Scripted(store) as server:
            rig = bench.rig()
            rig.env |= KEYS
            rig.dest("s3", "s3", "--url", server.url + "/bucket", "--retry", AT_ONCE)
            rig.push(*bundles)
            result = rig.send("--until-empty", code=15)
            expect(f"dest set s3 {words}" in result.text, f"run says {result.text!r}")
            expect({(row.state, row.attempts) for row in rig.deliveries()} == {("pending", 0)}, "an attempt was used")
            rig.run("dest", "set", "s3", *setting).must(0, about="dest set")
            before = len(server.requests)
            rig.send("--until-empty", code=0)
            completed(rig, *bundles)
            asked = server.requests[before:]
        expect(store.kept == {f"/bucket/{bundle.sha256}.bundle": bundle.data for bundle in bundles}, "other bytes")
        put = next(request for request in asked if request.method == "PUT")
        told = base64.b64encode(hashlib.md5(put.body).digest()).decode() if "md5" in setting else None
        expect(put.headers.get("content-md5") == told, f"Content-MD5 is {put.headers.get('content-md5')}")
        if name == "condition":
            expect([request.method for request in asked[:2]] == ["HEAD", "PUT"], "it did not look first")

    every(cases if IS_LONG else dict(list(cases.items())[:2]), judge)


def storing(head, kept, refusal=None):
    """Makes a store that has `kept`; `head` makes its answer to HEAD from the bytes, `refusal` answers PUT.

    Its status lines have no reason: `HTTP/1.1 200` alone is valid (RFC 9112 section 4).
    """
    def reply(heard):
        if heard.method == "PUT":
            if refusal is None:
                kept[heard.path] = heard.body
            return refusal or answer(200)
        if heard.path not in kept:
            return answer(404)
        data = kept[heard.path]
        return head(data) if heard.method == "HEAD" else answer(200, body=data)
    return lambda heard: reply(heard).replace(b" Scripted", b"", 1)


def read_back(bench):
    """If HEAD reports neither checksum nor MD5, or no length, the bytes are read back and decide.

    Each case is a bucket of one server, and a destination of one queue.
    """
    bundle = bench.stock[0]
    other = bundle.data[:-600] + bytes([bundle.data[-600] ^ 1]) + bundle.data[-599:]
    heads = {"etag": lambda data: answer(200, f"ETag: {FOREIGN}", f"Content-Length: {len(data)}"),
             "unmeasured": lambda data: answer(200, "Transfer-Encoding: chunked")}
    stores, states = {}, {}
    for word, head in heads.items():
        for end, data, state in (("new", None, "completed"), ("there", bundle.data, "completed"),
                                 ("other", other, "conflict")):
            name = f"{word}-{end}"
            kept = {f"/{name}/{bundle.sha256}.bundle": data} if data else {}
            stores[name], states[name] = storing(head, kept, answer(412) if data else None), state
    rig = bench.rig()
    rig.env |= KEYS
    with Bare(saying(lambda heard: stores[heard.path.split("/")[1]](heard))) as server:
        for name in stores:
            rig.dest(name, "s3", "--url", f"{server.url}/{name}", "--retry", AT_ONCE)
        rig.push(bundle, options=[word for name in stores for word in ("--dest", name)])
        rig.send("--until-empty", code=14)

    def judge(name, state):
        row = rig.delivery(bundle, name)
        expect(row.state == state, f"is {row.state}, not {state}: {row.error_code} {row.error_message}")
        expect(state != "completed" or rig.receipt(bundle, name)["confirmed_by"] == "bytes", "confirmed otherwise")

    every(states, judge)


def write_only(bench):
    """If a store answers 403 for missing objects, the second PUT is still sent, and overwrites nothing."""
    bundle, seen, kept = bench.stock[0], [], {}
    checksum = base64.b64encode(hashlib.sha256(bundle.data).digest()).decode()
    taking = storing(lambda data: answer(200, f"x-amz-checksum-sha256: {checksum}", f"Content-Length: {len(data)}"),
                     kept)

    def reply(heard):
        if heard.method == "PUT" and sum(one.method == "PUT" for one in seen) == 1:
            return answer(500)
        return taking(heard) if heard.method == "PUT" or heard.path in kept else answer(403)

    rig = bench.rig()
    rig.env |= KEYS
    with Bare(saying(reply, seen)) as store:
        rig.dest("s3", "s3", "--url", store.url + "/bucket", "--retry", AT_ONCE)
        rig.push(bundle)
        rig.send("--until-empty", code=0)
    completed(rig, bundle, attempts=2)
    puts = [heard for heard in seen if heard.method == "PUT" and "probe" not in heard.path]
    expect([put.values("if-none-match") for put in puts] == [["*"]] * 2, "a PUT without its condition")


TESTS = [
    ("a store that refuses the checksum or the condition: the message names the setting", refused_header),
    ("s3: the bytes are read back where nothing else proves them", read_back),
    ("s3: in doubt, and no permission to look", write_only),
]
