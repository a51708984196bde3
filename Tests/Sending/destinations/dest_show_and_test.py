"""dest test, its hints, and a destination of the wrong kind."""
from Kit.outcomes import every, expect
from Kit.servers.nginx import fresh
from Kit.sending import AT_ONCE, DEVICE
from Kit.servers.scripted import Reply, Scripted, in_json
from Sending.answers.tries import some


def tested_by_status(bench):
    """The exit code of `dest test` depends on the server's answer: 0 usable, 15 unreachable, 78 misconfigured. Only the
    first upload shows whether a plain web server takes uploads, and `dest test` says so."""
    cases = {"put, 404": ("put", 404, 0), "put, 302": ("put", 302, 78), "http, 503": ("http", 503, 15),
             "http, 501": ("http", 501, 0), "http, 405": ("http", 405, 0),
             "put, 200": ("put", 200, 0), "put, 400": ("put", 400, 78), "put, 429": ("put", 429, 15)}

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
    """For refused credentials `run` and `dest test` name the option that the server's code is about."""
    cases = {"DEVICE_NOT_FOUND": (404, "dest set it --device-id UUID"), "put": (401, "dest set it --token-file FILE"),
             "s3": (403, "dest set it --profile NAME"),
             "SIGNATURE_INVALID": (401, "dest set it --key FILE (or --realitycam-key FILE)"),
             "DEVICE_AUTH_REQUIRED": (401, "dest set it --device-id UUID --key FILE"),
             "DEVICE_UNVERIFIED": (403, "capbundle key show"),
             "TIMESTAMP_EXPIRED": (401, "the clock of this computer"),
             "FORBIDDEN": (403, "dest set it --device-id UUID --key FILE (or --token-file FILE)")}

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


def another_kind(bench):
    """The kind of a destination cannot be changed; the commands that the message names send what failed elsewhere."""
    rig, bundle = bench.rig(), bench.stock[0]
    with Scripted(lambda request: Reply(400)) as wrong, fresh(bench) as right:
        rig.dest("it", "http", "--url", wrong.url, "--device-id", DEVICE, "--key", rig.key, "--retry", AT_ONCE)
        rig.push(bundle)
        for about in ("the first run", "the second run"):
            text = rig.send(code=14, about=about).text
            expect("1 failed for good" in text and "capqueue retry --failed" in text, f"{about} says {text!r}")
        said = rig.run("dest", "set", "it", "--kind", "put").must(64, about="dest set --kind").text
        retry = "capqueue retry --failed --dest it; capqueue dest retire it --to "
        expect("capqueue dest add NEW --kind put" in said and retry + "NEW" in said, f"it says {said!r}")
        rig.dest("new", "put", "--url", right.template())
        said = rig.run("dest", "retire", "it", "--to", "new").must(0, about="dest retire").text
        expect("1 failed capture not moved" in said and retry + "new" in said, f"it says {said!r}")
        rig.run("retry", "--failed", "--dest", "it").must(0, about="retry")
        rig.run("dest", "retire", "it", "--to", "new").must(0, about="dest retire again")
        rig.send(code=0, about="the run after it")
        right.keeps(bundle)


TESTS = [
    ("the hint for refused credentials depends on the server's code", refused_credentials),
    ("captures of a destination with the wrong kind", another_kind),
    ("the exit code of dest test depends on the server's answer", tested_by_status),
]
