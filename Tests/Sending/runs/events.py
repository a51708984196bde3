"""`run --json`: each line is an event as documented in Spec/capqueue.md section 4."""
import datetime
import json
import re

from capture_api import Answer, CaptureAPI
from checks import expect
from rigs import wait_until

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
        api.answer(Answer(503), Answer(400, "VALIDATION_ERROR"))
        rig.http(api.url, retry="0,1,1")
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
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        rig.http(api.url)
        rig.push(*bench.stock[:20])
        with rig.start("run", "--until-empty", "--json") as running:
            told = 0
            while told < 20:
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


def lines_for_people(bench):
    """Without --json each line has an id and its new state, and no terminal control characters."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.answer(Answer(400, body={"error": {"code": "X", "message": "\x1b[2J\x07 bad \u202e"}}))
        rig.http(api.url)
        rig.push(*bench.stock[:3])
        result = rig.send("--until-empty", code=14)
    lines = sorted(result.out.decode().splitlines())
    wanted = sorted([f"{bench.stock[0].id} api permanently_failed",
                     *(f"{bundle.id} api completed" for bundle in bench.stock[1:3])])
    expect(lines == wanted, f"prints {lines}")
    for letter in "\x1b\x07\u202e":
        expect(letter not in result.text, f"standard error has {letter!r}")
    for words in (["history", bench.stock[0].id], ["show", bench.stock[0].id], ["list"], ["status"]):
        text = rig.run(*words).out.decode()
        expect("\x1b" not in text and "\u202e" not in text, f"{words[0]} prints what steers a terminal")


FAMILY = [
    ("events of a run are as documented", of_a_run),
    ("an event follows the commit of its state", on_the_disk_first),
    ("events of waits", of_waits),
    ("lines for people", lines_for_people),
]
