"""What proves that a capture has landed, what proves that it is lost, and what proves neither."""
import base64
import hashlib
import json
import time

from capture_api import Answer, CaptureAPI
from checks import every, expect
from early_success import Bare, answer, received, saying
from put_bytes import findings
from queues import photo_of
from rigs import AT_ONCE
from s3_store import Place, completed
from scripted import Reply, Scripted

FOREIGN = '"0123456789abcdef0123456789abcdef"'  # an ETag that looks like an MD5, and is none of ours


def twins(bench):
    """Two captures of one photo."""
    number = next(bench.numbers)
    return [bench.packed(f"twin{number}-{day}", photo_of(number, 5000), captured_at=f"2026-03-{day}T10:00:00Z")
            for day in (14, 15)]


def have_landed(bench, rig, api, bundles):
    """Each is completed under the id that the server gave to its own body, by requests under one key."""
    ids = {capture.digest: capture.id for capture in api.stored}
    expect(len(api.stored) == len(ids) == len(bundles), f"the server holds {len(api.stored)} captures")
    for number, bundle in enumerate(bundles):
        digest = hashlib.sha256(bench.body(bundle)).hexdigest()
        row = rig.delivery(bundle)
        expect((row.state, row.remote_id) == ("completed", ids.get(digest)), f"{number}: is {row.state} as "
               f"{row.remote_id}, not {ids.get(digest)}")
        keys = {request.key for request in api.seen() if request.digest == digest}
        expect(len(keys) == 1, f"{number}: {len(keys)} keys")


def other_capture(bench):
    """The photo is found, but as the capture that another bundle became: not adopted, and sent again."""
    rig, bundles = bench.rig(), twins(bench)
    with CaptureAPI(bench.public) as api:
        api.duplicates = "twice"
        api.answer(None, Answer(500))
        rig.http(api.url)
        rig.push(*bundles)
        rig.send("--until-empty", code=0)
        expect(len(api.seen()) == 3, f"{len(api.seen())} uploads instead of 3")
        have_landed(bench, rig, api, bundles)
        expect(rig.receipt(bundles[1])["confirmed_by"] == "answer", f"the receipt is {rig.receipt(bundles[1])}")
        api.content()


def both_in_doubt(bench):
    """Two captures of one photo in doubt, of which the server has one: it cannot be told which, and both land."""
    has, lost = Answer(500, when="stored"), Answer(500)
    ends = {"the first": (has, lost), "the second": (lost, has), "both": (has, has), "neither": (lost, lost)}
    cases = {f"{name} stored, {word}": (answers, count) for name, answers in ends.items()
             for word, count in (("asked at once", 0), ("asked later", 2))}

    def judge(name, case):
        rig, bundles = bench.rig(), twins(bench)
        with CaptureAPI(bench.public) as api:
            api.duplicates = "twice"
            api.answer(*case[0])
            api.answer(*[Answer(500)] * case[1], to="verify")
            rig.http(api.url)
            rig.push(*bundles)
            rig.send("--until-empty", code=0)
            have_landed(bench, rig, api, bundles)

    every(cases, judge)


def remote_http(bench):
    """check --remote: only `no_record` is a loss; a service that is not there, or refuses, says nothing."""
    page = {"body": "<html>not found</html>", "type": "text/html"}
    answers = {"404": Answer(404, **page), "401": Answer(401), "405": Answer(405), "403": Answer(403, **page)}

    def judge(name, says):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api:
            rig.http(api.url)
            rig.push(bundle)
            rig.send(code=0)
            api.always(says, to="verify")
            found = findings(rig.run("check", "--remote", "--json"))
            expect([(line["kind"], line["id"]) for line in found] == [("unconfirmed", bundle.id)], f"it finds {found}")
            rig.send(code=0)
            expect(rig.delivery(bundle).state == "completed" and len(api.seen()) == 1, "it is sent again")
            api.always(None, to="verify")
            api.forget()
            found = findings(rig.run("check", "--remote", "--json"))
            expect([line["kind"] for line in found] == ["lost"], f"of what is lost it finds {found}")
            rig.send(code=0)
            api.holds(bench.photo(bundle))

    every(answers, judge)


def remote_put(bench):
    """put: a server that never confirmed by HEAD cannot lose by it; and two findings are two."""
    bundles = bench.stock[:2]
    with Scripted(lambda request: Reply(404 if request.method == "HEAD" else 201)) as server:
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.url + "/{sha256}")
        rig.push(*bundles)
        rig.send(code=0)
        result = rig.run("check", "--remote", "--json")
        found = [(line["kind"], line["id"]) for line in findings(result)]
        expect(sorted(found) == sorted(("unconfirmed", bundle.id) for bundle in bundles), f"it finds {found}")
        summary = json.loads(result.out.splitlines()[-1])
        expect(summary["findings"] == 2, f"the summary is {summary}")
        text = rig.run("check", "--remote").out.decode()
        expect("2 findings" in text, f"it says {text!r}")
        rig.send(code=0)
        expect(rig.states() == {"completed"} and len(server.seen("PUT")) == 2, "they are sent again")


