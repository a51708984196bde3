"""What each receiver takes, what it refuses and with which status, and that nothing is left of what it refused."""
import functools
import http.client
import json
import select
import socket
import tarfile

from Frameworks.bench import PATH, SAMPLES, photo
from Kit.outcomes import expect
from Kit.sending import DEVICE, completed
from Kit.servers.fault_proxy import Fault, FaultProxy

NAMES = ("FastAPI", "Django", "PHP", "Node")
PARTS = ["mimetype", "manifest.json", "assertion.cbor", "confidence.png", "depth.f32.gz", "location.json", "metadata.json", "photo.jpg",
         "source/depth.png"]
# What half a body gets when the client ends its side: uvicorn and nginx close the connection, Node's own parser answers,
# and gunicorn gives the receiver what came.
HALF = {"FastAPI": None, "Django": (408, "BODY_INCOMPLETE"), "PHP": None, "Node": (400, None)}
PAUSE = 0.5  # seconds in which a receiver must not answer, because the body is not over


class Answer:
    """The status, the headers and the JSON of an answer."""

    def __init__(self, response):
        self.status, self.retry_after = response.status, response.getheader("Retry-After")
        data, kind = response.read(), response.getheader("Content-Type")
        self.content = json.loads(data) if kind == "application/json" else {}
        self.code = self.content.get("error", {}).get("code")

    def __str__(self):
        return f"{self.status} {self.content} Retry-After {self.retry_after}"


def post(server, body, headers, length=None):
    """Sends a request by hand, the last byte of its body after a pause, and returns the answer; None if there is none.

    With a `length` that is larger than the body, the client ends its side after the body, as when a line breaks.
    """
    head = {"Host": "receiver", "Connection": "close", "Content-Length": str(length or len(body))} | headers
    text = f"POST {PATH} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in head.items()) + "\r\n"
    with socket.create_connection(("127.0.0.1", server.port), 60) as client:
        client.sendall(text.encode() + body[:-1])
        expect(not select.select([client], [], [], PAUSE)[0], "it answers before the body is over")
        client.sendall(body[-1:])
        if length:
            client.shutdown(socket.SHUT_WR)
        response = http.client.HTTPResponse(client)
        try:
            response.begin()
        except (http.client.RemoteDisconnected, ConnectionResetError):
            return None
        return Answer(response)


def refuses(bench, server, about, status, code, body, headers, **how):
    """Checks the status and the code of an answer, and that nothing is left."""
    before = server.kept()
    answer = post(server, body, headers, **how)
    expect(answer and (answer.status, answer.code) == (status, code), f"{about}: the answer is "
           f"{answer}, not {status} {code}")
    server.at_rest(about)
    expect(server.kept() == before, f"{about}: it was kept")
    return answer


def takes(name, bench):
    """12 MB are more than the default limits of nginx, of PHP, and of Django's `request.body`."""
    server, rig = bench.servers[name], bench.rig()
    rig.http(server.url)
    rig.run("dest", "test", "api").must(0, about="dest test")
    for size in (3_000_000, 12_000_000):
        bundle = bench.capture(f"{name}-{size}", size)
        with tarfile.open(bundle.path) as archive:
            expect(archive.getnames() == PARTS, f"the bundle has {archive.getnames()}")
        before = server.kept()
        rig.push(bundle)
        rig.send("--until-empty", code=0)
        completed(rig, bundle)
        kept = server.store / "kept" / f"{rig.receipt(bundle)['capture_id']}.bundle"
        expect(kept.read_bytes() == bundle.data, "the receiver has another bundle than the device")
        bench.template.verify(kept)
        server.at_rest("after 202")
        expect(sorted([*before, kept.name]) == server.kept(), f"it keeps {server.kept()}")


def takes_again(name, bench):
    server, body = bench.servers[name], bench.body(bench.capture(f"{name}-again", 5000))
    answers = [post(server, body, bench.signed(body)) for _ in range(2)]
    expect([answer.status for answer in answers] == [202, 202], f"answers {[*map(str, answers)]}")
    expect(answers[0].content == answers[1].content, "the second answer has another id")
    expect(f"{answers[0].content['data']['capture_id']}.bundle" in server.kept(), "nothing is kept by this id")


