"""The API: registration, uploads, refusals, limits, and what a receiver knows after a restart."""
import concurrent.futures
import http.client
import json
import os
import socket
import time

from outcomes import PATIENCE, expect
from support import CAPTURES, RAW, REGISTER, VERIFY_FILE, answer_of, head, receiving, wait_until
from swallowing import swallowing

UNKNOWN = "5b1f4a52-0c7e-4c5d-8e11-2d9f60a7c3b8"
UUID_FORM = "capture_id", "status", "verification_url"
BOUNDARY = "a-form-of-a-test"
FORM_TYPE = f'multipart/form-data; boundary="{BOUNDARY}"'


def same(answer, status, code=None):
    expect((answer.status, answer.code) == (status, code), f"expected {status} {code}, got {answer}")
    if code:
        expect(set(answer.json["error"]) == {"code", "message"} and set(answer.json["meta"]) == {
            "request_id", "timestamp"}, f"the envelope is {answer.json}")


def uploads(tools):
    rig = tools.rig()
    with receiving(tools) as receiver:
        first, second = rig.capture("first"), rig.capture("second")
        answer = receiver.upload(rig, first, X_Request_Id=UNKNOWN)
        expect(answer.status == 202 and set(answer.data) == set(UUID_FORM), f"upload: {answer}")
        expect(answer.json["meta"]["request_id"] == UNKNOWN == answer.headers["X-Request-Id"], "the request id is new")
        capture_id = answer.data["capture_id"]
        expect(answer.data["verification_url"] == f"{receiver.url}/verify/{capture_id}", f"the URL is {answer.data}")
        again = receiver.upload(rig, first)
        expect(again.data == answer.data, f"the same request again: {again}")
        other = receiver.taken(rig, second)
        expect(receiver.held() == sorted([capture_id, other]), f"the queue has {receiver.held()}")
        kept = wait_until(lambda: _bundles(receiver.folder / "kept", 2), "the captures are passed on")
        expect(first.bundle.read_bytes() in kept and second.bundle.read_bytes() in kept, "the bytes differ")
        receiver.stop()
        receiver.start()
        expect(receiver.upload(rig, first).data["capture_id"] == capture_id, "the id is new after a restart")
        expect(len(receiver.held()) == 2, f"the queue has {receiver.held()}")


def _bundles(folder, count):
    found = [path.read_bytes() for path in folder.rglob("*.bundle")]
    return found if len(found) >= count else None


def from_a_queue(tools):
    """capqueue delivers to the receiver as to any server of the contract."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        queue = tools.scratch("queue") / "q"
        names = ["by-queue-1", "by-queue-2", "by-queue-3"]
        tools.run("capqueue", "push", *(rig.capture(name).bundle for name in names), "--queue", queue)
        tools.run("capqueue", "dest", "add", "receiver", "--kind", "http", "--url", receiver.url + CAPTURES,
                  "--device-id", receiver.device(rig), "--key", rig.key, "--queue", queue)
        tools.run("capqueue", "run", "--until-empty", "--queue", queue)
        lines = tools.run("capqueue", "list", "--json", "--queue", queue).decode().splitlines()
        states = [json.loads(line)["state"] for line in lines]
        expect(states == ["completed"] * 3, f"the states are {states}")
        expect(len(receiver.held()) == 3, f"the receiver has {receiver.held()}")


def script_of_an_invitation(tools):
    """The script registers the device and adds the destination, to which the queue then sends."""
    rig = tools.rig("scripted")
    with receiving(tools) as receiver:
        script, queue = rig.folder / "rig-6.sh", rig.folder / "script-queue"
        script.write_text(receiver.command("invite", "rig-6"))
        environment = rig.environment | {"CAPQUEUE_DIR": str(queue)}
        said = tools.run("sh", script, receiver.url, environment=environment).decode()
        expect('"name":"rig-6"' in said, f"prints {said!r}")
        tools.run("capqueue", "push", rig.capture().bundle, environment=environment)
        tools.run("capqueue", "run", "--until-empty", environment=environment)
        expect(len(receiver.held()) == 1, f"the receiver has {receiver.held()}")
        tools.run("sh", script, allowed=(2,))
        tools.run("sh", script, "127.0.0.1:1", environment=environment, allowed=(64,))
        # The device gets a new key, and an invitation for it.
        rig.run("key", "new", "--key", rig.folder / "second.key")
        script.write_text(receiver.command("invite", "rig-7"))
        environment |= {"CAPBUNDLE_KEY": str(rig.folder / "second.key")}
        expect('"name":"rig-7"' in tools.run("sh", script, receiver.url, environment=environment).decode(), "a new key")
        bundle = rig.folder / "second.bundle"
        tools.run("capbundle", "pack", RAW, "-o", bundle, environment=environment)
        tools.run("capqueue", "push", bundle, environment=environment)
        tools.run("capqueue", "run", "--until-empty", environment=environment)
        expect(len(receiver.held()) == 2, f"the receiver has {receiver.held()}")


def every_destination(tools):
    """A destination that the operator adds while the receiver runs gets the captures that arrive afterwards."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        other = receiver.folder / "other"
        other.mkdir()
        receiver.queue("dest", "add", "other", "--kind", "folder", "--path", other)
        answer = receiver.upload(rig, rig.capture())
        expect(answer.status == 202, f"{answer}")
        for place in (other, receiver.folder / "kept"):
            wait_until(lambda place=place: len(list(place.rglob("*.bundle"))) == 1, f"{place.name} gets the capture")


