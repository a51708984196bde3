"""put: which bytes land where, in which form, and how this is confirmed."""
import base64
import hashlib

from bench import PHOTO
from checks import every, expect
from nginx import fresh
from raw_server import Bare, answer, saying
from rigs import completed
from scripted import Reply, Scripted


def completed(rig, *bundles, about="put"):
    """Checks that each bundle is completed after one attempt."""
    for bundle in bundles:
        row = rig.delivery(bundle)
        expect((row.state, row.attempts, row.in_doubt) == ("completed", 1, 0), f"{about}: {row.state} after "
               f"{row.attempts} attempts, in doubt {row.in_doubt}: {row.error_code} {row.error_message}")


def landed(bench):
    """The bytes are where the template says; HEAD confirmed them, and the receipt says so."""
    rig, bundles = bench.rig(), bench.stock[:2]
    with fresh(bench) as server:
        rig.dest("web", "put", "--url", server.template())
        rig.push(*bundles)
        said = rig.send(code=0).out.decode().splitlines()
        expect(sorted(said) == sorted(f"{bundle.id} web completed" for bundle in bundles), f"run prints {said}")
        server.keeps(*bundles)
        seen = server.logged(4)
        expect([one["method"] for one in seen] == ["PUT", "HEAD"] * 2, f"requests: {[one['method'] for one in seen]}")
        for put in seen[::2]:
            expect(put["length"] == str(len(bundles[0].data)) or put["length"] == str(len(bundles[1].data)),
                   f"Content-Length {put['length']}")
            expect(not put["authorization"] and not put["device"], "a plain put sends credentials")
    completed(rig, *bundles)
    receipt = rig.receipt(bundles[0])
    wanted = {"kind": "put", "part": "bundle", "confirmed_by": "head", "status": 201, "bytes": len(bundles[0].data),
              "sha256": bundles[0].sha256, "url": f"{server.url}/store/{bundles[0].sha256}.bundle"}
    expect(wanted.items() <= receipt.items(), f"the receipt is {receipt}")
    expect(rig.send(code=0).out == b"", "a second run sends it again")


def parts(bench):
    """Three destinations of one capture get the photo alone, the whole upload body, and the bundle."""
    rig, bundle = bench.rig(), bench.packed("parts", PHOTO[:-2] + b"parts" * 900 + PHOTO[-2:])
    with fresh(bench) as server:
        for part in ("bundle", "photo", "body"):
            rig.dest(part, "put", "--url", f"{server.url}/store/{part}-{{sha256}}", "--part", part)
        rig.push(bundle, options=("--dest", "bundle", "--dest", "photo", "--dest", "body"))
        rig.send("--until-empty", code=0)
        kept = {part: server.path(f"store/{part}-{bundle.sha256}").read_bytes() for part in ("bundle", "photo", "body")}
    expect(kept["bundle"] == bundle.data, "the bundle has other bytes")
    expect(hashlib.sha256(kept["photo"]).hexdigest() == bench.photo(bundle), "the photo has other bytes")
    expect(kept["body"] == bench.body(bundle), "the body is not what capbundle multipart writes")
    for part in kept:
        receipt = rig.receipt(bundle, part)
        expect((receipt["part"], receipt["bytes"], receipt["sha256"]) == (part, len(bundle.data), bundle.sha256),
               f"the receipt of the {part} is {receipt}")


def templates(bench):
    """`{sha256}`, `{id}` and `{session}` are filled in; a URL that several captures could share is refused."""
    rig, one, two = bench.rig(), *bench.stock[2:4]
    refused = {"no name": "http://127.0.0.1:9/store/x", "only the session": "http://127.0.0.1:9/{session}/x",
               "only the id": "http://127.0.0.1:9/{id}",
               "another scheme": "ftp://127.0.0.1/{sha256}", "a password": "http://me:secret-pw@127.0.0.1:9/{sha256}",
               "an unknown name": "http://127.0.0.1:9/{sha256}/{nobody}"}

    def judge(name, url):
        result = rig.run("dest", "add", "bad", "--kind", "put", "--url", url).must(64, 78, about="dest add")
        expect("secret-pw" not in result.text, "the password is repeated")

    every(refused, judge)
    with fresh(bench) as server:
        rig.dest("web", "put", "--url", f"{server.url}/store/a%20b/{{session}}/{{id}}-{{sha256}}")
        rig.push(one, options=("--session", "roof_7.a-B"))
        rig.push(two)
        rig.send("--until-empty", code=0)
        uris = {seen["uri"] for seen in server.logged(2, method="PUT")}
        wanted = {f"/store/a%20b/roof_7.a-B/{one.id}-{one.sha256}", f"/store/a%20b//{two.id}-{two.sha256}"}
        expect(uris == wanted, f"sent to {uris}")


def heads(bench):
    """If HEAD is not allowed, the status is the only proof; a wrong length is a failed try."""
    with fresh(bench) as server:
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.template("blind"))
        rig.push(bench.stock[0])
        rig.send(code=0)
        completed(rig, bench.stock[0])
        expect(rig.receipt(bench.stock[0])["confirmed_by"] == "status", f"the receipt is {rig.receipt(bench.stock[0])}")
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.template("short"), "--retry", "0,0,0")
        rig.push(bench.stock[0])
        rig.send("--until-empty", code=14)
        row = rig.delivery(bench.stock[0])
        expect((row.state, row.attempts) == ("permanently_failed", 3), f"a wrong length: {row.state}, {row.attempts}")
        expect(row.receipt is None, "a receipt although nothing has landed")


