"""http: a wrong clock on either side. The request is signed again with the server's time, at once."""
import functools
import json
import time

from capture_api import Answer, CaptureAPI
from checks import every, expect
from raw_server import answer

DAY = 86_400
SHIFTS = {"an hour behind": 3600, "an hour ahead": -3600, "six minutes behind": 360, "two minutes ahead": -120,
          "400 days behind": 400 * DAY, "400 days ahead": -400 * DAY}


def corrected(bench):
    """If our clock is wrong, one request is refused; then the run signs with the server's time."""
    def lands(_, shift):
        rig = bench.rig()
        with CaptureAPI(bench.public) as api:
            api.shift = shift
            rig.http(api.url)
            rig.push(*bench.stock[:4])
            rig.send("--until-empty", code=0)
            api.holds(*map(bench.photo, bench.stock[:4]))
            seen = api.seen()
            expect([request.status for request in seen] == [401, 202, 202, 202, 202],
                   f"answers are {[request.status for request in seen]}")
            expect(seen[0].key == seen[1].key and seen[0].digest == seen[1].digest, "another key or another body")
            expect({row.attempts for row in rig.deliveries()} == {1}, "the refused timestamp used an attempt")
            stamps = [row.completed_at for row in rig.deliveries()]
            behind = min(api.now - shift * 1000 - stamp for stamp in stamps)
            expect(0 <= behind < 60_000, "the queue stores times of the server's clock")

    every(SHIFTS, lands)


def within_the_window(bench):
    """A clock that is off by less than the server allows needs no correction."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.shift = 200
        rig.http(api.url)
        rig.push(*bench.stock[:2])
        rig.send(code=0)
        api.content()
        expect(len(api.requests) == 2, "more requests than bundles")


def jumps(bench):
    """If the server's clock is set during the run, the correction is made once more."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        rig.http(api.url)
        rig.push(bench.stock[0])
        with rig.start("run", "--watch") as running:
            for number, shift in enumerate((0, 7200, -7200, 0)):
                api.shift = shift
                if number:
                    rig.push(bench.stock[number])
                rig.run("wait", "--all", "--timeout", "60s", seconds=70).must(0, about=f"the clock {shift} s off")
            running.stop()
        api.holds(*map(bench.photo, bench.stock[:4]))
        expect({row.attempts for row in rig.deliveries()} == {1}, "a refused timestamp used an attempt")


def polls(bench):
    """Polls of a capture that the server still processes use the corrected clock too, in this run and in the next."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.shift, api.verdicts = 3600, ["processing", "complete"]
        rig.http(api.url)
        rig.push(bench.stock[0])
        rig.send("--once", code=15)
        rig.send("--until-empty", code=0)
        expect(rig.delivery(bench.stock[0]).state == "completed", f"is {rig.delivery(bench.stock[0]).state}")
        expect(api.seen("poll") and api.seen("poll")[-1].status == 200, "no poll succeeded")


def for_ever(code, bench):
    """If every timestamp is refused, we sign again once; then the destination is blocked, without an attempt."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.always(Answer(401, code))
        rig.http(api.url)
        rig.push(*bench.stock[:3])
        rig.send("--until-empty", code=15)
        expect(len(api.requests) == 2, f"{len(api.requests)} requests instead of 2")
        expect(rig.destination().blocked_reason == "credentials", f"blocked as {rig.destination().blocked_reason}")
        expect({(row.state, row.attempts) for row in rig.deliveries()} == {("pending", 0)}, "an attempt was used")
        expect(code in rig.destination().blocked_message, f"the reason is {rig.destination().blocked_message!r}")
        api.always(None)
        # A new run tries blocked destinations again.
        rig.send("--until-empty", code=0)
        api.holds(*map(bench.photo, bench.stock[:3]))
        expect(not rig.destination().blocked_until, "the destination is still held")


def mad_clocks(bench):
    """A server that reports an impossible time gets no signature for that time."""
    def refusal(told, is_dated):
        body = json.dumps({"error": {"code": "TIMESTAMP_EXPIRED"}, "meta": {"timestamp": told}}).encode()
        raw = answer(401, "Content-Type: application/json", body=body)
        return Answer(401, body=body) if is_dated else Answer(raw=raw, status=401)

    def judge(name, says):
        rig = bench.rig()
        with CaptureAPI(bench.public) as api:
            api.answer(says)
            rig.http(api.url)
            rig.push(bench.stock[0])
            rig.send("--until-empty", code=(0, 15))
            stamps = [int(request.headers["x-device-timestamp"]) for request in api.seen()]
            expect(len(stamps) > 1 and all(abs(stamp - time.time() * 1000) < 60_000 for stamp in stamps),
                   f"signed for {stamps}")
            api.holds(bench.photo(bench.stock[0]))

    every({f"{told[:4]}, {word}": refusal(told, is_dated)
           for told in ("1969-12-31T23:59:59.000Z", "9999-12-31T23:59:59.000Z")
           for word, is_dated in (("beside a Date", True), ("alone", False))}, judge)


def word_in_a_header(bench):
    """An own header with TIMESTAMP in its name does not disturb how the server's code is read, and we sign again."""
    def judge(code, header):
        rig = bench.rig()
        with CaptureAPI(bench.public) as api:
            api.answer(Answer(401, code))
            rig.http(api.url, "--header", header)
            rig.push(bench.stock[0])
            rig.send("--once", code=0)
            expect([request.status for request in api.seen()] == [401, 202], f"{len(api.seen())} uploads")
            expect(api.seen()[0].headers["x-env"] == header.partition(": ")[2], "the header was not sent")
            api.content()
        row = rig.delivery(bench.stock[0])
        expect((row.state, row.attempts) == ("completed", 1), f"is {row.state} after {row.attempts} attempts")

    every({"TIMESTAMP_EXPIRED": "X-Env: TIMESTAMP", "REPLAY_DETECTED": "X-Env: REPLAY_DETECTED"}, judge)


FAMILY = [
    ("our clock is wrong: signed anew by the server's, once a run, without burning an attempt", corrected),
    ("a few minutes off, within the window", within_the_window),
    ("the server's clock jumps during a run", jumps),
    ("polls are signed with the corrected clock", polls),
    *((f"{code} for ever: held, nothing burned", functools.partial(for_ever, code))
      for code in ("TIMESTAMP_EXPIRED", "REPLAY_DETECTED")),
    ("TIMESTAMP_EXPIRED with an impossible time", mad_clocks),
    ("http: --header with a word from the server's codes", word_in_a_header),
]
