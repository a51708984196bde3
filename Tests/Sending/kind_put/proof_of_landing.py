"""put: a digest in the answer or HEAD must confirm each PUT, and a server that never shows the bytes is not trusted."""
import base64
import hashlib
import time

from Kit.outcomes import every, expect, long
from Kit.sending import failed, wait_until
from Kit.servers.raw_server import Bare, answer, saying
from Kit.servers.scripted import Reply, Scripted
from Sending.answers.tries import added, confirmed_by, is_left, sent, some

SECONDS = 45


class Forgetful:
    """Answers 201 to PUT. Answers `refusal` to the first `misses` HEADs for a bundle, or with None to all of them."""

    def __init__(self, misses=None, refusal=404):
        self.misses, self.refusal, self.kept, self.asked = misses, refusal, {}, {}

    def __call__(self, request):
        if request.method == "PUT":
            self.kept[request.path] = request.body
            return Reply(201)
        self.asked[request.path] = self.asked.get(request.path, 0) + 1
        if self.misses is None or self.asked[request.path] <= self.misses:
            return Reply(self.refusal)
        return Reply(200, {"Content-Length": str(len(self.kept[request.path]))})


def digests(bench):
    """A digest that agrees makes HEAD unnecessary, and a wrong one is a failed try. Content-Digest is about the content
    of the answer, so HEAD decides if it differs, and so it does if the ETag cannot be an MD5."""
    bundle = bench.stock[0]

    def told(data):
        encoded = base64.b64encode(hashlib.sha256(data).digest()).decode()
        return {"Repr-Digest": f"sha-256=:{encoded}:", "Content-Digest": f"sha-512=:AAAA:, sha-256=:{encoded}:",
                "Digest": f"SHA-256={encoded}", "x-amz-checksum-sha256": encoded,
                "ETag": f'"{hashlib.md5(data).hexdigest()}"'}

    right, wrong = told(bundle.data), told(bundle.data[:-1] + b"\1")
    other = told(b'{"ok":true}')["Content-Digest"]
    # The headers of the answers to PUT and to HEAD, and what the receipt is confirmed by.
    cases = {"Repr-Digest, right": ({"Repr-Digest": right["Repr-Digest"]}, {}, "digest"),
             "Repr-Digest, wrong": ({"Repr-Digest": wrong["Repr-Digest"]}, {}, None),
             "ETag, wrong": ({"ETag": wrong["ETag"]}, {"ETag": wrong["ETag"]}, None),
             "ETag of HEAD, wrong": ({}, {"ETag": wrong["ETag"].upper()}, None),
             "ETag, weak": ({"ETag": "W/" + wrong["ETag"]}, {}, "head"),
             "ETag, of no MD5": ({"ETag": wrong["ETag"][:-2] + '"'}, {}, "head"),
             "HEAD, wrong": ({}, {"Content-Digest": other}, None),
             "HEAD, right": ({}, {"Content-Digest": right["Content-Digest"]}, "digest"),
             "encrypted": ({"ETag": wrong["ETag"], "x-amz-server-side-encryption": "aws:kms"}, {}, "head"),
             "Content-Digest, wrong": ({"Content-Digest": wrong["Content-Digest"]}, {}, "head")}
    cases |= {f"{name}, right": ({name: right[name]}, {}, "digest")
              for name in ("Content-Digest", "Digest", "x-amz-checksum-sha256", "ETag")}
    cases |= {f"{name}, wrong": ({name: wrong[name]}, {}, None) for name in ("Digest", "x-amz-checksum-sha256")}

    def judge(name, case):
        put, head, proof = case
        length = {"Content-Length": str(len(bundle.data))}
        with Scripted(lambda request: Reply(200, length | head) if request.method == "HEAD"
                      else Reply(201, put)) as server:
            rig = sent(bench, "put", server.url + "/{sha256}", retry="0,600", code=0 if proof else 15)
            expect(server.seen("PUT")[0].body == bundle.data, "other bytes came")
        if not proof:
            expect(failed(rig, bundle).error_code == "put.digest", f"failed as {rig.delivery(bundle).error_code}")
            return
        is_left(rig, "completed", 1)
        confirmed_by(rig, proof)
        expect(proof != "digest" or head or not server.seen("HEAD"), "HEAD is asked although the digest agreed")

    every(some(cases, 3), judge)


def other_etags(bench):
    """An ETag that looks like an MD5 and is none: the bytes are read back where that is allowed, once for all captures.
    Where it is not, three such captures block the destination, and --proof status accepts what is sent after that."""
    foreign, kept = {"ETag": '"0123456789abcdef0123456789abcdef"'}, {}

    def shelf(request, hides=False):
        if request.method == "PUT":
            kept[request.path] = request.body
            return Reply(201, foreign)
        data = kept[request.path]
        return Reply(403) if hides else Reply(200, foreign | {"Content-Length": str(len(data))},
                                              data if request.method == "GET" else b"")

    with Scripted(shelf) as server:
        rig = sent(bench, "put", server.url + "/{sha256}", bundles=bench.stock[:3], code=0)
        proofs = sorted(rig.receipt(bundle)["confirmed_by"] for bundle in bench.stock[:3])
        expect(proofs == ["bytes", "head", "head"], f"confirmed by {proofs}")
    with Scripted(lambda request: shelf(request, hides=True)) as server:
        rig = sent(bench, "put", server.url + "/{sha256}", bundles=bench.stock[:3], code=15)
        expect(rig.destination("it").blocked_reason == "unproven", f"{rig.destination('it').blocked_message}")
        rig.run("dest", "set", "it", "--proof", "status").must(0, about="dest set")
        rig.send("--until-empty", code=0)
        expect(len(server.seen("PUT")) == 6, f"{len(server.seen('PUT'))} PUTs")
        for bundle in bench.stock[:3]:
            confirmed_by(rig, "status", bundle)