def told_digests(bench):
    """Which headers are of our bytes: not the ETag of an encrypted object, nor the digest of the answer's own body."""
    bundle, note = bench.stock[0], b'{"ok":true}'

    def digest(data):
        return {"Content-Digest": f"sha-256=:{base64.b64encode(hashlib.sha256(data).digest()).decode()}:"}

    sealed = {"ETag": FOREIGN, "x-amz-server-side-encryption": "aws:kms"}
    cases = {"encrypted": (sealed, sealed, "head"), "not encrypted": ({"ETag": FOREIGN}, {}, None),
             "of the answer": (digest(note), {}, "head"), "of HEAD": ({}, digest(bundle.data), "digest"),
             "of HEAD, other bytes": ({}, digest(note), None)}

    def judge(name, case):
        put, head, proof = case
        length = {"Content-Length": str(len(bundle.data))}
        with Scripted(lambda request: Reply(200, length | head) if request.method == "HEAD"
                      else Reply(201, put, note)) as server:
            rig = bench.rig()
            rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", "0,600")
            rig.push(bundle)
            rig.send("--once", code=15 if proof is None else 0)
        row = rig.delivery(bundle)
        if proof is None:
            return expect((row.state, row.error_code) == ("failed", "put.digest"), f"is {row.state}, {row.error_code}")
        completed(rig, bundle)
        expect(rig.receipt(bundle)["confirmed_by"] == proof, f"the receipt is {rig.receipt(bundle)}")

    every(cases, judge)


def storing(head, kept, refusal=None):
    """What a store replies that has `kept`; `head` makes its answer to HEAD of the bytes, `refusal` the one to PUT."""
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
    """A rig after one run to a store."""
    rig = bench.rig()
    rig.env |= {"AWS_ACCESS_KEY_ID": "AKPROOF", "AWS_SECRET_ACCESS_KEY": "secret"}
    rig.dest("it", kind, "--url", url, "--retry", AT_ONCE, *options)
    rig.push(bundle)
    rig.send("--until-empty", code=code)
    return rig


def read_back(bench):
    """s3: where HEAD tells neither checksum nor MD5, or no length, the bytes themselves are read and decide."""
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
    """s3: a store that says 403 of what it does not have: the second PUT is sent, and overwrites nothing."""
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
    """`HTTP/1.1 200` and no more is a status line (RFC 9112 section 4), to PUT, to HEAD, and to GET with its body."""
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


def signed_headers(bench):
    """s3: own headers are signed in the order of their names and with single blanks, or the store would refuse them."""
    place, bundle = Place(bench), bench.stock[0]
    lines = {"x-amz-meta-site": "a", "x-amz-meta-site-name": "b", "x-amz-meta-note": "two  blanks"}
    place.rig(bundle, options=[word for line in lines.items() for word in ("--header", ": ".join(line))]).send(code=0)
    place.holds(bundle)
    told = place.client.head(place.key(bundle))
    expect({name: " ".join(told.get(name, "").split()) for name in lines} ==
           {name: " ".join(value.split()) for name, value in lines.items()}, f"the store has {told}")


def endless_header(bench):
    """A header line of more than libcurl takes, after the whole body: it may have landed, and nothing is held."""
    def serve(client, _):
        received(client)
        client.sendall(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 150_000 + b"\r\nContent-Length: 0\r\n\r\n")
        client.recv(1)

    with Bare(serve) as server:
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", "0,600")
        rig.push(bench.stock[0])
        rig.send("--once", code=15)
    row = rig.delivery(bench.stock[0])
    expect((row.state, row.in_doubt, row.attempts) == ("failed", 1, 1), f"is {row.state}, in doubt {row.in_doubt}, "
           f"after {row.attempts} attempts: {row.error_code} {row.error_message}")
    expect(rig.destination("web").held_code is None, f"held as {rig.destination('web').held_code}")


def mad_clocks(bench):
    """A server that tells a time that cannot be: no signature is made for it."""
    def refusal(told, is_dated):
        body = json.dumps({"error": {"code": "TIMESTAMP_EXPIRED"}, "meta": {"timestamp": told}}).encode()
        raw = answer(401, "Content-Type: application/json", body=body)
        return Answer(401, body=body) if is_dated else Answer(raw=raw, status=401)

    def judge(name, says):
        rig = bench.rig()
        with CaptureAPI(bench.public) as api:
            api.answer(says)
            rig.http(api.url)
            rig.push(bench.stock[0])
            rig.send("--until-empty", code=(0, 15))
            stamps = [int(request.headers["x-device-timestamp"]) for request in api.seen()]
            expect(len(stamps) > 1 and all(abs(stamp - time.time() * 1000) < 60_000 for stamp in stamps),
                   f"signed for {stamps}")
            api.holds(bench.photo(bench.stock[0]))

    every({f"{told[:4]}, {word}": refusal(told, is_dated)
           for told in ("1969-12-31T23:59:59.000Z", "9999-12-31T23:59:59.000Z")
           for word, is_dated in (("beside a Date", True), ("alone", False))}, judge)


FAMILY = [
    ("verify-file knows the photo as another capture", other_capture),
    ("two captures of one photo in doubt", both_in_doubt),
    ("check --remote of http", remote_http),
    ("check --remote of put, and how findings are counted", remote_put),
    ("put: which digests are of our bytes", told_digests),
    ("s3: the bytes are read back where nothing else proves them", read_back),
    ("s3: in doubt, and no right to look", write_only),
    ("a status line without a reason", no_reason),
    ("s3: own headers are signed as the store does it", signed_headers),
    ("a header line of 150 kB", endless_header),
    ("TIMESTAMP_EXPIRED by a clock that cannot be", mad_clocks),
]
