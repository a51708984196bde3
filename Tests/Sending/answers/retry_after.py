"""Servers that ask clients to wait, in every form of the header."""
import email.utils
import json
import time

from capture_api import Answer, CaptureAPI
from checks import every, expect

SECONDS = 30
DAY = 86_400


def date(seconds, form="imf"):
    """Returns the time `seconds` from now, in one of the three forms of RFC 9110 section 5.6.7."""
    at = time.gmtime(time.time() + seconds)
    return {"imf": email.utils.formatdate(time.time() + seconds, usegmt=True),
            "rfc850": time.strftime("%A, %d-%b-%y %H:%M:%S GMT", at),
            "asctime": f"{time.strftime('%a %b', at)} {at.tm_mday:2} {time.strftime('%H:%M:%S %Y', at)}"}[form]


def met(bench, value, status=429, **behaviour):
    """Returns the rows of delivery and destination after an answer with this Retry-After."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        for name, setting in behaviour.items():
            setattr(api, name, setting)
        api.always(Answer(status, headers={"Retry-After": value}))
        rig.http(api.url, "--verify-url", "none", retry="0,0,1000")
        rig.push(bench.stock[0])
        rig.send(code=15)
    return rig.delivery(bench.stock[0]), rig.destination()


def honoured(bench):
    """The destination waits as long as the server asks, but at most 24 hours, and no attempt is used."""
    def waits(value, seconds):
        for status in (429, 503):
            row, destination = met(bench, value, status)
            expect((row.state, row.attempts) == ("pending", 0), f"is {row.state} after {row.attempts} attempts")
            left = (destination.blocked_until or 0) / 1000 - time.time()
            expect(seconds - 60 < left <= seconds + 1, f"waits for {left:.0f} s instead of {seconds}")
            expect(destination.blocked_reason == "wait", f"is blocked as {destination.blocked_reason}")

    every({"120": 120, "3600": 3600, "86400": DAY, "86401": DAY, "31536000": DAY, "9" * 40: DAY, "0000120": 120,
           date(3600): 3600, date(7200, "rfc850"): 7200, date(7200, "asctime"): 7200, date(400 * DAY): DAY}, waits)


def none_at_all(bench):
    """Zero, past dates, negative numbers and other text are ignored: the retry table applies, with an attempt."""
    def counts(value, wanted):
        row, destination = met(bench, value, wanted)
        expect((row.state, row.attempts) == ("failed", 1), f"is {row.state} after {row.attempts} attempts")
        expect(isinstance(row.due, int) and abs(row.due / 1000 - time.time()) < 60, f"is due at {row.due}")
        expect(not destination.blocked_until, f"the destination waits until {destination.blocked_until}")

    values = ("0", "-1", "-3600", "soon", "", "1.5", "1e3", "0x10", "+7", "NaN", "inf", "12 34", "3600s", date(-3600),
              "Tue, 31 Feb 2034 25:61:61 GMT", "Sometime, 01 Jan 2090 00:00:00 GMT", "2090-01-01T00:00:00Z",
              "99" + "x" * 500, "٣٦٠٠".encode().decode("latin-1"))
    every({value: 429 for value in values}, counts)
    every({"0": 503, "garbage": 503}, counts)


def by_their_clock(bench):
    """A date counts from the Date of the answer, so a wrong local clock changes no wait."""
    for shift in (-30 * DAY, -7200, 7200, 30 * DAY):
        _, destination = met(bench, date(shift + 3600), shift=shift)
        left = (destination.blocked_until or 0) / 1000 - time.time()
        expect(3600 - 60 < left <= 3600 + 1, f"a server that is {shift} s ahead: waits {left:.0f} s, not 3600")


def storm(bench):
    """Eleven 429 in a row use none of ten attempts, and each wait is observed."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.answer(*[Answer(429 if number % 2 else 503, headers={"Retry-After": "1"}) for number in range(11)])
        rig.http(api.url)
        rig.push(bench.stock[0])
        rig.send("--until-empty", code=0)
        row = rig.delivery(bench.stock[0])
        expect((row.state, row.attempts) == ("completed", 1), f"is {row.state} after {row.attempts} attempts")
        times = [request.at for request in api.seen()]
        expect(len(times) == 12, f"{len(times)} requests instead of 12")
        # A timer may fire early by less than the time that the answer took to arrive.
        expect(all(two - one > 0.9 for one, two in zip(times, times[1:])), "a wait was cut short")


def whole_destination(bench):
    """The wait is for all bundles of the destination, and for no other destination."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api, CaptureAPI(bench.public) as other:
        api.always(Answer(429, headers={"Retry-After": "1000"}))
        rig.http(api.url)
        rig.http(other.url, name="other")
        for bundle in bench.stock[:4]:
            rig.push(bundle, options=("--dest", "api", "--dest", "other"))
        rig.send("--once", code=15)
        rig.send("--once", code=15)
        expect(len(api.requests) == 1, f"{len(api.requests)} requests to a server that asked to be left alone")
        other.holds(*map(bench.photo, bench.stock[:4]))
        held = {line["name"]: line.get("blocked") for line in rig.status()["destinations"]}
        expect(held["api"]["reason"] == "wait" and held["api"]["until"] and held["api"]["message"], f"status: {held}")
        expect(not held["other"], f"status shows the other destination as held: {held}")
        api.always(None)
        rig.run("resume", "--dest", "api").must(0, about="resume --dest")
        rig.send("--once", code=0)
        api.holds(*map(bench.photo, bench.stock[:4]))


def seen_in_events(bench):
    """One event says that the destination waits, why and until when; another says that it continues."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.answer(Answer(429, headers={"Retry-After": "2"}))
        rig.http(api.url)
        rig.push(bench.stock[0])
        result = rig.send("--until-empty", "--json", code=0)
    lines = [json.loads(line) for line in result.out.splitlines()]
    names = [line["event"] for line in lines if line["event"] in ("blocked", "ready", "completed")]
    expect(names == ["blocked", "ready", "completed"], f"events are {names}")
    held, = (line for line in lines if line["event"] == "blocked")
    expect({"code": "wait", "destination": "api"}.items() <= held.items() and held.get("until"), f"{held}")


def an_hour_is_an_hour(bench):
    """A longer Retry-After is not shortened to five minutes, and an invalid date gives no wait."""
    for value, low, high in (("3600", 3500, 3600), ("Someday, 99 Foo 2026", -1, 60)):
        rig = bench.rig()
        with CaptureAPI(bench.public) as api:
            api.answer(Answer(429, headers={"Retry-After": value}))
            rig.http(api.url)
            rig.push(bench.stock[0])
            rig.send("--once", code=15)
        until = max(rig.destination().blocked_until or 0, rig.delivery(bench.stock[0]).due)
        expect(isinstance(until, int) and low <= until / 1000 - time.time() <= high, f"{value}: until {until}")


FAMILY = [
    ("seconds and dates are honoured up to 24 hours, and burn nothing", honoured),
    ("zero, past, negative and garbage leave it to the table", none_at_all),
    ("dates count from the server's clock", by_their_clock),
    ("a storm of 429 and 503 burns no attempt", storm),
    ("the whole destination waits, and no other one does", whole_destination),
    ("events of a wait", seen_in_events),
    ("an hour is not shortened to five minutes, and an invalid date is ignored", an_hour_is_an_hour),
]
