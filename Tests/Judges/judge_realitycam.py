"""The checker in Spec/Generator judges bodies and headers for RealityCam: of the sample, and of captures of real devices.

The checker is judged, too: each of its rules has to find the uploads that break it.
"""
import array
import json
import math
import time

from cryptography.hazmat.primitives.serialization import load_pem_public_key

from bench import SAMPLE, expect
from judge_captures import captures
from realitycam_mutants import MUTANTS
from realitycam_uploads import DEVICE, Recipe
from realitycam.depth import analysed
from realitycam.rules import RULES, check
from realitycam.upload import Upload


def _key(bench):
    """Returns the path of a key for RealityCam, and its public half."""
    path = bench.folder / "realitycam/realitycam.key"
    if not path.exists():
        path.parent.mkdir(mode=0o700)
        bench.capbundle("key", "new", "--key", path)
    return path, load_pem_public_key(bench.capbundle("key", "public", "--key", path).stdout)


def _headers(text):
    return dict(line.split(": ", 1) for line in text.decode().splitlines())


def _signed(bench, body, key):
    return _headers(bench.capbundle("sign-request", body, "--profile", "realitycam", "--realitycam-key", key,
                                    "--device-id", DEVICE).stdout)


def _upload(bench, bundle, raw, stored=0, *options, level="secure_enclave"):
    """Returns the upload of a bundle as capbundle makes it, with what the server knows."""
    (key, public), body, lines = _key(bench), bench.folder / "rc.body", bench.folder / "rc.headers"
    signs = () if options else ("--realitycam-key", key)
    make = ("multipart", bundle.path, "--profile", "realitycam", *signs, *options, "--force", "-o")
    bench.capbundle(*make, bench.folder / "rc.again")
    bench.capbundle(*make, body, "--headers", lines)
    report = json.loads(bench.capbundle("depth", bundle.path, "--json").stdout)["realitycam"]
    told = {"layers": report["layers"], "screen": report["screen"], "verdict": report["verdict"],
            "deviation": report["standard_deviation_m"], "coherence": report["edge_coherence"]}
    return Upload(body.read_bytes(), _headers(lines.read_bytes())["Content-Type"], _signed(bench, body, key), public,
                  "XXXXXXXXXX.com.realitycam.app", stored, time.time_ns() // 1_000_000, (raw / "photo.jpg").read_bytes(),
                  (raw / "depth.f32").read_bytes(), level, DEVICE, bench.key_id, (bench.folder / "rc.again").read_bytes(), analysis=told)


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
    for raw in captures(bench):
        upload = _upload(bench, bench.pack(f"real-{raw.name}", raw), raw, stored)
        _expect_sound(upload, raw.name)
        stored = upload.assertion.counter


def without_assertion(bench):
    for raw in (SAMPLE, *(captures(bench)[:2] if (bench.shared / "captures").is_dir() else ())):
        bundle = bench.pack() if raw == SAMPLE else bench.pack(f"real-{raw.name}", raw)
        upload = _upload(bench, bundle, raw, 0, "--without-assertion", level="unverified")
        _expect_sound(upload, raw.name)
        expect(upload.assertion is None and upload.again == upload.body, "two bodies without an assertion differ")


def counters_run_out(bench):
    """A body can be tried 15 times, and not after a newer body was."""
    (key, _), bundle = _key(bench), bench.pack()
    bodies = [bench.folder / "rc.first", bench.folder / "rc.second"]
    for body in bodies:
        bench.capbundle("multipart", bundle.path, "--profile", "realitycam", "--realitycam-key", key, "-o", body)
    sign = ("--profile", "realitycam", "--realitycam-key", key, "--device-id", DEVICE)
    for number in range(15):
        bench.capbundle("sign-request", bodies[0], *sign)
    spent = bench.capbundle("sign-request", bodies[0], *sign, expected=None)
    expect(spent.returncode == 78 and b"multipart" in spent.stderr, f"the 16th attempt: exit {spent.returncode}")
    bench.capbundle("sign-request", bodies[1], *sign)
    late = bench.capbundle("sign-request", bodies[0], *sign, expected=None)
    expect(late.returncode == 78 and not late.stdout, f"an older body: exit {late.returncode}")


def keys_do_not_mix(bench):
    (key, _), bundle = _key(bench), bench.pack()
    ours = bench.capbundle("multipart", bundle.path, "--profile", "realitycam", "--realitycam-key", bench.key, "-o", "-",
                           expected=None)
    expect(ours.returncode == 78 and not ours.stdout, f"the key of bundles signs for RealityCam: {ours.returncode}")
    theirs = bench.capbundle("pack", SAMPLE, "-o", "-", "--key", key, expected=None)
    expect(theirs.returncode == 78 and not theirs.stdout, f"RealityCam's key signs a bundle: {theirs.returncode}")


