"""What the package gives of one bundle, and what it refuses."""
import gzip
import io
import json
import tracemalloc

import capbundle
import numpy
from bundle import signing, writer
from Kit.outcomes import every, expect
from Kit.rigs import PHOTO

from Python.suite import CAMERA, MATRIX, entries_of
from Python.vectors import code_of


def members(place):
    """The camera, its pose and the confidence of a capture that capbundle packed."""
    entries, said = entries_of(place.posed.read_bytes()), place.shown(place.posed)
    for options in ({"trust": place.trust}, {"verify": False}):
        with capbundle.open(place.posed, **options) as bundle:
            expect(bundle.photo == entries["photo.jpg"] and bundle.confidence == entries["confidence.png"], "other bytes")
            expect(bundle.metadata == json.loads(entries["metadata.json"]), "other metadata")
            expect(bundle.intrinsics == tuple(CAMERA.values()), f"intrinsics {bundle.intrinsics}")
            expect(sum(bundle.pose, ()) == tuple(MATRIX), f"pose {bundle.pose}")
            expect(bundle.location == {"latitude": 52.5163, "longitude": 13.3777}, f"location {bundle.location}")
            found = {"id": bundle.id, "captured_at": bundle.captured_at, "key_id": bundle.key_id}
            expect(found.items() <= (said["bundle"] | said["device"]).items(), f"{found}, capbundle says {said}")
            expect(bundle.depth.tolist() == [[1 + (4 * row + column) / 8 for column in range(4)] for row in range(3)], "depth")
            expect(bundle.depth.dtype == numpy.float32 and not bundle.depth.flags.writeable, "another kind of array")
    bundle = capbundle.open(place.posed, trust=place.trust)
    expect((bundle.verdict, bundle.device, bundle.counter) == ("verified", said["device"]["name"], said["device"]["counter"]),
           f"{bundle.verdict}, {bundle.device}, {bundle.counter}")


def absent_members(place):
    with capbundle.open(place.archive / "a.bundle") as bundle:
        found = bundle.intrinsics, bundle.pose, bundle.confidence, bundle.read("source/photo.heic")
        expect(found == (None,) * 4, f"finds {found}")
        expect(bundle.verdict == "unknown-device" and str(bundle.verdict) == "unknown-device", f"{bundle.verdict}")


def other_cameras(place):
    """Metadata is what a device wrote; a camera or a pose in another form is None."""
    cases = {"text": "f", "a list": [1], "no cx": {**CAMERA, "cx": None}, "true": {**CAMERA, "fx": True},
             "text inside": {**CAMERA, "fx": "5"}}

    def judge(name, value):
        metadata = {"camera_intrinsics": value, "camera_pose": {"matrix": MATRIX[:15] if name == "text" else [*MATRIX[:15], value]}}
        bundle = capbundle.open(place.posed)
        bundle.__dict__["metadata"] = metadata
        expect(bundle.intrinsics is None and bundle.pose is None, f"{bundle.intrinsics}, {bundle.pose}")
    every(cases, judge)


def withheld(place):
    public = place.folder / "public.bundle"
    place.rig.run("redact", place.posed, "--withhold", "location.json", "-o", public).must(0, about="redact")
    bundle = capbundle.open(public, trust=place.trust)
    expect((bundle.verdict, bundle.faults[0].code) == ("unacceptable", "policy.withheld"), f"{bundle.faults}")
    bundle = capbundle.open(public, trust=place.trust, allow_withheld=True)
    expect((bundle.verdict, bundle.withheld, bundle.location) == ("verified", ("location.json",), None), f"{bundle}")
    bundle = capbundle.open(public, trust=place.trust, allow_withheld=True, require=["location"])
    expect(bundle.faults[0].code == "policy.required", f"{bundle.faults}")


def trust_files(place):
    text = place.trust.read_text()
    for name, trust in {"a path": str(place.trust), "text": text, "bytes": text.encode(), "Trust": capbundle.Trust(text)}.items():
        expect(capbundle.open(place.posed, trust=trust).verdict == "verified", f"{name} is not taken")
    expect(code_of(lambda: capbundle.open(place.posed, trust=text + "?\n")) == "trust.file", "takes a broken trust file")
    for trust, error in ((text.strip(), OSError), (place.folder / "missing", FileNotFoundError)):
        try:
            capbundle.iterate(place.archive, trust=trust)  # before the first bundle is asked for
        except error:
            continue
        raise AssertionError(f"no {error.__name__}")


def wrong_words(place):
    for require in (["photos"], ["fresh"]):
        try:
            capbundle.open(place.posed, require=require)
        except ValueError as error:
            expect(require[0] in str(error), f"{error}")
            continue
        raise AssertionError(f"takes {require}")


def unverified_damage(place):
    """Without verification, damage that makes an entry unreadable is a BundleError; no other error comes out."""
    data = place.posed.read_bytes()
    start = data.index(b"\x1f\x8b\x08")
    for offset in (start, start + 12, start + 60):
        damaged = place.folder / "damaged.bundle"
        damaged.write_bytes(data[:offset] + bytes([data[offset] ^ 0xff]) + data[offset + 1:])
        code = code_of(lambda: capbundle.open(damaged, verify=False).depth)
        expect(code in ("depth.gzip", "depth.length"), f"byte {offset}: {code}")
    damaged.write_bytes(data[:start + 9])
    expect(code_of(lambda: capbundle.open(damaged, verify=False).photo) == "container.truncated", "a cut bundle")


def bombs(_):
    """A map that inflates to more than its size is refused, and is not inflated to its end."""
    key, photo, packed = signing.Key("bomb"), PHOTO, gzip.compress(bytes(100_000_000), 1, mtime=0)
    metadata = b'{"captured_at":"2026-03-14T09:26:53.589Z","depth_map_dimensions":{"height":1024,"width":1024},"device_model":"Rig 1"}'
    payload = {"depth.f32.gz": packed, "metadata.json": metadata, "photo.jpg": photo}
    depth = writer.describe_depth(bytes(4 << 20), 1024, 1024)
    bundle = writer.seal(writer.make_manifest(payload, "2026-03-14T09:26:53.589Z", key.point, depth), key, payload)
    tracemalloc.start()
    code = code_of(lambda: capbundle.open(io.BytesIO(bundle), verify=False).depth)
    verified = capbundle.open(io.BytesIO(bundle))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    expect((code, verified.verdict, verified.faults[0].code) == ("depth.length", "malformed", "depth.length"), f"{code}, {verified.faults}")
    expect(peak < 16 << 20, f"takes {peak} bytes")


def no_numpy(place):
    code = ("import sys, capbundle\nbundle = capbundle.open(sys.argv[1])\nprint(bundle.verdict, 'numpy' in sys.modules)\n"
            "bundle.depth\nprint('numpy' in sys.modules, 'torch' in sys.modules)")
    said = place.python("-c", code, place.posed).must(0).out
    expect(said == b"unknown-device False\nTrue False\n", f"prints {said}")


TESTS = [("the members of a bundle", members), ("members that a capture does not have", absent_members),
         ("cameras in another form", other_cameras), ("withheld entries", withheld), ("trust files", trust_files),
         ("unknown requirements", wrong_words), ("depth maps that inflate to more", bombs),
         ("damage without verification", unverified_damage),
         ("only depth imports numpy", no_numpy)]
