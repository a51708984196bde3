"""The page of a capture: what it says, what it hides, and where it reads the bundle. Browsers are in pages_look.py."""
import concurrent.futures
import html
import os
import re
import signal
import struct

from Kit.outcomes import ROOT, expect
from Kit.processes import descendants
from Kit.sending import wait_until
from Kit.servers.nginx import Nginx
from Receiver.links import BOUNDARY, form
from Receiver.operators import Operator
from Receiver.support import RAW, UNKNOWN, VERIFY_FILE, receiving

# The position of the sample, as text and as the seconds in the EXIF of `photo_with_position`.
COORDINATES = [b"12.345", b"45.678", struct.pack(">II", 444408, 10000), struct.pack(">II", 440436, 10000)]
POLICY = "default-src 'none'; img-src 'self' data:; style-src 'sha256-"


def photo_with_position():
    """The sample's photo with the sample's position in its EXIF."""
    def directory(*entries):
        return struct.pack(">H", len(entries)) + b"".join(entries) + bytes(4)

    main = directory(struct.pack(">HHII", 0x8825, 4, 1, 26))
    gps = directory(
        struct.pack(">HHI4s", 1, 2, 2, b"N"), struct.pack(">HHII", 2, 5, 3, 80),
        struct.pack(">HHI4s", 3, 2, 2, b"W"), struct.pack(">HHII", 4, 5, 3, 104))
    tiff = b"MM\0*" + struct.pack(">I", 8) + main + gps
    tiff += struct.pack(">12I", 12, 1, 20, 1, 444408, 10000, 45, 1, 40, 1, 440436, 10000)
    exif = b"Exif\0\0" + tiff
    jpeg = (RAW / "photo.jpg").read_bytes()
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + jpeg[2:]


def text_of(answer):
    """The text of a page, without markup and style."""
    source = re.sub(r"<style>.*?</style>", "", answer.bytes.decode(), flags=re.S)
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", source)))


def page(receiver, capture, status=200):
    answer = receiver.ask("GET", f"/verify/{capture}")
    expect(answer.status == status, f"the page: {answer.status}, expected {status}: {text_of(answer)[:300]}")
    expect(answer.headers["Content-Security-Policy"].startswith(POLICY), f"policy: {answer.headers}")
    expect("frame-ancestors 'none'" in answer.headers["Content-Security-Policy"], f"policy: {answer.headers}")
    expect(answer.headers["X-Content-Type-Options"] == "nosniff", f"headers: {answer.headers}")
    expect(answer.headers["Referrer-Policy"] == "no-referrer", f"headers: {answer.headers}")
    expect(b"<script" not in answer.bytes.lower(), "the page has a script")
    return text_of(answer)


def part(receiver, capture, name, status=200):
    answer = receiver.ask("GET", f"/verify/{capture}/{name}")
    expect(answer.status == status, f"{name}: {answer.status}, expected {status}")
    expect(answer.headers["X-Content-Type-Options"] == "nosniff", f"{name}: {answer.headers}")
    return answer


def picture(receiver, capture, name, status=200):
    answer = part(receiver, capture, name, status)
    if status == 200:
        jpeg = answer.bytes
        expect(answer.headers["Content-Type"] == "image/jpeg" and jpeg.startswith(b"\xff\xd8"), f"{name} is not a JPEG")
        segments = re.findall(rb"\xff[\xe1-\xef\xfe]", jpeg[:jpeg.index(b"\xff\xda")])
        expect(not segments and b"Exif" not in jpeg, f"{name} has metadata: {segments}")
    return answer.bytes


def has_place(data):
    return any(form in data for form in COORDINATES)


def upload(receiver, rig, name, change=None, options=(), redact=None, **files):
    """Packs and uploads a capture; returns its id and its bundle."""
    bundle = rig.pack(name, rig.raw(name, change, **files), *options)
    if redact:
        whole, bundle = bundle, rig.folder / f"{name}-redacted.bundle"
        rig.run("redact", whole, "--withhold", redact, "-o", bundle)
    return receiver.taken(rig, rig.body(bundle)), bundle


