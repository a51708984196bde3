"""A URL that is not the server's: what `dest test` and `run` say, and that the command they name is the one that helps."""
from capture_api import CaptureAPI
from checks import every, expect
from rigs import AT_ONCE
from scripted import Reply, Scripted, Shelf, in_json

RIGHT = "/api/v1/captures"


def _answers(at_right, elsewhere):
    """A server that answers with these error codes, each with 404; None is a 404 without a code."""
    def answer(request):
        code = at_right if request.path.startswith(RIGHT + "/") else elsewhere
        return in_json({"error": {"code": code}}, 404) if code else Reply(404)
    return answer


def told_apart(bench):
    """`dest test`: 0 for the path of captures, 78 for any other, however the server words its 404."""
    cases = {
        "the contract's codes": ("CAPTURE_NOT_FOUND", "NOT_FOUND", {RIGHT: 0, "/captures": 78}),
        "codes of its own": ("NO_SUCH_THING", "NO_ROUTE", {RIGHT: 0, "/captures": 78}),
        "a code, or none": ("NOT_FOUND", None, {RIGHT: 0, "/captures": 78}),
        "the same for everything": ("NOT_FOUND", "NOT_FOUND", {RIGHT: 78}),
    }

    def judge(name, case):
        at_right, elsewhere, codes = case
        with Scripted(_answers(at_right, elsewhere)) as server:
            for path, code in codes.items():
                rig = bench.rig()
                rig.http(server.url + path)
                result = rig.run("dest", "test", "api").must(code, about=path)
                expect(server.url + path in result.out.decode() + result.text, f"{path}: does not name the URL")
                expect(("capqueue dest set api --url URL" in result.text) == (code == 78),
                       f"{path}: says {result.text!r}")
            expect(not server.seen("POST"), "dest test sends something")

    every(cases, judge)


def put_cannot_tell(bench):
    """`dest test` of a plain web server says that it cannot tell whether uploads are taken."""
    rig = bench.rig()
    with Scripted(Shelf()) as server:
        rig.dest("web", "put", "--url", server.url + "/{sha256}")
        out = rig.run("dest", "test", "web").must(0, about="dest test").out.decode()
        expect("only the first upload shows" in out and server.url + "/{sha256}" in out, f"it says {out!r}")


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
                expect("hint: change the URL with: capqueue dest set place --url URL" in text, f"{about} does not say what to do: {text!r}")
                expect("2 wait" in text, f"{about} does not say what is left: {text!r}")
            status = rig.run("status").must(0, about="status").out.decode()
            expect(wrong in status, f"status does not name the URL: {status!r}")
            rig.run("dest", "set", "place", "--url", right).must(0, about="dest set")
            text = rig.send(code=0, about="the run after dest set").text
            expect("sent 2 captures" in text, f"it says {text!r}")

    every({kind: kind for kind in ("http", "put")}, judge)


def refused_for_good(bench):
    """A refusal that ends a delivery: `run` says so each time, and `retry --failed` after `dest set` sends it."""
    rig, bundle = bench.rig(), bench.stock[0]
    shelf = Shelf()
    with Scripted(lambda request: shelf(request) if request.path.startswith("/in/") else Reply(501)) as server:
        rig.dest("web", "put", "--url", server.url + "/{sha256}?token=s3cr3t")
        rig.push(bundle)
        first = rig.send(code=14, about="the first run").text
        expect(f"{server.url}/{{sha256}}?… answered 501" in first, f"it says {first!r}")
        expect("s3cr3t" not in first, "it shows the query")
        for text in (first, rig.send(code=14, about="the second run").text):
            expect("1 failed for good" in text and "capqueue retry --failed" in text, f"it says {text!r}")
        rig.run("dest", "set", "web", "--url", server.url + "/in/{sha256}").must(0, about="dest set")
        retried = rig.run("retry", "--failed").must(0, about="retry --failed").out.decode()
        expect(retried == bundle.id + "\n", f"retry --failed prints {retried!r}")
        rig.send(code=0, about="the run after retry --failed")


def hidden(bench):
    """A path that is a secret is named nowhere."""
    rig = bench.rig()
    with Scripted(lambda request: Reply(404)) as server:
        rig.dest("web", "put", "--url", server.url + "/hush/{sha256}", "--secret-path")
        rig.push(bench.stock[0])
        said = [rig.send(code=(14, 15)), rig.run("dest", "test", "web"), rig.run("status")]
        for one in said:
            expect(b"hush" not in one.out + one.err, f"it shows the path: {one.out!r} {one.err!r}")
        expect(f"{server.url}/… answered 404" in said[0].text, f"run says {said[0].text!r}")


FAMILY = [
    ("dest test tells the path of captures from another one", told_apart),
    ("dest test of put says that it cannot tell", put_cannot_tell),
    ("run names the URL and the command that corrects it", corrected),
    ("retry --failed after a refusal for good", refused_for_good),
    ("a secret path is named by no message", hidden),
]