def anothers_photo(tools):
    """The answer to an upload is lost, and verify-file names another device's capture with the same photo."""
    rig, other = tools.rig("unlucky"), tools.rig("other")
    with receiving(tools) as receiver, swallowing(receiver) as url:
        expect(receiver.upload(other, other.capture()).status == 202, "the other device's capture")
        body, queue = rig.capture(), rig.folder / "unlucky-queue"
        tools.run("capqueue", "dest", "add", "receiver", "--kind", "http", "--url", url, "--device-id", receiver.device(rig),
                  "--key", rig.key, "--retry", "0,0,0", "--queue", queue, environment=rig.environment)
        tools.run("capqueue", "push", body.bundle, "--queue", queue)
        tools.run("capqueue", "run", "--until-empty", "--queue", queue, environment=rig.environment)
        expect(len(receiver.held()) == 2, f"the receiver has {receiver.held()}")


def lost_and_sent_again(tools):
    """After the receiver lost a capture, the identical request stores it again."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        receiver.queue("dest", "retire", "kept")
        body = rig.capture()
        first = receiver.upload(rig, body)
        for path in (receiver.folder / "queue").rglob("*.bundle"):
            path.unlink()
        again = receiver.upload(rig, body)
        expect((again.status, again.data) == (202, first.data), f"{again}")
        receiver.queue("get", first.data["capture_id"], "-o", rig.folder / "again.bundle")
        expect((rig.folder / "again.bundle").read_bytes() == body.bundle.read_bytes(), "other bytes")


def registration(tools):
    rig, other = tools.rig(), tools.rig("other")
    with receiving(tools) as receiver:
        device_id, secret = receiver.invite("rig-4")
        refused = 401, "INVITATION_INVALID"
        same(receiver.register(rig, device_id, "0" * 40), *refused)
        same(receiver.register(rig, UNKNOWN, secret), *refused)
        for wrong in ("AAAA", {"kty": "EC"}, rig.jwk | {"crv": "P-384"}, rig.jwk | {"x": rig.jwk["y"]},
                      rig.jwk | {"x": rig.jwk["x"] + "="}, rig.jwk | {"y": "A" * 42}):
            same(receiver.register(rig, device_id, secret, public_key=wrong), 400, "VALIDATION_ERROR")
        same(receiver.register(rig, device_id, secret, public_key=other.jwk), 401, "SIGNATURE_INVALID")
        same(receiver.ask("POST", REGISTER, rig.signed(b"[]", device_id), b"[]"), 400, "VALIDATION_ERROR")
        same(receiver.ask("POST", REGISTER, rig.signed(b"x" * 5000, device_id), b"x" * 5000), 413, "PAYLOAD_TOO_LARGE")
        same(receiver.ask("POST", REGISTER, {}, b"{}"), 401, "DEVICE_AUTH_REQUIRED")
        answer = receiver.register(rig, device_id.upper(), secret)
        expect(answer.status == 201 and answer.data["device_id"] == device_id and answer.data["name"] == "rig-4"
               and answer.data["key_id"] == rig.key_id and answer.data["attestation_level"] == "unverified", f"{answer}")
        expect(receiver.register(rig, device_id, secret).data == answer.data, "the same registration again")
        same(receiver.register(other, device_id, secret), 409, "INVITATION_USED")
        expect(receiver.register(other, *receiver.invite("other")).status == 201, "its own invitation, after another's")
        other = tools.rig("third")
        same(receiver.register(rig, *receiver.invite("rig-5")), 409, "DEVICE_ALREADY_REGISTERED")
        late_id, late = receiver.invite("late")
        invitation = receiver.folder / "shared/invitations" / late_id
        invitation.write_text(json.dumps(json.loads(invitation.read_text()) | {"expires": int(time.time() * 1000) - 1}))
        same(receiver.register(other, late_id, late), *refused)
        gone_id, gone = receiver.invite("gone")
        receiver.command("revoke", gone_id)
        same(receiver.register(other, gone_id, gone), *refused)
        listed = receiver.command("devices").splitlines()
        expect(f"{device_id} rig-4 {rig.key_id}" in listed and len(listed) == 2, f"devices: {listed}")
        secrets = [path for path in receiver.folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
        expect(not secrets and secret not in receiver.said(), f"the secret is in {secrets}")
        for words in (("invite", "a name"), ("invite", "x", "--days", "0"), ("revoke", "x"), ("revoke", UNKNOWN)):
            receiver.command(*words, allowed=(64,))


def senders(tools):
    """Wrong headers, unknown and revoked devices, other keys: each has its code, and nothing is kept."""
    rig, other = tools.rig(), tools.rig("other")
    with receiving(tools) as receiver:
        body, now = rig.capture(), int(time.time() * 1000)
        device, stranger = receiver.device(rig), receiver.device(other)

        def post(data=body.data, content_type=body.content_type, by=rig, at=None, device_id=device, **changed):
            headers = by.signed(data, device_id, at) | {"Content-Type": content_type}
            headers |= {name.replace("_", "-"): value for name, value in changed.items()}
            return receiver.ask("POST", CAPTURES, {k: v for k, v in headers.items() if v is not None}, data)

        for name in ("X_Device_Id", "X_Device_Timestamp", "X_Device_Signature"):
            same(post(**{name: None}), 401, "DEVICE_AUTH_REQUIRED")
        wrong = {"X_Device_Id": ["x", device[:-1], device + "0"], "X_Device_Timestamp": ["x", "01", "-1", "1e3", "9" * 30],
                 "X_Device_Signature": ["x", "AAAA", "MEUCIQ=="], "Content_Type": ["text/plain", "multipart/form-data"],
                 "Idempotency_Key": ["k" * 256, "a b"]}
        for name, values in wrong.items():
            for value in values:
                same(post(**{name: value}), 400, "VALIDATION_ERROR")
        same(post(at=now - 400_000), 401, "TIMESTAMP_EXPIRED")
        same(post(at=now + 120_000), 401, "TIMESTAMP_INVALID")
        same(post(device_id=UNKNOWN), 404, "DEVICE_NOT_FOUND")
        same(post(by=other), 401, "SIGNATURE_INVALID")
        same(post(device_id=stranger), 401, "SIGNATURE_INVALID")
        same(post(by=other, device_id=stranger), 403, "DEVICE_MISMATCH")
        damaged = bytearray(body.data)
        damaged[-2000] ^= 1
        same(post(bytes(damaged)), 400, "VALIDATION_ERROR")
        same(post(body.data[:-1]), 400, "VALIDATION_ERROR")
        same(post(b"x"), 400, "VALIDATION_ERROR")
        expect(receiver.held() == [], f"the queue has {receiver.held()}")
        taken = receiver.taken(rig, body)
        receiver.command("revoke", device)
        same(receiver.upload(rig, body), 403, "DEVICE_UNVERIFIED")
        same(receiver.ask("GET", f"{CAPTURES}/{taken}", rig.signed(b"", device)), 403, "DEVICE_UNVERIFIED")
        expect(receiver.held() == [taken], f"the queue has {receiver.held()}")
        expect(receiver.command("devices").count("revoked") == 1, "the list does not say that the device is revoked")
        same(receiver.ask("GET", "/nowhere"), 404, "NOT_FOUND")
        same(receiver.ask("GET", CAPTURES), 404, "NOT_FOUND")


def idempotency(tools):
    """The key of a request stays known over a restart; another body with it is refused."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        first, second = rig.capture("first"), rig.capture("second")
        taken = receiver.taken(rig, first, Idempotency_Key="key-1")
        same(receiver.upload(rig, second, Idempotency_Key="key-1"), 422, "IDEMPOTENCY_KEY_REUSED")
        receiver.kill()
        receiver.start()
        same(receiver.upload(rig, second, Idempotency_Key="key-1"), 422, "IDEMPOTENCY_KEY_REUSED")
        expect(receiver.taken(rig, first, Idempotency_Key="key-1") == taken, "another id")
        expect(receiver.taken(rig, first, Idempotency_Key="key-2") == taken, "another id with another key")
        same(receiver.upload(rig, second, Idempotency_Key="key-2"), 422, "IDEMPOTENCY_KEY_REUSED")
        receiver.taken(rig, second, Idempotency_Key="key-3")
        expect(len(receiver.held()) == 2, f"the queue has {receiver.held()}")


