"""put to presigned URLs of SeaweedFS: fetched late, fetched again after they expire, and never shown."""
import hashlib
import time

import seaweed
from checks import every, expect
from fault_proxy import FaultProxy
from nginx import fresh
from rigs import AT_ONCE
from scripted import Reply, Scripted, in_json

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

    def has_not(self, bundle):
        expect(self.client.get(f"{self.prefix}/{bundle.sha256}") is None, "the store has it")


def tampered(url):
    """Returns the URL with another last digit in the signature."""
    return url[:-1] + ("1" if url[-1] == "0" else "0")


def rig_and_desk(bench, *bundles, options=(), session=None):
    rig = bench.rig()
    desk = Desk(bench, rig)
    rig.dest("web", "put", "--url-command", desk.command, "--retry", AT_ONCE, *options)
    rig.push(*bundles, options=("--session", session) if session else ())
    return rig, desk


def completed(rig, *bundles):
    for bundle in bundles:
        row = rig.delivery(bundle)
        expect((row.state, row.attempts) == ("completed", 1), f"{row.state} after {row.attempts} attempts: "
               f"{row.error_code} {row.error_message}")


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
    wanted = {"kind": "put", "confirmed_by": "digest", "sha256": bundles[0].sha256}
    expect(wanted.items() <= receipt.items(), f"the receipt is {receipt}")
    expect(receipt["url"].partition("?")[0] == desk.url(bundles[0]).partition("?")[0], f"the receipt is {receipt}")
    expect(receipt["etag"].strip('"') == hashlib.md5(bundles[0].data).hexdigest(), f"the receipt is {receipt}")
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

    every({"its time is over": lambda desk, bundle: desk.url(bundle, since=-7200, life=3600),
           "refused by the store": lambda desk, bundle: tampered(desk.url(bundle)),
           "of another object": lambda desk, bundle: desk.url(bundle, method="GET")}, judge)


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
    """Two refusals in one try block the destination without an attempt, and there is no endless loop."""
    def judge(name, url):
        bundle = bench.stock[0]
        rig, desk = rig_and_desk(bench, bundle, bench.stock[1])
        for one in bench.stock[:2]:
            desk.gives(one, url(desk, one))
        rig.send("--until-empty", code=15)
        row, place = rig.delivery(bundle), rig.destination("web")
        expect((row.state, row.attempts) == ("pending", 0), f"{row.state} after {row.attempts}")
        expect(place.blocked_reason == "credentials", f"blocked as {place.blocked_reason}: {place.blocked_message!r}")
        expect(len(desk.asked) <= 3, f"the command was asked {len(desk.asked)} times")
        desk.has_not(bundle)
        for one in bench.stock[:2]:
            desk.gives(one)
        rig.send("--until-empty", code=0)
        completed(rig, *bench.stock[:2])
        desk.has(*bench.stock[:2])

    every({"tampered": lambda desk, bundle: tampered(desk.url(bundle)),
           "its time is always over": lambda desk, bundle: desk.url(bundle, since=-7200, life=3600)}, judge)


def short_lives(bench):
    """A URL valid for less than 24 hours is used, with one warning in each run, for both forms of its end."""
    bundles = bench.stock[:3]
    rig, desk = rig_and_desk(bench, *bundles)
    for bundle in bundles:
        desk.gives(bundle, desk.url(bundle, life=3600))
    result = rig.send(code=0)
    completed(rig, *bundles)
    expect(result.text.count("capqueue: warning:") == 1 and "24" in result.text, f"run says {result.text!r}")
    with fresh(bench) as server:
        ends = {"a short life": (3600, 1), "a long life": (200_000, 0)}
        for name, (life, warnings) in ends.items():
            rig, desk = rig_and_desk(bench, bundles[0])
            desk.gives(bundles[0], f"{server.url}/store/{warnings}?Expires={int(time.time()) + life}&Signature=x")
            result = rig.send(code=0)
            expect(result.text.count("capqueue: warning:") == warnings, f"{name}: {result.text!r}")
        rig, desk = rig_and_desk(bench, bundles[0])
        past = f"{server.url}/store/past?Expires={int(time.time()) - 60}&Signature=x"
        desk.gives(bundles[0], past, f"{server.url}/store/then?Expires={int(time.time()) + 200_000}&Signature=x")
        rig.send(code=0)
        expect(server.holds()[-2:] == ["store/1", "store/then"], f"the server holds {server.holds()}")


