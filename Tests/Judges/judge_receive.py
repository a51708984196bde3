"""Samples/receive.py against a hostile client: it stores only valid captures, and continues to answer."""
import base64
import concurrent.futures
import contextlib
import json
import random
import socket
import threading
import time
import uuid

from bench import SAMPLE, expect
from receivers import (CAPTURES, DEVICES, FORM_TYPE, VERIFY_FILE, answer_of, captures, code, file_part, form, receiving,
                       request)

LIMIT = 20 << 20
MUST_ANSWER = 5  # in seconds
TAKEN, ASKED = (202, None), (200, None)


def _taken(receiver, name, body):
    status, answer = receiver.post(body.data)
    expect(status == 202, f"{name}: answer {status}")
    return answer["data"]["capture_id"]


def _same(answer, wanted, what):
    expect(code(answer) == wanted, f"{what}: answer {code(answer)}, expected {wanted}")


def own_captures_only(bench):
    """The key of the request must be the key of the bundle."""
    bodies = captures(bench)
    with receiving(bench, "receive-own") as receiver:
        for device, name in (("stranger", "first"), ("judge", "stranger's")):
            _same(receiver.post(bodies[name].data, device), (403, "DEVICE_MISMATCH"), f"{name}, sent by {device}")
        expect(not list(receiver.kept.glob("*.bundle")), "a capture that was refused is kept")
        key = {"Idempotency-Key": str(uuid.uuid4())}
        _same(receiver.post(bodies["first"].data, **key), TAKEN, "its own device")
        _same(receiver.post(bodies["first"].data, "stranger", **key), (403, "DEVICE_MISMATCH"), "with the same key")
        _same(receiver.post(bodies["stranger's"].data, "stranger", **key), TAKEN, "another device's Idempotency-Key")
        _same(receiver.post(bodies["later"].data, **key), TAKEN, "another capture with the same key")
        _same(receiver.post(bodies["first"].data, **key), TAKEN, "again")


def first_of_a_photo(bench):
    bodies, photo = captures(bench), form(file_part((SAMPLE / "photo.jpg").read_bytes()))
    with receiving(bench, "receive-photo") as receiver:
        expect(receiver.look_up(photo)[1]["data"]["status"] == "no_record", "a photo that was never sent is known")
        first = _taken(receiver, "first", bodies["first"])
        for name, device in (("stranger's", "stranger"), ("later", "judge"), ("first", "judge")):
            status, answer = receiver.post(bodies[name].data, device)
            own = json.loads(bodies[name].bundle.manifest)["id"]
            expect(status == 202 and answer["data"]["capture_id"] == own, f"{name}: {status}, not taken as its own")
            expect(receiver.bundle(own) == bodies[name].bundle.data, f"{name}: other bytes are kept")
            found = receiver.look_up(photo)[1]["data"]
            expect(found["status"] == "verified" and found["capture_id"] == first, f"{name} took over the photo")


def bytes_stay(bench):
    """Another manifest or another signature with an existing id is refused."""
    bodies = captures(bench)
    ids = {json.loads(bodies[name].bundle.manifest)["id"] for name in ("first", "packed again", "chained")}
    expect(len(ids) == 1, "the bundles for this judge have several ids")
    with receiving(bench, "receive-same-id") as receiver:
        capture_id = _taken(receiver, "first", bodies["first"])
        for name in ("packed again", "chained"):
            _same(receiver.post(bodies[name].data), (409, "CAPTURE_EXISTS"), name)
        expect(receiver.bundle(capture_id) == bodies["first"].bundle.data, "the stored bundle is replaced")
        expect(_taken(receiver, "again", bodies["first"]) == capture_id, "the first is refused")


def races(bench):
    """Simultaneous requests end as if one of them had come first."""
    bodies = captures(bench)
    twins = [bodies[name].data for name in ("first", "packed again", "chained", "first")]
    with concurrent.futures.ThreadPoolExecutor(8) as crowd:
        for turn in range(6):
            with receiving(bench, "receive-races") as receiver:
                gate = threading.Barrier(8)

                def send(data, device="judge", **headers):
                    head = request("POST", CAPTURES, receiver.signed(data, device, **headers))
                    gate.wait(30)
                    return receiver.ask(head + data)

                key = {"Idempotency-Key": str(uuid.uuid4())}
                sent = [(data, "judge", {}) for data in twins] + [(bodies["stranger's"].data, "stranger", {})] * 2
                sent += [(bodies["later"].data, "judge", key), (bodies["later"].data, "judge", key)]
                jobs = [crowd.submit(send, data, device, **headers) for data, device, headers in sent]
                answers = [code(job.result()) for job in jobs]
                kept = receiver.bundle(json.loads(bodies["first"].bundle.manifest)["id"])
                winners = [bodies[name].data for name in ("first", "packed again", "chained")
                           if bodies[name].bundle.data == kept]
                wanted = [TAKEN if data in winners else (409, "CAPTURE_EXISTS") for data in twins] + [TAKEN] * 4
                expect(answers == wanted, f"turn {turn}: {answers}, expected {wanted}")
                photo = form(file_part((SAMPLE / "photo.jpg").read_bytes()))
                named = {receiver.look_up(photo)[1]["data"]["capture_id"] for _ in range(2)}
                receiver.post(bodies["later"].data)
                named.add(receiver.look_up(photo)[1]["data"]["capture_id"])
                expect(len(named) == 1, f"turn {turn}: the photo is that of {len(named)} captures")


