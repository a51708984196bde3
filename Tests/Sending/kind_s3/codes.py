"""s3 and presigned URLs: the code of a store's answer decides what happens. The answers are those of real stores."""
import email.utils
import hashlib
import re
import time

from Kit.outcomes import every, expect, long
from Kit.sending import AT_ONCE, completed
from Kit.servers.scripted import Reply, Scripted
from Sending.answers.tries import added, is_left, sent

KEYS = {"AWS_ACCESS_KEY_ID": "AKCODES", "AWS_SECRET_ACCESS_KEY": "secret"}
XML = '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{}</Code><Message>as documented</Message>{}</Error>'


def refusal(status, code, more="", **headers):
    """An error of S3; without a code an answer of a server whose client has gone."""
    if code is None:
        return Reply(status, {"Content-Type": "text/plain"}, b"")
    return Reply(status, {"Content-Type": "application/xml"} | headers, XML.format(code, more).encode())


class Store:
    """Answers the first PUTs to a bucket with its `refusals`, and keeps what comes then."""

    def __init__(self, **refusals):
        self.refusals, self.kept = {bucket: list(replies) for bucket, replies in refusals.items()}, {}

    def __call__(self, request):
        path = request.path.partition("?")[0]
        if request.method == "PUT":
            waiting = self.refusals.get(path.split("/")[1], [])
            if waiting:
                return waiting.pop(0)
            self.kept[path] = request.body
            return Reply(200, {"ETag": f'"{hashlib.md5(request.body).hexdigest()}"'})
        if path not in self.kept:
            return Reply(404)
        data = self.kept[path]
        return Reply(200, {"ETag": f'"{hashlib.md5(data).hexdigest()}"', "Content-Length": str(len(data))},
                     data if request.method == "GET" else b"")


def played(bench, cases, retry=AT_ONCE, mode="--until-empty"):
    """Sends one bundle to a bucket for each case {name: replies} in one run; returns the rig and what the run said."""
    rig, bundle = bench.rig(), bench.stock[0]
    rig.env |= KEYS
    with Scripted(Store(**cases)) as server:
        for name in cases:
            rig.dest(name, "s3", "--url", f"{server.url}/{name}", "--retry", retry)
        rig.push(bundle, options=[word for name in cases for word in ("--dest", name)])
        return rig, rig.send(mode).text


def repeated(bench):
    """What says that this transfer went wrong is sent again, and lands with the second attempt."""
    codes = [(400, code) for code in ("BadDigest", "InvalidDigest", "XAmzContentSHA256Mismatch", "IncompleteBody",
                                      "XAmzContentChecksumMismatch", "RequestTimeout", None)]
    cases = {f"c{number}": [refusal(*code)] for number, code in enumerate([*codes, (499, "ClientDisconnected")])}
    rig, _ = played(bench, cases)

    def judge(name, _):
        row = rig.delivery(bench.stock[0], name)
        expect((row.state, row.attempts) == ("completed", 2), f"{row.state} after {row.attempts}: {row.error_message}")

    every(cases, judge)


def blocked(bench):
    """What is about the keys, the place or the room blocks the destination, burns nothing, and the message says more."""
    region, host = "<Region>eu-west-1</Region>", "<Endpoint>captures.s3.eu-west-1.example</Endpoint>"
    bucket = {"x-amz-bucket-region": "eu-west-1"}
    cases = {"expired": ([refusal(400, "ExpiredToken")], "credentials", "access keys"),
             "token": ([refusal(400, "InvalidToken")], "credentials", "access keys"),
             "region": ([refusal(400, "AuthorizationHeaderMalformed", region)], "endpoint", "--region eu-west-1"),
             "moved": ([refusal(301, "PermanentRedirect", host, **bucket)], "endpoint",
                       "--url https://captures.s3.eu-west-1.example/... --region eu-west-1"),
             "quota": ([refusal(400, "XMinioAdminBucketQuotaExceeded")], "full", ""),
             "ceph": ([refusal(403, "QuotaExceeded")], "full", "")}
    rig, said = played(bench, {name: replies for name, (replies, _, _) in cases.items()}, mode="--once")

    def judge(name, case):
        row, place = rig.delivery(bench.stock[0], name), rig.destination(name)
        expect((row.state, row.attempts) == ("pending", 0), f"{row.state} after {row.attempts}: {row.error_message}")
        expect(place.blocked_reason == case[1], f"blocked as {place.blocked_reason}: {place.blocked_message}")
        expect(case[2] in said, f"run says {said!r}")

    every(cases, judge)


