"""Answers that look like a success but are not: a captive portal, or a failure in 200 or 202."""
from capture_api import Answer, CaptureAPI
from checks import every, expect
from raw_server import Bare, answer, saying
from rigs import failed

PAGE = b"<html><body>Please log in to the network</body></html>"


def portals(bench):
    """A page with status 200, and no length in the answer to HEAD, prove nothing."""
    bundle = bench.stock[0]
    heads = {"chunked": answer(200, "Content-Type: text/html", "Transfer-Encoding: chunked"),
             "204": answer(204), "200, no length": answer(200, "Transfer-Encoding: chunked", "ETag: \"7\"")}

    def judge(name, head):
        page = answer(200, "Content-Type: text/html", body=PAGE)
        with Bare(saying(lambda heard: head if heard.method == "HEAD" else page)) as server:
            rig = bench.rig()
            rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", "0,600")
            rig.push(bundle)
            rig.send("--once", code=15)
        row = failed(rig, bundle)
        expect(row.error_code == "put.length", f"failed as {row.error_code}: {row.error_message}")

    every(heads, judge)


def failure_is_no_success(bench):
    """An answer is not a receipt just because it has a body or names the local file."""
    path = "file:///tmp/a.bundle"

    def refused(_, answer):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api:
            api.can_verify = False
            api.always(answer)
            rig.http(api.url, retry="0,0")
            rig.push(bundle)
            rig.send("--until-empty", code=14)
            row = rig.delivery(bundle)
            expect(row.state == "permanently_failed" and not row.receipt, f"is {row.state} with {row.receipt}")

    every({"a path": Answer(200, body=path), "a path in 202": Answer(202, body=path, type="text/plain"),
           "an error in 202": Answer(202, body={"error": {"code": "X", "message": "no"}}),
           "an error beside an id": Answer(500, body={"data": {"capture_id": "x"}})}, refused)


FAMILY = [
    ("put: a captive portal", portals),
    ("no failure is stored as a success", failure_is_no_success),
]
