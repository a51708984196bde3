"""put to presigned URLs of SeaweedFS: fetched late, fetched again after they expire, and never shown."""
import hashlib
import time

from Kit.outcomes import every, expect
from Kit.sending import AT_ONCE, completed
from Kit.servers import seaweed
from Kit.servers.fault_proxy import FaultProxy
from Kit.servers.nginx import fresh
from Kit.servers.scripted import Reply, Scripted, in_json
from Sending.answers.tries import is_left, sent, some
from Sending.kind_s3.proofs import Bucket

# Prints the next URL of the bundle's list, and then the last one again and again. Records each call.
COMMAND = """
env | grep ^CAPQUEUE_ | grep -v DIR= | sort | tr '\\n' ' ' >> asked; echo >> asked
list=urls/$CAPQUEUE_SHA256
head -n 1 "$list"
if [ "$(wc -l < "$list")" -gt 1 ]; then sed -i 1d "$list"; fi
"""


class Desk:
    """Provides URLs for one rig: a folder with a list for each bundle, and the command that reads it."""

    def __init__(self, bench, rig):
        self.client, self.folder = seaweed.shared(bench).client(), rig.folder / "desk"
        self.prefix = f"presigned{next(bench.numbers)}"
        (self.folder / "urls").mkdir(parents=True)
        script = self.folder / "command.sh"
        script.write_text(f"cd {self.folder}\n{COMMAND}")
        self.command = f"sh {script}"

    def url(self, bundle, **how):
        return self.client.presigned(f"{self.prefix}/{bundle.sha256}", **how)

    def gives(self, bundle, *urls):
        (self.folder / "urls" / bundle.sha256).write_text("".join(f"{url}\n" for url in urls or [self.url(bundle)]))

    @property
    def asked(self):
        path = self.folder / "asked"
        return path.read_text().splitlines() if path.exists() else []

    def has(self, *bundles):
        for bundle in bundles:
            expect(self.client.get(f"{self.prefix}/{bundle.sha256}") == bundle.data, "the store has other bytes")


def tampered(url):
    """Returns the URL with another last digit in the signature."""
    return url[:-1] + ("1" if url[-1] == "0" else "0")


def rig_and_desk(bench, *bundles, options=(), session=None):
    rig = bench.rig()
    desk = Desk(bench, rig)
    rig.dest("web", "put", "--url-command", desk.command, "--retry", AT_ONCE, *options)
    rig.push(*bundles, options=("--session", session) if session else ())
    return rig, desk


def by_command(bench):
    """The command runs for each bundle only when that is sent, and gets the values that it needs."""
    bundles = bench.stock[:3]
    rig, desk = rig_and_desk(bench, *bundles, session="roof")
    for bundle in bundles:
        desk.gives(bundle)
    expect(not desk.asked, "the command is run before anything is sent")
    result = rig.send(code=0)
    completed(rig, *bundles)
    desk.has(*bundles)
    wanted = sorted(f"CAPQUEUE_BYTES={len(bundle.data)} CAPQUEUE_ID={bundle.id} CAPQUEUE_SESSION=roof "
                    f"CAPQUEUE_SHA256={bundle.sha256}" for bundle in bundles)
    expect(sorted(line.strip() for line in desk.asked) == wanted, f"the command was asked {desk.asked[:2]}")
    receipt = rig.receipt(bundles[0])
    told = [receipt["kind"], receipt["confirmed_by"], receipt["sha256"], receipt["url"].partition("?")[0],
            receipt["etag"].strip('"')]
    expect(told == ["put", "digest", bundles[0].sha256, desk.url(bundles[0]).partition("?")[0],
                    hashlib.md5(bundles[0].data).hexdigest()], f"the receipt is {receipt}")
    expect("warning" not in result.text, f"a warning for two days: {result.text!r}")


