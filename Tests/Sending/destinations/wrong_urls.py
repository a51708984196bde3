"""A URL that is not the server's: what `dest test` and `run` say, and that the command that they name helps."""
from Kit.outcomes import every, expect
from Kit.servers.scripted import Reply, Scripted, in_json
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


TESTS = [
    ("dest test tells the path of captures from another one", told_apart),
]
