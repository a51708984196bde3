"""TLS: without a trusted connection no body, token or signature is sent, and the destination is not called offline."""
import contextlib
import pathlib
import socket
import ssl

from Kit.clocks import forget_the_killed
from Kit.outcomes import IS_LONG, Skipped, every, expect
from Kit.sending import AT_ONCE, DEVICE, wait_until
from Kit.servers.certificates import Authority
from Kit.servers.fault_proxy import Fault, FaultProxy
from Kit.servers.raw_server import Bare, answer, received
from Kit.servers.sockets import SocketServer
from Kit.servers.tls_servers import Trust
from Sending.answers.tries import some
from Sending.secrecy import TOKEN, token_of

KINDS = ("http", "put", "s3")


class Listener(SocketServer):
    """Reads plain TCP and answers with plain HTTP; `heard` is all that it has read."""

    def __init__(self, answer):
        super().__init__()
        self.answer, self.heard = answer, b""

    def serve(self, client, number):
        self.heard += client.recv(65536)
        client.sendall(self.answer)
        client.settimeout(1)
        while data := client.recv(65536):
            self.heard += data


def crossed(names):
    """Returns pairs of a name and a kind: all of them, or in the short form each name with one kind."""
    pairs = [(name, kind) for name in names for kind in KINDS]
    return pairs if IS_LONG else [(name, KINDS[place % 3]) for place, name in enumerate(names)]


def add(rig, name, kind, base, options):
    """Adds a destination of one of the three kinds, with its credentials."""
    rig.env |= {"AWS_ACCESS_KEY_ID": "AKTLS", "AWS_SECRET_ACCESS_KEY": "secret"}
    token = token_of(rig)
    rig.dest(name, kind, *{"http": ("--url", base, "--key", rig.key, "--device-id", DEVICE, *token),
                           "put": ("--url", base + "/store/{sha256}", *token),
                           "s3": ("--url", base + "/bucket")}[kind], *options)


def held_for_tls(rig, name="it", reason="tls"):
    place = rig.destination(name)
    expect(place.blocked_reason == reason, f"blocked as {place.blocked_reason}: {place.blocked_message!r}")
    rows = {(row.state, row.attempts) for row in rig.deliveries() if row.destination_name == name}
    expect(rows == {("pending", 0)}, f"{rows}")


def untrusted(bench):
    """An expired certificate, a wrong host or an unknown authority blocks each kind, and nothing is sent."""
    trust, rig, bundle = Trust(bench), bench.rig(), bench.stock[0]
    cases = {f"{wrong}-{kind}": (wrong, kind) for wrong, kind in crossed(("expired", "host", "unknown"))}
    with trust.server(bench) as server, contextlib.ExitStack() as stack:
        proxies = {name: stack.enter_context(FaultProxy(server.ports["tls"][wrong]))
                   for name, (wrong, _) in cases.items()}
        for name, (_, kind) in cases.items():
            add(rig, name, kind, f"https://127.0.0.1:{proxies[name].port}", trust.options)
        rig.push(bundle, options=[word for name in cases for word in ("--dest", name)])
        result = rig.send("--until-empty", code=15)

        def judge(name, case):
            held_for_tls(rig, name)
            expect("certificate" in rig.destination(name).blocked_message.lower(), "no reason")
            tested = rig.run("dest", "test", name).must(78, about="dest test")
            asks = f"dest set {name} --url https://NAME" if case[0] == "host" else f"dest set {name} --ca FILE"
            for text in (result.text, tested.text):
                expect(asks in text, f"says {text!r}")
            up = sum(one.up for one in proxies[name].connections)
            expect(up < len(bundle.data), f"{up} bytes were sent")

        every(cases, judge)
        expect(not server.log(), f"requests arrived: {server.log()[:2]}")
        expect(not server.holds(), "something was stored")