def wrong_signature(name, bench):
    server, body = bench.servers[name], bench.body(bench.capture(f"{name}-signature"))
    forged = bench.signed(body, bench.other_key)
    refuses(bench, server, "signed by another key", 401, "SIGNATURE_INVALID", body, forged)
    other = body[:-9] + bytes([body[-9] ^ 1]) + body[-8:]
    refuses(bench, server, "signed over other bytes", 401, "SIGNATURE_INVALID", other, bench.signed(body))
    for about, value in {"not base64": "%%%%", "not DER": "AAAA", "absent": ""}.items():
        refuses(bench, server, about, 401, "SIGNATURE_INVALID", body, bench.signed(body) | {"X-Device-Signature": value})


def wrong_key(name, bench):
    server, rig = bench.servers[name], bench.rig()
    bundle, before = bench.capture(f"{name}-key"), server.kept()
    rig.dest("api", "http", "--url", server.url, "--key", bench.other_key, "--device-id", DEVICE)
    rig.push(bundle)
    rig.send("--until-empty", code=15)
    expect(rig.destination().blocked_reason == "credentials", f"blocked as {rig.destination().blocked_reason}")
    row = rig.delivery(bundle)
    expect((row.state, row.attempts) == ("pending", 0), f"{row.state} after {row.attempts} attempts")
    expect("SIGNATURE_INVALID" in rig.destination().blocked_message, f"says {rig.destination().blocked_message}")
    server.at_rest("after the refusal")
    expect(server.kept() == before, "it was kept")


