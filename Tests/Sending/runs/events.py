"""What `run` prints: events as documented in Spec/capqueue.md section 4, and lines for people."""
import datetime
import json
import re

from Kit.outcomes import every, expect
from Kit.sending import wait_until
from Kit.servers.capture_api import Answer, CaptureAPI
from Kit.servers.scripted import Scripted, Shelf
from Kit.terminals import played
from Sending.scenes import sending

STATES = {"completed", "processing", "failed", "permanently_failed", "conflict", "quarantined", "pending"}
NAMES = STATES | {"started", "ended", "attempt", "blocked", "offline", "ready", "paused", "resumed", "session", "quota",
                  "warning"}
MEMBERS = {"event": str, "at": str, "destination": str, "id": str, "sha256": str, "bytes": int, "session": str,
           "attempt": int, "state": str, "code": str, "message": str, "until": str, "receipt": (dict, str),
           "remote_id": str, "remote_url": str, "milliseconds": int, "bytes_sent": int, "completed": int, "failed": int}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def valid(out):
    """Parses the events and checks that each is as documented."""
    expect(out.endswith(b"\n"), f"the last line is not whole: {out[-80:]!r}")
    events = []
    for line in out.decode().split("\n")[:-1]:
        pairs = json.loads(line, object_pairs_hook=list)
        names = [name for name, _ in pairs]
        event = json.loads(line)
        expect(names == sorted(names, key=str.encode), f"members are not in order: {line}")
        expect(len(set(names)) == len(names), f"a member comes twice: {line}")
        for name, value in event.items():
            expect(name in MEMBERS and isinstance(value, MEMBERS[name]), f"an odd member {name}: {line}")
        expect(event["event"] in NAMES and "at" in event, f"an odd event: {line}")
        for name in ("at", "until"):
            expect(name not in event or TIME.fullmatch(event[name]), f"{name} is not a time: {line}")
        if event["event"] in STATES:
            wanted = {"id", "sha256", "destination", "state"}
            expect(wanted <= event.keys() and event["state"] == event["event"], f"lacks a member: {line}")
        if event["event"] == "blocked":
            expect({"destination", "code", "message"} <= event.keys(), f"lacks a member: {line}")
        events.append(event)
    times = [datetime.datetime.fromisoformat(event["at"]) for event in events]
    # Threads may print their events in another order than that of their times.
    slack = datetime.timedelta(seconds=1)
    expect(all(two - one > -slack for one, two in zip(times, times[1:])), "events are not in the order of their times")
    return events


def of_a_run(bench):
    """Everything that happens has an event, in order, with its members."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.answer(Answer(500), Answer(400, "VALIDATION_ERROR"))
        rig.http(api.url)  # a failed try has the event `failed`, however soon the next one follows
        one, two, three = bench.stock[:3]
        rig.push(one)
        rig.push(two, three, options=("--session", "monday"))
        events = valid(rig.send("--until-empty", "--json", code=14).out)
        stored = api.stored[0]
    expect((events[0]["event"], events[-1]["event"]) == ("started", "ended"), "not from `started` to `ended`")
    expect(events[-1]["completed"] == 2 and events[-1]["failed"] >= 1, f"the end counts {events[-1]}")
    for bundle, words in ((one, ["attempt", "failed", "attempt", "completed"]),
                          (two, ["attempt", "permanently_failed"]), (three, ["attempt", "completed"])):
        its = [event for event in events if event.get("id") == bundle.id]
        expect([event["event"] for event in its] == words, f"events are {[event['event'] for event in its]}")
        expect(all(event["sha256"] == bundle.sha256 and event["destination"] == "api" for event in its), f"{its}")
        expect(all(event.get("session") == (None if bundle is one else "monday") for event in its), f"{its}")
        expect([event["attempt"] for event in its if event["event"] == "attempt"] == list(range(1, len(its) // 2 + 1)),
               f"attempts are counted otherwise: {its}")
    failed, = (event for event in events if event["event"] == "failed")
    expect({"code", "message", "until"} <= failed.keys(), f"the event of a failure is {failed}")
    refused, = (event for event in events if event["event"] == "permanently_failed")
    expect({"code", "message"} <= refused.keys(), f"the event of a refusal is {refused}")
    done = [event for event in events if event["event"] == "completed"]
    for event in done:
        wanted = {"receipt", "remote_id", "remote_url", "milliseconds", "bytes_sent", "bytes"}
        expect(wanted <= event.keys(), f"lacks a member: {event}")
    expect(stored.id in {event["remote_id"] for event in done}, "the event has another id")


def on_the_disk_first(bench):
    """The event of a state comes after the commit: a reader of `completed` finds that state in the rows."""
    with sending(bench, bench.stock[:6]) as (rig, api):
        with rig.start("run", "--until-empty", "--json") as running:
            told = 0
            while told < 6:
                wait_until(lambda: len(running.saw("completed")) > told, "the next event")
                events = running.saw("completed")
                told = len(events)
                rows = {row.bundle: row.state for row in rig.deliveries()}
                expect(all(rows[event["id"]] == "completed" for event in events), "told too early")
            running.end().must(0)


def of_waits(bench):
    """Held, offline, paused, resumed, ready and warned have events too."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        rig.http(api.url)
        rig.http("http://127.0.0.1:9/", name="away")
        rig.run("config", "warn-at", "1kB").must(0)
        rig.push(*bench.stock[:2], options=("--dest", "api", "--dest", "away"))
        api.always(Answer(410))
        with rig.start("run", "--watch", "--json") as running:
            wait_until(lambda: running.saw("blocked", code="endpoint", destination="api"), "blocked")
            wait_until(lambda: running.saw("offline", destination="away"), "offline")
            wait_until(lambda: running.saw("quota"), "over the warning mark")
            api.always(None)
            rig.run("pause").must(0)
            wait_until(lambda: running.saw("paused"), "paused")
            rig.run("resume").must(0)
            wait_until(lambda: running.saw("resumed"), "resumed")
            rig.run("resume", "--dest", "api").must(0)
            wait_until(lambda: running.saw("ready", destination="api"), "ready")
            wait_until(lambda: len(running.saw("completed")) == 2, "both arrive")
            running.stop()
            valid(running.out.read_bytes())