def races(tools):
    """Identical requests at the same time make one capture; of two bodies with one key, one is taken."""
    rig = tools.rig()
    with receiving(tools) as receiver, concurrent.futures.ThreadPoolExecutor(8) as crowd:
        bodies = [rig.capture(f"race-{number}") for number in range(4)]
        receiver.device(rig)
        headers = [rig.signed(body.data, receiver.device(rig)) | {"Content-Type": body.content_type} for body in bodies]

        def post(number, **more):
            return receiver.ask("POST", CAPTURES, headers[number] | more, bodies[number].data)

        ids = [job.result().data for job in [crowd.submit(post, 0) for _ in range(8)]]
        expect(ids[0] and all(data == ids[0] for data in ids), f"eight identical requests: {ids}")
        answers = [job.result() for job in
                   [crowd.submit(post, number % 4, **{"Idempotency-Key": "one"}) for number in range(8)]]
        taken = {answer.data["capture_id"] for answer in answers if answer.status == 202}
        codes = {answer.code for answer in answers if answer.status != 202}
        expect(len(taken) == 1 and codes == {"IDEMPOTENCY_KEY_REUSED"}, f"{taken} {codes}")
        expect(set(receiver.held()) == taken | {ids[0]["capture_id"]}, "a refused capture is in the queue")


