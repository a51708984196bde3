"""Captures of real devices, if their folder is available: packing keeps them, and tampering is found.

They are not part of the project. Their positions are real places, so a failure shows only exit codes and the name of
the capture, never the output of a tool.
"""
import gzip
import json
import random

from bench import Failed, Skipped, expect, flip

FLIPS = 20


def captures(bench):
    folder = bench.shared / "captures"
    found = sorted(path.parent for path in folder.glob("*/metadata.json")) if folder.is_dir() else []
    if not found:
        raise Skipped("no captures in the shared folder")
    return found


def packed(bench, raw):
    try:
        return bench.pack(f"real-{raw.name}", raw)
    except Failed:
        raise Failed(f"{raw.name} does not pack") from None


def verified(bench):
    for raw in captures(bench):
        bundle = packed(bench, raw)
        ours, theirs = bench.verify(bundle.path), bench.second_verify(bundle.path)
        expect(ours == theirs == 0, f"{raw.name}: capbundle {ours}, verify.py {theirs}")


def unchanged(bench):
    for raw in captures(bench):
        bundle = packed(bench, raw)
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


def by_pipe(bench):
    for raw in captures(bench):
        bundle = packed(bench, raw)
        by_file = bench.capbundle("verify", "--json", bundle.path, expected=None)
        by_pipe = bench.capbundle("verify", "--json", "-", expected=None, input=bundle.data)
        expect(by_file.returncode == by_pipe.returncode == 0, f"{raw.name}: {by_file.returncode}, {by_pipe.returncode}")
        # Only the name of the input may differ.
        named = by_file.stdout.replace(json.dumps(str(bundle.path)).encode(), b'"-"')
        named = named.replace(json.dumps(str(bundle.path)).replace("/", "\\/").encode(), b'"-"')
        expect(named and named == by_pipe.stdout, f"{raw.name}: another report by pipe, or none")


def flips_found(bench):
    for raw in captures(bench):
        bundle, seeded = packed(bench, raw), random.Random(raw.name)
        for _ in range(FLIPS):
            at, bit = seeded.randrange(len(bundle.data)), seeded.randrange(8)
            path = bench.write("flipped.bundle", flip(bundle.data, at, bit))
            ours, theirs = bench.verify(path), bench.second_verify(path)
            expect(ours == theirs and ours in (1, 2),
                   f"{raw.name}, bit {bit} of byte {at}: capbundle {ours}, verify.py {theirs}")


JUDGES = [
    ("real captures pack, and capbundle and verify.py accept them", verified),
    ("real captures: photo, floats, metadata and position come back unchanged", unchanged),
    ("real captures: a pipe gives the same report as a file", by_pipe),
    (f"real captures: capbundle and verify.py find {FLIPS} flipped bits in each", flips_found),
]
