"""Tokens, keys, queries and secret paths are sent only to their own servers, and no output shows them."""
import functools
import json
import stat
import urllib.parse

from Kit.outcomes import every, expect
from Kit.sending import DEVICE
from Kit.servers.capture_api import Answer, CaptureAPI
from Kit.servers.scripted import Reply, Scripted, in_json
from Sending.answers.tries import sent, some, token_file
from Sending.secrecy import TOKEN, dumped, outputs

KEY = "key-9b1c77-for-one-origin"
QUERY = "sig=SASq7%2Bw8%2Ftail41&code=FUNC%3D9x3"
PATH = "k9x-drop-7Qv2"
SECRETS = (TOKEN, KEY, "SASq7", "w8/tail41", "w8%2Ftail41", "FUNC")
TEXT = {"Content-Type": "text/plain"}
ID = "7e57ab1e-0000-4000-8000-000000000051"


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
            sent(bench, "put", None, "--url-endpoint", f"{desk.url}/sign", "--header", f"X-Api-Key: {KEY}",
                 *token_file(bench, TOKEN), code=15)  # a GET is refused, so nothing is proven
            asked, = desk.seen("POST")
            expect(asked.headers.get("authorization") == f"Bearer {TOKEN}", "the endpoint did not get the token")
            others = [one for server in (store, desk) for one in server.requests if one.method != "POST"]
        expect({one.method for one in others} == {"PUT", "HEAD", "GET"}, "not all were asked")
        wanted = (f"Bearer {TOKEN}", KEY) if place == "own" else (None, None)
        for one in others:
            found = (one.headers.get("authorization"), one.headers.get("x-api-key"))
            expect(found == wanted, f"{one.method} came with {found}")

    every(some({"another port": "port", "its own origin": "own", "another name": "name"}, 2), judge)


def hidden(rig, secrets, *said):
    """Checks that no output, no event and no row has the secrets. Only the settings of a destination may store them."""
    hook = rig.out / "hook"
    rows = [line for line in dumped(rig) if not line.startswith('INSERT INTO "destinations"')]
    texts = {f"output {number}": one.out + one.err for number, one in enumerate(said)} \
        | outputs(rig, rig.bench.stock[0], "it") \
        | {"the hook": hook.read_bytes() if hook.exists() else b"", "the database": "\n".join(rows).encode()}
    for words, text in texts.items():
        for secret in secrets:
            before, found, after = text.partition(secret.encode())
            expect(not found, f"{words} shows {secret!r}: {before[-80:] + found + after[:40]!r}")
    return texts


def quoting(status, is_json, request):
    """Answers with a text that quotes the credentials of the request, verbatim and decoded."""
    told = [request.headers.get(name, "") for name in ("authorization", "x-api-key")]
    words = " ".join(["cannot take", *told, request.path, urllib.parse.unquote(request.path)])
    if not is_json:
        return Reply(status, TEXT, words.encode())
    return in_json({"error": {"code": "SCRIPTED", "message": words}}, status)


