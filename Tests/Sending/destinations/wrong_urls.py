"""A URL that is not the server's: what `dest test` and `run` say, and that the command that they name helps."""
from Kit.servers.capture_api import CaptureAPI
from Kit.outcomes import every, expect
from Kit.sending import AT_ONCE
from Kit.servers.scripted import Reply, Scripted, Shelf, in_json
from Sending.answers.tries import some

RIGHT = "/api/v1/captures"


def told_apart(bench):
    """`dest test`: 0 for the path of captures, 78 for any other, however the server words its 404."""
    cases = {
        "codes of its own": ("NO_SUCH_THING", "NO_ROUTE", {RIGHT: 0, "/captures": 78}),
        "the same for everything": ("NOT_FOUND", "NOT_FOUND", {RIGHT: 78}),
        "the contract's codes": ("CAPTURE_NOT_FOUND", "NOT_FOUND", {RIGHT: 0, "/captures": 78}),
        "a code, or none": ("NOT_FOUND", None, {RIGHT: 0, "/captures": 78}),
    }

    def judge(name, case):
        at_right, elsewhere, codes = case

        def answer(request):
            code = at_right if request.path.startswith(RIGHT + "/") else elsewhere
            return in_json({"error": {"code": code}}, 404) if code else Reply(404)

        with Scripted(answer) as server:
            for path, code in codes.items():
                rig = bench.rig()
                rig.http(server.url + path)
                result = rig.run("dest", "test", "api").must(code, about=path)
                expect(server.url + path in result.out.decode() + result.text, f"{path}: does not name the URL")
                expect(("capqueue dest set api --url URL" in result.text) == (code == 78),
                       f"{path}: says {result.text!r}")
            expect(not server.seen("POST"), "dest test sends something")

    every(some(cases, 2), judge)


def corrected(bench):
    """`run` names the URL, what the server said, and `dest set`; that command and another run send what waits."""
    def judge(name, kind):
        rig, bundles = bench.rig(), bench.stock[:2]
        with CaptureAPI(bench.public) as api, Scripted(Shelf()) as shelf:
            if kind == "http":
                wrong, right = api.url + "/api/v2/captures", api.url
                rig.http(wrong, name="place")
            else:
                shelf.answer = lambda request, keep=Shelf(): (
                    keep(request) if request.path.startswith("/in/") else Reply(405))
                wrong, right = shelf.url + "/out/{sha256}", shelf.url + "/in/{sha256}"
                rig.dest("place", kind, "--url", wrong, "--retry", AT_ONCE)
            rig.push(*bundles)
            for about in ("the first run", "the second run"):
                text = rig.send(code=(14, 15), about=about).text
                status = "404" if kind == "http" else "405"
                expect(f"place: {wrong} answered {status}" in text, f"{about} says {text!r}")
                hint = "hint: change the URL with: capqueue dest set place --url URL"
                expect(hint in text, f"{about} does not say what to do: {text!r}")
                expect("2 wait" in text, f"{about} does not say what is left: {text!r}")
            expect(wrong.encode() in rig.run("status").must(0).out, "status does not name the URL")
            rig.run("dest", "set", "place", "--url", right).must(0, about="dest set")
            expect("sent 2 captures" in rig.send(code=0, about="the run after dest set").text, "not both are sent")

    every(some({"http": "http", "put": "put"}, 1), judge)


TESTS = [
    ("dest test tells the path of captures from another one", told_apart),
    ("run names the URL and the command that corrects it", corrected),
]