def lengths(bench):
    """If HEAD shows half of the bytes, or a portal answers, the capture has not landed, and the local bytes stay. A page
    to PUT and GET is an outage, whatever HEAD says."""
    bundle, half = bench.stock[0], f"Content-Length: {len(bench.stock[0].data) // 2}"
    page = answer(200, "Content-Type: text/html", body=b"<html>Please log in to the network</html>")
    cases = {"half": (answer(200, half), answer(200, body=b"ok")),
             "a portal, chunked": (answer(200, "Transfer-Encoding: chunked"), page), "a portal, 204": (answer(204), page)}

    def judge(name, case):
        head, other = case
        with Bare(saying(lambda heard: head if heard.method == "HEAD" else other)) as server:
            rig = sent(bench, "put", server.url + "/{sha256}", retry="0,600", code=15)
        if other is page:
            row = is_left(rig, "pending", 0, "failing")
        else:
            row = failed(rig, bundle)
        wanted = "edge.200" if other is page else "put.length"
        expect(row.error_code == wanted, f"failed as {row.error_code}: {row.error_message}")

    every(some(cases, 2), judge)


def shown_late(bench):
    """After 404 or 410 to the HEAD after a PUT, HEAD is sent again after 1, 2 and 4 seconds, within one attempt."""
    def judge(name, case):
        status, misses = case
        with Scripted(Forgetful(misses, status)) as server:
            rig = sent(bench, "put", server.url + "/{sha256}", code=0)
            heads = [request.at for request in server.seen("HEAD")]
            expect(len(server.seen("PUT")) == 1, "it is sent twice")
        is_left(rig, "completed", 1)
        confirmed_by(rig, "head")
        pauses = [after - before for before, after in zip(heads, heads[1:])]
        expect(len(pauses) == misses, f"{len(pauses)} pauses, not {misses}")
        expect(all(pause > wanted - 0.05 for pause, wanted in zip(pauses, (1, 2, 4))), f"pauses of {pauses}")

    every(some({"404, once": (404, 1), "410, three times": (410, 3)}, 1), judge)


@long
def across_runs(bench):
    """What a server never shows is unclear, and its bytes stay. Three such captures in a row block the destination, one
    in each call of `run --once`, as from cron; a proven one between them prevents that."""
    bundles, shows = bench.stock[:6], Forgetful(0)
    with Scripted(Forgetful()) as server:
        rig, found = bench.rig(), []
        rig.dest("it", "put", "--url", server.url + "/{sha256}", "--retry", "0,600")
        for number, bundle in enumerate(bundles):
            server.answer = shows if number == 2 else Forgetful()
            rig.push(bundle)
            rig.send("--once", code=15)
            found.append(rig.destination("it").blocked_reason)
            if number == 0:
                row = failed(rig, bundle)
                expect((row.error_code, row.in_doubt) == ("put.unproven", 1), f"{row.error_code}, {row.in_doubt}")
                expect(len(server.seen("HEAD")) == 4, f"asked {len(server.seen('HEAD'))} times")
    expect(found == [None] * 5 + ["unproven"], f"after each run it is blocked as {found}")
    expect(is_left(rig, "pending", 0, "unproven", bundles[5]).in_doubt, "the last is not in doubt")


@long
def stopped(bench):
    """A run stopped between two HEADs ends at once; the capture is in doubt and lands in the next run."""
    with Scripted(Forgetful(2)) as server:
        rig = added(bench, "put", server.url + "/{sha256}")
        with rig.start("run", "--grace", "0s") as running:
            wait_until(lambda: len(server.seen("HEAD")) == 2, "the second look")
            start = time.monotonic()
            running.stop()
            seconds = time.monotonic() - start
        expect(seconds < 1.5, f"it ends after {seconds:.1f} s")
        expect(is_left(rig, "pending", 0).in_doubt == 1, "it is not in doubt")
        rig.send(code=0)
    expect(rig.states() == {"completed"}, f"then it is {rig.states()}")


def by_status(bench):
    """If HEAD is not allowed, the status is the only proof, and the receipt says so. With --proof status no HEAD is
    sent, unless a digest in the answer shows that other bytes arrived."""
    with Scripted(lambda request: Reply(403 if request.method == "HEAD" else 201)) as server:
        confirmed_by(sent(bench, "put", server.url + "/{sha256}", code=0), "status")
    wrong = {"Repr-Digest": "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"}

    def judge(name, headers):
        with Scripted(lambda request: Reply(201, headers)) as server:
            rig = sent(bench, "put", server.url + "/{sha256}", "--proof", "status", retry="0,600",
                       code=15 if headers else 0)
            expect(not server.seen("HEAD"), "it looks")
        is_left(rig, "failed" if headers else "completed", 1)
        if not headers:
            confirmed_by(rig, "status")

    every(some({"nothing told": {}, "another digest": wrong}, 1), judge)


TESTS = [
    ("a digest in the answer that agrees or disagrees", digests),
    ("an ETag that looks like the MD5 of other bytes", other_etags),
    ("half the bytes kept, or a captive portal: not landed, the copy here stays", lengths),
    ("a server that shows an accepted bundle late is asked again", shown_late),
    ("unproven captures are counted across runs, until one is proven", across_runs),
    ("a run that is stopped between two HEADs ends at once", stopped),
    ("the status is the proof if HEAD is not allowed, or with --proof status", by_status),
]
