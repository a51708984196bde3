"""Tokens, keys and queries are sent only to their own servers, and no output shows them."""
import functools
import json
import stat
import urllib.parse

from capture_api import Answer, CaptureAPI
from checks import every, expect
from nginx import fresh
from rigs import DEVICE
from scripted import Reply, Scripted, in_json
from secrecy import TOKEN, dumped, outputs, token_of
from tls_servers import Trust

KEY = "key-9b1c77-for-one-origin"
QUERY = "sig=SASq7%2Bw8%2Ftail41&code=FUNC%3D9x3"


def takes(request):
    """Answers as a plain store does."""
    return Reply(201 if request.method == "PUT" else 405)


def endpoint(bench):
    """The endpoint gets the token; the URL that it returns gets token and own headers only at the same origin."""
    def judge(name, place):
        with Scripted(takes) as store, Scripted(None) as desk:
            urls = {"own": desk.url, "port": store.url, "name": desk.url.replace("127.0.0.1", "localhost")}
            desk.answer = lambda request: (in_json({"url": f"{urls[place]}/x"}) if request.method == "POST"
                                           else takes(request))
            rig = bench.rig()
            rig.dest("web", "put", "--url-endpoint", f"{desk.url}/sign", "--header", f"X-Api-Key: {KEY}",
                     *token_of(rig))
            rig.push(bench.stock[0])
            rig.send("--once", code=0)
            asked, = desk.seen("POST")
            expect(asked.headers.get("authorization") == f"Bearer {TOKEN}", "the endpoint did not get the token")
            sent = [one for server in (store, desk) for one in server.requests if one.method != "POST"]
        expect({one.method for one in sent} >= {"PUT"}, "nothing was put")
        wanted = (f"Bearer {TOKEN}", KEY) if place == "own" else (None, None)
        for one in sent:
            found = (one.headers.get("authorization"), one.headers.get("x-api-key"))
            expect(found == wanted, f"{one.method} came with {found}")

    every({"its own origin": "own", "another port": "port", "another name": "name"}, judge)


def client_certificate(bench):
    """A client certificate identifies us, so no redirect to another origin is followed with --cert."""
    trust = Trust(bench)
    certificate, key = trust.authority.client("roof-seven")
    with trust.server(bench) as server:
        def judge(name, status):
            rig = bench.rig()
            rig.dest("web", "put", "--url", f"{server.secure('clients')}/to-good/{status}/store/{{sha256}}",
                     *trust.options, "--cert", certificate, "--cert-key", key)
            rig.push(bench.stock[0])
            rig.send("--until-empty", code=15)
            row, place = rig.delivery(bench.stock[0]), rig.destination("web")
            expect((row.state, row.attempts) == ("pending", 0), f"is {row.state} after {row.attempts} attempts")
            expect(place.blocked_reason in ("endpoint", "credentials"), f"blocked as {place.blocked_reason}")

        every({"307": 307, "308": 308}, judge)
        expect(not server.holds() and not server.log(port=server.ports["tls"]["good"]), "it was sent further")


def remote_url(bench):
    """The query of a plain URL may grant access, so no output shows it with the place of a capture."""
    with Scripted(takes) as server:
        rig, bundle = bench.rig(), bench.stock[0]
        rig.dest("web", "put", "--url", f"{server.url}/c/{{sha256}}?{QUERY}")
        rig.push(bundle)
        result = rig.send("--json", code=0)
        expect(server.seen("PUT")[0].path.endswith(f"?{QUERY}"), "the query was not sent")
    said = {"run": result.out + result.err, **outputs(rig, bundle, "web")}
    for words, text in said.items():
        expect(b"SASq7" not in text and b"FUNC" not in text, f"{words} shows the query")
    shown, = json.loads(said[f"show --json {bundle.id}"])["deliveries"]
    expect(shown["remote_url"].startswith(f"{server.url}/c/{bundle.sha256}"), f"shown is {shown.get('remote_url')!r}")


def repeated(is_json, status, request):
    """Returns a body that quotes the credentials of the request, verbatim and decoded."""
    told = [request.headers.get(name, "") for name in ("authorization", "x-api-key")]
    words = " ".join(["cannot take", *told, request.path, urllib.parse.unquote(request.path)])
    if not is_json:
        return Reply(status, {"Content-Type": "text/plain"}, words.encode())
    return in_json({"error": {"code": "SCRIPTED", "message": words}}, status)


def echoes(bench):
    """No output shows the token, own headers or query that a server quotes in an error."""
    cases = {f"{kind}, {status}, {'JSON' if is_json else 'text'}": (kind, status, is_json)
             for kind in ("put", "http") for status, is_json in ((400, True), (400, False), (401, True), (500, False))}

    def judge(name, case):
        kind, status, is_json = case
        bundle, rig = bench.stock[0], bench.rig()
        with Scripted(functools.partial(repeated, is_json, status)) as server:
            device = ("--key", rig.key, "--device-id", DEVICE, "--verify-url", "none") if kind == "http" else ()
            rig.dest("it", kind, "--url", f"{server.url}/c/{{sha256}}?{QUERY}", "--header", f"X-Api-Key: {KEY}",
                     "--retry", "0,0", *device, *token_of(rig))
            rig.push(bundle)
            first = rig.send("--json", "--on-event", "cat >> hook", code=(14, 15))
            rig.run("retry", "--reset", bundle.id)
            second = rig.send("--until-empty", code=(14, 15))
            tested = rig.run("dest", "test", "it")
            expect(server.requests[0].headers.get("x-api-key") == KEY, "the header was not sent")
        hook = rig.out / "hook"
        said = {"run --json": first.out + first.err, "run": second.out + second.err,
                "dest test": tested.out + tested.err, "the hook": hook.read_bytes() if hook.exists() else b"",
                **outputs(rig, bundle, "it")}
        for words, text in said.items():
            for secret in (TOKEN, KEY, "SASq7", "w8/tail41", "w8%2Ftail41", "FUNC"):
                before, found, after = text.partition(secret.encode())
                expect(not found, f"{words} shows {secret!r}: {before[-80:] + found + after[:40]!r}")

    every(cases, judge)


