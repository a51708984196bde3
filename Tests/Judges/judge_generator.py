"""Spec/Generator/verify.py: an implementation written from the specification alone comes to the same verdicts."""
import json
import random
import sys

from bench import SAMPLE, SPEC, Skipped, expect, flip

VARIANTS = {"plain": (), "no-depth": ("--no-depth",), "omitted": ("--location", "omit"),
            "coarse": ("--location", "coarse")}


def _agree(bench, path, what, expected, *options, trust=None):
    ours, theirs = bench.verify(path, *options, trust=trust), bench.second_verify(path, *options, trust=trust)
    expect(ours == theirs == expected, f"{what}: capbundle {ours}, verify.py {theirs}, expected {expected}")


def packed(bench):
    for name, options in VARIANTS.items():
        bundle = bench.pack(name, SAMPLE, *options)
        _agree(bench, bundle.path, name, 0)
        _agree(bench, bundle.path, f"{name}, nobody trusted", 3, trust=bench.no_trust)


def withheld(bench):
    path = bench.write("withheld.bundle", bench.pack().without("location.json"))
    _agree(bench, path, "withheld", 4)
    _agree(bench, path, "withheld and allowed", 0, "--allow-withheld")
    _agree(bench, bench.write("missing.bundle", bench.pack().without("photo.jpg")), "no photo", 2)


def spoilt(bench):
    bundle, seeded = bench.pack(), random.Random(20260314)
    files = {"trailing byte": bundle.data + b"\0", "empty": b"", "text": b"no bundle\n" * 200}
    for name in bundle.entries:
        size = bundle.member(name).size
        for at in {0, size - 1, seeded.randrange(size)}:
            files[f"{name}, bit of byte {at}"] = bundle.spoilt(name, at)
        files[f"{name}, bit of its header"] = flip(bundle.data, bundle.member(name).offset + seeded.randrange(512))
    for _ in range(8):
        cut = seeded.randrange(len(bundle.data))
        files[f"cut at {cut}"] = bundle.data[:cut]
    for what, data in files.items():
        path = bench.write("spoilt.bundle", data)
        ours, theirs = bench.verify(path), bench.second_verify(path)
        expect(ours == theirs and ours in (1, 2), f"{what}: capbundle {ours}, verify.py {theirs}")


def same_id(bench):
    for name, options in VARIANTS.items():
        path = bench.pack(name, SAMPLE, *options).path
        program = SPEC / "Generator/verify.py"
        if not program.exists():
            raise Skipped("Spec/Generator/verify.py is not here")
        report = json.loads(bench.run(sys.executable, "-B", program, path, "--trust", bench.trust, "--json").stdout)
        ours = bench.capbundle("verify", "--json", path).stdout.decode()
        for member in ("id", "captured_at", "key_id"):
            expect(report[member] in ours, f"{name}: its {member} is not in verify --json")


JUDGES = [
    ("verify.py agrees on plain, no depth, location omitted, coarse; trusted and not", packed),
    ("verify.py agrees on a withheld location and a missing photo", withheld),
    ("verify.py agrees on flipped bits in every entry and header, and on cut files", spoilt),
    ("verify.py reads the same id, time and key", same_id),
]