def told(tools):
    rig, other = tools.rig(), tools.rig("other")
    with receiving(tools) as receiver:
        taken = receiver.taken(rig, rig.capture())
        path = f"{CAPTURES}/{taken}"
        answer = receiver.ask("GET", path, rig.signed(b"", receiver.device(rig).upper()))
        expect(answer.status == 200 and answer.data["capture_id"] == taken, f"the owner asks: {answer}")
        same(receiver.ask("GET", path), 401, "DEVICE_AUTH_REQUIRED")
        same(receiver.ask("GET", path, rig.signed(b"x", receiver.device(rig))), 401, "SIGNATURE_INVALID")
        same(receiver.ask("GET", path, other.signed(b"", receiver.device(other))), 403, "FORBIDDEN")
        for name in (UNKNOWN, "x", "..%2f", "'"):
            same(receiver.ask("GET", f"{CAPTURES}/{name}", rig.signed(b"", receiver.device(rig))), 404,
                 "CAPTURE_NOT_FOUND")


def form(*parts, end=b"--\r\n"):
    """Returns a form; its parts are (headers, data)."""
    mark = b"--" + BOUNDARY.encode()
    return b"".join(mark + b"\r\n" + headers + b"\r\n\r\n" + data + b"\r\n" for headers, data in parts) + mark + end


