"""Spec/Generator/verify.py: an implementation written from the specification alone comes to the same verdicts."""
import json

from Judges.bench import SAMPLE, expect

VARIANTS = {"plain": (), "no-depth": ("--no-depth",), "omitted": ("--location", "omit"),
            "coarse": ("--location", "coarse")}


def packed(bench):
    for name, options in VARIANTS.items():
        path = bench.pack(name, SAMPLE, *options).path
        report = json.loads(bench.second("verify.py", path, "--trust", bench.trust, "--json").out)
        ours = bench.capbundle("verify", "--json", path).out.decode()
        for member in ("id", "captured_at", "key_id"):
            expect(report[member] in ours, f"{name}: its {member} is not in verify --json")
    bench.agree(bench.pack().path, "nobody trusted", 3, trust=bench.no_trust)


def withheld(bench):
    path = bench.write("withheld.bundle", bench.pack().without("location.json"))
    bench.agree(path, "withheld", 4)
    bench.agree(path, "withheld and allowed", 0, options=["--allow-withheld"])
    bench.agree(bench.write("missing.bundle", bench.pack().without("photo.jpg")), "no photo", 2)


TESTS = [
    ("verify.py accepts plain, no depth, location omitted, coarse, and reads the same id, time and key", packed),
    ("verify.py agrees on a withheld location and a missing photo", withheld),
]