def echoes(bench):
    """No output shows the token, own headers or query, whatever the server answers, and if it quotes them. The query of
    a URL from a command is as secret."""
    json_400, text_401 = functools.partial(quoting, 400, True), functools.partial(quoting, 401, False)
    text_500 = functools.partial(quoting, 500, False)
    cases = {"http, 400 in JSON": ("http", json_400), "fetched, 500": ("fetched", text_500),
             "put, landed": ("put", takes), "put, 401": ("put", text_401), "http, 500": ("http", text_500),
             "put, 400 in JSON": ("put", json_400), "http, 401": ("http", text_401),
             "fetched, landed": ("fetched", takes), "fetched, 400 in JSON": ("fetched", json_400),
             "fetched, nobody there": ("fetched", lambda request: Reply(lost=True)),
             "fetched, an unknown name": ("fetched", None)}

    def judge(name, case):
        kind, answer = case
        bundle, rig = bench.stock[0], bench.rig()
        rig.env["RES_OPTIONS"] = "timeout:1 attempts:1"
        with Scripted(answer) as server:
            place = rig.folder / "url"
            place.write_text(f"{server.url if answer else 'http://captures.invalid'}/c/x?{QUERY}")
            device = ("--key", rig.key, "--device-id", DEVICE, "--verify-url", "none") if kind == "http" else ()
            options = ("--url-command", f"cat {place}") if kind == "fetched" else (
                "--url", f"{server.url}/c/{{sha256}}?{QUERY}", "--header", f"X-Api-Key: {KEY}", *device,
                *token_file(bench, TOKEN))
            rig.dest("it", "http" if kind == "http" else "put", "--retry", "0,0", *options)
            rig.push(bundle)
            first = rig.send("--json", "--on-event", "cat >> hook")
            rig.run("retry", "--reset", bundle.id)
            second = rig.send()
            tested = rig.run("dest", "test", "it")
            if answer:
                expect(server.requests[0].path.endswith(QUERY), "the query was not sent")
                expect(kind == "fetched" or server.requests[0].headers.get("x-api-key") == KEY, "nor was the header")
        texts = hidden(rig, SECRETS, first, second, tested)
        if name == "put, landed":
            shown, = json.loads(texts[f"show --json {bundle.id}"])["deliveries"]
            expect((shown.get("remote_url") or "").startswith(f"{server.url}/c/"), f"shown is {shown}")

    every(some(cases, 2), judge)


def secret_paths(bench):
    """--secret-path: no output shows the path, whatever the result, for each kind that has URLs."""
    bundle = bench.stock[0]
    head = {"Content-Length": "7", "ETag": '"x"'}
    yes = {"data": {"capture_id": "c-1", "status": "complete", "verification_url": f"https://a.example/{PATH}/c-1"}}
    no = {"error": {"code": "NOT_HERE", "message": f"no such place: /{PATH}/captures"}}

    def conflict(request):
        return Reply(200, head if request.method == "HEAD" else {}, bundle.data if request.method == "GET" else b"")

    def fetched(request):
        named = {"url": f"http://{request.headers['host']}/{PATH}/x"}
        return in_json(named) if request.method == "POST" else takes(request)

    cases = {
        "put, refused": ("put", lambda request: Reply(400, TEXT, f"no {request.path}".encode())),
        "http, refused": ("http", lambda request: in_json(no, 422)), "s3, a conflict": ("s3", conflict),
        "put, landed": ("put", takes), "put, fetched": ("endpoint", fetched),
        "put, a part of it": ("put", lambda request: Reply(403, TEXT, f"no {PATH} here".encode())),
        "put, a conflict": ("put", lambda request: Reply(409 if request.method == "PUT" else 200, {}, b"x")),
        "put, led elsewhere": ("put", lambda request: Reply(302, {"Location": f"/{PATH}/login"})),
        "put, nobody there": ("put", lambda request: Reply(lost=True)),
        "http, landed": ("http", lambda request: in_json(yes, 202)),
        "http, broken": ("http", lambda request: in_json(no, 500)),
        "s3, landed": ("s3", lambda request: Reply(200, head | {"Content-Length": str(len(bundle.data))}
                                                   if request.method == "HEAD" else {}))}

    def judge(name, case):
        kind, answer = case
        rig = bench.rig()
        rig.env |= {"AWS_ACCESS_KEY_ID": "AKSECRET", "AWS_SECRET_ACCESS_KEY": "secret"}
        with Scripted(answer) as server:
            url = f"{server.url}/{PATH}"
            ends = ("--session-end-url", f"{url}/end")
            options = {"put": ("--url", f"{url}/{{sha256}}", *ends), "s3": ("--url", f"{server.url}/bucket/{PATH}"),
                       "endpoint": ("--url-endpoint", f"{url}/ask", *ends),
                       "http": ("--url", f"{url}/captures", "--verify-url", f"{url}/verify-file", "--key", rig.key,
                                "--device-id", DEVICE)}[kind]
            added = rig.dest("it", "put" if kind == "endpoint" else kind, *options, "--secret-path", "--retry", "0,600")
            rig.push(bundle, options=("--session", "roof"))
            rig.run("session", "end", "roof").must(0, about="session end")
            said = [added, rig.send("--json", "--once"), rig.run("dest", "test", "it"), rig.run("check", "--remote")]
            expect(any(PATH in request.path for request in server.requests), "it was sent elsewhere")
        texts = hidden(rig, [PATH], *said)
        expect(server.url.encode() in texts["dest show it"], "the server is not named")

    every(some(cases, 1), judge)