def by_endpoint(bench):
    """The endpoint is asked with POST, and the headers in its answer are sent with the body."""
    bundle, client = bench.stock[0], seaweed.shared(bench).client()
    rig, key = bench.rig(), f"presigned{next(bench.numbers)}/{bench.stock[0].sha256}"
    headers = {"Content-Type": "application/x-capture", "x-amz-meta-roof": "seven"}
    answer = {"url": client.presigned(key, headers=headers), "headers": headers}
    with Scripted(lambda request: in_json(answer)) as desk:
        rig.dest("web", "put", "--url-endpoint", f"{desk.url}/urls")
        rig.push(bundle, options=("--session", "roof"))
        rig.send(code=0)
        completed(rig, bundle)
        asked, = desk.requests
    expect((asked.method, asked.path) == ("POST", "/urls"), f"asked {asked.method} {asked.path}")
    wanted = {"bytes": len(bundle.data), "id": bundle.id, "session": "roof", "sha256": bundle.sha256}
    expect(asked.json == wanted, f"asked with {asked.body!r}")
    expect(client.get(key) == bundle.data, "the store has other bytes")
    expect(client.head(key).get("x-amz-meta-roof") == "seven", "the headers of the endpoint were not sent")


def fetched_anew(bench):
    """A URL that expired, or that the store refuses once, is replaced by another one; no attempt is used."""
    def judge(name, first):
        bundle = bench.stock[0]
        rig, desk = rig_and_desk(bench, bundle)
        desk.gives(bundle, first(desk, bundle), desk.url(bundle))
        rig.send(code=0)
        completed(rig, bundle)
        desk.has(bundle)
        expect(len(desk.asked) == 2, f"the command was asked {len(desk.asked)} times")

    every(some({"its time is over": lambda desk, bundle: desk.url(bundle, since=-7200, life=3600),
                "refused by the store": lambda desk, bundle: tampered(desk.url(bundle)),
                "of another object": lambda desk, bundle: desk.url(bundle, method="GET")}, 1), judge)


def other_bytes(bench):
    """One bit changes on the way, and the answer has the MD5 of the other bytes: it is sent again and replaces them,
    whether the store lets them be read or not."""
    for hides in (("HEAD", "GET"), ()):
        bucket = Bucket(1, hides=hides)
        with Scripted(bucket) as server:
            command = f"echo {server.url}/bucket/$CAPQUEUE_SHA256.bundle?X-Signature=x"
            rig = sent(bench, "put", None, "--url-command", command, mode="--until-empty", code=0)
        is_left(rig, "completed", 2)
        expect(list(bucket.kept.values()) == [bench.stock[0].data], "the store has other bytes")


def over_in_the_queue(bench):
    """If a URL expired while the bundle waited, the second try does not use the URL of the first."""
    bundle = bench.stock[0]
    rig = bench.rig()
    desk = Desk(bench, rig)
    with FaultProxy(int(desk.client.host.split(":")[1])) as proxy:
        rig.dest("web", "put", "--url-command", desk.command, "--retry", AT_ONCE)
        rig.push(bundle)
        proxy.down()
        host = f"127.0.0.1:{proxy.port}"
        desk.gives(bundle, desk.url(bundle, host=host, life=60))
        rig.send(code=15)
        expect(rig.destination("web").blocked_reason == "offline",
               f"blocked as {rig.destination('web').blocked_reason}")
        proxy.up()
        desk.gives(bundle, desk.url(bundle, host=host))
        rig.send(code=0)
    completed(rig, bundle)
    desk.has(bundle)
    expect(len(desk.asked) == 2, f"the command was asked {len(desk.asked)} times")


def refused_for_good(bench):
    """Two refusals in one try, of two captures, block the destination without an attempt, and there is no endless loop."""
    def judge(name, url):
        bundle = bench.stock[0]
        rig, desk = rig_and_desk(bench, bundle, bench.stock[1])
        for one in bench.stock[:2]:
            desk.gives(one, url(desk, one))
        rig.send("--until-empty", code=15)
        row, place = rig.delivery(bundle), rig.destination("web")
        expect((row.state, row.attempts) == ("pending", 0), f"{row.state} after {row.attempts}")
        expect(place.blocked_reason == "credentials", f"blocked as {place.blocked_reason}: {place.blocked_message!r}")
        expect(len(desk.asked) <= 4, f"the command was asked {len(desk.asked)} times")
        expect(desk.client.get(f"{desk.prefix}/{bundle.sha256}") is None, "the store has it")
        for one in bench.stock[:2]:
            desk.gives(one)
        rig.send("--until-empty", code=0)
        completed(rig, *bench.stock[:2])
        desk.has(*bench.stock[:2])

    every(some({"tampered": lambda desk, bundle: tampered(desk.url(bundle)),
                "its time is always over": lambda desk, bundle: desk.url(bundle, since=-7200, life=3600)}, 1), judge)


