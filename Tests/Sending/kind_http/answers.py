"""http: what the queue does after each answer of the capture API, and which data it stores."""
import json

from Kit.outcomes import every, expect
from Kit.servers.capture_api import Answer
from Sending.answers.tries import confirmed_by, is_left, posted, some

ID = "7e57ab1e-0000-4000-8000-000000000028"
PAGE = "<html><title>sign in</title></html>"


def only_202_with_an_id(bench):
    """No other status is a success, nor is 202 without data.capture_id."""
    good = {"data": {"capture_id": ID, "status": "complete", "verification_url": "https://x.example/7"}}
    cases = {
        "200": Answer(200, body=good), "a login page": Answer(202, body=PAGE, type="text/html"),
        "an id of null": Answer(202, body={"data": {"capture_id": None}}),
        "an id of 257 letters": Answer(202, body={"data": {"capture_id": "x" * 257}}),
        "nothing": Answer(202, body=b""), "an empty object": Answer(202, body={}),
        "no data": Answer(202, body={"capture_id": ID}), "null": Answer(202, body={"data": None}),
        "no id": Answer(202, body={"data": {"status": "complete"}}),
        "an empty id": Answer(202, body={"data": {"capture_id": ""}}),
        "a path": Answer(202, body="file:///tmp/a.bundle", type="text/plain"),
        "a list": Answer(202, body=[good]), "cut JSON": Answer(202, body=json.dumps(good)[:-9]),
        "an error": Answer(202, body={"error": {"code": "X", "message": "no"}}),
        "an error beside an id": Answer(500, body=good | {"error": {"code": "X", "message": "no"}}),
    }

    def is_no_success(name, answer):
        rig, _ = posted(bench, answer, code=15)
        # A page is not the server's own.
        row = is_left(rig, "pending", 0, "failing") if answer.body == PAGE else is_left(rig, "failed", 1)
        expect(row.in_doubt and not row.receipt, f"in doubt {row.in_doubt}, with {row.receipt!r}")
        expect(not row.remote_id, f"keeps the id {row.remote_id}")

    every(some(cases, 2), is_no_success)


def words_without_an_id(bench):
    """The message says what came in place of an id: how the answer begins, or which status was expected."""
    good = json.dumps({"data": {"capture_id": ID}})
    cases = {
        "a byte order mark": (Answer(202, body="\ufeff" + good), "a byte order mark is before the JSON"),
        "a PHP warning": (Answer(202, body="<br />\n<b>Warning</b>: x in y.php" + good), "it begins with <br /> <b>Warning"),
        "nothing": (Answer(202, body=b""), "the answer is empty"),
        "200": (Answer(200, body=good), "answered 200; expected 202 with a capture_id"),
        "204": (Answer(204, body=b""), "answered 204; expected 202 with a capture_id"),
        "a coding": (Answer(202, body=good[:-1], headers={"Content-Encoding": "br"}), "in the coding br, which was not"),
        "description (Falcon)": (Answer(422, body={"title": "422", "description": "no such lens"}), "no such lens"),
        "no type (Puma)": (Answer(422, body="Puma caught this error", type=None), "Puma caught this error"),
        "XML": (Answer(422, body="<?xml version='1.0'?><Error><Code>Bad</Code><Message>a &lt;b&gt; &amp;amp; c</Message></Error>",
                       type="application/xml"), "(Bad: a <b> &amp; c)"),
    }

    def says(name, case):
        answer, words = case
        rig, _ = posted(bench, answer, can_verify=False, retry="0,600", code=14 if answer.status == 422 else 15)
        expect(words in rig.said.text, f"{words!r} is not in {rig.said.text!r}")

    every(some(cases, 9), says)


def plain_text(bench):
    """If the body of an error is not JSON, its status alone decides."""
    def handled(name, case):
        state, answer = case
        rig = posted(bench, answer)[0]
        # A page comes from a proxy: an outage.
        row = is_left(rig, state, 0, "failing") if state == "pending" else is_left(rig, state, 1)
        expect(len(row.error_message or "") < 2000, "the whole page is kept as a message")
        if row.error_message:
            expect(row.error_message.isprintable(), f"the message is {row.error_message[:200]!r}")
        if name == "400":
            expect("Invalid boundary" in row.error_message, f"the message is {row.error_message[:200]!r}")

    final = "permanently_failed"
    cases = {
        "400": (final, Answer(400, body="Invalid boundary for multipart", type="text/plain")),
        "400 of steering letters": (final, Answer(400, body=b"\x1b[2J\x00\xff\xfe\r\n", type="text/plain")),
        "502, HTML of 900 kB": ("pending", Answer(502, body="<p>" * 300_000, type="text/html")),
        "403, HTML": ("pending", Answer(403, body="<html>blocked</html>", type="text/html; charset=utf-8")),
        "400, and the code is a number": (final, Answer(400, body={"error": {"code": 7, "message": ["x"]}})),
        "400, an error that is a text": (final, Answer(400, body={"error": "no"})),
    }
    every(some(cases, 2), handled)


def conflict_needs_a_proof(bench):
    """409 alone is not a success: the capture is completed only if the server confirms that it has it."""
    rig, _ = posted(bench, Answer(409, "DEVICE_ALREADY_REGISTERED"), can_verify=False)
    expect(not is_left(rig, "failed", 1).receipt, "409 without a proof has a receipt")
    rig, api = posted(bench, Answer(409, "DUPLICATE"))
    expect(not is_left(rig, "failed", 1).receipt, "409 of a server without the photo has a receipt")
    expect(len(api.seen("verify")) == 1, "the server is not asked")
    rig, api = posted(bench, Answer(409, "DUPLICATE", when="stored"))
    expect(is_left(rig, "completed", 1).remote_id == api.stored[0].id, "another id is kept")
    confirmed_by(rig, "verify-file")


TESTS = [
    ("the message says what came in place of an id, and the reason of a refusal", words_without_an_id),
    ("only 202 with an id is a success", only_202_with_an_id),
    ("errors that are no JSON", plain_text),
    ("409 is no success without a proof", conflict_needs_a_proof),
]
