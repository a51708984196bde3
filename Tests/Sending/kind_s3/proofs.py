"""s3: nothing is completed over other bytes. The servers answer as real stores did when a bit changed on the way."""
import base64
import hashlib

from Kit.outcomes import IS_LONG, every, expect
from Kit.sending import AT_ONCE
from Kit.servers.scripted import Reply, Scripted
from Sending.answers.tries import added, confirmed_by, is_left

KEYS = {"AWS_ACCESS_KEY_ID": "AKPROOFS", "AWS_SECRET_ACCESS_KEY": "secret"}
FOREIGN = '"0123456789ABCDEF0123456789abcdef"'  # looks like an MD5
XML = '<?xml version="1.0" encoding="UTF-8"?><Error><Code>{}</Code><Message>m</Message></Error>'


def checksum(data):
    return base64.b64encode(hashlib.sha256(data).digest()).decode()


class Bucket:
    """A store of objects in memory. `flips` uploads of bundles are stored with one bit changed.

    `etag` makes the ETag from the stored bytes. With `echoes` HEAD repeats the checksum that it was told. With `checks`
    a wrong one is refused. `hides` are the methods that it refuses with 403. With `conditions` it knows If-None-Match
    and If-Match. `probe` is the status that a trial gets.
    """

    def __init__(self, flips=0, etag=lambda data: f'"{hashlib.md5(data).hexdigest()}"', echoes=False, checks=False,
                 hides=(), conditions=True, probe=None, **headers):
        self.probe = probe
        self.flips, self.etag, self.echoes, self.checks = flips, etag, echoes, checks
        self.hides, self.conditions, self.headers = hides, conditions, headers
        self.kept, self.told = {}, {}

    def __call__(self, request):
        path = request.path.partition("?")[0]
        if self.probe and "probe" in path:
            return Reply(self.probe)
        if request.method in self.hides:
            return Reply(403, {"Content-Type": "application/xml"}, XML.format("AccessDenied").encode())
        if request.method == "PUT":
            return self._put(request, path)
        if path not in self.kept:
            return Reply(404)
        if request.method == "DELETE":
            del self.kept[path]
            return Reply(204)
        body = self.kept[path]
        return Reply(200, self._shown(path) | {"Content-Length": str(len(body))}, body if request.method == "GET" else b"")

    def _put(self, request, path):
        there = self._shown(path).get("ETag") if path in self.kept else None
        one, other = request.headers.get("if-none-match"), request.headers.get("if-match")
        if self.conditions and (one and there or other and other != there):
            return Reply(412)
        told, body = request.headers.get("x-amz-checksum-sha256"), request.body
        if self.checks and told and told != checksum(body):
            return Reply(400, {"Content-Type": "application/xml"}, XML.format("BadDigest").encode())
        if path.endswith(".bundle") and self.flips:
            self.flips, body = self.flips - 1, body[:-600] + bytes([body[-600] ^ 1]) + body[-599:]
        self.kept[path], self.told[path] = body, told
        return Reply(200, {name: value for name, value in self._shown(path).items() if name == "ETag"})

    def _shown(self, path):
        shown = {name.replace("_", "-"): value for name, value in self.headers.items()}
        if etag := self.etag(self.kept[path]):
            shown["ETag"] = etag
        if self.echoes and self.told[path]:
            shown["x-amz-checksum-sha256"] = self.told[path]
        return shown


def no_md5(data):
    return f'"{hashlib.sha1(data).hexdigest()}"'


class Scene:
    """A queue with one destination at a bucket, which stays for several runs."""

    def __init__(self, bench, bucket, *options, bundles=1, retry=AT_ONCE):
        self.bench, self.bucket, self.server = bench, bucket, Scripted(bucket)
        self.bundles = bench.stock[:bundles]
        self.options, self.retry = options, retry

    def __enter__(self):
        self.server.__enter__()
        self.rig = added(self.bench, "s3", self.server.url + "/bucket/p", *self.options, bundles=self.bundles,
                         retry=self.retry)
        self.rig.env |= KEYS
        return self

    def __exit__(self, *_):
        self.server.__exit__(None, None, None)

    def key(self, bundle=None):
        return f"/bucket/p/{(bundle or self.bundles[0]).sha256}.bundle"

    def count(self, method, word=".bundle"):
        return sum(word in request.path for request in self.server.seen(method))

    def holds(self):
        for bundle in self.bundles:
            expect(self.bucket.kept.get(self.key(bundle)) == bundle.data, "the store has other bytes")
        left = [path for path in self.bucket.kept if "probe" in path]
        expect(not left or "DELETE" in self.bucket.hides, f"left behind: {left}")


