"""The checker in Spec/Generator judges bodies and headers for RealityCam: of the sample and of real captures."""
import json
import time

from cryptography.hazmat.primitives.serialization import load_pem_public_key

from Kit.sending import DEVICE
from Kit.servers.realitycam_api import RPID
from Judges.bench import SAMPLE, expect
from Judges.bodies import raw_folder
from realitycam.rules import check
from realitycam.upload import Upload


def _key(bench):
    """Returns the path of a key for RealityCam, and its public half."""
    path = bench.folder / "realitycam/realitycam.key"
    if not path.exists():
        bench.capbundle("key", "new", "--key", path)
    return path, load_pem_public_key(bench.capbundle("key", "public", "--key", path).out)


def _headers(text):
    return dict(line.split(": ", 1) for line in text.decode().splitlines())


def _signed(bench, body, key):
    return _headers(bench.capbundle("sign-request", body, "--profile", "realitycam", "--realitycam-key", key,
                                    "--device-id", DEVICE).out)


def _upload(bench, bundle, raw, stored=0, *options, level="secure_enclave"):
    """Returns the upload that capbundle makes from a bundle, with what the server knows about the device."""
    (key, public), body, lines = _key(bench), bench.folder / "rc.body", bench.folder / "rc.headers"
    signs = () if options else ("--realitycam-key", key)
    make = ("multipart", bundle.path, "--profile", "realitycam", *signs, *options, "--force", "-o")
    bench.capbundle(*make, bench.folder / "rc.again")
    bench.capbundle(*make, body, "--headers", lines)
    report = json.loads(bench.capbundle("depth", bundle.path, "--json").out)["realitycam"]
    told = {"layers": report["layers"], "screen": report["screen"], "verdict": report["verdict"],
            "deviation": report["standard_deviation_m"], "coherence": report["edge_coherence"]}
    read = {name: (raw / name).read_bytes() for name in ("photo.jpg", "depth.f32")}
    return Upload(body.read_bytes(), _headers(lines.read_bytes())["Content-Type"], _signed(bench, body, key), public,
                  RPID, stored, time.time_ns() // 1_000_000, read["photo.jpg"], read["depth.f32"], level, DEVICE,
                  bench.key_id, (bench.folder / "rc.again").read_bytes(), analysis=told)


def _expect_sound(upload, about):
    broken = {number: words for number, (word, words) in check(upload).items() if word == "broken"}
    expect(not broken, f"{about}: {', '.join(f'rule {number}: {words}' for number, words in broken.items())}")


def sample(bench):
    upload = _upload(bench, bench.pack(), SAMPLE)
    _expect_sound(upload, "the sample")
    expect(upload.assertion.counter == upload.signature.counter + 15, "the counters are not those of a new body")
    # The tool keeps counting: a second body, signed twice, comes after what the server has by now.
    later = _upload(bench, bench.pack(), SAMPLE, upload.assertion.counter)
    _expect_sound(later, "a second body")
    body = bench.write("rc.later", later.body)
    again = Upload(later.body, later.content_type, _signed(bench, body, _key(bench)[0]), later.key, later.rpid,
                   later.signature.counter, device_id=DEVICE)
    _expect_sound(again, "a second attempt")


def every_capture(bench):
    stored = 0
    for raw in bench.captures():
        upload = _upload(bench, bench.real(raw), raw, stored)
        _expect_sound(upload, raw.name)
        stored = upload.assertion.counter


def without_assertion(bench):
    upload = _upload(bench, bench.pack(), SAMPLE, 0, "--without-assertion", level="unverified")
    _expect_sound(upload, "the sample")
    expect(upload.assertion is None and upload.again == upload.body, "two bodies without an assertion differ")


def large_bodies(bench):
    """A body above the default limit is made with a warning, and a photo above the fixed limit is refused."""
    plain, key = (SAMPLE / "photo.jpg").read_bytes(), _key(bench)[0]
    for size, code, words in ((2_100_000, 0, "2097152"), (10_485_761, 73, "10485760")):
        raw = raw_folder(bench, f"rc-large-{size}", plain[:-2] + bytes(size - len(plain)) + plain[-2:])
        bundle = bench.pack(raw.name, raw)
        bench.capbundle("multipart", bundle.path, "--profile", "realitycam", "--realitycam-key", key, "-o",
                        bench.folder / "rc.large", "--force", code=code).naming(words, f"a photo of {size} bytes")


TESTS = [
    ("RealityCam: the sample meets all rules, again and at a second attempt", sample),
    ("RealityCam: real captures meet all rules, in one order of counters", every_capture),
    ("RealityCam: without an assertion the body is the same each time", without_assertion),
    ("RealityCam: a body over 2 MiB is warned of; what no server takes is refused", large_bodies),
]