def digest_headers(data):
    sha256, md5 = hashlib.sha256(data).digest(), hashlib.md5(data).hexdigest()
    encoded = base64.b64encode(sha256).decode()
    return {"Repr-Digest": f"sha-256=:{encoded}:", "Content-Digest": f"sha-512=:AAAA:, sha-256=:{encoded}:",
            "Digest": f"SHA-256={encoded}", "x-amz-checksum-sha256": encoded, "ETag": f'"{md5}"'}


def digests(bench):
    """An agreeing digest in the answer makes HEAD unnecessary, and a different one is a failed try. Content-Digest
    covers the content of the answer and an ETag need not be an MD5, so HEAD decides if one of these differs."""
    bundle = bench.stock[0]
    weak = ("Content-Digest", "ETag")
    cases = {f"{name}, {word}": (header, "digest" if word == "right" else "head" if name in weak else None)
             for word, data in (("right", bundle.data), ("wrong", bundle.data[:-1] + b"\1"))
             for name, value in digest_headers(data).items() for header in [{name: value}]}

    def judge(name, case):
        header, proof = case
        rig = bench.rig()
        sizes = {"Content-Length": str(len(bundle.data))}
        with Scripted(lambda request: Reply(200, sizes) if request.method == "HEAD" else Reply(201, header)) as server:
            rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", "0,0")
            rig.push(bundle)
            rig.send("--until-empty", code=0 if proof else 14)
            expect(all(put.body == bundle.data for put in server.seen("PUT")), "other bytes came")
            expect(len(server.seen("PUT")) == (1 if proof else 2), f"{len(server.seen('PUT'))} tries")
            expect(proof != "digest" or not server.seen("HEAD"), "HEAD is asked although the digest agreed")
        if proof:
            completed(rig, bundle)
            expect(rig.receipt(bundle)["confirmed_by"] == proof, f"the receipt is {rig.receipt(bundle)}")
        else:
            expect(rig.delivery(bundle).receipt is None, "there is a receipt")

    every(cases, judge)


def short_bodies(bench):
    """If a server keeps half of the bytes and answers 200, the capture has not landed, and the local bytes stay."""
    rig, bundle = bench.rig(), bench.stock[0]

    def answer(request):
        half = bundle.data[:len(bundle.data) // 2]
        return Reply(200, {"ETag": f'"{hashlib.md5(half).hexdigest()}"'}, half if request.method == "GET" else b"") \
            if request.method != "HEAD" else Reply(200, {"Content-Length": str(len(half))})

    with Scripted(answer) as server:
        rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", "0,0")
        rig.push(bundle)
        rig.send("--until-empty", code=14)
    expect(rig.delivery(bundle).state == "permanently_failed", f"it is {rig.delivery(bundle).state}")
    rig.run("prune", "--older-than", "0s").must(0, about="prune")
    expect(rig.spool_file(bundle).read_bytes() == bundle.data, "the only whole copy is gone")


def unasked(bench):
    """If HEAD is not allowed, the 201 still counts, and the receipt says that nothing else confirms it."""
    def judge(name, status):
        with Scripted(lambda request: Reply(status if request.method == "HEAD" else 201)) as server:
            rig = bench.rig()
            rig.dest("web", "put", "--url", server.url + "/{sha256}")
            rig.push(bench.stock[0])
            rig.send("--once", code=0)
        expect(rig.receipt(bench.stock[0])["confirmed_by"] == "status", f"{rig.receipt(bench.stock[0])}")

    every({str(status): status for status in (401, 403, 405, 501)}, judge)


def one_type(bench):
    """--header Content-Type replaces our own header, so the request has exactly one."""
    seen = []
    with Bare(saying(lambda heard: answer(201 if heard.method == "PUT" else 405), seen)) as server:
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.url + "/{sha256}", "--header", "Content-Type: application/x-capture")
        rig.push(bench.stock[0])
        rig.send(code=0)
    put, = (heard for heard in seen if heard.method == "PUT")
    expect(put.values("content-type") == ["application/x-capture"], f"the types are {put.values('content-type')}")


FOREIGN = '"0123456789abcdef0123456789abcdef"'  # an ETag that looks like an MD5, but not the MD5 of our bytes


def told_digests(bench):
    """Not every header is about our bytes: an ETag of 32 digits may not be, nor the digest of the answer's own body."""
    bundle, note = bench.stock[0], b'{"ok":true}'

    def digest(data):
        return {"Content-Digest": f"sha-256=:{base64.b64encode(hashlib.sha256(data).digest()).decode()}:"}

    sealed = {"ETag": FOREIGN, "x-amz-server-side-encryption": "aws:kms"}
    cases = {"encrypted": (sealed, sealed, "head"), "no MD5": ({"ETag": FOREIGN}, {"ETag": FOREIGN}, "head"),
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


FAMILY = [
    ("a bundle lands where the template says, and HEAD confirms it", landed),
    ("bundle, photo or body", parts),
    ("templates: {sha256}, {id}, {session}; a shared URL is refused", templates),
    ("a server without HEAD: the status counts; a wrong length: a failed try", heads),
    ("a digest in the answer that agrees or disagrees", digests),
    ("half the bytes kept and 200 said: not landed, the copy here stays", short_bodies),
    ("put: 201, and HEAD is not allowed", unasked),
    ("--header Content-Type", one_type),
    ("put: which digests in an answer are about our bytes", told_digests),
]