def new_keys(bench):
    """After ExpiredToken the keys are read again: with new ones everything lands."""
    rig = bench.rig()
    keys = rig.home / "keys"
    rig.env["AWS_SHARED_CREDENTIALS_FILE"] = str(keys)
    store = Store()

    def reply(request):
        is_old = "AKOLD" in request.headers.get("authorization", "")
        return refusal(400, "ExpiredToken") if is_old and request.method == "PUT" else store(request)

    with Scripted(reply) as server:
        rig.dest("it", "s3", "--url", server.url + "/bucket")
        rig.push(*bench.stock[:2])
        for name in ("AKOLD", "AKNEW"):
            keys.write_text(f"[default]\naws_access_key_id = {name}\naws_secret_access_key = secret\n")
            keys.chmod(0o600)
            rig.send(code=0 if name == "AKNEW" else 15)
    completed(rig, *bench.stock[:2])


def other_codes(bench):
    """Any other 400 is final."""
    rig, _ = played(bench, {"other": [refusal(400, "EntityTooLarge")]})
    row = rig.delivery(bench.stock[0], "other")
    expect((row.state, row.attempts) == ("permanently_failed", 1), f"{row.state} after {row.attempts}")


def clocks(bench):
    """If the store's Date is more than 5 minutes away, a refused request is signed again with it, once. Then the keys
    are refused."""
    def at(request):
        return time.mktime(time.strptime(request.headers["x-amz-date"], "%Y%m%dT%H%M%SZ")) - time.timezone

    for status, code in ((400, "AccessDenied"), (403, "RequestTimeTooSkewed")):
        store, ahead = Store(), time.time() + 7200

        def reply(request, status=status, code=code, store=store, ahead=ahead):
            there = {"Date": email.utils.formatdate(ahead, usegmt=True)}
            answer = store(request) if abs(at(request) - ahead) < 300 else refusal(status, code)
            answer.headers |= there
            return answer

        with Scripted(reply) as server:
            rig = added(bench, "s3", server.url + "/bucket")
            rig.env |= KEYS
            rig.send("--once")
            is_left(rig, "completed", 1)
            puts = [bool(re.match("AWS4", put.headers["authorization"])) for put in server.seen("PUT")]
            expect(puts == [True, True], f"{len(puts)} PUTs")
    with Scripted(lambda request: refusal(400, "AccessDenied", Date=email.utils.formatdate(ahead, usegmt=True))) as server:
        rig = added(bench, "s3", server.url + "/bucket")
        rig.env |= KEYS
        rig.send("--once", code=15)
        is_left(rig, "pending", 0, "credentials")
        expect(len(server.seen("PUT")) == 2, f"{len(server.seen('PUT'))} PUTs")


def presigned(bench):
    """A presigned URL that the store calls expired with 400 is fetched anew at once, and other codes count as for s3."""
    for number, code in enumerate(("ExpiredToken", "BadDigest")):
        store = Store(old=[refusal(400, code)])
        with Scripted(store) as server:
            once = f"{bench.folder}/fetched{number}-{next(bench.numbers)}"
            fetch = f"[ -e {once} ] && t=new || t=old; touch {once}; echo {server.url}/$t/$CAPQUEUE_SHA256"
            rig = sent(bench, "put", None, "--url-command", fetch, mode="--until-empty", code=0)
        is_left(rig, "completed", 2 if code == "BadDigest" else 1)


@long
def slower(bench):
    """SlowDown costs no attempt, though others land meanwhile, and each waits a little longer."""
    bundles = bench.bundles(100)
    store, count = Store(), [0]

    def reply(request):
        count[0] += request.method == "PUT"
        return refusal(503, "SlowDown") if request.method == "PUT" and count[0] % 12 == 0 else store(request)

    with Scripted(reply) as server:
        rig = added(bench, "s3", server.url + "/bucket", "--concurrency", "4", bundles=bundles, retry="0,0")
        rig.env |= KEYS
        rig.send("--until-empty", code=0)
    completed(rig, *bundles)
    expect({row.attempts for row in rig.deliveries()} == {1}, f"{[row.attempts for row in rig.deliveries()]}")


TESTS = [
    ("a transfer that went wrong on the way is repeated", repeated),
    ("keys, place and room block the destination, and the message says what to change", blocked),
    ("keys that have expired are read again", new_keys),
    ("any other 400 is final", other_codes),
    ("a store whose clock differs: signed again with its Date, once", clocks),
    ("a presigned URL that has expired by the code of the answer", presigned),
    ("SlowDown never costs an attempt", slower),
]
