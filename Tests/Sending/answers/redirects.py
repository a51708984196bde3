"""Redirects: credentials and device headers go to no other origin, and nothing follows one from https to http."""
from Kit.outcomes import IS_LONG, every, expect
from Kit.servers import seaweed
from Kit.servers.capture_api import CaptureAPI
from Kit.servers.certificates import Authority
from Kit.servers.nginx import fresh
from Kit.servers.scripted import Reply, Scripted
from Kit.servers.tls_servers import Trust
from Sending.answers.tries import is_left, sent, some

TOKEN = "tok-redirect-3b4c6f"
TOKEN_OPTIONS = ("--token-command", f"echo {TOKEN}")


def is_held(bench, url, *options, kind="put"):
    """Checks that the destination is blocked as a wrong URL, and that no attempt is used."""
    is_left(sent(bench, kind, url, *options, mode="--until-empty", code=15), "pending", 0, "endpoint")


def has_landed(bench, server, url, *options):
    bundle = bench.stock[0]
    is_left(sent(bench, "put", url, *options, mode="--until-empty", code=0), "completed", 1)
    server.keeps(bundle)
    server.path(f"store/{bundle.sha256}.bundle").unlink()


def same_origin(bench):
    """A redirect with 307 or 308, to a path or a whole URL, is followed with credentials and body."""
    with fresh(bench) as server:
        for place in some(["chain/5/store", "whole/308/store", "same/307/store"], 1):
            has_landed(bench, server, server.template(place), *TOKEN_OPTIONS)
            seen = [one for one in server.logged(1, method="PUT") if one["uri"].startswith("/store/")]
            expect(seen[-1]["authorization"] == f"Bearer {TOKEN}", f"{place}: came without credentials")


def not_to_be_followed(bench):
    """After 301, 302, 303, a loop or six redirects the URL is wrong; no attempt is used and nothing is stored."""
    with fresh(bench) as server:
        is_held(bench, server.template("loop/307"))
        loop = len(server.logged(1, method="PUT"))
        expect(loop <= 6, f"{loop} requests in a loop")
        for place in some(["chain/6/store", "other/302/store", "same/301/store", "same/303/store"], 1):
            is_held(bench, server.template(place))
        expect(not server.holds() and not server.log(port=server.ports["other"]), "something was sent further")


def odd_places(bench):
    """A missing or unusable Location is not followed: empty, another scheme, a password, or not a URL."""
    with fresh(bench) as server:
        here = server.url.removeprefix("http://")
        odd = {"none": {}, "a file": {"Location": "file:///etc/passwd"},
               "a password": {"Location": f"http://me:pw@{here}/store/x"}, "words": {"Location": "http://[nowhere"},
               "empty": {"Location": ""}, "ftp": {"Location": f"ftp://{here}/store/x"},
               "two": {"Location": f"{server.url}/store/x, {server.other}/store/x"}}

        def judge(name, headers):
            with Scripted(lambda request: Reply(307, headers)) as first:
                is_held(bench, f"{first.url}/{{sha256}}", *TOKEN_OPTIONS)
                expect(len(first.seen("PUT")) == 1, f"{len(first.seen('PUT'))} requests")

        every(some(odd, 1), judge)
        expect(not server.log(), f"something was sent further: {server.log()[:1]}")


def without_credentials(bench):
    """A put without credentials follows a redirect to another origin, since the server decides where files go."""
    with fresh(bench) as server:
        for place in some(["other/307/plain/307/store", "name/308/store", "other/307/store"], 1):
            has_landed(bench, server, server.template(place))


