"""Servers that ask clients to wait. The Swift tests show what each form of the header means."""
import email.utils
import json
import time

from Kit.outcomes import IS_LONG, every, expect
from Kit.servers.capture_api import Answer, CaptureAPI
from Sending.answers.tries import is_left, posted, sent, some

DAY = 86_400


def date(seconds):
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


def honoured(bench):
    """The whole destination waits as long as the server asks, but at most 24 hours. A date counts by the server's
    clock."""
    def waits(name, case):
        status, value, shift, seconds = case
        with CaptureAPI(bench.public) as api:
            api.shift = shift
            api.always(Answer(status, headers={"Retry-After": value}))
            rig = sent(bench, "http", api.url, bundles=bench.stock[:2], code=15)
            for bundle in bench.stock[:2]:
                is_left(rig, "pending", 0, "wait", bundle)
            shown = rig.status()["destinations"][0]["blocked"]
            expect(shown["reason"] == "wait" and shown["until"] and shown["message"], f"status shows {shown}")
            left = rig.destination("it").blocked_until / 1000 - time.time()
            expect(seconds - 60 < left <= seconds + 1, f"waits for {left:.0f} s instead of {seconds}")
            expect(rig.send("--once").code == 15 and len(api.requests) == 1, "another run does not wait")

    cases = {"503, a date": (503, date(30 * DAY + 3600), 30 * DAY, 3600), "over a day": (429, "86401", 0, DAY),
             "429, seconds": (429, "3600", 0, 3600)}
    every(some(cases, 2), waits)


def none_at_all(bench):
    """Zero, a past date and other text are ignored: the capture is tried again by the table, with an attempt."""
    def counts(value, status):
        rig, _ = posted(bench, Answer(status, headers={"Retry-After": value}), retry="0,0,1000")
        row = is_left(rig, "failed", 1)
        expect(abs(row.due / 1000 - time.time()) < 60, f"is due at {row.due}")
        expect(not rig.destination("it").blocked_until, "the destination waits")

    every(some({"0": 429, "soon": 503, date(-3600): 429}, 1), counts)


def storm(bench):
    """Many 429 and 503 in a row do not use the only attempt. Each wait is observed, and has its events."""
    count = 11 if IS_LONG else 1
    answers = [Answer(429 if number % 2 else 503, headers={"Retry-After": "1"}) for number in range(count)]
    rig, api = posted(bench, *answers, options=("--verify-url", "none"), retry="0", code=0,
                      mode=("--until-empty", "--json"))
    is_left(rig, "completed", 1)
    events = [json.loads(line) for line in rig.said.out.splitlines()]
    names = [line["event"] for line in events if line["event"] in ("blocked", "ready", "completed")]
    expect(names == ["blocked"] * count + ["ready", "completed"], f"events are {names}")
    told = next(line for line in events if line["event"] == "blocked")
    expect({"code": "wait", "destination": "it"}.items() <= told.items() and told.get("until"), f"{told}")
    times = [request.at for request in api.seen()]
    expect(len(times) == count + 1, f"{len(times)} requests instead of {count + 1}")
    # A timer may fire early by less than the time that the answer took to arrive.
    expect(all(two - one > 0.9 for one, two in zip(times, times[1:])), "a wait was cut short")


TESTS = [
    ("seconds and dates are honoured up to 24 hours, and burn nothing", honoured),
    ("zero, past, negative and garbage leave it to the table", none_at_all),
    ("a storm of 429 and 503 burns no attempt", storm),
]
