"""s3: stores that report less than SeaweedFS does: no checksum, no length, no permission to look, no reason."""
import base64
import hashlib

from checks import every, expect
from raw_server import Bare, answer, saying
from rigs import AT_ONCE, completed

FOREIGN = '"0123456789abcdef0123456789abcdef"'  # an ETag that looks like an MD5, but not the MD5 of our bytes


def storing(head, kept, refusal=None):
    """Makes a store that has `kept`; `head` makes its answer to HEAD from the bytes, `refusal` answers PUT."""
    def reply(heard):
        if heard.method == "PUT":
            if refusal is None:
                kept[heard.path] = heard.body
            return refusal or answer(200)
        if heard.path not in kept:
            return answer(404)
        data = kept[heard.path]
        return head(data) if heard.method == "HEAD" else answer(200, body=data)
    return reply


def sent_to(bench, url, bundle, *options, kind="s3", code=None):
    """Returns a rig after one run against a store."""
    rig = bench.rig()
    rig.env |= {"AWS_ACCESS_KEY_ID": "AKPROOF", "AWS_SECRET_ACCESS_KEY": "secret"}
    rig.dest("it", kind, "--url", url, "--retry", AT_ONCE, *options)
    rig.push(bundle)
    rig.send("--until-empty", code=code)
    return rig


def read_back(bench):
    """s3: if HEAD reports neither checksum nor MD5, or no length, the bytes are read back and decide."""
    bundle = bench.stock[0]
    key = f"/bucket/{bundle.sha256}.bundle"
    other = bundle.data[:-600] + bytes([bundle.data[-600] ^ 1]) + bundle.data[-599:]
    heads = {"an ETag of its own": lambda data: answer(200, f"ETag: {FOREIGN}", f"Content-Length: {len(data)}"),
             "no length": lambda data: answer(200, "Transfer-Encoding: chunked")}
    cases = {f"{name}, {word}": (head, kept, refusal, state) for name, head in heads.items()
             for word, kept, refusal, state in (("put", {}, None, "completed"),
                                                ("there already", {key: bundle.data}, answer(412), "completed"),
                                                ("other bytes", {key: other}, answer(412), "conflict"))}

    def judge(name, case):
        head, kept, refusal, state = case
        with Bare(saying(storing(head, dict(kept), refusal))) as store:
            rig = sent_to(bench, store.url + "/bucket", bundle)
        row = rig.delivery(bundle)
        expect(row.state == state, f"is {row.state}, not {state}: {row.error_code} {row.error_message}")
        if state == "completed":
            expect(rig.receipt(bundle)["confirmed_by"] == "bytes", f"the receipt is {rig.receipt(bundle)}")

    every(cases, judge)


def write_only(bench):
    """s3: if a store answers 403 for missing objects, the second PUT is still sent, and overwrites nothing."""
    bundle, seen, kept = bench.stock[0], [], {}
    checksum = base64.b64encode(hashlib.sha256(bundle.data).digest()).decode()
    taking = storing(lambda data: answer(200, f"x-amz-checksum-sha256: {checksum}", f"Content-Length: {len(data)}"),
                     kept)

    def reply(heard):
        if heard.method == "PUT" and sum(one.method == "PUT" for one in seen) == 1:
            return answer(500)
        return taking(heard) if heard.method == "PUT" or heard.path in kept else answer(403)

    with Bare(saying(reply, seen)) as store:
        rig = sent_to(bench, store.url + "/bucket", bundle, code=0)
    completed(rig, bundle, attempts=2)
    puts = [heard for heard in seen if heard.method == "PUT"]
    expect([put.values("if-none-match") for put in puts] == [["*"]] * 2, "a PUT without its condition")


def no_reason(bench):
    """`HTTP/1.1 200` alone is a valid status line (RFC 9112 section 4), for PUT, HEAD, and GET with its body."""
    bundle = bench.stock[0]

    def judge(kind, _):
        told = storing(lambda data: answer(200, f"Content-Length: {len(data)}"), {})
        with Bare(saying(lambda heard: told(heard).replace(b" Scripted", b"", 1))) as store:
            rig = sent_to(bench, store.url + "/bucket/{sha256}", bundle, kind=kind, code=0)
            completed(rig, bundle)
            rig.run("prune", "--older-than", "0s").must(0, about="prune")
            expect(not rig.spool_file(bundle).exists(), "prune keeps it")
            given = rig.run("get", bundle.id, "-o", "-").must(0, about="get").out
            expect(given == bundle.data, "get gives other bytes")

    every({"put": None, "s3": None}, judge)


FAMILY = [
    ("s3: the bytes are read back where nothing else proves them", read_back),
    ("s3: in doubt, and no permission to look", write_only),
    ("a status line without a reason", no_reason),
]