def shows_a_capture(tools):
    rig = tools.rig("shown")
    with receiving(tools, "--show-place") as receiver:
        capture, bundle = upload(receiver, rig, "shown")
        said = page(receiver, capture)
        for words in ["Verified on arrival, unchanged since", "read now: as it arrived", "\u201cshown\u201d",
                      "14 March 2026, 15:09:26 +01:00 , as the device claims", rig.key_id, "Synthetic LiDAR camera",
                      "latitude 12.345678, longitude -45.678901", "256 × 192 samples",
                      "What is not proven", "No time stamp proves it", "a photo of a screen".capitalize(),
                      "Download the bundle", "Check it yourself", "capbundle verify --trust device.trust", capture]:
            expect(words in said, f"the page does not say {words!r}: {said}")
        for name in ("photo.jpg", "depth.jpg"):
            picture(receiver, capture, name)
        got = part(receiver, capture, "bundle")
        expect(got.bytes == bundle.read_bytes(), "the download differs from the bundle")
        expect(got.headers["Content-Disposition"] == f'attachment; filename="{capture}.bundle"', f"{got.headers}")
        # The commands of the page do what the page says.
        line = re.search(r"shown p256 [A-Za-z0-9+/=]+", said)[0]
        folder = tools.scratch("own-check")
        (folder / "device.trust").write_text(line + "\n")
        (folder / "b.bundle").write_bytes(got.bytes)
        rig.run("verify", "--trust", folder / "device.trust", "--allow-withheld", folder / "b.bundle")
        own = receiver.ask("GET", "/verify.html")
        expect(own.bytes == (ROOT / "Samples/verify.html").read_bytes(), "verify.html is another page")
        expect(own.headers["Content-Security-Policy"] == "frame-ancestors 'none'", f"{own.headers}")


def knows_no_other_address(tools):
    rig = tools.rig("shown")
    with receiving(tools) as receiver:
        capture = receiver.taken(rig, rig.capture())
        for path in [UNKNOWN, "x", "..%2f..%2fetc", f"{capture}/", capture[:8], capture.upper(), "%00", "'; DROP TABLE"]:
            answer = receiver.ask("GET", f"/verify/{path}".replace(" ", "%20"))
            expect(answer.status in (404, 400), f"{path}: {answer.status}")
            expect(answer.status == 400 or "no capture with this address" in text_of(answer), f"{path}: {text_of(answer)}")
        for name in ("photo.jpg", "depth.jpg", "bundle"):
            part(receiver, UNKNOWN, name, status=404)
        expect(receiver.ask("GET", f"/verify/{capture}/metadata.json").status == 404, "another file is served")
        expect(receiver.ask("POST", f"/verify/{capture}").status in (404, 405), "a POST is answered")


def says_what_is_withheld(tools):
    rig = tools.rig("shown")
    with receiving(tools) as receiver:
        capture, bundle = upload(receiver, rig, "no-place", redact="location.json")
        said = page(receiver, capture)
        for words in ("Verified on arrival, entries withheld", "withheld: it was left out before the bundle was sent"):
            expect(words in said, said)
        expect(not has_place(said.encode()) and part(receiver, capture, "bundle").bytes == bundle.read_bytes(), said)
        capture, _ = upload(receiver, rig, "no-photo", options=("--withholdable", "photo.jpg"), redact="photo.jpg")
        said = page(receiver, capture)
        expect("left out photo.jpg before" in said and "The photo is withheld" in said, said)
        picture(receiver, capture, "photo.jpg", status=404)
        picture(receiver, capture, "depth.jpg")


HIDING = [
    # name, options, whether the photo has a position, what is left out for others; None if they get no bundle
    ("plain", (), False, ["location.json"]),
    ("marked", ("--withholdable", "photo.jpg"), True, ["location.json", "photo.jpg"]),
    ("depth", ("--withholdable", "depth.f32.gz"), False, ["depth.f32.gz", "location.json"]),
    ("fixed", (), True, None),
]