def photos(tools):
    """verify-file names the first capture of a photo, and reads forms to the letter."""
    rig, other = tools.rig(), tools.rig("other")
    file = b'Content-Disposition: form-data; name="file"; filename="a.jpg"\r\nContent-Type: image/jpeg'
    note = b"content-disposition: FORM-DATA; name=note"
    with receiving(tools) as receiver:
        photo = (RAW / "photo.jpg").read_bytes()

        def look(data, content_type=FORM_TYPE):
            return receiver.ask("POST", VERIFY_FILE, {"Content-Type": content_type}, data)

        expect(look(form((file, photo))).data["status"] == "no_record", "a photo that nobody sent")
        taken = receiver.taken(rig, rig.capture())
        receiver.taken(other, other.capture())
        for data in (form((file, photo)), form((note, b"x\r\n--a-form"), (file, photo), (file, b"other")),
                     form((file, photo), end=b"")):
            found = look(data)
            expect(found.status == 200 and found.data["capture_id"] == taken and found.data["status"] == "verified"
                   and found.data["verification_url"].endswith(f"/verify/{taken}"), f"{found}")
        expect(look(form((file, photo + b"x"))).data["status"] == "no_record", "another photo")
        nested = form((b"Content-Type: multipart/mixed; boundary=b",
                       b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n' + photo + b"\r\n--b--"))
        bad = [b"", b"x", form(), form((note, photo)), form((file, photo))[:-60], b"x" + form((file, photo)), nested,
               form((b"X: " + b"y" * 3000, photo), (file, photo)), form(*[(note, b"")] * 16, (file, photo))]
        for number, data in enumerate(bad):
            answer = look(data)
            expect((answer.status, answer.code) == (400, "VALIDATION_ERROR"), f"form {number}: {answer}")
        for kind in ("", "text/plain", "multipart/form-data", "multipart/form-data; boundary=",
                     "multipart/form-data; boundary=" + "x" * 71, "multipart/mixed; boundary=" + BOUNDARY,
                     f"multipart/form-data; boundary={BOUNDARY}; boundary={BOUNDARY}"):
            same(look(form((file, photo)), kind), 400, "VALIDATION_ERROR")
        size = 20 << 20
        same(look(form((file, bytes(size)))), 413, "PAYLOAD_TOO_LARGE")
        for filler in (bytes(size - 400), b"\r\n" * (size // 2 - 200), (b"\r\n--" + BOUNDARY[:-1].encode()) * 900_000):
            began = time.monotonic()
            expect(look(form((file, filler))).data["status"] == "no_record", "the largest form")
            expect(time.monotonic() - began < 20, f"the largest form took {time.monotonic() - began:.0f} s")


def limits(tools):
    """Photos, depth maps and bodies that are too large get 413, before they are read where that is possible."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        device, size = receiver.device(rig), 20 << 20
        photo = (RAW / "photo.jpg").read_bytes()
        big = rig.body(rig.pack("big-photo", rig.raw("big-photo", photo=photo[:-2] + bytes(11 << 20) + photo[-2:])))
        same(receiver.upload(rig, big), 413, "PAYLOAD_TOO_LARGE")
        width, height = 1900, 1000
        noise = os.urandom(3 * width * height)
        depth = bytearray(4 * width * height)
        depth[0::4], depth[1::4], depth[2::4] = noise[0::3], noise[1::3], bytes(0x80 | b for b in noise[2::3])
        depth[3::4] = b"\x3f" * (width * height)
        raw = rig.raw("big-depth", lambda metadata: metadata.update(
            depth_map_dimensions={"width": width, "height": height}), depth=bytes(depth))
        same(receiver.upload(rig, rig.body(rig.pack("big-depth", raw))), 413, "PAYLOAD_TOO_LARGE")
        headers = rig.signed(b"", device) | {"Content-Type": "multipart/form-data; boundary=x"}
        with socket.create_connection(("127.0.0.1", receiver.port), PATIENCE) as link:
            link.sendall(head("POST", CAPTURES, headers | {"Content-Length": str(size + 1)}))
            same(answer_of(link), 413, "PAYLOAD_TOO_LARGE")
        chunk = b"10000\r\n" + bytes(1 << 16) + b"\r\n"
        same(receiver.send(head("POST", CAPTURES, headers | {"Transfer-Encoding": "chunked"}) + chunk * 321), 413,
             "PAYLOAD_TOO_LARGE")
        body = rig.capture()
        pieces = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in
                          (body.data[at:at + 10_000] for at in range(0, len(body.data), 10_000))) + b"0\r\n\r\n"
        chunked = rig.signed(body.data, device) | {"Content-Type": body.content_type, "Transfer-Encoding": "chunked"}
        expect(receiver.send(head("POST", CAPTURES, chunked) + pieces).status == 202, "a body in chunks")
        for wrong in ({"Content-Length": "5", "Transfer-Encoding": "chunked"}, {"Content-Length": ["5", "6"]}):
            expect(receiver.send(head("POST", CAPTURES, headers | wrong) + b"12345").status == 400, f"{wrong}")


def continues(tools):
    """`100 Continue` is sent once the headers are accepted, and not before a refusal."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        body = rig.capture()
        headers = rig.signed(body.data, receiver.device(rig)) | {
            "Content-Type": body.content_type, "Content-Length": str(len(body.data)), "Expect": "100-continue"}
        with socket.create_connection(("127.0.0.1", receiver.port), PATIENCE) as link:
            link.sendall(head("POST", CAPTURES, headers))
            said = b""
            while not said.endswith(b"\r\n\r\n"):
                said += link.recv(1)
            expect(said.startswith(b"HTTP/1.1 100 "), f"the receiver said {said}")
            link.sendall(body.data)
            expect(answer_of(link).status == 202, "the body after 100")
        for wrong, code in (({"X-Device-Id": UNKNOWN}, "DEVICE_NOT_FOUND"), ({"Content-Type": "x"}, "VALIDATION_ERROR"),
                            ({"Content-Length": str(1 << 30)}, "PAYLOAD_TOO_LARGE")):
            with socket.create_connection(("127.0.0.1", receiver.port), PATIENCE) as link:
                link.sendall(head("POST", CAPTURES, headers | wrong))
                answer = answer_of(link)
                expect(answer.code == code and answer.headers.get("Connection") == "close", f"{answer}")


def refused_early(tools):
    """A client that sends its whole body before it reads still gets the refusal."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        body = os.urandom(8 << 20)
        for _ in range(5):
            same(receiver.ask("POST", CAPTURES, {"Content-Type": FORM_TYPE}, body), 401, "DEVICE_AUTH_REQUIRED")
        connection = http.client.HTTPConnection("127.0.0.1", receiver.port, timeout=PATIENCE)
        for _ in range(3):
            connection.request("GET", "/healthz")
            expect(connection.getresponse().read() == b"ok\n", "healthz")
        connection.close()


def ending(tools):
    """SIGTERM lets an upload end, and closes the other connections."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        body = rig.capture()
        start = receiver.head_of_upload(rig, body)
        with socket.create_connection(("127.0.0.1", receiver.port), PATIENCE) as link, \
                socket.create_connection(("127.0.0.1", receiver.port), PATIENCE) as idle:
            link.sendall(start + body.data[:5000])
            wait_until(lambda: list((receiver.folder / "bodies").iterdir()), "the body is being received")
            receiver.process.terminate()
            expect(idle.recv(1) == b"", "the idle connection stays open")
            expect(receiver.process.poll() is None, "the receiver ended before the upload")
            link.sendall(body.data[5000:])
            answer = answer_of(link)
            expect(answer.status == 202, f"the upload: {answer}")
        expect(receiver.process.wait(PATIENCE) == 0, "the receiver did not end well")
        receiver.process.stdout.close()
        receiver.start()
        expect(receiver.held() == [answer.data["capture_id"]], "the capture is lost")


def alone(tools):
    """Only one receiver serves a folder."""
    with receiving(tools) as receiver:
        receiver.command("serve", "--port", "0", allowed=(1,))


TESTS = [
    ("uploads are kept, passed on, and answered the same way again", uploads),
    ("capqueue delivers to the receiver", from_a_queue),
    ("the script of an invitation registers a device", script_of_an_invitation),
    ("a capture whose photo another device sent arrives too", anothers_photo),
    ("a capture that the receiver lost is taken again", lost_and_sent_again),
    ("every destination of the queue gets the captures", every_destination),
    ("registration needs an unused invitation and its key", registration),
    ("wrong senders and bodies are refused", senders),
    ("an Idempotency-Key is for one body, also after a crash", idempotency),
    ("simultaneous requests", races),
    ("a device asks for its captures, and for no others", told),
    ("verify-file finds photos", photos),
    ("limits on sizes", limits),
    ("100 Continue comes after the headers were accepted", continues),
    ("a refusal before the body was read arrives", refused_early),
    ("SIGTERM lets an upload end", ending),
    ("one receiver a folder", alone),
]