def cut_short(name, bench):
    server, body = bench.servers[name], bench.body(bench.capture(f"{name}-cut"))
    before, half = server.kept(), body[:len(body) // 2]
    for about, signed in {"signed whole": body, "signed as it is": half}.items():
        answer = post(server, half, bench.signed(signed), length=len(body))
        expect((answer and (answer.status, answer.code)) == HALF[name], f"half a body, {about}, gets {answer}")
        server.at_rest(f"half a body, {about}")
        expect(server.kept() == before, f"half a body, {about}, was kept")


def line_breaks(name, bench):
    server, bundle = bench.servers[name], bench.capture(f"{name}-line")
    before = server.kept()
    for about, fault in {"closed": Fault(cut_after=1_000_000), "reset": Fault(cut_after=1_000_000, reset=True),
                         "half closed": Fault(end_after=1_000_000)}.items():
        rig = bench.rig()
        with FaultProxy(server.port) as proxy:
            rig.http(proxy.url)
            rig.push(bundle)
            proxy.plan(fault, otherwise=Fault(close=True))
            rig.send("--once")
            expect(proxy.connections[0].up == 1_000_000, f"{about}: {proxy.connections[0].up} bytes went through")
            state = rig.delivery(bundle).state
            expect(state in ("pending", "failed"), f"{about}: the capture is {state}")
            server.at_rest(about)
            expect(server.kept() == before, f"{about}: half a capture was kept")
            if fault.end_after:
                proxy.plan()
                rig.send("--until-empty", code=0)
                expect(rig.delivery(bundle).state == "completed", f"then it is {rig.delivery(bundle).state}")
    expect(len(server.kept()) == len(before) + 1, "it is not there, or more than once")


def not_ours(name, bench):
    server, body = bench.servers[name], bench.body(bench.capture(f"{name}-ours", 5000))
    signed = bench.signed(body)
    place = body.index(b"image/jpeg") + 1000
    altered = body[:place] + bytes([body[place] ^ 1]) + body[place + 1:]
    refuses(bench, server, "an altered photo", 400, "ALTERED", altered, bench.signed(altered))
    refuses(bench, server, "no body of ours", 400, "MALFORMED", b"--x\r\nhello\r\n", bench.signed(b"--x\r\nhello\r\n"))
    for about, change in {"an unknown device": {"X-Device-Id": DEVICE[:-1] + "0"}, "no device": {"X-Device-Id": ""},
                          "a path": {"X-Device-Id": f"../devices/{DEVICE}"}, "a time with a sign": {"X-Device-Timestamp": "+5"},
                          "no time": {"X-Device-Timestamp": ""}}.items():
        refuses(bench, server, about, 401, "DEVICE_AUTH_REQUIRED", body, signed | change)
    now = int(signed["X-Device-Timestamp"])
    for about, sent in {"ten minutes ago": now - 600_000, "in ten minutes": now + 600_000}.items():
        late = bench.signed(body, None, "--timestamp", str(sent))
        refuses(bench, server, about, 401, "TIMESTAMP_EXPIRED", body, late)
    large = body + b"x" * (21 << 20)
    refuses(bench, server, "21 MiB", 413, "PAYLOAD_TOO_LARGE", large, bench.signed(large))


def another_device(name, bench):
    """A device may not send what another one made, nor a copy without its position."""
    server, key = bench.servers[name], bench.other_key
    other = "00000000-5d47-4b1a-9c0e-7a6f1d2e3b4c"
    server.register(bench, other, f"{key}.pub")
    bundle = bench.packed(f"{name}-other", photo(name, 5000))
    body = bench.body(bundle)
    refuses(bench, server, "of another device", 403, "DEVICE_MISMATCH", body, bench.signed(body, key) | {"X-Device-Id": other})
    thin = bundle.path.with_name(f"{name}-thin.bundle")
    bench.template.run("redact", bundle.path, "--withhold", "location.json", "-o", thin).must(0, about="redact")
    made = thin.with_suffix(".body")
    bench.template.run("multipart", thin, "-o", made).must(0, about="multipart")
    body = made.read_bytes()
    refuses(bench, server, "without its position", 403, "NOT_ACCEPTABLE", body, bench.signed(body))


def own_trouble(name, bench):
    """What is not the capture's fault gets 503, and the capture is sent when the trouble is over."""
    server, rig = bench.servers[name], bench.rig()
    bundle = bench.capture(f"{name}-trouble", 5000)
    body = bench.body(bundle)
    aside = server.store.with_name("aside")
    (server.store / "kept").rename(aside)
    answer = post(server, body, bench.signed(body))
    expect((answer.status, answer.code, answer.retry_after) == (503, "STORE_UNAVAILABLE", "60"),
           f"without its folder it answers {answer}")
    server.at_rest("without its folder")
    rig.http(server.url)
    rig.push(bundle)
    rig.send("--once")
    row = rig.delivery(bundle)
    expect((row.state, row.attempts) == ("pending", 0), f"without its folder: {row.state} after {row.attempts} attempts")
    aside.rename(server.store / "kept")
    answer = post(server, body, bench.signed(body))
    expect(answer.status == 202, f"then it answers {answer}")


def reads_forms_itself(bench):
    """PHP with its default settings has taken the body before the script runs, which must not look like a short body."""
    server, body = bench.servers["PHP"], bench.body(bench.capture("PHP-reads", 5000))
    request = {"REQUEST_METHOD": "POST", "SCRIPT_FILENAME": str(SAMPLES / "receiver.php"), "REDIRECT_STATUS": "200",
               "CONTENT_LENGTH": str(len(body)), "CAPTURES": str(server.store)}
    request |= {name.upper().replace("-", "_"): value for name, value in bench.signed(body).items()}
    answer = bench.template.call("php-cgi", env=bench.env | request, input=body).must(0, about="php-cgi").out.decode()
    expect("Status: 503" in answer and "POST_DATA_READING" in answer, f"answers {answer[:300]!r}")
    server.at_rest("with post data reading")


STORIES = (
    ("captures of 3 and 12 MB with every kind of part arrive byte for byte, and verify", takes),
    ("the same body again gets the same id", takes_again),
    ("a wrong signature gets 401 after the whole body, and nothing is kept", wrong_signature),
    ("a key that the server does not know blocks the destination, and nothing is kept", wrong_key),
    ("half a body is not kept, whatever its signature", cut_short),
    ("a line that breaks leaves nothing, and the capture arrives later", line_breaks),
    ("other bytes, devices, times and lengths get their status", not_ours),
    ("the bundle of another device, or without its position, is refused", another_device),
    ("trouble of the receiver gets 503, which counts no try", own_trouble),
)
TESTS = [*((f"{name}, {title}", functools.partial(story, name)) for name in NAMES for title, story in STORIES),
         ("PHP, a setting that takes the body away is named", reads_forms_itself)]