def named_faults(bench):
    """What is wrong with a certificate is said in words of its own, with what to do."""
    known, other = (Authority(bench.folder / f"ca{next(bench.numbers)}", name) for name in ("known", "other"))
    cases = {"expired": (known.server(days=-1, label="old"), "has expired", "renew it at the server"),
             "not yet valid": (known.server(days=90, label="new", begins=30), "is not yet valid", "set the clock"),
             "foreign": (other.server(), "by an authority that is not trusted here", "trust the authority"),
             "self-signed": (other.own(), "is self-signed", "if it is the right server")}

    def judge(name, case):
        pair, words, advice = case
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*pair)
        with Bare(lambda client, _: received(client), context) as server:
            rig = bench.rig()
            rig.dest("it", "put", "--url", server.url + "/{sha256}", "--ca", known.path)
            rig.push(bench.stock[0])
            said = rig.send(code=15).text
        held_for_tls(rig)
        for text in (f"the server's certificate {words}" if name != "foreign" else words, advice, "dest set it --ca FILE"):
            expect(text in said, f"{text!r} is not in {said!r}")

    every(cases, judge)


def clock_set(bench):
    """A certificate is not yet valid because this machine's clock is in the past. Once it is set, a run tries at once."""
    library = next(iter(pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1")), None)
    if not library:
        raise Skipped("faketime is not installed (Debian's package of that name)")
    forget_the_killed()
    known = Authority(bench.folder / f"ca{next(bench.numbers)}", "known")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*known.server())

    def reply(client, _):
        while heard := received(client):
            client.sendall(answer(201 if heard.method == "PUT" else 405))

    with Bare(reply, context) as server:
        rig = bench.rig()
        clock = rig.folder / "clock"
        clock.write_text("-400d")
        rig.env |= {"LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                    "FAKETIME_CACHE_DURATION": "1"}
        rig.dest("it", "put", "--url", server.url + "/{sha256}", "--ca", known.path, "--proof", "status")
        rig.push(bench.stock[0])
        with rig.start("run", "--watch") as running:
            wait_until(lambda: rig.destination("it").blocked_reason == "tls", "the block")
            clock.write_text("+0")
            # The run looks at the clock once a minute. The block alone would last five.
            wait_until(lambda: rig.states() == {"completed"}, "the capture to land", seconds=90)
            running.stop()


def plain_server(bench):
    """If a port does not speak TLS, it gets nothing from us but the first TLS message."""
    answers = {"http": b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "silence": b"",
               "garbage": b"\0\1\2\3" * 500, "alert": b"\x15\x03\x01\x00\x02\x02\x28"}
    cases, rig = {f"{name}-{kind}": (name, kind) for name, kind in crossed(answers)}, bench.rig()
    with contextlib.ExitStack() as stack:
        listeners = {name: stack.enter_context(Listener(answers[case[0]])) for name, case in cases.items()}
        for name, (_, kind) in cases.items():
            add(rig, name, kind, f"https://127.0.0.1:{listeners[name].port}", ("--retry", AT_ONCE))
        rig.push(bench.stock[0], options=[word for name in cases for word in ("--dest", name)])
        rig.send(code=15)

        def judge(name, case):
            held_for_tls(rig, name, reason="failing" if case[0] == "silence" else "tls")
            if case[0] == "silence":
                said = rig.destination(name).blocked_message
                expect("closed the connection before TLS began" in said, f"says {said!r}")
            heard = listeners[name].heard
            expect(heard[:2] == b"\x16\x03", f"it began with {heard[:8]!r}")
            for word in (TOKEN.encode(), b"HTTP/1.", DEVICE.encode(), b"AWS4-HMAC", bench.stock[0].data[512:1024]):
                expect(word not in heard, f"{word[:20]!r} was sent in the clear")

        every(cases, judge)


def http_to_tls(bench):
    """http:// on the port of https: the URL is at fault, whatever such a server does with a request without TLS."""
    trust = Trust(bench)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*trust.pairs["good"])

    def go(client, _):
        if received(client):
            client.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")

    def alerting(client, _):
        if client.recv(1, socket.MSG_PEEK) == b"\x16":
            with context.wrap_socket(client, server_side=True):
                return
        received(client)
        client.sendall(b"\x15\x03\x03\x00\x02\x02\x46")

    rig = bench.rig()
    with trust.server(bench) as nginx, Bare(go) as plain, Bare(alerting) as alert, \
            Bare(lambda client, _: received(client), context) as closing:
        ports = {"nginx": nginx.ports["tls"]["good"], "go": plain.port, "alert": alert.port, "closing": closing.port}
        cases = {f"{name}-{kind}": (name, kind) for name, kind in crossed(ports)}
        for name, (server, kind) in cases.items():
            add(rig, name, kind, f"http://127.0.0.1:{ports[server]}", ("--retry", AT_ONCE))
        rig.push(bench.stock[0], options=[word for name in cases for word in ("--dest", name)])
        result = rig.send(code=15)

        def judge(name, case):
            held_for_tls(rig, name, reason="endpoint")
            said = rig.destination(name).blocked_message
            expect("the port speaks TLS, so its URL begins with https://" in said, f"says {said!r}")
            # Without a body, Go's words do not come.
            tested = [] if case[0] == "go" else [rig.run("dest", "test", name).must(78, about="dest test")]
            for text in (result.text, *(one.text for one in tested)):
                expect(f"dest set {name} --url https://" in text, f"says {text!r}")

        every(cases, judge)


def cut_in_the_handshake(bench):
    """After an interrupted or garbled handshake nothing has landed and nothing was sent; the next run delivers."""
    trust, rig = Trust(bench), bench.rig()
    faults = {"closed": Fault(close=True), "cut": Fault(reply_cut=300), "garbled": Fault(reply="garble")}
    bundles = dict(zip(faults, bench.stock))
    with trust.server(bench) as server, contextlib.ExitStack() as stack:
        proxies = {name: stack.enter_context(FaultProxy(server.ports["tls"]["good"])) for name in faults}
        for name, fault in faults.items():
            proxies[name].plan(otherwise=fault)
            url = f"https://127.0.0.1:{proxies[name].port}/store/{{sha256}}.bundle"
            rig.dest(name, "put", "--url", url, *trust.options)
            rig.push(bundles[name], options=("--dest", name))
        rig.send(code=15)
        every(faults, lambda name, _: held_for_tls(rig, name, reason="failing" if name == "closed" else "tls"))
        expect(not server.log(method="PUT"), "a request arrived")
        for proxy in proxies.values():
            proxy.plan()
        rig.send(code=0)
        server.keeps(*bundles.values())


def own_authority(bench):
    """A server with our authority's certificate is trusted only with --ca, and that setting is enough."""
    trust = Trust(bench)
    with trust.server(bench) as server:
        rig, bundle = bench.rig(), bench.stock[0]
        rig.dest("it", "put", "--url", f"{server.secure('good')}/store/{{sha256}}.bundle", *token_of(rig))
        rig.push(bundle)
        rig.send("--until-empty", code=15)
        held_for_tls(rig)
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


def client_certificates(bench):
    """With --cert and --cert-key the server identifies the client; without them, or with wrong files, nothing lands."""
    trust, rig, bundle = Trust(bench), bench.rig(), bench.stock[0]
    certificate, key = trust.authority.client("roof-seven")
    empty = rig.folder / "empty.pem"
    empty.write_text("no certificate\n")
    cases = {"none": trust.options, "empty": ("--ca", empty),
             "another": ("--ca", trust.authority.path, "--cert", certificate, "--cert-key", trust.pairs["good"][1]),
             "right": (*trust.options, "--cert", certificate, "--cert-key", key)}
    foreign = Authority(bench.folder / f"ca{next(bench.numbers)}").client("foreign")
    refused = {"expired": trust.authority.client("old", days=0), "foreign": foreign}
    cases |= {name: (*trust.options, "--cert", one, "--cert-key", own) for name, (one, own) in refused.items()}
    with trust.server(bench) as server:
        url = f"{server.secure('clients')}/store/{{sha256}}.bundle"
        taken = [name for name, options in cases.items() if rig.run(
            "dest", "add", name, "--kind", "put", "--url", url, *options).must(0, 78, about="dest add").code == 0]
        expect({"none", "right"} <= set(taken), f"added are {taken}")
        wrong = [name for name in taken if name != "right"]
        rig.push(bundle, options=[word for name in wrong for word in ("--dest", name)])
        rig.send(code=(14, 15))
        expect(not server.holds(), "stored without a certificate")
        for name in ("none", *refused):
            # nginx ends the handshake well, and answers 400 with a page whose title names the certificate.
            held_for_tls(rig, name, reason="credentials")
            said = rig.destination(name).blocked_message
            expect("certificate" in said.lower(), f"{name}: says {said!r}")
        for name in refused:
            hint = rig.run("dest", "test", name)
            expect(f"dest set {name} --cert" in hint.text, f"{name}: {hint.text!r}")
        for name in set(wrong) - {"none", *refused}:
            expect(rig.destination(name).blocked_reason in ("local", "tls"), f"{name}: not blocked")
            expect(rig.delivery(bundle, name).attempts == 0, f"{name}: an attempt was used")
        rig.push(bench.stock[1], options=("--dest", "right"))
        rig.send("--dest", "right", code=0)
        server.keeps(bench.stock[1])
        seen = server.logged(1, method="PUT", status=201)
        expect("roof-seven" in seen[0]["client"], f"the server saw {seen[0]['client']!r}")


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
        held_for_tls(rig)
    expect(len(heard) == 1, f"it heard {heard[1:]}")


def refused_after_the_handshake(bench):
    """OpenSSL, Go and Apache refuse a client certificate with an alert: with TLS 1.3 that comes after the handshake."""
    trust = Trust(bench)
    right, foreign = (authority.client("roof") for authority in (
        trust.authority, Authority(bench.folder / f"ca{next(bench.numbers)}", "other")))
    one, old = ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2
    cases = {"none": (one, (), "certificate required"), "foreign": (one, foreign, "unknown ca"),
             "foreign, TLS 1.2": (old, foreign, "unknown ca"),
             "another key": (one, (right[0], foreign[1]), "the client certificate cannot be used")}

    def judge(name, case):
        version, pair, words = case
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*trust.pairs["good"])
        context.load_verify_locations(trust.authority.path)
        context.verify_mode = ssl.CERT_REQUIRED
        context.minimum_version = context.maximum_version = version
        with Bare(lambda client, _: received(client), context) as server:
            rig = bench.rig()
            rig.dest("it", "put", "--url", server.url + "/{sha256}", "--ca", trust.authority.path,
                     *(("--cert", pair[0], "--cert-key", pair[1]) if pair else ()))
            rig.push(bench.stock[0])
            said = rig.send(code=15).text
        held_for_tls(rig)
        expect(words in said and "dest set it --cert FILE" in said, f"says {said!r}")

    every(some(cases, 2), judge)


TESTS = [
    ("a client certificate that is refused with an alert", refused_after_the_handshake),
    ("a clock that is set while TLS blocks: tried at once", clock_set),
    ("expired, not yet valid, foreign, self-signed: each in its own words", named_faults),
    ("expired, another host, an unknown authority: blocked, nothing sent", untrusted),
    ("a plain server on the port of https: nothing but a greeting", plain_server),
    ("http:// on the port of https: the message says so", http_to_tls),
    ("a handshake that breaks off", cut_in_the_handshake),
    ("--ca", own_authority),
    ("client certificates, and unusable files", client_certificates),
    ("a server that knows no newer version than TLS 1.1", old_versions),
]