def shown_again(bench):
    """With --secret-path messages name the server alone; --no-secret-path removes the setting; a folder has none."""
    with Scripted(lambda request: Reply(404)) as server:
        rig = sent(bench, "put", f"{server.url}/{PATH}/{{sha256}}", "--secret-path", code=(14, 15))
    expect(f"{server.url}/… answered 404" in rig.said.text, f"run says {rig.said.text!r}")
    listed = rig.run("dest", "list").out
    expect(f"{server.url}/…\n".encode() in listed and PATH.encode() not in listed, f"dest list says {listed!r}")
    rig.run("dest", "set", "it", "--no-secret-path").must(0, about="dest set")
    expect(PATH.encode() in rig.run("dest", "show", "it").out, "the path is still hidden")
    rig.dest("disk", "folder", "--path", str(rig.out), "--secret-path", code=78)


def proxies(bench):
    """No output shows the password of a proxy, and an unusable proxy is refused."""
    rig = sent(bench, "put", "http://127.0.0.1:9/{sha256}", "--proxy", "http://user:pw-5d1c@127.0.0.1:9", code=15)
    hidden(rig, ["pw-5d1c"], rig.said)
    rig.dest("other", "put", "--url", "http://127.0.0.1:9/{sha256}", "--proxy", "nonsense://127.0.0.1:9", code=78)


def of_the_api(bench):
    """http: no output and no file of the queue has the token or a signature, even if a rejection quotes the token."""
    bundle, reason = bench.stock[0], f"too flat for Bearer {TOKEN}"
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        rig.http(api.url + "/api/v1/captures?ticket=hidden-7", *token_file(bench, TOKEN), name="it")
        rig.push(bundle)
        api.token = "another"
        said = [rig.send("--json", code=15)]
        api.token = TOKEN
        api.answer(Answer(202, body={"data": {"capture_id": ID, "status": "REJECTED", "reason": reason}}),
                   Answer(202, body={"data": {"capture_id": ID, "status": "processing"}}))
        api.answer(Answer(200, body={"data": {"capture_id": ID, "status": "failed", "reason": reason}}), to="poll")
        for about in ("in the first answer", "by a poll"):
            said.append(rig.send("--until-empty", "--json", "--on-event", "cat >> hook", code=14, about=about))
            row = rig.delivery(bundle)
            expect(row.state == "permanently_failed" and "too flat" in (row.error_message or ""),
                   f"{about}: is {row.state}: {row.error_message!r}")
            rig.run("retry", bundle.id).must(0, about="retry")
        said.append(rig.send("--json", code=0))
        signatures = [request.headers["x-device-signature"] for request in api.seen()]
    texts = hidden(rig, [TOKEN, "hidden-7", *signatures], *said)
    expect(b"too flat" in texts["the hook"] and len(signatures) > 3, "nothing was told, or little was sent")
    for name in rig.names():
        if stat.S_ISREG((rig.queue / name).lstat().st_mode):
            data = (rig.queue / name).read_bytes()
            expect(not any(secret.encode() in data for secret in (TOKEN, *signatures)), f"{name} has a secret")


TESTS = [
    ("a token and headers beside --url-endpoint", endpoint),
    ("an answer that quotes token, header and query", echoes),
    ("--secret-path: no output shows the path", secret_paths),
    ("--no-secret-path shows it again", shown_again),
    ("the password of a proxy", proxies),
    ("http: the token and the signatures, and a rejection that quotes the token", of_the_api),
]
