"""Tests of dest show, set and test."""
from capture_api import CaptureAPI
from checks import every, expect
from nginx import fresh
from rigs import AT_ONCE, DEVICE
from scripted import Reply, Scripted, in_json


def words(bench):
    """`dest show` and `dest test` name the place; `dest show` prints the given settings, and they can be changed."""
    rig = bench.rig()
    with fresh(bench) as server:
        rig.dest("web", "put", "--url", server.template("wrong"), "--retry", AT_ONCE, "--header", "X-Site: roof 7")
        rig.run("dest", "set", "web", "--url", server.template()).must(0, about="dest set")
        shown = rig.run("dest", "show", "web").must(0, about="dest show").out.decode()
        expect(server.template() in shown and "X-Site" in shown, f"dest show prints {shown[:300]!r}")
        expect("roof 7" not in shown, "dest show prints the value of a header, which may be a secret")
        rig.run("dest", "test", "web").must(0, about="dest test")
        expect(not server.holds(), "dest test leaves something on the server")
        rig.push(bench.stock[0])
        rig.send(code=0)
        expect(server.logged(1, method="PUT")[0]["site"] == "roof 7", "the header was not sent")
        waited = rig.run("wait", bench.stock[0].id).must(0, about="wait").out.decode()
        expect(waited == f"{bench.stock[0].id} completed\n", f"wait prints {waited!r}")


def tested_http(bench):
    """`dest test` gives 0 if the server answers, 78 for a wrong path or device, 15 without a server."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        rig.http(api.url)
        expect(rig.run("dest", "test", "api").must(0, about="dest test").out, "says nothing")
        expect(not api.seen() and not api.stored, "dest test sends a capture")
        rig.http(api.url + "/elsewhere", name="wrong")
        rig.run("dest", "test", "wrong").must(78, about="dest test of the wrong path")
        api.devices.keys.clear()
        rig.run("dest", "test", "api").must(78, about="dest test of an unknown device")
    rig.run("dest", "test", "api").must(15, about="dest test without a server")
    rig.run("dest", "test", "none").must(78, about="dest test of no destination")


def tested_by_status(bench):
    """The exit code of `dest test` depends on the server's answer: 0 usable, 15 unreachable, 78 misconfigured."""
    codes = {"put": {200: 0, 404: 0, 405: 0, 302: 78, 400: 78, 429: 15, 500: 15, 503: 15}, "http": {429: 15, 503: 15}}

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
            expect(not server.seen("PUT"), "dest test sends a capture")

    every({f"{kind}, {status}": (kind, status, code) for kind, told in codes.items()
           for status, code in told.items()}, judge)


def refused_credentials(bench):
    """For refused credentials `run` and `dest test` name the option that the server's code is about."""
    cases = {"DEVICE_AUTH_REQUIRED": (401, "dest set it --device-id UUID --key FILE"),
             "DEVICE_NOT_FOUND": (404, "dest set it --device-id UUID"),
             "SIGNATURE_INVALID": (401, "dest set it --key FILE (or --realitycam-key FILE)"),
             "DEVICE_UNVERIFIED": (403, "capbundle key show"),
             "TIMESTAMP_EXPIRED": (401, "the clock of this computer"),
             "FORBIDDEN": (403, "dest set it --device-id UUID --key FILE (or --token-file FILE)"),
             "put": (401, "dest set it --token-file FILE"), "s3": (403, "dest set it --profile NAME")}

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

    every({name: (name, case) for name, case in cases.items()}, lambda _, case: judge(*case))


def another_kind(bench):
    """The kind of a destination cannot be changed; the commands that the message names send what failed elsewhere."""
    rig, bundle = bench.rig(), bench.stock[0]
    with Scripted(lambda request: Reply(400)) as wrong, fresh(bench) as right:
        rig.dest("it", "http", "--url", wrong.url, "--device-id", DEVICE, "--key", rig.key, "--retry", AT_ONCE)
        rig.push(bundle)
        rig.send(code=(14, 15))
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


FAMILY = [
    ("the hint for refused credentials depends on the server's code", refused_credentials),
    ("captures of a destination with the wrong kind", another_kind),
    ("dest show, set and test", words),
    ("dest test", tested_http),
    ("the exit code of dest test depends on the server's answer", tested_by_status),
]