def with_credentials(bench):
    """A request with credentials follows no redirect to another origin: another port, or another name of the host, even
    if that one leads back. A client certificate is a credential, too."""
    trust = Trust(bench)
    certificate, key = trust.authority.client("roof-seven")
    with trust.server(bench) as server:
        secure = ("--ca", trust.authority.path, "--cert", certificate, "--cert-key", key)
        cases = {"token": (server.template("other/307/store"), *TOKEN_OPTIONS),
                 "certificate": (f"{server.secure('clients')}/to-good/307/store/{{sha256}}.bundle", *secure),
                 "header": (server.template("name/308/store"), "--header", "Authorization: Basic bWU6cHc="),
                 "cookie": (server.template("other/308/store"), "--header", "Cookie: id=7"),
                 "token, and back": (server.template("other/307/plain/307/store"), *TOKEN_OPTIONS)}
        every(some(cases, 2), lambda name, case: is_held(bench, *case))
        expect(not server.holds(), "it was stored elsewhere")
        others = (str(server.ports["other"]), str(server.ports["tls"]["good"]))
        seen = [one for one in server.log() if one["uri"].startswith("/store/") or one["port"] in others]
        expect(not seen, f"sent to another origin: {seen[:1]}")


def from_https_to_http(bench):
    """No redirect from https to http is followed. One from http to https counts as another origin."""
    authority = Authority(bench.folder / f"ca{next(bench.numbers)}")
    with fresh(bench, tls={"good": authority.server()}) as server:
        trust, name = ("--ca", authority.path), "{sha256}.bundle"
        is_held(bench, f"{server.secure('good')}/plain/307/store/{name}", *trust)
        expect(not server.log(port=server.ports["plain"]), "something came over plain http")
        has_landed(bench, server, f"{server.url}/to-good/307/store/{name}", *trust)
        if IS_LONG:
            is_held(bench, f"{server.secure('good')}/plain/308/store/{name}", *trust, *TOKEN_OPTIONS)
            has_landed(bench, server, f"{server.secure('good')}/same/307/store/{name}", *trust, *TOKEN_OPTIONS)
        is_held(bench, f"{server.url}/to-good/308/store/{name}", *trust, *TOKEN_OPTIONS)
        expect(not server.holds(), "a token went from http to https")


def of_the_api(bench):
    """http: a redirect to the same origin is followed with a signature; another origin never gets a device header."""
    with CaptureAPI(bench.public) as api, fresh(bench, backend=api.url) as server:
        places = some(["same/307", "whole/308"], 1)
        for bundle, place in zip(bench.stock, places):
            rig = sent(bench, "http", f"{server.url}/{place}/api/v1/captures", bundles=[bundle], code=0)
            is_left(rig, "completed", 1, None, bundle)
        api.content()
        api.holds(*(bench.photo(bundle) for bundle in bench.stock[:len(places)]))
        for place in some(["other/307", "name/308", "same/302", "loop/307"], 2):
            is_held(bench, f"{server.url}/{place}/api/v1/captures", "--verify-url", "none", kind="http")
        expect(not server.log(port=server.ports["other"]), "another origin was asked")
        away = [one for one in server.log() if one["host"].startswith("localhost")]
        expect(not away, f"another name was asked: {away[:1]}")
        expect(len(api.stored) == len(places), f"{len(api.stored)} captures")


def of_a_store(bench):
    """s3: no signed request follows a redirect of the store."""
    with fresh(bench) as server:
        for place in some(["other/307", "name/308"], 1):
            rig = bench.rig()
            rig.env |= seaweed.Keys("AKREDIRECT", "secret").environment
            rig.dest("it", "s3", "--url", f"{server.url}/{place}/bucket")
            rig.push(bench.stock[0])
            rig.send("--until-empty", code=15)
            is_left(rig, "pending", 0, "endpoint")
        away = [one for one in server.log() if one["host"] != server.url.removeprefix("http://")]
        expect(not away, f"another origin was asked: {away[:1]}")


TESTS = [
    ("307 and 308 to the same origin are followed", same_origin),
    ("301, 302, 303, loops and long chains are not", not_to_be_followed),
    ("unusable values of Location", odd_places),
    ("another origin, without credentials: followed", without_credentials),
    ("another origin, with credentials: refused, and nothing sent there", with_credentials),
    ("from https to http: never", from_https_to_http),
    ("http: device headers stay with their origin", of_the_api),
    ("s3: signed requests follow no redirect", of_a_store),
]
