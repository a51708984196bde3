"""Bodies and headers of the phone beside those of `capbundle multipart`, and a server that takes them."""
import base64
import sys
import time

from Judges.bench import ROOT, SAMPLE, SPEC, Bundle, expect
from Judges.bodies import nasty_photo
from Judges.judge_server import Server
from Kit.sending import DEVICE
from Phone.apple import APP, MAPS
from Phone.bundles import PLACE, facts, floats

sys.path.append(str(SPEC / "Generator"))
from bundle import request  # noqa: E402  (the second implementation)
from capbundle.format import p256  # noqa: E402

COMPARED = {
    "plain": (facts(3, 2, location=PLACE), {"floats": floats(3, 2)}),
    "no-depth": (facts(location={"latitude": 1.50, "longitude": 2e0, "accuracy": 0}), {}),
    "no-place": (facts(3, 2, model='Rig "7"\\ \u00e9\u4e2d\U0001f4f7 \u0001'), {"floats": floats(3, 2)}),
    "photo-like-a-body": (facts(), {"photo": nasty_photo()}),
}


def bodies(bench):
    """Returns the bundles and bodies of the phone, by name."""
    found = {}
    for name, (metadata, more) in COMPARED.items():
        found[name] = bench.phone_bundle(bench.raw(f"raw-{name}", metadata, **more), name)
    found["lamp"] = bench.phone_bundle(SAMPLE, "lamp")
    found["apple"] = bench.phone_bundle(SAMPLE, "apple", "--apple", APP, "--apple-map", MAPS["long"].hex())
    return {name: (bundle, bundle.path.with_suffix(".body")) for name, bundle in found.items()}


def headers_of(bench, body):
    """Returns the headers for a request, and the file with them."""
    file = bench.folder / "headers"
    bench.run(bench.phone, "--send", body, file, "--key", bench.key, "--device", DEVICE)
    return dict(line.split(": ") for line in file.read_text().splitlines()), file


def same_bodies(bench):
    for name, (bundle, body) in bodies(bench).items():
        whole, told = bench.folder / "whole.body", bench.folder / "told"
        bench.capbundle("multipart", bundle.path, "-o", whole, "--headers", told, "--force")
        expect(body.read_bytes() == whole.read_bytes(), f"{name}: the body differs from that of multipart")
        kind = headers_of(bench, body)[0]["Content-Type"]
        expect(told.read_text() == f"Content-Type: {kind}\n", f"{name}: another Content-Type")
        theirs = bench.folder / "theirs.body"
        theirs.unlink(missing_ok=True)
        bench.second("to_body.py", bundle.path, "-o", theirs)
        expect(body.read_bytes() == theirs.read_bytes(), f"{name}: the body differs from the second implementation's")


def signed_requests(bench):
    """The second implementation accepts the headers for this body only."""
    point = None
    for name, (bundle, body) in bodies(bench).items():
        data, point = body.read_bytes(), bundle.point
        for _ in range(4):  # the signer must choose the smaller s
            before = time.time_ns() // 1_000_000
            headers = headers_of(bench, body)[0]
            words = [headers[f"X-Device-{word}"] for word in ("Id", "Timestamp", "Signature")]
            expect(not request.judge(point, *words, data), f"{name}: the headers are refused")
            expect(request.judge(point, *words, data + b"\n"), f"{name}: the headers are accepted for another body")
            expect(before <= int(words[1]) <= time.time_ns() // 1_000_000, f"{name}: the timestamp is not now")
            _, s = p256.decode_der(base64.b64decode(words[2]))
            expect(2 * s < p256.N, f"{name}: s is in the upper half")
    expect(len(headers) == 4, f"the headers are {sorted(headers)}")
    said = bench.run(bench.phone, "--send", SAMPLE / "photo.jpg", bench.folder / "none", "--key", bench.key,
                     "--device", DEVICE, code=1)
    said.naming("not the body")


def server_takes(bench):
    """curl sends the files, and a server finds what the bundle contains; it checks the signature of the request."""
    with Server(bench) as server:
        for name, (bundle, body) in bodies(bench).items():
            told = headers_of(bench, body)[1]
            done = bench.run("curl", "-sS", "--noproxy", "*", "-X", "POST", "-T", body, "-H", f"@{told}",
                             "-o", bench.folder / "answer", "-w", "%{http_code}", server.url + server.path)
            expect(done.out == b"202", f"{name}: the server answers {done.out.decode()}")
            found = {part: data for part, (_, _, data) in server.parts.items()}
            wanted = {"manifest": bundle.manifest, "assertion.cbor": bundle.entries["assertion.cbor"],
                      "photo": bundle.entries["photo.jpg"], "metadata.json": bundle.entries["metadata.json"]}
            if "depth.f32.gz" in bundle.entries:
                wanted["depth_map"] = bundle.entries["depth.f32.gz"]
            different = [part for part, data in wanted.items() if found.get(part) != data]
            expect(not different, f"{name}: other bytes in {different}")


TESTS = [
    ("bodies: those of multipart and of the second implementation, byte for byte", same_bodies),
    ("headers: a sound signature of this body, with the smaller s", signed_requests),
    ("curl sends the body with the headers, and a server takes it", server_takes),
]
