"""The API: uploads, questions, limits, and how a receiver begins and ends."""
import os
import time

from Kit.outcomes import PATIENCE, expect
from Kit.sending import wait_until
from Receiver.links import BOUNDARY, FORM_TYPE, form, head
from Receiver.support import CAPTURES, RAW, UNKNOWN, VERIFY_FILE, receiving, same

QUOTED_TYPE = f'multipart/form-data; boundary="{BOUNDARY}"'


def uploads(tools):
    """Uploads are stored once, and passed on to every destination, also to one that was added meanwhile."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        first, second = rig.capture("first"), rig.capture("second")
        other = receiver.folder / "other"
        other.mkdir()
        receiver.queue("dest", "add", "other", "--kind", "folder", "--path", other)
        answer = receiver.upload(rig, first, X_Request_Id=UNKNOWN)
        expect(answer.status == 202 and set(answer.data) == {"capture_id", "status", "verification_url"}, f"upload: {answer}")
        expect(answer.json["meta"]["request_id"] == UNKNOWN == answer.headers["X-Request-Id"], "the request id is new")
        capture_id = answer.data["capture_id"]
        expect(answer.data["verification_url"] == f"{receiver.url}/verify/{capture_id}", f"the URL is {answer.data}")
        again = receiver.upload(rig, first)
        expect(again.data == answer.data, f"the same request again: {again}")
        both = sorted([capture_id, receiver.taken(rig, second)])
        expect(receiver.held() == both, f"the queue has {receiver.held()}")
        for place in (receiver.folder / "kept", other):
            kept = wait_until(lambda place=place: _bundles(place, 2), f"the captures are passed on to {place.name}")
            expect(first.bundle.read_bytes() in kept and second.bundle.read_bytes() in kept, "the bytes differ")
        receiver.stop()
        receiver.start()
        expect(receiver.upload(rig, first).data["capture_id"] == capture_id, "the id is new after a restart")
        expect(len(receiver.held()) == 2, f"the queue has {receiver.held()}")


def _bundles(folder, count):
    found = [path.read_bytes() for path in folder.rglob("*.bundle")]
    return found if len(found) >= count else None


def told(tools):
    rig, other = tools.rig(), tools.rig("other")
    with receiving(tools) as receiver:
        taken = receiver.taken(rig, rig.capture())
        path = f"{CAPTURES}/{taken}"
        answer = receiver.ask("GET", path, rig.signed(b"", receiver.device(rig).upper()))
        expect(answer.status == 200 and answer.data["capture_id"] == taken, f"the owner asks: {answer}")
        same(receiver.ask("GET", path), 401, "DEVICE_AUTH_REQUIRED")
        same(receiver.ask("GET", path, rig.signed(b"x", receiver.device(rig))), 401, "SIGNATURE_INVALID")
        same(receiver.asked(other, taken), 403, "FORBIDDEN")
        for name in (UNKNOWN, "x", "..%2f", "'"):
            same(receiver.asked(rig, name), 404, "CAPTURE_NOT_FOUND")


def photos(tools):
    """verify-file names the first capture of a photo, and reads forms to the letter."""
    rig, other = tools.rig(), tools.rig("other")
    file = 'Content-Disposition: form-data; name="file"; filename="a.jpg"\r\nContent-Type: image/jpeg'
    note = "content-disposition: FORM-DATA; name=note"
    with receiving(tools) as receiver:
        photo = (RAW / "photo.jpg").read_bytes()

        def look(data, content_type=QUOTED_TYPE):
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
        expect(look(form((file, photo))).data["device_revoked"] is False, "no device was revoked")
        nested = form(("Content-Type: multipart/mixed; boundary=b",
                       b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n' + photo + b"\r\n--b--"))
        bad = [b"", b"x", form(), form((note, photo)), form((file, photo))[:-60], b"x" + form((file, photo)), nested,
               form(("X: " + "y" * 3000, photo), (file, photo)), form(*[(note, b"")] * 16, (file, photo))]
        for number, data in enumerate(bad):
            same(look(data), 400, "VALIDATION_ERROR", f"form {number}")
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
        receiver.command("revoke", receiver.device(rig))
        expect(look(form((file, photo))).data["device_revoked"] is True, "the device was revoked")


def small_rules(tools):
    """HEAD is answered as GET is, without the content; Content-Type names the boundary of the body; and the addresses in
    answers can be used by others."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        body = rig.capture()
        wrong = body.content_type.replace("capture-bundle", "capture-bundel")
        same(receiver.upload(rig, body, Content_Type=wrong), 400, "VALIDATION_ERROR")
        page = f"/verify/{receiver.taken(rig, body)}"
        for path in ("/healthz", page, f"{page}/bundle"):
            whole, head_only = receiver.ask("GET", path), receiver.ask("HEAD", path)
            expect((head_only.status, head_only.bytes) == (200, b"") and whole.status == 200, f"{path}: {head_only}")
            lengths = [answer.headers.get("Content-Length") for answer in (whole, head_only)]
            expect(lengths[0] == lengths[1], f"{path}: Content-Length {lengths}")
    for host in ("0.0.0.0", "::", "0", "0:0::0"):
        said = tools.run("receiver", "serve", tools.scratch("all"), "--host", host, "--port", "0", allowed=(64,))
        expect(not said, f"{host}: prints {said!r}")


