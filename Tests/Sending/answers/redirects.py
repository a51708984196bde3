"""Redirects: credentials and device headers go to no other origin, and nothing follows one from https to http."""
import seaweed
from capture_api import CaptureAPI
from certificates import Authority
from checks import every, expect
from nginx import fresh
from rigs import AT_ONCE
from scripted import Reply, Scripted

SECONDS = 20
TOKEN = "tok-redirect-3b4c6f"


def token_of(rig):
    path = rig.folder / "token"
    path.write_text(TOKEN)
    path.chmod(0o600)
    return ("--token-file", path)


def sent(bench, url, *options, token=False, code=0):
    """Returns a rig after one run with one bundle to a put destination."""
    rig = bench.rig()
    rig.dest("web", "put", "--url", url, "--retry", AT_ONCE, *options, *(token_of(rig) if token else ()))
    rig.push(bench.stock[0])
    rig.send("--until-empty", code=code)
    return rig


def is_held(rig, about, name="web"):
    place = rig.destination(name)
    expect(place.blocked_reason == "endpoint", f"{about}: blocked as {place.blocked_reason}: {place.blocked_message!r}")
    rows = {(row.state, row.attempts) for row in rig.deliveries()}
    expect(rows == {("pending", 0)}, f"{about}: {rows}")


def has_landed(rig, server, about):
    row, bundle = rig.delivery(rig.bench.stock[0]), rig.bench.stock[0]
    expect((row.state, row.attempts) == ("completed", 1), f"{about}: {row.state} after {row.attempts}")
    server.keeps(bundle)
    server.path(f"store/{bundle.sha256}.bundle").unlink()


def same_origin(bench):
    """A redirect with 307 or 308, to a path or a whole URL, is followed with credentials and body."""
    with fresh(bench) as server:
        for place in ("same", "whole"):
            for status in (307, 308):
                about = f"{place}, {status}"
                rig = sent(bench, f"{server.url}/{place}/{status}/store/{{sha256}}.bundle", token=True)
                has_landed(rig, server, about)
                seen = [one for one in server.log(method="PUT") if one["uri"].startswith("/store/")]
                expect(seen[-1]["authorization"] == f"Bearer {TOKEN}", f"{about}: came without credentials")
        has_landed(sent(bench, server.template("chain/5/store"), token=True), server, "five in a row")


def not_to_be_followed(bench):
    """After 301, 302, 303, a loop or six redirects the URL is wrong; no attempt is used and nothing is stored."""
    with fresh(bench) as server:
        for place in ("same", "other"):
            for status in (301, 302, 303):
                rig = sent(bench, f"{server.url}/{place}/{status}/store/{{sha256}}.bundle", code=15)
                is_held(rig, f"{place}, {status}")
        before = len(server.logged(6, method="PUT"))
        is_held(sent(bench, f"{server.url}/loop/307/{{sha256}}", code=15), "a loop")
        loop = len(server.logged(before + 1, method="PUT")) - before
        expect(loop <= 6, f"{loop} requests in a loop")
        is_held(sent(bench, server.template("chain/6/store"), code=15), "six in a row")
        expect(not server.holds() and not server.log(port=server.ports["other"]), "something was sent further")


def odd_places(bench):
    """A missing or unusable Location is not followed: empty, another scheme, a password, or not a URL."""
    with fresh(bench) as server:
        here = server.url.removeprefix("http://")
        odd = {"none": {}, "empty": {"Location": ""}, "a file": {"Location": "file:///etc/passwd"},
               "ftp": {"Location": f"ftp://{here}/store/x"}, "words": {"Location": "http://[nowhere"},
               "a password": {"Location": f"http://me:pw@{here}/store/x"}, "gopher": {"Location": f"gopher://{here}/x"},
               "two": {"Location": f"{server.url}/store/x, {server.other}/store/x"}}

        def judge(name, headers):
            with Scripted(lambda request: Reply(307, headers)) as first:
                rig = sent(bench, f"{first.url}/{{sha256}}", token=True, code=15)
                is_held(rig, name)
                expect(len(first.seen("PUT")) == 1, f"{len(first.seen('PUT'))} requests")

        every(odd, judge)
        expect(not server.log(), f"something was sent further: {server.log()[:1]}")


def without_credentials(bench):
    """A put without credentials follows a redirect to another origin, since the server decides where files go."""
    with fresh(bench) as server:
        for place in ("other", "name"):
            for status in (307, 308):
                rig = sent(bench, f"{server.url}/{place}/{status}/store/{{sha256}}.bundle")
                has_landed(rig, server, f"{place}, {status}")


def with_credentials(bench):
    """A request with credentials follows no redirect to another origin: another port, or another name of the host."""
    with fresh(bench) as server:
        cases = {f"{place}, {status}, {name}": (place, status, options, name == "token")
                 for place in ("other", "name") for status in (307, 308)
                 for name, options in (("token", ()), ("header", ("--header", "Authorization: Basic bWU6cHc=")),
                                       ("cookie", ("--header", "Cookie: id=7")))}

        def judge(name, case):
            place, status, options, token = case
            url = f"{server.url}/{place}/{status}/store/{{sha256}}.bundle"
            is_held(sent(bench, url, *options, token=token, code=15), name)

        every(cases, judge)
        expect(not server.holds(), "it was stored elsewhere")
        seen = [one for one in server.log() if one["uri"].startswith("/store/")]
        expect(not seen, f"sent to another origin: {seen[:1]}")