def no_url(bench):
    """If a command or endpoint gives no URL, nothing is sent or lost; once it gives one, all captures land."""
    bundle = bench.stock[0]
    outputs = {"nothing": "", "two lines": "http://127.0.0.1:9/a\nhttp://127.0.0.1:9/b", "words": "no such bundle",
               "a file": "file:///etc/passwd", "a password": "http://me:pw@127.0.0.1:9/x"}
    for name, text in outputs.items():
        rig = bench.rig()
        desk = Desk(bench, rig)
        (desk.folder / "text").write_text(text)
        rig.dest("web", "put", "--url-command", f"cat {desk.folder}/text")
        rig.push(bundle)
        expect(rig.send(code=(14, 15)).text.strip(), f"{name}: without a word")
        expect(rig.delivery(bundle).state in ("pending", "failed"), f"{name}: {rig.delivery(bundle).state}")
    rig = bench.rig()
    desk = Desk(bench, rig)
    rig.dest("web", "put", "--url-command", "echo no >&2; exit 3")
    rig.push(bundle)
    rig.send(code=(14, 15))
    expect(rig.delivery(bundle).state in ("pending", "failed"), f"exit 3: {rig.delivery(bundle).state}")
    desk.gives(bundle)
    rig.run("dest", "set", "web", "--url-command", desk.command).must(0, about="dest set")
    rig.run("resume", "--dest", "web").must(0, about="resume")
    rig.send("--until-empty", code=0)
    desk.has(bundle)


def endpoint_without_url(bench):
    """If an endpoint returns no URL, nothing is sent or lost; once it returns one, the capture lands."""
    bundle, client = bench.stock[0], seaweed.shared(bench).client()
    answers = {"500": Reply(500), "401": in_json({}, 401), "no JSON": Reply(200, {}, b"<html>"),
               "no url": in_json({"link": "x"}), "a number": in_json({"url": 7}), "nobody": Reply(lost=True),
               "a header with a line break": in_json({"url": "http://127.0.0.1:9/x", "headers": {"A": "b\r\nC: d"}})}

    def judge(name, answer):
        rig, key = bench.rig(), f"presigned{next(bench.numbers)}/{bundle.sha256}"
        with Scripted(lambda request: answer) as desk:
            rig.dest("web", "put", "--url-endpoint", f"{desk.url}/urls", "--retry", AT_ONCE)
            rig.push(bundle)
            rig.send(code=(14, 15))
            expect(rig.delivery(bundle).state in ("pending", "failed"), f"it is {rig.delivery(bundle).state}")
            desk.answer = lambda request: in_json({"url": client.presigned(key)})
            rig.run("resume", "--dest", "web").must(0, about="resume")
            rig.send("--until-empty", code=0)
        expect(client.get(key) == bundle.data, "the store has other bytes")

    every(answers, judge)


def never_shown(bench):
    """The query of a URL is in no output, event, row or file, however the try ended."""
    bundle = bench.stock[0]
    words = {"Content-Type": "text/plain"}
    with Scripted(lambda request: Reply(400, words, b"cannot PUT " + request.path.encode())) as mirror:
        ends = {"landed": lambda desk: desk.url(bundle), "refused": lambda desk: tampered(desk.url(bundle)),
                "nobody there": lambda desk: desk.url(bundle, host="127.0.0.1:9"),
                "an unknown name": lambda desk: desk.url(bundle, host="captures.invalid:1"),
                "an answer that repeats it": lambda desk: desk.url(bundle, host=f"127.0.0.1:{mirror.port}")}

        def judge(name, url):
            rig, desk = rig_and_desk(bench, bundle)
            rig.env["RES_OPTIONS"] = "timeout:1 attempts:1"
            given = url(desk)
            desk.gives(bundle, given)
            hook = rig.folder / "hook"
            said = [rig.send("--json", "--on-event", f"cat >> {hook}")]
            outputs = (["list", "--json"], ["show", bundle.id], ["show", "--json", bundle.id], ["history", bundle.id],
                       ["history", "--json", bundle.id], ["status"], ["status", "--json"], ["status", "--prometheus"],
                       ["dest", "show", "web"], ["dest", "list"], ["dest", "show", "--json", "web"])
            said += [rig.run(*words) for words in outputs]
            secret = given.rpartition("=")[2].encode()
            for words, result in zip([["run"], *outputs], said):
                expect(secret not in result.out + result.err, f"{' '.join(words)} shows the signature")
                expect(b"X-Amz-" not in result.out + result.err, f"{' '.join(words)} shows the query")
            for path in [*(rig.queue / name for name in rig.names()), hook]:
                expect(not path.exists() or secret not in path.read_bytes(), f"the signature is in {path.name}")

        every(ends, judge)


FAMILY = [
    ("a command returns the URL, and runs only when the bundle is sent", by_command),
    ("an endpoint returns the URL and headers", by_endpoint),
    ("a URL whose time is over or that is refused once is fetched anew", fetched_anew),
    ("a URL that runs out while the bundle waits", over_in_the_queue),
    ("a URL that is refused twice blocks the destination", refused_for_good),
    ("a warning for a URL valid for less than 24 hours", short_lives),
    ("a command that prints no URL", no_url),
    ("an endpoint that returns no URL", endpoint_without_url),
    ("the query of a URL is never shown", never_shown),
]
