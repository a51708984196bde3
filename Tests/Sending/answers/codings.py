"""Answers in gzip or deflate, although the requests ask for none (RFC 9110 section 12.5.3)."""
import gzip
import json
import zlib

from Kit.outcomes import every, expect
from Kit.servers.capture_api import Answer
from Kit.servers.scripted import Reply, Scripted
from Sending.answers.tries import confirmed_by, is_left, posted, sent, some

GOOD = json.dumps({"data": {"capture_id": "c-1", "status": "complete"}}).encode()


def raw_deflate(data):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def coded_answers(bench):
    """The id is read from a coded answer, and each request asks for identity. Limits count the decoded bytes."""
    cases = {"gzip": ("gzip", gzip.compress(GOOD), "completed"),
             "deflate": ("deflate", zlib.compress(GOOD), "completed"),
             "deflate without a wrapper": ("Deflate", raw_deflate(GOOD), "completed"),
             "gzip, of 1.1 MB": ("gzip", gzip.compress(GOOD[:-1] + b" " * 1_100_000 + b"}"), "failed"),
             "half of it": ("gzip", gzip.compress(GOOD)[:-20], "failed"),
             "no gzip": ("gzip", GOOD, "failed"), "identity": ("identity", GOOD, "completed"),
             "x-gzip, aws-chunked": ("x-gzip, aws-chunked", gzip.compress(GOOD), "completed"),
             "a coding that is not read": ("br", GOOD[:-1], "failed")}

    def judge(name, case):
        coding, body, state = case
        rig, api = posted(bench, Answer(202, body=body, headers={"Content-Encoding": coding}), can_verify=False,
                          retry="0,600", code=0 if state == "completed" else 15)
        row = is_left(rig, state, 1)
        expect(row.remote_id == ("c-1" if state == "completed" else None), f"the id is {row.remote_id}")
        asked = {request.headers.get("accept-encoding") for request in api.requests}
        expect(asked == {"identity"}, f"requests accept {asked}")

    every(some(cases, 6), judge)


def coded_refusal(bench):
    """A reason in gzip is shown."""
    reason = gzip.compress(json.dumps({"error": {"code": "NO_SUCH_LENS", "message": "unknown"}}).encode())
    rig, _ = posted(bench, Answer(422, body=reason, headers={"Content-Encoding": "gzip"}), code=14)
    expect("NO_SUCH_LENS" in is_left(rig, "permanently_failed").error_message, rig.said.text)


def unreadable_refusal(bench):
    """A 400 whose coding cannot be read gives no reason, so the capture is not given up, and no message shows its bytes."""
    cases = {"br": ("br", b"\x0b\x02\x80abc\x03"), "no gzip": ("gzip", b"bad request")}

    def judge(name, case):
        coding, body = case
        rig, _ = posted(bench, Answer(400, body=body, headers={"Content-Encoding": coding, "Content-Type": "text/plain"}),
                        can_verify=False, retry="0,600", code=15)
        row = is_left(rig, "failed")
        expect("abc" not in row.error_message, f"says {row.error_message!r}")

    every(cases, judge)


class Coding:
    """A server that compresses what it returns, and tells HEAD the length of that."""

    def __init__(self, coding, allows_get=True, damages=False):
        self.coding, self.allows_get, self.damages, self.kept = coding, allows_get, damages, {}

    def __call__(self, request):
        if request.method == "PUT":
            self.kept[request.path] = request.body
            return Reply(201)
        if request.path not in self.kept:
            return Reply(404)
        data = self.kept[request.path]
        data = data[:-9] + b"otherwise" if self.damages else data
        packed = gzip.compress(data) if self.coding == "gzip" else data
        headers = {"Content-Encoding": self.coding, "Content-Length": str(len(packed))}
        if request.method == "HEAD":
            return Reply(200, headers)
        return Reply(200, headers, packed) if self.allows_get else Reply(403)


def coded_lengths(bench):
    """With a Content-Encoding, Content-Length is not the length of the capture: the bytes are read back. Where that is
    refused, nothing proves that the server has them. `aws-chunked` and `identity` do not change the length."""
    cases = {"gzip": (Coding("gzip"), "completed", "bytes", None),
             "gzip, GET is refused": (Coding("gzip", allows_get=False), "pending", None, "unproven"),
             "gzip, other bytes": (Coding("gzip", damages=True), "failed", None, None),
             "aws-chunked": (Coding("aws-chunked"), "completed", "head", None),
             "identity": (Coding("identity"), "completed", "head", None)}

    def judge(name, case):
        server, state, proof, held = case
        with Scripted(server) as web:
            rig = sent(bench, "put", web.url + "/{sha256}", retry="0,600", code=0 if proof else 15)
        is_left(rig, state, 0 if held else 1, held)
        if proof:
            confirmed_by(rig, proof)

    every(some(cases, 4), judge)


def price(bench):
    """After three captures that were read back, a warning names what that costs, once."""
    with Scripted(Coding("gzip")) as web:
        rig = sent(bench, "put", web.url + "/{sha256}", bundles=bench.stock[:5], code=0)
    words = "which costs as many bytes as sending it"
    expect(rig.said.text.count(words) == 1 and "gzip" in rig.said.text, f"run says {rig.said.text!r}")


TESTS = [
    ("an answer in gzip or deflate is read within its limit", coded_answers),
    ("a refusal in gzip says why", coded_refusal),
    ("a refusal that cannot be decoded gives no capture up", unreadable_refusal),
    ("a length beside a coding is no length", coded_lengths),
    ("reading back three coded captures: a warning names the price", price),
]
