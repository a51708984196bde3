"""Tests of dest show, set and test."""
from capture_api import CaptureAPI
from checks import every, expect
from nginx import fresh
from rigs import AT_ONCE
from scripted import Reply, Scripted


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


FAMILY = [
    ("dest show, set and test", words),
    ("dest test", tested_http),
    ("the exit code of dest test depends on the server's answer", tested_by_status),
]