def there_and_back(bench):
    """A redirect to another origin that would lead back to the first one is refused."""
    with fresh(bench) as server:
        url = f"{server.url}/other/307/plain/307/store/{{sha256}}.bundle"
        is_held(sent(bench, url, token=True, code=15), "with a token")
        expect(not server.log(port=server.ports["other"]), "the other origin was asked")
        has_landed(sent(bench, url), server, "without")


def from_https_to_http(bench):
    """No redirect from https to http is followed. One from http to https counts as another origin."""
    authority = Authority(bench.folder / f"ca{next(bench.numbers)}")
    with fresh(bench, tls={"good": authority.server()}) as server:
        trust = ("--ca", authority.path)
        for status in (307, 308):
            url = f"{server.secure('good')}/plain/{status}/store/{{sha256}}.bundle"
            is_held(sent(bench, url, *trust, code=15), f"https to http, {status}")
            is_held(sent(bench, url, *trust, token=True, code=15), f"https to http, {status}, with a token")
            url = f"{server.secure('good')}/same/{status}/store/{{sha256}}.bundle"
            has_landed(sent(bench, url, *trust, token=True), server, f"https to https, {status}")
            url = f"{server.url}/to-good/{status}/store/{{sha256}}.bundle"
            has_landed(sent(bench, url, *trust), server, f"http to https, {status}")
            is_held(sent(bench, url, *trust, token=True, code=15), f"http to https, {status}, with a token")
        expect(not server.log(port=server.ports["plain"], uri=f"/store/{bench.stock[0].sha256}.bundle"),
               "something came over plain http")


def of_the_api(bench):
    """http: a redirect to the same origin is followed with a signature; another origin never gets a device header."""
    with CaptureAPI(bench.public) as api, fresh(bench, backend=api.url) as server:
        ways = [(place, status) for place in ("same", "whole") for status in (307, 308)]
        for bundle, (place, status) in zip(bench.stock, ways):
            rig = bench.rig()
            rig.http(f"{server.url}/{place}/{status}/api/v1/captures", "--verify-url", "none")
            rig.push(bundle)
            rig.send("--until-empty", code=0)
            row = rig.delivery(bundle)
            expect((row.state, row.attempts) == ("completed", 1), f"{place}, {status}: {row.state}")
        api.content()
        api.holds(*(bench.photo(bundle) for bundle in bench.stock[:4]))
        for place, status in (("other", 307), ("other", 308), ("name", 307), ("name", 308), ("same", 301),
                              ("same", 302), ("same", 303), ("other", 302), ("loop", 307)):
            rig = bench.rig()
            rig.http(f"{server.url}/{place}/{status}/api/v1/captures", "--verify-url", "none")
            rig.push(bench.stock[4])
            rig.send("--until-empty", code=15)
            is_held(rig, f"{place}, {status}", "api")
        expect(not server.log(port=server.ports["other"]), "another origin was asked")
        away = [one for one in server.log() if one["host"].startswith("localhost")]
        expect(not away, f"another name was asked: {away[:1]}")
        expect(len(api.stored) == 4, f"{len(api.stored)} captures")


def of_a_store(bench):
    """s3: no signed request follows a redirect of the store."""
    with fresh(bench) as server:
        for place, status in (("other", 307), ("name", 308), ("other", 301)):
            rig = bench.rig()
            rig.env |= seaweed.Keys("AKREDIRECT", "secret").environment
            rig.dest("web", "s3", "--url", f"{server.url}/{place}/{status}/bucket", "--retry", AT_ONCE)
            rig.push(bench.stock[0])
            rig.send("--until-empty", code=15)
            is_held(rig, f"{place}, {status}")
        away = [one for one in server.log() if one["host"] != server.url.removeprefix("http://")]
        expect(not away, f"another origin was asked: {away[:1]}")


def mended(bench):
    """A destination that was blocked for a redirect continues as soon as its URL is corrected."""
    with fresh(bench) as server:
        rig = sent(bench, f"{server.url}/same/302/store/{{sha256}}.bundle", code=15)
        rig.run("dest", "set", "web", "--url", server.template()).must(0, about="dest set")
        rig.run("resume", "--dest", "web").must(0, about="resume")
        rig.send("--until-empty", code=0)
        has_landed(rig, server, "mended")


FAMILY = [
    ("307 and 308 to the same origin are followed", same_origin),
    ("301, 302, 303, loops and long chains are not", not_to_be_followed),
    ("unusable values of Location", odd_places),
    ("another origin, without credentials: followed", without_credentials),
    ("another origin, with credentials: refused, and nothing sent there", with_credentials),
    ("a redirect to another origin and back is refused", there_and_back),
    ("from https to http: never", from_https_to_http),
    ("http: device headers stay with their origin", of_the_api),
    ("s3: signed requests follow no redirect", of_a_store),
    ("a blocked destination continues when its URL is corrected", mended),
]
