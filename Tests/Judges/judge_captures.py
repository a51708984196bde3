"""Captures of real devices, if their folder is available: nothing of them is lost, and tampering is found.

They are not part of the project. Their positions are real places, so a failure shows only exit codes and the name of
the capture, never the output of a tool.
"""
import gzip
import json
import random

from Judges.bench import IS_LONG, SAMPLE, Bundle, expect, flip
from Judges.bodies import Body
from Judges.judge_parsers import by_defnull, same_parts

FLIPS = 20 if IS_LONG else 5


def unchanged(bench):
    """Both implementations accept the bundle, and it has everything of the capture."""
    for raw in bench.captures():
        bundle = bench.real(raw)
        bench.agree(bundle.path, raw.name, 0)
        expect(bundle.entries["photo.jpg"] == (raw / "photo.jpg").read_bytes(), f"{raw.name}: another photo")
        floats = gzip.decompress(bundle.entries["depth.f32.gz"])
        expect(floats == (raw / "depth.f32").read_bytes(), f"{raw.name}: other floats")
        before, after = json.loads((raw / "metadata.json").read_text()), json.loads(bundle.entries["metadata.json"])
        position = before.pop("location", None)
        expect(before == after, f"{raw.name}: other metadata")
        kept = json.loads(bundle.entries.get("location.json", "{}"))
        same = all(kept.get(name) == value for name, value in (position or {}).items())
        expect(same, f"{raw.name}: another position")
        expect((position is None) == ("location.json" not in bundle.entries), f"{raw.name}: position lost or invented")
        out = bench.scratch("real-out")
        bench.capbundle("extract", bundle.path, "--floats", "-o", out)
        for name in ("photo.jpg", "depth.f32"):
            expect((out / name).read_bytes() == (raw / name).read_bytes(), f"{raw.name}: extract gives another {name}")


def bodies_agree(bench):
    """`pack --multipart`, `multipart` and to_body.py write one body, which gives the bundle back."""
    for raw in [SAMPLE, *bench.captures()]:
        path, early, headers = (bench.folder / f"both.{kind}" for kind in ("bundle", "upload", "line"))
        bench.capbundle("pack", raw, "-o", path, "--multipart", early, "--headers", headers, "--force")
        bundle = Bundle(path)
        body, out = Body(bench, bundle), bench.folder / "real-again.bundle"
        expect(early.read_bytes() == body.data, f"{raw.name}: pack --multipart writes another body")
        expect(headers.read_bytes() == body.headers.read_bytes(), f"{raw.name}: pack --headers writes another line")
        expect(bench.second("to_body.py", path, "-o", "-").out == body.data, f"{raw.name}: to_body.py writes another")
        bench.capbundle("from-body", body.path, "-o", out, "--force", "--quiet")
        expect(out.read_bytes() == bundle.data, f"{raw.name}: another bundle comes back")
        same_parts(raw.name, body, by_defnull(body))


def flips_found(bench):
    for raw in bench.captures():
        bundle, seeded = bench.real(raw), random.Random(raw.name)
        for _ in range(FLIPS):
            at, bit = seeded.randrange(len(bundle.data)), seeded.randrange(8)
            path = bench.write("flipped.bundle", flip(bundle.data, at, bit))
            bench.agree(path, f"{raw.name}, bit {bit} of byte {at}", 1, 2)


TESTS = [
    ("real captures: both implementations accept the bundle, and photo, floats, metadata and position come back",
     unchanged),
    ("real captures: pack --multipart, multipart and to_body.py write one body, which gives the bundle back",
     bodies_agree),
    ("real captures: capbundle and verify.py find flipped bits in each", flips_found),
]