def hides_the_place(tools):
    """Without the operator's token, neither page, pictures nor bundle have a position, or what may be withheld."""
    rig = tools.rig("hidden")
    telling = photo_with_position()
    expect(has_place(telling), "the photo tells no place")
    with receiving(tools) as receiver:
        operator = Operator(receiver).open()
        for name, options, is_telling, left in HIDING:
            capture, bundle = upload(receiver, rig, name, options=options, **({"photo": telling} if is_telling else {}))
            whole, said, hidden = bundle.read_bytes(), page(receiver, capture), left or ["location.json"]
            expect(has_place(page(operator, capture).encode()), f"{name}: the operator's page tells no place")
            expect(part(operator, capture, "bundle").bytes == whole, f"{name}: the operator's bundle differs")
            expect("shown only to the operator" in said and not has_place(said.encode()), f"{name}: {said}")
            for path, shown in (("photo.jpg", "photo.jpg"), ("depth.f32.gz", "depth.jpg")):
                picture(operator, capture, shown)
                jpeg = picture(receiver, capture, shown, status=404 if path in hidden else 200)
                expect(not has_place(jpeg), f"{name}: {shown} tells the place")
            if not left:
                expect("Only the operator of this receiver can download it: photo.jpg may tell the place" in said, said)
                part(receiver, capture, "bundle", status=404)
                continue
            expect(f"without {', '.join(left)}, which only the operator" in said, f"{name}: {said}")
            copy = tools.scratch("download") / "b.bundle"
            copy.write_bytes(part(receiver, capture, "bundle").bytes)
            expect(not has_place(copy.read_bytes()), f"{name}: the download tells the place")
            kept = rig.folder / f"{name}-cut.bundle"
            rig.run("redact", bundle, "--withhold", ",".join(left), "-o", kept)
            expect(copy.read_bytes() == kept.read_bytes(), f"{name}: the download differs from the redacted bundle")
        # Whoever has the photo finds the page, and no more than that.
        photo = form(('Content-Disposition: form-data; name="file"; filename="a.jpg"', (RAW / "photo.jpg").read_bytes()))
        found = receiver.ask("POST", VERIFY_FILE, {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}, photo)
        expect(not has_place(page(receiver, found.data["capture_id"]).encode()), "the photo leads to the place")
        expect(not has_place(receiver.said().encode()), "the log tells the place")


def knows_revocations(tools):
    rig = tools.rig("revoked")
    with receiving(tools) as receiver:
        capture = receiver.taken(rig, rig.capture())
        expect("Verified on arrival" in page(receiver, capture), "not verified before")
        receiver.command("revoke", receiver.device(rig))
        said = page(receiver, capture)
        expect("Not acceptable: the device was revoked" in said and "Verified" not in said, said)
        expect("[trust.revoked]" in said and "revoked revoked p256" in said, said)
        device = receiver.folder / "shared/devices" / receiver.device(rig)
        line = device.read_bytes()
        device.unlink()
        said = page(receiver, capture)
        expect("Sound, but the device is unknown" in said and "Check it yourself" not in said, said)
        device.write_bytes(b"not a line of a trust file\n")
        expect("cannot be read at the moment" in page(receiver, capture, status=503), "a damaged store is not reported")
        device.write_bytes(line)
        page(receiver, capture)


def _files(receiver):
    """The stored copies of bundles in the queue and at the destination."""
    return [path for folder in ("queue", "kept") for path in (receiver.folder / folder).rglob("*") if path.is_file()
            and path.read_bytes()[:8] == b"mimetype"]


def damage(path):
    """Changes a bit of the photo in a stored bundle."""
    data = bytearray(path.read_bytes())
    data[data.index(b"\xff\xd8\xff") + 2000] ^= 1
    path.chmod(0o600)
    path.write_bytes(data)


def shows_damage(tools):
    rig = tools.rig("shown")
    with receiving(tools) as receiver:
        capture, _ = upload(receiver, rig, "damaged")
        wait_until(lambda: len(_files(receiver)) == 2, "the capture is passed on")
        page(receiver, capture)
        for path in _files(receiver):
            damage(path)
        said = page(receiver, capture)
        expect("ALTERED" in said and "[entry.sha256]" in said and "are not shown" in said, said)
        for name in ("photo.jpg", "depth.jpg"):
            picture(receiver, capture, name, status=404)
        for path in _files(receiver):
            path.write_bytes(path.read_bytes()[:3000])
        expect("MALFORMED" in page(receiver, capture), "a cut bundle is not called malformed")
        other = rig.pack("replacing", rig.raw("replacing"), "--location", "omit").read_bytes()
        for path in _files(receiver):
            path.write_bytes(other)
        said = page(receiver, capture)
        expect("REPLACED" in said and "read now: not as it arrived" in said, f"another sound bundle: {said}")


