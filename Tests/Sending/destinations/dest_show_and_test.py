"""dest test and its hints."""
from Kit.clocks import shifted
from Kit.outcomes import every, expect
from Kit.sending import DEVICE
from Kit.servers.scripted import Reply, Scripted, in_json
from Sending.answers.tries import some

RIGHT = "/api/v1/captures"


def tested_by_status(bench):
    """The exit code of `dest test` depends on the server's answer: 0 usable, 15 unreachable, 78 misconfigured. Only the
    first upload shows whether a plain web server takes uploads, and `dest test` says so."""
    cases = {"put, 404": ("put", 404, 0), "put, 302": ("put", 302, 78), "http, 503": ("http", 503, 15),
             "http, 501": ("http", 501, 0), "http, 405": ("http", 405, 0),
             "put, 200": ("put", 200, 0), "put, 400": ("put", 400, 15), "put, 429": ("put", 429, 15)}

    def judge(name, case):
        kind, status, code = case
        with Scripted(lambda request: Reply(status, {"Location": "/login"} if status == 302 else {})) as server:
            rig = bench.rig()
            if kind == "http":
                rig.http(server.url, name="it")
            else:
                rig.dest("it", "put", "--url", server.url + "/{sha256}")
            result = rig.run("dest", "test", "it").must(code, about="dest test")
            expect(str(status) in result.text + result.out.decode(), f"it says {result.out!r}, {result.text!r}")
            if code == 0:
                expect(b"only the first upload shows" in result.out, f"it says {result.out!r}")
            expect(not server.seen("PUT") and not server.seen("POST"), "dest test sends a capture")
        rig.run("dest", "test", "it").must(15, about="dest test without a server")
        rig.run("dest", "test", "none").must(78, about="dest test of no destination")

    every(some(cases, 4), judge)


def refused_credentials(bench):
    """If the server refuses the credentials, `run` and `dest test` name the option to change, by the server's code."""
    cases = {"DEVICE_NOT_FOUND": (404, "dest set it --device-id UUID"), "put": (401, "dest set it --token-file FILE"),
             "s3": (403, "dest set it --profile NAME"),
             "SIGNATURE_INVALID": (401, "dest set it --key FILE (or --realitycam-key FILE)"),
             "DEVICE_AUTH_REQUIRED": (401, "dest set it --device-id UUID --key FILE"),
             "DEVICE_UNVERIFIED": (403, "capbundle key show"),
             "TIMESTAMP_EXPIRED": (401, "the clock of this computer"),
             "FORBIDDEN": (403, "dest set it --device-id UUID --key FILE (or --token-file FILE)"),
             # A word of ours for a cause, which a server must not be able to choose.
             "may-not-read": (401, "dest set it --device-id UUID --key FILE (or --token-file FILE)")}

    def judge(name, case):
        status, hint = case
        with Scripted(lambda request: in_json({"error": {"code": name}}, status)) as server:
            rig = bench.rig()
            if name == "s3":
                rig.env |= {"AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "secret"}
            place = {"put": "/{sha256}", "s3": "/bucket"}.get(name, "")
            device = () if place else ("--device-id", DEVICE, "--key", rig.key)
            rig.dest("it", name if place else "http", "--url", server.url + place, *device)
            rig.push(bench.stock[0])
            for words in (("dest", "test", "it"), ("run",)):
                result = rig.run(*words).must(15, 78, about=words[0])
                hints = [line for line in result.text.splitlines() if "hint: " in line]
                expect(hints and hints[0].endswith(hint), f"{words[0]} says {result.text!r}")

    every(some(cases, 2), judge)


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


def still_blocked(bench):
    """A destination is usable again, and the queue still has it blocked, or it is paused: `dest test` says so, and what ends
    that. The exit code is that of the test."""
    def said(*notes, **how):
        text = rig.run("dest", "test", "it", **how).must(0, about="dest test").text
        lines = [line for line in text.splitlines() if "blocked" in line or "paused" in line or "hint: " in line]
        found = len(lines) == len(notes) and all(note in line for note, line in zip(notes, lines))
        expect(found, f"dest test says {text!r}")

    with Scripted(lambda request: Reply(401 if request.method == "PUT" else 404)) as server:
        rig = bench.rig()
        rig.dest("it", "put", "--url", server.url + "/{sha256}")
        rig.push(bench.stock[0])
        rig.send(code=15)
        lifted = "lift the block with: capqueue resume --dest it"
        said("it is usable, but the queue still has it blocked (credentials) until 20", lifted)
        said(prefix=shifted("+30d", "--exclude-monotonic"))  # the time of the block is over
        for words in ("pause", "--dest", "it"), ("pause",):
            rig.run(*words).must(0, about="pause")
        said("the queue is paused; resume it with: capqueue resume", "it is paused; resume it with: capqueue resume --dest it",
             "blocked (credentials)", lifted)
        for words in ("resume",), ("resume", "--dest", "it"):
            rig.run(*words).must(0, about="resume")
        said()


TESTS = [
    ("the hint for refused credentials depends on the server's code", refused_credentials),
    ("the exit code of dest test depends on the server's answer", tested_by_status),
    ("dest test tells the path of captures from another one", told_apart),
    ("dest test says that the queue has a usable destination blocked", still_blocked),
]