def heads(bench):
    """Lengths, times and signatures in a wrong form are refused."""
    body = captures(bench)["first"].data
    size, now = str(len(body)), str(int(time.time() * 1000))
    invalid, missing, old = (400, "VALIDATION_ERROR"), (401, "DEVICE_AUTH_REQUIRED"), (401, "TIMESTAMP_EXPIRED")
    spoilt = {
        "Content-Length": {"\u00b2": invalid, f"+{size}": invalid, f"0{size}": invalid, "-1": invalid, "": invalid,
                           f"{size}, {size}": invalid, "1" * 5000: invalid, f"0x{len(body):x}": invalid, "0": invalid,
                           str(LIMIT + 1): (413, "PAYLOAD_TOO_LARGE"), None: (411, "LENGTH_REQUIRED")},
        "Transfer-Encoding": {"chunked": (411, "LENGTH_REQUIRED"), "identity": (411, "LENGTH_REQUIRED")},
        "X-Device-Timestamp": {f"0{now}": invalid, f"+{now}": invalid, "\u00b2": invalid, "0": old, None: missing,
                               f"{now}.0": invalid, "1" * 5000: invalid, "9" * 15: old},
        "X-Device-Id": {None: missing, "someone": invalid, str(uuid.uuid4()): (404, "DEVICE_NOT_FOUND")},
        "X-Device-Signature": {None: missing, "AAA": invalid, "\u00b2": invalid, "!" * 80: invalid,
                               "A" * 60000: invalid, f"{'A' * 93}B==": invalid,
                               base64.b64encode(bytes(70)).decode(): (401, "SIGNATURE_INVALID")},
    }
    with receiving(bench, "receive-heads") as receiver:
        for name, values in spoilt.items():
            for value, wanted in values.items():
                shown = f"{name}: {value if value is None else value[:40]}"
                _same(receiver.post(body, **{name: value}), wanted, shown)
        signed = receiver.signed(body)
        for name in spoilt:
            twice = [signed.get(name, "chunked")] * 2
            wanted = (411, "LENGTH_REQUIRED") if name == "Transfer-Encoding" else invalid
            _same(receiver.post(body, **(signed | {name: twice})), wanted, f"{name} twice")
        _same(receiver.post(body, at=now), TAKEN, "as it should be")
        _same(receiver.post(body, at=f"0{now}"), invalid, "a zero before the time that is signed")
        _same(receiver.ask(b"GET /verify/\xb2 HTTP/1.1\r\n\r\n"), (404, "NOT_FOUND"), "another path")
        elsewhere = request("POST", "/elsewhere", {"Content-Length": "\u00b2"})
        _same(receiver.ask(elsewhere), (404, "NOT_FOUND"), "elsewhere")


def judged_by_the_head(bench):
    """An unknown sender is refused before the body is read; 100 Continue is sent only if the body is wanted."""
    body = captures(bench)["first"].data
    with receiving(bench, "receive-early") as receiver:
        signed = receiver.signed(body) | {"Expect": "100-continue"}
        for changed, wanted in (({"X-Device-Id": str(uuid.uuid4())}, 404), ({"X-Device-Timestamp": "1"}, 401),
                                ({"Content-Length": str(LIMIT + 1)}, 413), ({"X-Device-Signature": None}, 401)):
            with socket.create_connection(("127.0.0.1", receiver.port), MUST_ANSWER) as link:
                link.sendall(request("POST", CAPTURES, signed | changed))
                said = link.recv(12)
                expect(said == b"HTTP/1.1 %d" % wanted, f"{changed}: {said} before the body, expected {wanted}")
        with socket.create_connection(("127.0.0.1", receiver.port), MUST_ANSWER) as link:
            link.sendall(request("POST", CAPTURES, signed))
            expect(link.recv(99) == b"HTTP/1.1 100 Continue\r\n\r\n", "a body that may come is not asked for")
            link.sendall(body)
            _same(answer_of(link), TAKEN, "after 100 Continue")
        with socket.create_connection(("127.0.0.1", receiver.port), MUST_ANSWER) as link:
            link.sendall(request("POST", CAPTURES, receiver.signed(body, **{"Content-Length": str(LIMIT + 1)})) + body)
            with link.makefile("rb") as answer:
                expect(b"413" in answer.read(12) and answer.read(), "the answer to a body that is too large is lost")


