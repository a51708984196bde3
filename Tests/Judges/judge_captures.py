"""Captures of real devices, if their folder is available: nothing of them is lost.

They are not part of the project. Their positions are real places, so a failure shows only exit codes and the name of
the capture, never the output of a tool.
"""
import gzip
import json

from Judges.bench import expect


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


TESTS = [
    ("real captures: both implementations accept the bundle, and photo, floats, metadata and position come back",
     unchanged),
]