def limits(tools):
    """Photos, depth maps and bodies that are too large get 413, before they are read where that is possible."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        size = 20 << 20
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
        headers = rig.signed(b"", receiver.device(rig)) | {"Content-Type": FORM_TYPE}
        same(receiver.send(head("POST", CAPTURES, headers | {"Content-Length": str(size + 1)})), 413, "PAYLOAD_TOO_LARGE")
        wide = rig.body(rig.pack("wide-depth", rig.raw("wide-depth", lambda metadata: metadata.update(
            depth_map_dimensions={"width": 1, "height": 4097}), depth=bytes(4 * 4097))))
        same(receiver.upload(rig, wide), 413, "PAYLOAD_TOO_LARGE")
        expect(not receiver.held(), "a capture that is too large is stored")
    with receiving(tools, "--depth-side", "4097") as receiver:
        receiver.taken(rig, wide)


def continues(tools):
    """`100 Continue` is sent once the headers are accepted, and not before a refusal."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        body = rig.capture()
        headers = rig.signed(body.data, receiver.device(rig)) | {
            "Content-Type": body.content_type, "Content-Length": str(len(body.data)), "Expect": "100-continue"}
        for name in ("100-continue", "100-Continue"):
            with receiver.link() as link:
                link.send(head("POST", CAPTURES, headers | {"Expect": name}))
                said = b""
                while not said.endswith(b"\r\n\r\n"):
                    said += link.socket.recv(1)
                expect(said.startswith(b"HTTP/1.1 100 "), f"the receiver said {said}")
                link.send(body.data)
                expect(link.answer().status == 202, "the body after 100")
        for wrong, code in (({"X-Device-Id": UNKNOWN}, "DEVICE_NOT_FOUND"), ({"Content-Type": "x"}, "VALIDATION_ERROR"),
                            ({"Content-Length": str(1 << 30)}, "PAYLOAD_TOO_LARGE")):
            answer = receiver.send(head("POST", CAPTURES, headers | wrong))
            expect(answer.code == code and answer.headers.get("Connection") == "close", f"{answer}")


def ending(tools):
    """SIGTERM lets an upload end, and closes the other connections."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        body = rig.capture()
        start = receiver.head_of_upload(rig, body)
        with receiver.link() as link, receiver.link() as idle:
            link.send(start + body.data[:5000])
            wait_until(receiver.arriving, "the body is being received")
            receiver.process.terminate()
            expect(idle.is_closed(), "the idle connection gets bytes")
            expect(receiver.process.poll() is None, "the receiver ended before the upload")
            link.send(body.data[5000:])
            answer = link.answer()
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
    ("a device asks for its captures, and for no others", told),
    ("verify-file finds photos", photos),
    ("small rules", small_rules),
    ("limits on sizes", limits),
    ("100 Continue comes after the headers were accepted", continues),
    ("SIGTERM lets an upload end", ending),
    ("one receiver a folder", alone),
]