def proxies(bench):
    """No output shows the password of a proxy, and an unusable proxy is refused."""
    rig, bundle = bench.rig(), bench.stock[0]
    rig.dest("web", "put", "--url", "http://127.0.0.1:9/{sha256}", "--proxy", "http://user:pw-5d1c@127.0.0.1:9")
    rig.push(bundle)
    result = rig.send("--json", "--once", code=15)
    for words, text in {"run": result.out + result.err, **outputs(rig, bundle, "web")}.items():
        expect(b"pw-5d1c" not in text, f"{words} shows the password")
    for proxy in ("nonsense://", "nonsense://127.0.0.1:9", "http://"):
        rig.dest("other", "put", "--url", "http://127.0.0.1:9/{sha256}", "--proxy", proxy, code=78)


def told_reasons(bench):
    """A rejection whose reason quotes the bearer token is shown without the token."""
    def judge(name, is_polled):
        rig, bundle = bench.rig(), bench.stock[0]
        no = {"data": {"capture_id": ID, "status": "rejected", "reason": f"too flat for Bearer {TOKEN}"}}
        with CaptureAPI(bench.public) as api:
            api.token = TOKEN
            if is_polled:
                api.answer(Answer(202, body={"data": {"capture_id": ID, "status": "processing"}}))
                api.answer(Answer(200, body=no), to="poll")
            else:
                api.answer(Answer(202, body=no))
            rig.http(api.url, *token_of(rig))
            rig.push(bundle)
            result = rig.send("--until-empty", "--json", "--on-event", "cat >> hook", code=14)
        row = rig.delivery(bundle)
        expect(row.state == "permanently_failed" and "too flat" in (row.error_message or ""), f"is {row.state}: "
               f"{row.error_message!r}")
        said = {"the output": result.out, "standard error": result.err, "the hook": (rig.out / "hook").read_bytes(),
                "the database": "\n".join(dumped(rig)).encode(), **outputs(rig, bundle, "api")}
        for words, text in said.items():
            expect(TOKEN.encode() not in text, f"{words} shows the token")

    every({"in the first answer": False, "by a poll": True}, judge)


ID = "7e57ab1e-0000-4000-8000-000000000051"
SECRET = "tok-6f1d2e3b4c-never-shown"


def no_secrets(bench):
    """Token, passphrase and signature appear in no output, no message and no file of the queue."""
    rig, bundle = bench.rig(), bench.stock[0]
    token = rig.out / "token"
    token.write_text(SECRET + "\n")
    token.chmod(0o600)
    with CaptureAPI(bench.public) as api:
        rig.http(api.url + "/api/v1/captures?ticket=hidden-7", "--token-file", token)
        rig.push(bundle)
        api.token = "another"
        said = [rig.send("--json", code=15)]
        api.token = SECRET
        api.answer(Answer(400, "VALIDATION_ERROR"))
        said.append(rig.send("--json", code=14))
        rig.run("retry", bundle.id).must(0)
        said.append(rig.send("--json", code=0))
        signatures = [request.headers["x-device-signature"] for request in api.seen()]
    said += [rig.run(*words) for words in (["dest", "show", "api"], ["dest", "list"], ["list", "--json"], ["status"],
                                           ["status", "--json"], ["status", "--prometheus"], ["history", bundle.id],
                                           ["history", bundle.id, "--json"], ["show", bundle.id, "--json"])]
    text = b"".join(result.out + result.err for result in said)
    text += b"".join((rig.queue / name).read_bytes() for name in rig.names() if stat.S_ISREG(
        (rig.queue / name).lstat().st_mode))
    for secret in (SECRET, *signatures):
        expect(secret.encode() not in text, "a secret is shown, or stored in the queue")
    expect("hidden-7" not in json.dumps(rig.receipt(bundle)), "the query of the URL is in the receipt")


def query_of_settings(bench):
    """A query in a plain --url is sent but not shown, because it often grants access."""
    rig, bundle = bench.rig(), bench.stock[0]
    with fresh(bench) as server:
        rig.dest("web", "put", "--url", server.template() + "?code=s3cr3t-code")
        rig.push(bundle)
        said = [rig.send("--json", code=0)]
        said += [rig.run(*words) for words in (["dest", "show", "web"], ["dest", "show", "--json", "web"],
                                               ["dest", "list"], ["show", bundle.id], ["history", bundle.id],
                                               ["status", "--json"], ["dest", "test", "web"])]
        expect(all("code=s3cr3t-code" in one["uri"] for one in server.logged(2)[:2]), "the query was not sent")
        server.keeps(bundle)
    expect(not any(b"s3cr3t" in one.out + one.err for one in said), "the query is shown")
    expect("s3cr3t" not in json.dumps(rig.receipt(bundle)), "the query is in the receipt")


FAMILY = [
    ("a token and headers beside --url-endpoint", endpoint),
    ("a client certificate and a redirect", client_certificate),
    ("the query of a plain URL", remote_url),
    ("an error that quotes token, header and query", echoes),
    ("the password of a proxy", proxies),
    ("http: the reason of a rejection quotes the token", told_reasons),
    ("no output shows tokens, signatures or queries", no_secrets),
    ("a query in --url is sent and not shown", query_of_settings),
]