def reads_from_the_destination(tools):
    """The queue has released the bytes: the page is the same, from the copy at the destination."""
    rig = tools.rig("shown")
    with receiving(tools) as receiver:
        capture, bundle = upload(receiver, rig, "released")
        before, download = page(receiver, capture), part(receiver, capture, "bundle").bytes
        expect(download != bundle.read_bytes(), "the download has the place")
        wait_until(lambda: capture.encode() in receiver.queue("prune", "--older-than", "0s"), "the queue releases the bytes")
        expect(len(_files(receiver)) == 1, "the bytes are still in the queue")
        expect(page(receiver, capture) == before, "the page changed")
        expect(part(receiver, capture, "bundle").bytes == download, "the download changed")
        receiver.stop()
        receiver.start()
        picture(receiver, capture, "photo.jpg")
        copy = _files(receiver)[0]
        copy.rename(copy.with_suffix(".away"))
        said = page(receiver, capture, status=503)
        expect("cannot be read at the moment" in said, said)
        part(receiver, capture, "bundle", status=503)


def says_what_is_gone(tools):
    """The operator deletes a capture that was not passed on: neither its page nor its pictures are shown any more."""
    rig = tools.rig("shown")
    with receiving(tools) as receiver:
        receiver.queue("pause")
        capture, _ = upload(receiver, rig, "gone")
        page(receiver, capture)
        picture(receiver, capture, "photo.jpg")
        receiver.queue("cancel", capture)
        receiver.queue("prune", "--cancelled", capture)
        expect("is gone" in page(receiver, capture, status=410), "the page of a deleted capture")
        for name in ("photo.jpg", "depth.jpg", "bundle"):
            part(receiver, capture, name, status=410)


def deaf_destination(tools):
    """A destination that does not answer delays only the pages that need it."""
    rig = tools.rig("shown")
    with receiving(tools) as receiver, Nginx(tools.scratch("deaf")) as store:
        receiver.queue("dest", "add", "deaf", "--kind", "put", "--url", store.template())
        receiver.queue("dest", "retire", "kept")
        released, _ = upload(receiver, rig, "deaf-released")
        wait_until(lambda: released.encode() in receiver.queue("prune", "--older-than", "0s"), "the queue releases the bytes")
        fresh, _ = upload(receiver, rig, "deaf-fresh", lambda metadata: metadata.update(captured_at="2026-03-14T15:00:00Z"))
        store.process.send_signal(signal.SIGSTOP)  # the store accepts connections and does not answer
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            delayed = [pool.submit(page, receiver, released) for _ in range(8)]
            expect("Verified" in page(receiver, fresh), "the page of a capture in the queue")
            expect(not any(one.done() for one in delayed), "the destination answered")
            store.process.send_signal(signal.SIGCONT)
            expect(all("Verified" in one.result() for one in delayed), "the pages that were delayed")


def waits_for_no_other_page(tools):
    """A page that takes long to make, however often it is asked for, uses one thread and delays no page that was made
    before."""
    rig = tools.rig("shown")
    with receiving(tools) as receiver:
        known, _ = upload(receiver, rig, "slow-known")
        before = page(receiver, known)
        slow, _ = upload(receiver, rig, "slow", lambda metadata: metadata.update(captured_at="2026-03-14T15:00:00Z"))
        decoders = descendants(receiver.process.pid)
        for pid in decoders:
            os.kill(pid, signal.SIGSTOP)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            delayed = [pool.submit(page, receiver, slow) for _ in range(8)]
            for _ in range(8):
                expect(page(receiver, known) == before, "the page that was made before")
            expect(decoders and not any(one.done() for one in delayed), "the stopped decoders made a picture")
            for pid in decoders:
                os.kill(pid, signal.SIGCONT)
            expect(all("Verified" in one.result() for one in delayed), "the pages that were delayed")
        expect(descendants(receiver.process.pid) == decoders, "one page used several decoders")


TESTS = [
    ("the page of a capture shows its facts, pictures and bundle", shows_a_capture),
    ("addresses of no capture are answered with a page", knows_no_other_address),
    ("the page says which entries are withheld", says_what_is_withheld),
    ("only the operator gets positions and what may be withheld", hides_the_place),
    ("a revocation changes the page at once", knows_revocations),
    ("a damaged bundle is shown as such, without pictures", shows_damage),
    ("a bundle that the queue released is read from its destination", reads_from_the_destination),
    ("what the operator deleted is not shown", says_what_is_gone),
    ("a destination that does not answer delays no other page", deaf_destination),
    ("a page that takes long to make delays no other page", waits_for_no_other_page),
]