def forms(bench):
    """verify-file parses a form with little memory and time, whatever it contains."""
    photo, bodies = (SAMPLE / "photo.jpg").read_bytes(), captures(bench)
    other = ('Content-Disposition: form-data; name="other"; filename="; name=file"', b"\r\n\r\n--" * 9)
    deep = b"".join(b"--%d\r\nContent-Type: multipart/mixed; boundary=%d\r\n\r\n" % (n, n + 1) for n in range(3000))
    empty = ('Content-Disposition: form-data; name="other"', b"")
    nested = f"Content-Type: multipart/form-data; boundary=inner\r\n{file_part(b'')[0]}"
    refused = {
        "nothing": b"", "no part": form(), "no file": form(other), "200,000 parts": form(*[empty] * 200_000),
        "a part without an end": form(file_part(photo))[:-60], "a long head": form(("X: " + "x" * 99_000, b"x")),
        "a deep one": b"--0\r\nContent-Disposition: form-data; name=0\r\n\r\n\r\n" + deep, "zeros": bytes(LIMIT),
        "line ends": b"\r\n" * (LIMIT // 2),
    }
    with receiving(bench, "receive-forms") as receiver:
        _taken(receiver, "first", bodies["first"])
        for what, data in {"alone": form(file_part(photo)), "second": form(other, file_part(photo)),
                           "plain": form(('content-disposition: form-data;name=file', photo))}.items():
            expect(receiver.look_up(data)[1]["data"]["status"] == "verified", f"{what}: not found")
        inner = form((nested, form(file_part(photo), boundary="inner")))
        expect(receiver.look_up(inner)[1]["data"]["status"] == "no_record", "a form in a form is taken apart")
        for what, data in refused.items():
            began = time.monotonic()
            kind = "multipart/form-data; boundary=0" if what == "a deep one" else FORM_TYPE
            _same(receiver.look_up(data, kind), (400, "VALIDATION_ERROR"), what)
            expect(time.monotonic() - began < MUST_ANSWER, f"{what} takes {time.monotonic() - began:.1f} s")
        for kind in ("", "text/plain", "multipart/form-data", "multipart/form-data; boundary=", "a" * 60_000,
                     "multipart/form-data; boundary=" + "x" * 71, "multipart/form-data; boundary=\u00b2",
                     "multipart/form-data; boundary=" + '";' * 30_000, ["multipart/form-data; boundary=a"] * 2):
            _same(receiver.look_up(form(file_part(photo)), kind), (400, "VALIDATION_ERROR"), f"type {kind[:40]}")
        before = receiver.status_of("VmHWM")
        head = file_part(b"")[0]
        for data in (form((head, bytes(LIMIT - 300))), form((head, b"\r\n" * (LIMIT // 2 - 150)))):
            began = time.monotonic()
            _same(receiver.look_up(data), ASKED, "the largest form")
            expect(time.monotonic() - began < MUST_ANSWER, "the largest form takes its time")
        grown = (receiver.status_of("VmHWM") - before) // 1024
        expect(grown < 2 * LIMIT >> 20, f"a form of {LIMIT >> 20} MiB takes {grown} MiB")


def _trickle(receiver, head, data, pause):
    """Sends a byte from time to time; returns the seconds until the connection ends, and the status of the answer."""
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", receiver.port), 20) as link:
        link.sendall(head)
        for byte in data:
            link.settimeout(pause)
            with contextlib.suppress(TimeoutError, ConnectionError):
                said = link.recv(12)
                return time.monotonic() - began, said[9:12].decode()
            if time.monotonic() - began > 20:
                break
            with contextlib.suppress(ConnectionError):
                link.sendall(bytes([byte]))
    return time.monotonic() - began, "nothing"


def slow_clients(bench):
    """No client can keep a connection for ever, and slow clients do not block others for long."""
    body = captures(bench)["first"].data
    with receiving(bench, "receive-slow", STALL=1, HEAD=2, SLOWEST=100_000) as receiver:
        post = request("POST", CAPTURES, receiver.signed(body))
        cases = {"no byte": (b"", b"", ""), "half a head": (post[:40], b"", ""), "a slow head": (b"", post, ""),
                 "no body": (post, b"", "408"), "a slow body": (post, body, "408"),
                 "a slow form": (request("POST", VERIFY_FILE, {"Content-Type": "multipart/form-data; boundary=x",
                                                               "Content-Length": "1000"}), bytes(1000), "408")}

        def one(what):
            head, data, wanted = cases[what]
            seconds, status = _trickle(receiver, head, data or bytes(1), 0.3 if data else 20)
            expect(seconds < 10 and status == wanted, f"{what}: {status or 'closed'} after {seconds:.1f} s")

        with concurrent.futures.ThreadPoolExecutor(len(cases)) as crowd:
            for job in [crowd.submit(one, what) for what in cases]:
                job.result()
        _same(receiver.post(body), TAKEN, "afterwards")


def crowds(bench):
    """The number of threads is limited; a client that waits behind many others still gets an answer."""
    body = captures(bench)["first"].data
    with receiving(bench, "receive-crowd", STALL=2, HEAD=2) as receiver, contextlib.ExitStack() as links:
        crowd = [links.enter_context(socket.create_connection(("127.0.0.1", receiver.port), 20)) for _ in range(80)]
        for link in crowd:
            link.sendall(b"POST / HTTP/1.1\r\n")
        time.sleep(0.5)
        threads = receiver.status_of("Threads")
        expect(threads <= 40, f"{threads} threads for {len(crowd)} connections")
        _same(receiver.post(body), TAKEN, "behind a crowd")


def anything(bench):
    """Requests with some damaged bytes soon get an answer, or the end of the connection."""
    seeded, body, data = random.Random(20260314), captures(bench)["first"].data, form(file_part(b"photo"))
    words = [b"\r\n", b"\r", b"\0", b'"', b"\\", b"\xb2", b"boundary*=a'b'c", b"boundary*0*=a\0'", b"x" * 70_000,
             b"Transfer-Encoding: chunked\r\n", b"Content-Length: 5\r\n", b"Expect: 100-continue\r\n", b"HTTP/0.9 "]
    with receiving(bench, "receive-anything", STALL=1, HEAD=1) as receiver:
        asked = request("POST", VERIFY_FILE, {"Content-Type": FORM_TYPE, "Content-Length": str(len(data))}) + data
        sent = request("POST", CAPTURES, receiver.signed(body))

        def one(number, spoilt):
            began = time.monotonic()
            with contextlib.suppress(ConnectionError):
                receiver.ask(spoilt, 20)
            expect(time.monotonic() - began < MUST_ANSWER, f"request {number}: {time.monotonic() - began:.1f} s")

        with concurrent.futures.ThreadPoolExecutor(16) as crowd:
            jobs = []
            for number in range(400):
                start, rest = (asked, b"") if number % 2 else (sent, body)
                for _ in range(seeded.randrange(1, 4)):
                    at, length = seeded.randrange(len(start)), seeded.choice((0, 0, 1, 9))
                    word = seeded.choice([b"", bytes([seeded.randrange(256)]), *words])
                    start = start[:at] + word + start[at + length:]
                jobs.append(crowd.submit(one, number, start + rest))
            for job in jobs:
                job.result()


def told(bench):
    body = captures(bench)["first"]
    with receiving(bench, "receive-told") as receiver:
        capture_id = _taken(receiver, "first", body)
        headers = receiver.signed(b"", **{"X-Device-Id": DEVICES["judge"].upper()})
        _same(receiver.ask(request("GET", f"{CAPTURES}/{capture_id}", headers)), ASKED, "signed")
        _same(receiver.ask(request("GET", f"{CAPTURES}/{capture_id}", {})), (401, "DEVICE_AUTH_REQUIRED"), "unsigned")
        _same(receiver.ask(request("GET", f"/verify/{capture_id}", {})), ASKED, "the link")
        _same(receiver.ask(request("GET", f"/verify/{uuid.uuid4()}", {})), (404, "CAPTURE_NOT_FOUND"), "another link")
        for path in (f"/verify/../{capture_id}", f"/verify/{capture_id}/", "/verify/..%2f", "*"):
            _same(receiver.ask(request("GET", path, {})), (404, "NOT_FOUND"), path)


JUDGES = [
    ("receive.py: the key of a request is the key of its bundle, with any Idempotency-Key", own_captures_only),
    ("receive.py: verify-file names the first capture of a photo, whoever sends another", first_of_a_photo),
    ("receive.py: other bytes under an existing id are refused", bytes_stay),
    ("receive.py: simultaneous requests", races),
    ("receive.py: wrong headers get the right answer", heads),
    ("receive.py: the sender is checked before the body", judged_by_the_head),
    ("receive.py: forms: nested, endless, large", forms),
    ("receive.py: slow clients", slow_clients),
    ("receive.py: more clients than it serves at once", crowds),
    ("receive.py: requests with damaged bytes", anything),
    ("receive.py: asking for a capture", told),
]