STAMP = r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ"


def lines(bench):
    """A line has the id, the destination and the state; the last line of standard error says what was sent where."""
    rig, bundles = bench.rig(), bench.stock[:3]
    with Scripted(Shelf()) as one, Scripted(Shelf()) as two:
        rig.dest("one", "put", "--url", one.url + "/{sha256}")
        rig.dest("two", "put", "--url", two.url + "/{sha256}")
        rig.push(*bundles[:2])
        rig.run("push", "--dest", "two", bundles[2].path).must(0, about="push")
        result = rig.send(code=0)
        wanted = {f"{bundles[0].id} one completed", f"{bundles[1].id} one completed", f"{bundles[2].id} two completed"}
        expect(set(result.out.decode().splitlines()) == wanted, f"run prints {result.out!r}")
        size = sum(len(bundle.data) for bundle in bundles)
        last = rf"capqueue: note: sent 3 captures, {size} bytes, to (one and two|two and one) in \d+\.\d s"
        expect(re.fullmatch(last, result.text.splitlines()[-1]), f"it ends with {result.text!r}")
        expect(rig.send(code=0).text == "capqueue: note: nothing to send\n", "a run without work says something else")
        expect(not rig.send("--quiet", code=0).err, "--quiet says something")
        expect(b"note" not in rig.send("--json", code=0).err, "--json says something to people")


def next_try(bench):
    """A run that ends leaves the retry to the next run; one that goes on does it itself. Texts are without controls."""
    cases = {"--once": rf"; will be tried by the next run after {STAMP}$", "--until-empty": rf"; next try at {STAMP}$"}

    def judge(name, pattern):
        with sending(bench, [bench.stock[0]], "--verify-url", "none", retry="1,1,1") as (rig, api):
            api.answer(Answer(500, body={"error": {"code": "X", "message": "\x1b[2J\x07 bad \u202e"}}))
            result = rig.send(name, code=15 if name == "--once" else 0)
            warnings = [line for line in result.text.splitlines() if "warning" in line]
            if name == "--until-empty":
                expect("may be stored twice" in warnings.pop(), f"it says {result.text!r}")
            expect(len(warnings) == 1 and re.search(pattern, warnings[0]), f"it says {result.text!r}")
            said = [result.text, *(rig.run(word, bench.stock[0].id).out.decode() for word in ("history", "show"))]
            expect("bad" in said[1] and not any(letter in text for letter in "\x1b\x07\u202e" for text in said),
                   f"a text of the server steers the terminal: {said}")
            ending = "sent nothing; 1 waits" if name == "--once" else "sent 1 capture"
            expect(ending in result.text.splitlines()[-1], f"it ends with {result.text!r}")

    every(cases, judge)


def on_a_terminal(bench):
    """60 columns show how many of all captures and bytes were sent and how long it takes; no line is longer."""
    rig, bundles = bench.rig(), [bench.big(), *bench.bundles(2)]
    with Scripted(Shelf()) as server:
        rig.dest("web", "put", "--url", server.url + "/{sha256}", "--concurrency", "1")
        rig.push(*bundles)
        code, shown, _, _ = played(rig, "run", "--until-empty", "--bwlimit", "4MB", streams="stderr", columns=60)
        expect(code == 0, f"run ends with {code}: {shown[-300:]!r}")
    drawn = [line for line in re.sub(rb"\x1b\[[0-9]*[A-Za-z]", b"", shown).decode().replace("\r", "").split("\n")
             if line and not line.startswith("capqueue:")]
    expect(all(len(line) < 60 for line in drawn), f"lines are too long: {[x for x in drawn if len(x) > 59][:2]}")
    total = re.compile(r"[0-2] of 3 sent  \d+(\.\d)? [kM]B of 8\.\d MB .*(left|starting)$")
    totals = [line for line in drawn if total.match(line)]
    expect(len(totals) > 3, f"it draws {drawn[:6]}")
    expect(any(re.search(r"\[#+-+\]", line) for line in drawn), f"no bar in {drawn[:6]}")


TESTS = [
    ("events of a run are as documented", of_a_run),
    ("an event follows the commit of its state", on_the_disk_first),
    ("events of waits", of_waits),
    ("a line for each new state, and one at the end", lines),
    ("when a failed capture is tried again", next_try),
    ("the lines on a terminal of 60 columns", on_a_terminal),
]
