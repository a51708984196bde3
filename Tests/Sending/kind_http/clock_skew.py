"""http: a wrong clock on either side. The request is signed again with the server's time, at once."""
import json
import time

from Kit.outcomes import every, expect
from Kit.servers.capture_api import Answer, CaptureAPI
from Kit.servers.raw_server import answer
from Sending.answers.tries import is_left, posted, sent, some

DAY = 86_400
SHIFTS = {"an hour ahead": -3600, "400 days behind": 400 * DAY, "within what the server allows": 200,
          "an hour behind": 3600, "six minutes behind": 360, "two minutes ahead": -120, "400 days ahead": -400 * DAY}


def corrected(bench):
    """If our clock is wrong, one request is refused; then the run signs requests and polls with the server's time. If a
    later capture is refused, too, the clock is corrected again."""
    def lands(_, shift):
        with CaptureAPI(bench.public) as api:
            api.shift, api.verdicts = shift, ["complete"] if shift == 3600 else []
            if shift != 200:
                api.answer(None, None, Answer(401, "TIMESTAMP_EXPIRED"))
            rig = sent(bench, "http", api.url, bundles=bench.stock[:4], mode="--until-empty", code=0)
            api.holds(*map(bench.photo, bench.stock[:4]))
            statuses = [request.status for request in api.seen()]
            wanted = [202] * 4 if shift == 200 else [401, 202, 401, 202, 202, 202]
            expect(statuses == wanted, f"answers are {statuses}")
            expect(all(request.status == 200 for request in api.seen("poll")), "a poll was refused")
            expect({row.attempts for row in rig.deliveries()} == {1}, "the refused timestamp used an attempt")
            stamps = [row.completed_at for row in rig.deliveries()]
            behind = min(api.now - shift * 1000 - stamp for stamp in stamps)
            expect(0 <= behind < 60_000, "the queue stores times of the server's clock")

    every(some(SHIFTS, 2), lands)


def for_ever(bench):
    """If every timestamp is refused, we sign again once; then the destination is blocked, without an attempt."""
    with CaptureAPI(bench.public) as api:
        api.always(Answer(401, "TIMESTAMP_EXPIRED"))
        rig = sent(bench, "http", api.url, bundles=bench.stock[:3], mode="--until-empty", code=15)
        expect(len(api.requests) == 2, f"{len(api.requests)} requests instead of 2")
        for bundle in bench.stock[:3]:
            is_left(rig, "pending", 0, "credentials", bundle)
        expect("TIMESTAMP_EXPIRED" in rig.destination("it").blocked_message, "the reason is not kept")
        api.always(None)
        # A new run tries blocked destinations again.
        rig.send("--until-empty", code=0)
        api.holds(*map(bench.photo, bench.stock[:3]))
        expect(not rig.destination("it").blocked_until, "the destination is still held")


def mad_clocks(bench):
    """A server that reports an impossible time gets no signature for that time."""
    def refusal(told):
        body = json.dumps({"error": {"code": "TIMESTAMP_EXPIRED"}, "meta": {"timestamp": told}}).encode()
        return Answer(raw=answer(401, "Content-Type: application/json", body=body), status=401)

    def judge(name, says):
        _, api = posted(bench, says, mode="--until-empty")
        stamps = [int(request.headers["x-device-timestamp"]) for request in api.seen()]
        expect(len(stamps) > 1 and all(abs(stamp - time.time() * 1000) < 60_000 for stamp in stamps),
               f"signed for {stamps}")
        api.holds(bench.photo(bench.stock[0]))

    cases = {told[:4]: refusal(told) for told in ("9999-12-31T23:59:59.000Z", "1969-12-31T23:59:59.000Z")}
    every(some(cases, 1), judge)


TESTS = [
    ("our clock is wrong: signed anew by the server's, once a run, without burning an attempt", corrected),
    ("a timestamp that is refused for ever: held, nothing burned", for_ever),
    ("TIMESTAMP_EXPIRED with an impossible time", mad_clocks),
]