def changed_once(bench):
    """One bit changes on the way to a store that keeps what it gets: it is found, replaced, and lands."""
    cases = {"rclone: an echo, and a right MD5": (Bucket(1, echoes=True), "etag"),
             "an echo, and no MD5": (Bucket(1, no_md5, echoes=True), "bytes"),
             "moto: an MD5": (Bucket(1), "etag"), "without conditions": (Bucket(1, conditions=False), "etag"),
             "nothing shown": (Bucket(1, lambda data: None), "bytes")}

    def judge(_, case):
        bucket, proof = case
        with Scene(bench, bucket) as scene:
            scene.rig.send("--until-empty", code=0)
            is_left(scene.rig, "completed", 2)
            confirmed_by(scene.rig, proof)
            scene.holds()

    every(cases, judge)


def changed_always(bench):
    """If the object is damaged each time, it is a conflict after the table, which names what to delete. On a sound wire
    `retry` mends it."""
    with Scene(bench, Bucket(99), retry="0,0,0") as scene:
        scene.rig.send("--until-empty", code=14)
        row = is_left(scene.rig, "conflict", 3)
        expect("delete" in row.error_message and scene.key() in row.error_message, f"it says {row.error_message}")
        ifs = [put.headers.get("if-match") for put in scene.server.seen("PUT")]
        expect(ifs.count(None) == 1 and len(ifs) == 3, f"If-Match is {ifs}")
        scene.bucket.flips = 0
        scene.rig.run("retry", "--failed").must(0, about="retry --failed")
        scene.rig.send("--until-empty", code=0)
        is_left(scene.rig, "completed", 1)
        scene.holds()


def damaged_later(bench):
    """`check --remote` does not believe an echo either."""
    with Scene(bench, Bucket(echoes=True)) as scene:
        scene.rig.send(code=0)
        data = scene.bucket.kept[scene.key()]
        scene.bucket.kept[scene.key()] = data[:-1] + bytes([data[-1] ^ 1])
        scene.rig.run("check", "--remote").must(15, about="check --remote")
        scene.rig.send("--until-empty", code=0)
        scene.holds()


def tried_once(bench):
    """A wrong checksum is tried once, before the first receipt that needs it, and again after `dest set`."""
    with Scene(bench, Bucket(etag=no_md5, echoes=True, checks=True), bundles=2) as scene:
        said = scene.rig.run("dest", "test", "it").must(0, about="dest test").out.decode()
        expect("is tried by the first upload" in said and scene.count("PUT", "probe") == 0, f"dest test says {said}")
        for _ in range(2):
            scene.rig.send("--once", code=0)
        for bundle in scene.bundles:
            confirmed_by(scene.rig, "checksum", bundle)
        expect((scene.count("PUT", "probe"), scene.count("GET")) == (1, 1), "tried more often, or read back")
        expect(b"has refused a wrong checksum" in scene.rig.run("dest", "test", "it").out, "dest test does not say so")
        scene.rig.run("dest", "set", "it", "--concurrency", "2").must(0, about="dest set")
        scene.rig.push(bench.stock[2])
        scene.rig.send("--once", code=0)
        expect(scene.count("PUT", "probe") == 2, "dest set does not make it forget")
    with Scene(bench, Bucket(etag=no_md5, echoes=True, probe=501), bundles=3) as scene:
        scene.rig.send("--once", code=0)
        expect(scene.count("PUT", "probe") == 1, "an answer that does not tell is asked for again in the same run")
        confirmed_by(scene.rig, "bytes")
        scene.bundles = bench.stock[:3]
        scene.holds()


def left_behind(bench):
    """A probe that the store took and does not delete is named in a warning."""
    with Scene(bench, Bucket(etag=no_md5, echoes=True, hides=("DELETE",))) as scene:
        said = scene.rig.send("--once", code=0).text
        probe, = (path for path in scene.bucket.kept if "probe" in path)
        expect(probe in said and "delete it" in said, f"run says {said}")
        confirmed_by(scene.rig, "bytes")
        expect(b"has accepted a wrong checksum" in scene.rig.run("dest", "test", "it").out, "dest test says otherwise")


def other_etags(bench):
    """ETags that look like MD5s and are none are found out once, by reading back. Those of encrypted objects are known."""
    checking = {"echoes": True, "checks": True}
    cases = {"looks like one": (Bucket(etag=lambda data: FOREIGN, **checking), ["bytes", "checksum"]),
             "encrypted": (Bucket(etag=lambda data: FOREIGN, x_amz_server_side_encryption="aws:kms", **checking),
                           ["checksum", "checksum"])}

    def judge(_, case):
        bucket, proofs = case
        with Scene(bench, bucket, bundles=2) as scene:
            scene.rig.send("--once", code=0)
            found = sorted(scene.rig.receipt(bundle)["confirmed_by"] for bundle in scene.bundles)
            expect(found == proofs, f"confirmed by {found}")
            expect(scene.count("GET") == proofs.count("bytes"), f"{scene.count('GET')} GETs")
            scene.holds()

    every(cases, judge)