def short_lives(bench):
    """A URL valid for less than 24 hours is used, with one warning in each run, for both forms of its end."""
    bundles = bench.stock[:2]
    with fresh(bench) as server:
        def signed(life):
            return lambda desk, bundle: (f"{server.url}/store/{life}-{bundle.sha256}?Signature=x&"
                                         f"Expires={int(time.time()) + life}")

        cases = {"X-Amz-Expires": (lambda desk, bundle: desk.url(bundle, life=3600), 1),
                 "Expires, a long life": (signed(200_000), 0), "Expires": (signed(3600), 1)}

        def judge(name, case):
            url, warnings = case
            rig, desk = rig_and_desk(bench, *bundles)
            for bundle in bundles:
                desk.gives(bundle, url(desk, bundle))
            result = rig.send(code=0)
            completed(rig, *bundles)
            expect(result.text.count("capqueue: warning:") == warnings, f"run says {result.text!r}")
            expect(warnings == 0 or "24" in result.text, f"run says {result.text!r}")

        every(some(cases, 1), judge)


EMPTY = ("endpoint: no url", "endpoint: a number", "endpoint: no JSON")


def no_url(bench):
    """If a command or endpoint gives no URL, nothing is sent or lost; once it gives one, the capture lands."""
    bundle, client = bench.stock[0], seaweed.shared(bench).client()
    broken = {"url": "http://127.0.0.1:9/x", "headers": {"A": "b\r\nC: d"}}
    page = Reply(200, {"Content-Type": "text/html; charset=utf-8"}, b"<!doctype html><title>Please log in</title>")
    cases = {"endpoint: a page": page, "endpoint: no url": in_json({"link": "x"}),
             "command: two lines": "printf 'http://127.0.0.1:9/a\nhttp://127.0.0.1:9/b'", "endpoint: 500": Reply(500),
             "command: exit 3": "echo no >&2; exit 3", "endpoint: no JSON": Reply(200, {}, b"[{\"url\""),
             "command: nothing": "true", "command: words": "echo no such bundle",
             "command: a file": "echo file:///etc/passwd", "command: a password": "echo http://me:pw@127.0.0.1:9/x",
             "endpoint: 401": in_json({}, 401),
             "endpoint: a number": in_json({"url": 7}), "endpoint: nobody": Reply(lost=True),
             "endpoint: a header with a line break": in_json(broken)}

    def judge(name, case):
        key = f"presigned{next(bench.numbers)}/{bundle.sha256}"
        with Scripted(lambda request: case) as desk:
            options = ("--url-endpoint", f"{desk.url}/urls") if "endpoint" in name else ("--url-command", case)
            rig = sent(bench, "put", None, *options, code=(14, 15))
            words = "a login page" if "page" in name else "has no url" if name in EMPTY else ""
            expect(rig.said.text.strip() and words in rig.said.text, f"it says {rig.said.text!r}")
            expect(rig.states() <= {"pending", "failed"}, f"it is {rig.states()}")
            url = client.presigned(key)
            desk.answer = lambda request: in_json({"url": url})
            if "command" in name:
                rig.run("dest", "set", "it", "--url-command", f"echo '{url}'").must(0, about="dest set")
            rig.run("resume", "--dest", "it").must(0, about="resume")
            rig.send("--until-empty", code=0)
        expect(client.get(key) == bundle.data, "the store has other bytes")

    every(some(cases, 2), judge)


TESTS = [
    ("a command returns the URL, and runs only when the bundle is sent", by_command),
    ("an endpoint returns the URL and headers", by_endpoint),
    ("a URL whose time is over or that is refused once is fetched anew", fetched_anew),
    ("a bit that changed on the way to a presigned URL", other_bytes),
    ("a URL that runs out while the bundle waits", over_in_the_queue),
    ("a URL that is refused twice blocks the destination", refused_for_good),
    ("a warning for a URL valid for less than 24 hours", short_lives),
    ("a command or an endpoint that returns no URL", no_url),
]
