"""TLS: without a trusted connection no body, token or signature is sent, and the destination is not called offline."""
import socket
import ssl

import seaweed
from capture_api import CaptureAPI
from checks import every, expect
from fault_proxy import Fault, FaultProxy
from nginx import fresh
from raw_server import Bare, received
from rigs import AT_ONCE, DEVICE, wait_until
from secrecy import TOKEN, token_of
from sockets import SocketServer
from tls_servers import Trust


class Listener(SocketServer):
    """Reads plain TCP and answers with plain HTTP; `heard` is all that it has read."""

    def __init__(self, answer=b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"):
        super().__init__()
        self.answer, self.heard = answer, b""

    def serve(self, client, number):
        self.heard += client.recv(65536)
        client.sendall(self.answer)
        client.settimeout(1)
        while data := client.recv(65536):
            self.heard += data


WRONG = ("expired", "host", "unknown")


def kinds(rig, base, options):
    """Adds a destination of each of the three kinds with its credentials."""
    rig.env |= {"AWS_ACCESS_KEY_ID": "AKTLS", "AWS_SECRET_ACCESS_KEY": "secret"}
    token = token_of(rig)
    return {"http": ("--url", base, "--key", rig.key, "--device-id", DEVICE, *token, *options),
            "put": ("--url", base + "/store/{sha256}", *token, *options), "s3": ("--url", base + "/bucket", *options)}


def held_for_tls(rig, about):
    place = rig.destination("it")
    expect(place.blocked_reason == "tls", f"{about}: blocked as {place.blocked_reason}: {place.blocked_message!r}")
    rows = {(row.state, row.attempts) for row in rig.deliveries()}
    expect(rows == {("pending", 0)}, f"{about}: {rows}")


def untrusted(bench):
    """An expired certificate, a wrong host or an unknown authority blocks each kind, and nothing is sent."""
    trust = Trust(bench)

    def judge(name, case):
        wrong, kind = case
        rig = bench.rig()
        with FaultProxy(server.ports["tls"][wrong]) as proxy:
            base = f"https://127.0.0.1:{proxy.port}"
            rig.dest("it", kind, *kinds(rig, base, trust.options)[kind])
            rig.push(*bench.stock[:2])
            result = rig.send("--until-empty", code=15)
            held_for_tls(rig, name)
            expect("certificate" in (rig.destination("it").blocked_message + result.text).lower(), f"{name}: no reason")
            tested = rig.run("dest", "test", "it").must(78, about="dest test")
            for text in (result.text, tested.text):
                asks = "dest set it --url https://NAME" if wrong == "host" else "dest set it --ca FILE"
                expect(asks in text, f"{name}: says {text!r}")
            up = sum(one.up for one in proxy.connections)
        expect(up < len(bench.stock[0].data), f"{up} bytes were sent")

    with trust.server(bench) as server:
        every({f"{kind}, {wrong}": (wrong, kind) for wrong in WRONG for kind in ("http", "put", "s3")}, judge)
        expect(not server.log(), f"requests arrived: {server.log()[:2]}")
        expect(not server.holds(), "something was stored")


def plain_server(bench):
    """If a port does not speak TLS, it gets nothing from us but the first TLS message."""
    answers = {"http": Listener().answer, "silence": b"", "garbage": b"\0\1\2\3" * 500,
               "an alert": b"\x15\x03\x01\x00\x02\x02\x28"}

    def judge(name, answer):
        for kind in ("http", "put", "s3"):
            rig = bench.rig()
            with Listener(answer) as listener:
                rig.dest("it", kind, *kinds(rig, f"https://127.0.0.1:{listener.port}", ("--retry", AT_ONCE))[kind])
                rig.push(bench.stock[0])
                rig.send(code=15)
                held_for_tls(rig, f"{kind}, {name}")
                heard = listener.heard
            expect(heard[:2] == b"\x16\x03", f"{kind}: it began with {heard[:8]!r}")
            for word in (TOKEN.encode(), b"HTTP/1.", DEVICE.encode(), b"AWS4-HMAC", bench.stock[0].data[512:1024]):
                expect(word not in heard, f"{kind}: {word[:20]!r} was sent in the clear")

    every(answers, judge)


def http_to_tls(bench):
    """http:// to a port that speaks TLS: `dest test` says that the URL begins with https://."""
    def hang_up(client, _):
        client.recv(65536)

    def judge(name, kind):
        rig = bench.rig()
        with Bare(hang_up) as server:
            rig.dest("it", kind, *kinds(rig, server.url, ())[kind])
            text = rig.run("dest", "test", "it").must(15, about="dest test").text
            expect("if the server speaks TLS, its URL begins with https://" in text, f"{name}: says {text!r}")

    every({kind: kind for kind in ("http", "put", "s3")}, judge)


def cut_in_the_handshake(bench):
    """After an interrupted or garbled handshake nothing has landed and nothing was sent; the next run delivers."""
    trust = Trust(bench)
    faults = {"closed at once": Fault(close=True), "cut": Fault(reply_cut=300), "garbled": Fault(reply="garble")}
    with trust.server(bench) as server:
        def judge(name, fault):
            rig, bundle = bench.rig(), bench.stock[5]
            with FaultProxy(server.ports["tls"]["good"]) as proxy:
                proxy.plan(otherwise=fault)
                url = f"https://127.0.0.1:{proxy.port}/store/{{sha256}}.bundle"
                rig.dest("it", "put", "--url", url, *trust.options)
                rig.push(bundle)
                rig.send(code=15)
                held_for_tls(rig, name)
                expect(not server.log(method="PUT"), "a request arrived")
                proxy.plan()
                rig.send(code=0)
                server.keeps(bundle)
            server.path(f"store/{bundle.sha256}.bundle").unlink()
            (server.folder / "access.log").write_bytes(b"")

        every(faults, judge)


def own_authority(bench):
    """A server with our authority's certificate is trusted only with --ca, and that setting is enough."""
    trust = Trust(bench)
    with trust.server(bench) as server:
        rig, bundle = bench.rig(), bench.stock[0]
        rig.dest("it", "put", "--url", f"{server.secure('good')}/store/{{sha256}}.bundle", *token_of(rig))
        rig.push(bundle)
        rig.send("--until-empty", code=15)
        held_for_tls(rig, "without --ca")
        expect(not server.log(), "requests arrived")
        rig.run("dest", "set", "it", "--ca", trust.authority.path).must(0, about="dest set")
        rig.run("resume", "--dest", "it").must(0, about="resume")
        rig.send("--until-empty", code=0)
        server.keeps(bundle)
        put, = server.logged(1, method="PUT")
        expect(put["authorization"] == f"Bearer {TOKEN}", "the token was not sent where it may be")
        named = server.secure("good").replace("127.0.0.1", "localhost")
        rig.dest("named", "put", "--url", f"{named}/store/named-{{sha256}}", "--ca", trust.authority.path)
        rig.push(bench.stock[1], options=("--dest", "named"))
        rig.send("--dest", "named", code=0)


def wrong_files(bench):
    """An unreadable or invalid file for --ca, --cert or --cert-key gives 78, or blocks the destination for the user."""
    trust = Trust(bench)
    certificate, key = trust.authority.client()
    empty = bench.folder / f"empty{next(bench.numbers)}.pem"
    empty.write_text("no certificate\n")
    cases = {"no such --ca": ("--ca", bench.folder / "nowhere.pem"), "--ca without certificates": ("--ca", empty),
             "no such --cert": ("--ca", trust.authority.path, "--cert", bench.folder / "nowhere", "--cert-key", key),
             "another key": ("--ca", trust.authority.path, "--cert", certificate, "--cert-key", trust.pairs["good"][1])}
    with trust.server(bench) as server:
        def judge(name, options):
            rig = bench.rig()
            url = f"{server.secure('clients')}/store/{{sha256}}.bundle"
            result = rig.run("dest", "add", "it", "--kind", "put", "--url", url, *options).must(0, 78, about="dest add")
            if result.code == 0:
                rig.push(bench.stock[0])
                rig.send(code=(15, 78))
                held = rig.destination("it").blocked_reason
                expect(held in ("local", "tls"), f"blocked as {held}")
                expect(rig.delivery(bench.stock[0]).attempts == 0, "an attempt was used")

        every(cases, judge)
        expect(not server.holds(), "something was stored")


def client_certificates(bench):
    """With --cert and --cert-key the server identifies the client; without them it accepts nothing."""
    trust = Trust(bench)
    certificate, key = trust.authority.client("roof-seven")
    with trust.server(bench) as server:
        url = f"{server.secure('clients')}/store/{{sha256}}.bundle"
        rig = bench.rig()
        rig.dest("it", "put", "--url", url, *trust.options)
        rig.push(bench.stock[0])
        rig.send(code=(14, 15))
        expect(not server.holds(), "stored without a certificate")
        rig = bench.rig()
        rig.dest("it", "put", "--url", url, *trust.options, "--cert", certificate, "--cert-key", key)
        rig.push(bench.stock[0])
        rig.send(code=0)
        server.keeps(bench.stock[0])
        seen = server.logged(1, method="PUT", status=201)
        expect("roof-seven" in seen[0]["client"], f"the server saw {seen[0]['client']!r}")


def behind_tls(bench):
    """http and s3 work over TLS as they do without it."""
    trust = Trust(bench)
    with CaptureAPI(bench.public) as api, trust.server(bench, backend=api.url) as server:
        rig = bench.rig()
        rig.http(server.secure("good"), "--ca", trust.authority.path)
        rig.push(*bench.stock[:3])
        rig.send(code=0)
        api.content()
        api.holds(*map(bench.photo, bench.stock[:3]))
    store = seaweed.shared(bench)
    with fresh(bench, tls=trust.pairs, passes=f"http://127.0.0.1:{store.port}") as server:
        rig, prefix = bench.rig(), f"tls{next(bench.numbers)}"
        rig.env |= store.keys.environment
        rig.dest("it", "s3", "--url", f"{server.secure('good')}/{seaweed.BUCKET}/{prefix}", *trust.options)
        rig.push(*bench.stock[:3])
        rig.send(code=0)
        for bundle in bench.stock[:3]:
            data = store.client().get(f"{prefix}/{bundle.sha256}.bundle")
            expect(data == bundle.data, "the store has other bytes")


def old_versions(bench):
    """A server that supports at most TLS 1.1 gets no part of a request, even with the right certificate."""
    trust, heard = Trust(bench), []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*trust.pairs["good"])
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    with Bare(lambda client, _: heard.append(received(client)), context) as server:
        # A client that accepts the old version can connect.
        old = ssl.create_default_context(cafile=trust.authority.path)
        old.set_ciphers("ALL:@SECLEVEL=0")
        old.minimum_version = ssl.TLSVersion.TLSv1_1
        with socket.create_connection(("127.0.0.1", server.port)) as plain, \
                old.wrap_socket(plain, server_hostname="127.0.0.1") as client:
            client.sendall(b"HEAD / HTTP/1.1\r\n\r\n")
            wait_until(lambda: heard, "the server to take a request over TLS 1.1")
        rig = bench.rig()
        rig.dest("it", "put", "--url", server.url + "/{sha256}", *token_of(rig), *trust.options)
        rig.push(bench.stock[0])
        rig.send("--until-empty", code=15)
        held_for_tls(rig, "TLS 1.1")
    expect(len(heard) == 1, f"it heard {heard[1:]}")


FAMILY = [
    ("expired, another host, an unknown authority: blocked, nothing sent", untrusted),
    ("a plain server on the port of https: nothing but a greeting", plain_server),
    ("http:// for https://", http_to_tls),
    ("a handshake that breaks off", cut_in_the_handshake),
    ("--ca", own_authority),
    ("unusable files for TLS", wrong_files),
    ("client certificates", client_certificates),
    ("http and s3 over TLS", behind_tls),
    ("a server that knows no newer version than TLS 1.1", old_versions),
]