def content_md5(bench):
    """Where Content-MD5 was sent, an ETag may be an echo: it counts only if a wrong one is refused."""
    with Scene(bench, Bucket(), "--checksum", "md5") as scene:
        scene.rig.send("--once", code=0)
        confirmed_by(scene.rig, "bytes")
        expect(scene.count("PUT", "probe") == 1, "no wrong Content-MD5 was tried")
        scene.holds()


def questions(bench):
    """What the store answers to HEAD and GET about the load, the room or the login burns no attempt, and is asked again."""
    slow = Reply(503, {"Content-Type": "application/xml"}, XML.format("SlowDown").encode())
    expired = Reply(400, {"Content-Type": "application/xml"}, XML.format("ExpiredToken").encode())
    cases = {"SlowDown": (slow, "wait"), "Retry-After": (Reply(503, {"Retry-After": "60"}), "wait"), "no room": (Reply(507), "full"),
             "login": (Reply(401), "credentials"), "an expired key": (expired, "credentials")}

    def judge(name, case):
        wrong, reason = case
        for methods in (("HEAD", "GET"), ("GET",)) if IS_LONG else (("GET",),):
            bucket, is_ill = Bucket(etag=no_md5), True

            def answer(request):
                if is_ill and request.method in methods:
                    return Reply(wrong.status, wrong.headers, b"" if request.method == "HEAD" else wrong.body)
                return bucket(request)

            with Scene(bench, answer, retry="0") as scene:
                for _ in range(2):
                    scene.rig.send("--once", code=15)
                    is_left(scene.rig, "pending", 0, reason)
                    scene.rig.run("resume").must(0, about="resume")
                is_ill = False
                scene.rig.send("--once", code=0)
                confirmed_by(scene.rig, "bytes")
                expect(scene.count("PUT") == 1, f"{name}: sent {scene.count('PUT')} times")

    every(cases if IS_LONG else {"SlowDown": cases["SlowDown"]}, judge)


def write_only(bench):
    """Keys that may only write: the bundle is sent once. The answer to PUT proves it, or the user decides."""
    hides = ("HEAD", "GET")
    with Scene(bench, Bucket(hides=hides)) as scene:
        scene.rig.send("--once", code=0)
        confirmed_by(scene.rig, "etag")
    with Scene(bench, Bucket(etag=no_md5, hides=hides)) as scene:
        for _ in range(2):
            said = scene.rig.send("--once", code=15).text
            expect("s3:GetObject" in said and "--proof status" in said, f"run says {said}")
            is_left(scene.rig, "pending", 0, "unproven")
            scene.rig.run("resume").must(0, about="resume")
        said = scene.rig.run("dest", "test", "it").must(78, about="dest test").text
        expect("s3:GetObject" in said and "--proof status" in said, f"dest test says {said}")
        scene.rig.run("dest", "set", "it", "--proof", "status").must(0, about="dest set")
        said = scene.rig.run("dest", "test", "it").must(0, about="dest test").out.decode()
        expect("may not read" in said, f"dest test says {said}")
        scene.rig.send("--once", code=0)
        confirmed_by(scene.rig, "status")
        expect(scene.count("PUT") == 1, f"sent {scene.count('PUT')} times")


def write_only_changed(bench):
    """An answer to PUT with the MD5 of other bytes proves nothing: it is sent again, without a condition. If that is so
    for three captures, the destination is blocked, and `--proof status` accepts only what is sent after it was set."""
    with Scene(bench, Bucket(1, hides=("HEAD", "GET"))) as scene:
        scene.rig.send("--until-empty", code=0)
        is_left(scene.rig, "completed", 2)
        scene.holds()
    foreign = Bucket(etag=lambda data: FOREIGN, hides=("HEAD", "GET"), conditions=False)
    with Scene(bench, foreign, bundles=3) as scene:
        scene.rig.send("--once", code=15)
        expect(scene.rig.destination("it").blocked_reason == "unproven", scene.rig.destination("it").blocked_message)
        scene.rig.run("dest", "set", "it", "--proof", "status").must(0, about="dest set")
        before = scene.count("PUT")
        scene.rig.send("--until-empty", code=0)
        expect(scene.count("PUT") - before == 3, f"{scene.count('PUT') - before} are sent again")
        for bundle in scene.bundles:
            confirmed_by(scene.rig, "status", bundle)


TESTS = [
    ("a bit that changed on the way is found and mended", changed_once),
    ("an object that is damaged each time is a conflict after the table", changed_always),
    ("check --remote does not believe an echo", damaged_later),
    ("a wrong checksum is tried once, until dest set", tried_once),
    ("a probe that cannot be deleted is named", left_behind),
    ("ETags that are not MD5s", other_etags),
    ("Content-MD5 is not proven by its echo", content_md5),
    ("answers to questions about the load, the room and the login", questions),
    ("keys that may only write: sent once", write_only),
    ("keys that may only write, and the MD5 of other bytes", write_only_changed),
]
