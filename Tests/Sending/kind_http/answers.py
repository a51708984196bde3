"""http: what the queue does after each answer of the capture API, and which data it stores."""
import email.utils
import functools
import json
import time

from capture_api import Answer, CaptureAPI
from checks import every, expect

SECONDS = 20
ID = "7e57ab1e-0000-4000-8000-000000000028"


def one_of(bench, *answers, options=(), **behaviour):
    """Runs one bundle against these answers; returns the rig, the closed API, and the result of the run."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        for name, value in behaviour.items():
            setattr(api, name, value)
        api.answer(*answers)
        rig.http(api.url, *options)
        rig.push(bench.stock[0])
        result = rig.send("--once")
    return rig, api, result


def only_202_with_an_id(bench):
    """No other status is a success, nor is 202 without data.capture_id."""
    good = {"data": {"capture_id": ID, "status": "complete", "verification_url": "https://x.example/7"}}
    cases = {
        "200": Answer(200, body=good), "201": Answer(201, body=good), "204": Answer(204), "206": Answer(206, body=good),
        "299": Answer(299, body=good), "nothing": Answer(202, body=b""), "an empty object": Answer(202, body={}),
        "no data": Answer(202, body={"capture_id": ID}), "null": Answer(202, body={"data": None}),
        "no id": Answer(202, body={"data": {"status": "complete"}}),
        "an id of null": Answer(202, body={"data": {"capture_id": None}}),
        "a number": Answer(202, body={"data": {"capture_id": 7}}),
        "an empty id": Answer(202, body={"data": {"capture_id": ""}}),
        "an id of 257 letters": Answer(202, body={"data": {"capture_id": "x" * 257}}),
        "a list": Answer(202, body=[good]), "cut JSON": Answer(202, body=json.dumps(good)[:-9]),
        "a login page": Answer(202, body="<html>sign in</html>", type="text/html"),
        "a captive portal": Answer(200, body="<html>sign in</html>", type="text/html"),
        "a text": Answer(202, body="accepted", type="text/plain"),
    }

    def is_no_success(name, answer):
        rig, api, result = one_of(bench, answer)
        row = rig.delivery(bench.stock[0])
        expect(row.state == "failed" and row.in_doubt and not row.receipt, f"is {row.state} with {row.receipt!r}")
        expect((result.code, row.attempts) == (15, 1), f"exit {result.code} after {row.attempts} attempts")
        expect(not row.remote_id, f"keeps the id {row.remote_id}")

    every(cases, is_no_success)


def keeps_id_and_url(bench):
    """The id and the URL are stored for both statuses of the capture, whatever else is in the answer."""
    def kept(status, state):
        url = "https://x.example/verify/ünï?a=b&c=d"
        data = {"capture_id": "x" * 256, "status": status, "verification_url": url, "more": [1, {"a": None}]}
        rig, _, _ = one_of(bench, Answer(202, body={"data": data, "meta": 7}))
        row = rig.delivery(bench.stock[0])
        expect(row.state == state, f"is {row.state}")
        expect((row.remote_id, row.remote_url) == ("x" * 256, url), f"keeps {row.remote_id!r}, {row.remote_url!r}")

    every({"complete": "completed", "processing": "processing"}, kept)


def final_at_once(bench):
    """After 400, 413 or 403 from the API itself nothing is tried again, and the reason is stored."""
    cases = {400: "VALIDATION_ERROR", 413: "PAYLOAD_TOO_LARGE", 403: "CAPTURE_FORBIDDEN"}

    def is_final(status, code):
        message = f"that is wrong: {status}"
        rig, api, result = one_of(bench, Answer(status, body={"error": {"code": code, "message": message}}))
        row = rig.delivery(bench.stock[0])
        expect((row.state, row.attempts, result.code) == ("permanently_failed", 1, 14), f"is {row.state}")
        expect(message in row.error_message, f"the reason that is kept is {row.error_message!r}")
        expect(rig.destination().blocked_until is None and not rig.destination().blocked_reason, "the destination is held")
        before = len(api.requests)
        expect(rig.send("--until-empty").code == 14 and len(api.requests) == before, "it is sent again")

    every(cases, is_final)


def signed_anew(bench, code="TIMESTAMP_EXPIRED"):
    """After a refused timestamp or counter the request is signed again and sent at once, with one attempt in all."""
    rig, api, result = one_of(bench, Answer(401, code))
    row = rig.delivery(bench.stock[0])
    expect((row.state, row.attempts, result.code) == ("completed", 1, 0), f"is {row.state} after {row.attempts}")
    first, second = api.seen()
    expect(first.headers["x-device-signature"] != second.headers["x-device-signature"], "the same signature again")
    expect(first.key == second.key and first.digest == second.digest, "another key or another body")


def retried(bench):
    """A temporary failure is tried again; each try uses an attempt, and after the last the delivery fails."""
    def again(name, answer):
        rig = bench.rig()
        with CaptureAPI(bench.public) as api:
            api.can_verify = False
            api.answer(answer, answer)
            rig.http(api.url, retry="0,0,0")
            rig.push(bench.stock[0])
            rig.send("--until-empty", code=0)
            row = rig.delivery(bench.stock[0])
            expect((row.state, row.attempts) == ("completed", 3), f"is {row.state} after {row.attempts}")
            api.always(answer)
            rig.push(bench.stock[1])
            rig.send("--until-empty", code=14)
            row = rig.delivery(bench.stock[1])
            expect((row.state, row.attempts) == ("permanently_failed", 3), f"is {row.state} after {row.attempts}")
            expect(row.error_code and row.error_message, "no reason is kept")
            expect(len(api.seen()) == 6, f"{len(api.seen())} uploads for two times three attempts")

    cases = {f"{status}": Answer(status) for status in (429, 500, 502, 503, 504, 599, 408)}
    cases["a cut connection"] = Answer(then="cut", status=202)
    every(cases, again)


def told_to_wait(bench):
    """Retry-After, in seconds or as a date, blocks the destination for that time and uses no attempt."""
    date = email.utils.formatdate(time.time() + 3600, usegmt=True)

    def waits(name, answer):
        rig, api, result = one_of(bench, answer)
        row, destination = rig.delivery(bench.stock[0]), rig.destination()
        expect((row.state, row.attempts, result.code) == ("pending", 0, 15), f"is {row.state} after {row.attempts}")
        seconds = destination.blocked_until / 1000 - time.time()
        expect(3600 - 60 < seconds <= 3600, f"the destination waits {seconds} s")
        expect(rig.send("--once").code == 15 and len(api.requests) == 1, "another run does not wait")

    every({"429 and seconds": Answer(429, headers={"Retry-After": "3600"}),
           "503 and seconds": Answer(503, headers={"Retry-After": "3600"}),
           "429 and a date": Answer(429, headers={"Retry-After": date}),
           "503 and a date": Answer(503, headers={"Retry-After": date})}, waits)


def asked_first(bench):
    """After a lost answer or a 500 the queue asks the server and adopts its capture; nothing is sent twice."""
    cases = {"a lost answer": Answer(when="stored", then="cut"), "500": Answer(500, "INTERNAL_ERROR", when="stored")}

    def adopted(name, answer):
        rig = bench.rig()
        with CaptureAPI(bench.public) as api:
            api.is_idempotent = False
            api.answer(answer)
            rig.http(api.url)
            rig.push(bench.stock[0])
            rig.send("--until-empty", code=0)
            api.holds(bench.photo(bench.stock[0]))
            expect(len(api.seen()) == 1 and len(api.seen("verify")) == 1,
                   f"{len(api.seen())} uploads, {len(api.seen('verify'))} questions")
            api.content()
            row, receipt = rig.delivery(bench.stock[0]), rig.receipt(bench.stock[0])
            expect((row.state, row.in_doubt, row.remote_id) == ("completed", 0, api.stored[0].id), f"is {row}")
            expect(receipt["confirmed_by"] == "verify-file", f"the receipt is {receipt}")
            expect(row.remote_url, "the verification URL is not kept")

    every(cases, adopted)


def no_loop(bench):
    """A server that answers 500 to every hash that it has does not cause an endless loop."""
    rig, other = bench.rig(), bench.rig()
    with CaptureAPI(bench.public) as api:
        api.is_idempotent = False
        for sender in (rig, other):
            sender.http(api.url)
            sender.push(bench.stock[0])
            sender.send("--until-empty", code=0)
            expect(sender.delivery(bench.stock[0]).state == "completed", "the second queue does not come to an end")
        api.holds(bench.photo(bench.stock[0]))
        expect(len(api.seen()) == 2, f"{len(api.seen())} uploads by two queues")


def plain_text(bench):
    """If the body of an error is not JSON, its status alone decides."""
    def handled(name, case):
        state, attempts, answer = case
        rig, _, _ = one_of(bench, answer)
        row = rig.delivery(bench.stock[0])
        expect((row.state, row.attempts) == (state, attempts), f"is {row.state} after {row.attempts} attempts")
        expect(len(row.error_message or "") < 2000, "the whole page is kept as a message")
        if row.error_message:
            expect(row.error_message.isprintable(), f"the message is {row.error_message[:200]!r}")

    final = ("permanently_failed", 1)
    every({
        "400": (*final, Answer(400, body="Invalid boundary for multipart", type="text/plain")),
        "415": (*final, Answer(415, body="Expected request with a form", type="text/plain")),
        "422": (*final, Answer(422, body="Failed to deserialize", type="text/plain; charset=utf-8")),
        "400 of steering letters": (*final, Answer(400, body=b"\x1b[2J\x00\xff\xfe\r\n", type="text/plain")),
        "413 without a body": (*final, Answer(413, body=b"")),
        "400, a JSON list": (*final, Answer(400, body=[1, 2])),
        "400, a code that is no text": (*final, Answer(400, body={"error": {"code": 7, "message": ["x"]}})),
        "400, an error that is a text": (*final, Answer(400, body={"error": "no"})),
        "403, HTML": ("failed", 1, Answer(403, body="<html>blocked</html>", type="text/html; charset=utf-8")),
        "502, HTML of 900 kB": ("failed", 1, Answer(502, body="<p>" * 300_000, type="text/html")),
    }, handled)


def conflict_needs_a_proof(bench):
    """409 alone is not a success: the capture is completed only if the server confirms that it has it."""
    rig, _, _ = one_of(bench, Answer(409, "DEVICE_ALREADY_REGISTERED"), can_verify=False)
    row = rig.delivery(bench.stock[0])
    expect(row.state == "failed" and not row.receipt, f"409 without a proof makes it {row.state}")
    rig, api, _ = one_of(bench, Answer(409, "DUPLICATE"))
    row = rig.delivery(bench.stock[0])
    expect(row.state == "failed" and not row.receipt, f"409 of a server without the photo makes it {row.state}")
    expect(len(api.seen("verify")) == 1, "the server is not asked")
    rig, api, _ = one_of(bench, Answer(409, "DUPLICATE", when="stored"))
    row = rig.delivery(bench.stock[0])
    expect((row.state, row.remote_id) == ("completed", api.stored[0].id), f"409 and a proof make it {row.state}")
    expect(rig.receipt(bench.stock[0])["confirmed_by"] == "verify-file", "the receipt does not name the proof")


FAMILY = [
    ("only 202 with an id is a success", only_202_with_an_id),
    ("capture_id and verification_url are stored", keeps_id_and_url),
    ("400, 413 and 403 are not tried again", final_at_once),
    *((f"{code} is signed anew", functools.partial(signed_anew, code=code))
      for code in ("TIMESTAMP_EXPIRED", "TIMESTAMP_INVALID", "REPLAY_DETECTED")),
    ("network errors, 5xx and 429 are tried again, as often as the table says", retried),
    ("Retry-After is honoured, in seconds and as a date", told_to_wait),
    ("after an ambiguous result the server is asked, and its capture is adopted", asked_first),
    ("a 500 for a stored capture causes no endless loop", no_loop),
    ("errors that are no JSON", plain_text),
    ("409 is no success without a proof", conflict_needs_a_proof),
]
