"""Tokens, keys and queries go to whom they are meant for, and are shown nowhere; what nobody asked for is no answer."""
import base64
import functools
import hashlib
import json
import os
import re
import socket
import ssl
import struct
import threading
import urllib.parse

from certificates import Authority
from checks import every, expect
from early_success import CHUNK, Bare, answer, received
from rigs import DEVICE, wait_until
from scripted import Reply, Scripted, in_json
from tls_trust import TOKEN, Trust, token_of

KEY = "key-9b1c77-for-one-origin"
QUERY = "sig=SASq7%2Bw8%2Ftail41&code=FUNC%3D9x3"
RESET = struct.pack("ii", 1, 0)  # SO_LINGER 0: closing sends RST


def takes(request):
    """What a plain store answers."""
    return Reply(201 if request.method == "PUT" else 405)


def endpoint(bench):
    """The token is the endpoint's; the URL that it names gets it, and own headers, where that is the same origin."""
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
    """--cert tells who we are: a redirect to another origin is not followed with it."""
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
            expect(place.held_code in ("endpoint", "credentials"), f"held as {place.held_code}")

        every({"307": 307, "308": 308}, judge)
        expect(not server.holds() and not server.log(port=server.ports["tls"]["good"]), "it was sent further")


def outputs(rig, bundle, destination):
    """All that is said of a capture and its destination."""
    words = (["show", bundle.id], ["show", "--json", bundle.id], ["list"], ["list", "--json"], ["history", bundle.id],
             ["history", "--json", bundle.id], ["status"], ["status", "--json"], ["status", "--prometheus"],
             ["dest", "show", destination], ["dest", "show", "--json", destination], ["dest", "list"])
    return {" ".join(one): (result := rig.run(*one)).out + result.err for one in words}


def remote_url(bench):
    """The query of a plain URL lets others in, too: what is shown of where a capture lies has none."""
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
    """An error that quotes all that it was given, as it came and decoded."""
    told = [request.headers.get(name, "") for name in ("authorization", "x-api-key")]
    words = " ".join(["cannot take", *told, request.path, urllib.parse.unquote(request.path)])
    if not is_json:
        return Reply(status, {"Content-Type": "text/plain"}, words.encode())
    return in_json({"error": {"code": "SCRIPTED", "message": words}}, status)


def echoes(bench):
    """What a server repeats of token, own headers and query in an error is shown nowhere."""
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
    """The password of a proxy is shown nowhere; a proxy that is none is refused."""
    rig, bundle = bench.rig(), bench.stock[0]
    rig.dest("web", "put", "--url", "http://127.0.0.1:9/{sha256}", "--proxy", "http://user:pw-5d1c@127.0.0.1:9")
    rig.push(bundle)
    result = rig.send("--json", "--once", code=15)
    for words, text in {"run": result.out + result.err, **outputs(rig, bundle, "web")}.items():
        expect(b"pw-5d1c" not in text, f"{words} shows the password")
    for proxy in ("nonsense://", "nonsense://127.0.0.1:9", "http://"):
        rig.dest("other", "put", "--url", "http://127.0.0.1:9/{sha256}", "--proxy", proxy, code=78)


def no_tls(bench):
    """Bytes on the wire that are no TLS may be anybody's: whatever they spell is no answer."""
    authority = Authority(bench.folder / f"ca{next(bench.numbers)}")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.server())

    def serve(client, _):
        with socket.socket(fileno=os.dup(client.fileno())) as wire:
            received(client, 0)
            # The length of a record's head, which OpenSSL reads and refuses.
            wire.sendall(b"plain" + answer(413, "Connection: close"))
            while wire.recv(CHUNK):
                pass

    def judge(name, bundle):
        with Bare(serve, context) as server:
            rig = bench.rig()
            rig.dest("web", "put", "--url", server.url + "/{sha256}", "--ca", authority.path, "--retry", "0,600")
            rig.push(bundle)
            rig.send("--once", code=15)
        row = rig.delivery(bundle)
        expect(row.state in ("failed", "pending"), f"is {row.state}: {row.error_code} {row.error_message}")
        said = f"{row.error_code} {row.error_message} {rig.destination('web').held_reason}"
        # As a word: a port may have these digits.
        expect(not re.search(r"\b413\b", said), f"413 counts: {said}")

    every({"small": bench.stock[0], "8 MB": bench.big()}, judge)


def unasked_answer(bench):
    """A 400 that nobody asked for, left in a kept connection, is not the answer to what is sent next."""
    first, second = bench.stock[:2]

    def judge(name, is_at_once):
        go, gone = threading.Event(), threading.Event()

        def serve(client, number):
            heard = received(client)
            if number > 1:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                return
            digest = base64.b64encode(hashlib.sha256(heard.body).digest()).decode()
            told, more = answer(200, f"Repr-Digest: sha-256=:{digest}:"), answer(400, "Connection: close")
            client.sendall(told + more if is_at_once else told)
            go.wait(60)
            if not is_at_once:
                client.sendall(more)
            gone.set()
            client.recv(1)

        with Bare(serve) as server:
            rig = bench.rig()
            rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", "0,600")
            rig.push(first)
            with rig.start("run", "--watch", "--json") as running:
                wait_until(lambda: running.saw("completed", id=first.id), "the first to land")
                go.set()
                wait_until(gone.is_set, "the answer that nobody asked for")
                rig.push(second)
                wait_until(lambda: rig.tries(second) and rig.tries(second)[-1].ended_at, "the second to fail")
                running.stop()
        row = rig.delivery(second)
        expect((row.state, row.attempts) == ("failed", 1) and row.error_code != "http.400",
               f"is {row.state} after {row.attempts} attempts: {row.error_code} {row.error_message}")

    every({"with the answer": True, "later": False}, judge)


FAMILY = [
    ("a token and headers beside --url-endpoint", endpoint),
    ("a client certificate and a redirect", client_certificate),
    ("the query of a plain URL", remote_url),
    ("an error that repeats token, header and query", echoes),
    ("the password of a proxy", proxies),
    ("bytes that are no TLS", no_tls),
    ("an answer that nobody asked for", unasked_answer),
]