def _recipe():
    values = array.array("f", (0.6 + (x // 32) % 8 * 0.9 + y / 400 for y in range(192) for x in range(256)))
    return Recipe((SAMPLE / "photo.jpg").read_bytes(), values.tobytes(), (256, 192))


def rules_find(bench):
    """Each rule finds the uploads that break it, and none finds anything in a sound one."""
    recipe = _recipe()
    found = check(recipe.upload())
    expect(all(word == "ok" for word, _ in found.values()), f"the sound upload: {found}")
    for number, name, make in MUTANTS:
        word, _ = check(make(recipe))[number]
        expect(word == "broken", f"rule {number} does not find: {name}")
    missed = sorted(RULES.keys() - {number for number, _, _ in MUTANTS})
    expect(not missed, f"no upload breaks rules {missed}")


def depth_verdicts(bench):
    """Maps whose verdict follows from the rules of the contract by hand."""
    flat = analysed(array.array("f", [0.4]) * (256 * 192), 256, 192)
    expect(flat.is_screen and flat.status == "fail" and flat.deviation < 1e-6, f"a flat map at 0.4 m: {flat}")
    far = analysed(array.array("f", [4.0]) * (256 * 192), 256, 192)
    expect(not far.is_screen and far.status == "fail", f"a flat map at 4 m: {far}")
    # Four planes. Those between have a few samples on both sides, because a lone bin becomes a plateau of three.
    spread = [-0.06] * 16 + [0.0] * 32 + [0.06] * 16
    row = [1.0] * 64 + [2 + off for off in spread] + [3 + off for off in spread] + [4.0] * 64
    steps = array.array("f", row * 192)
    scene, mean_square = analysed(steps, 256, 192), 1.25 + 0.06 ** 2 / 4
    expect(scene.layers == 4 and math.isclose(scene.deviation, math.sqrt(mean_square), rel_tol=1e-6),
           f"four planes: {scene}")
    lone = analysed(array.array("f", (1.0 + x // 64 for _ in range(192) for x in range(256))), 256, 192)
    expect(lone.layers == 2, f"four planes of one value each: {lone}")
    # Each of the three steps makes an edge on both of its sides: 6 of the 254 inner columns.
    expect(math.isclose(scene.coherence, 1 - math.exp(-30 * 6 / 254)) and scene.status == "pass", f"four planes: {scene}")
    other = analysed(steps[:-256 * 100], 256, 192)
    expect(other.coherence == 0 and other.status == "fail", f"another size: {other}")
    none = analysed(array.array("f", [math.nan, 0.0, 21.0, math.inf]), 2, 2)
    expect(none.status == "unavailable", f"no valid sample: {none}")


def large_bodies(bench):
    """A body above the default limit is made with a warning, and a photo above the fixed limit is refused."""
    plain, key = (SAMPLE / "photo.jpg").read_bytes(), _key(bench)[0]
    for size, code, words in ((2_100_000, 0, b"2097152"), (10_485_761, 73, b"10485760")):
        raw = bench.scratch(f"rc-large-{size}")
        for name in ("depth.f32", "metadata.json"):
            (raw / name).write_bytes((SAMPLE / name).read_bytes())
        (raw / "photo.jpg").write_bytes(plain[:-2] + bytes(size - len(plain)) + plain[-2:])
        bundle = bench.pack(f"rc-large-{size}", raw)
        made = bench.capbundle("multipart", bundle.path, "--profile", "realitycam", "--realitycam-key", key, "-o",
                               bench.folder / "rc.large", "--force", expected=None)
        expect(made.returncode == code and words in made.stderr, f"a photo of {size} bytes: exit {made.returncode}")
    bare = bench.pack("no-depth", SAMPLE, "--no-depth")
    made = bench.capbundle("multipart", bare.path, "--profile", "realitycam", "--realitycam-key", key, "-o", "-",
                           expected=None)
    expect(made.returncode == 66 and not made.stdout, f"without a depth map: exit {made.returncode}")


JUDGES = [
    ("RealityCam: each rule of the checker finds the uploads that break it", rules_find),
    ("RealityCam: verdicts on depth maps that can be computed by hand", depth_verdicts),
    ("RealityCam: the sample meets all rules, again and at a second attempt", sample),
    ("RealityCam: every real capture meets all rules, in one order of counters", every_capture),
    ("RealityCam: without an assertion the body is the same each time", without_assertion),
    ("RealityCam: a body can be tried 15 times, and not after a newer one", counters_run_out),
    ("RealityCam: a key signs bundles or uploads to RealityCam, not both", keys_do_not_mix),
    ("RealityCam: a body over 2 MiB is warned of; what no server takes is refused", large_bodies),
]
