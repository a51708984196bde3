"""Many captures in one call."""
from Bench import bench
from Bench.measure_one import pair


def verify(rig):
    count = rig.scaled(500, 6)
    bundles = rig.pack_all(rig.raws("raws", count), "bundles")
    sides = rig.hyperfine({
        "capbundle verify": [rig.binary, "verify", "--quiet", *bundles],
        "openssl dgst": ["openssl", "dgst", "-sha256", *bundles],
    }, runs=12)
    rig.remove("bundles")
    return [pair(f"verify {count} in one call / openssl dgst -sha256 of the same files", sides, 0.75, 0.55)]


def pack(rig):
    raws = rig.raws("raws", rig.scaled(200, 3))
    sides = rig.hyperfine({
        "capbundle pack": [rig.binary, "pack", *raws, "--out-dir", "packed"],
        "shell script": [bench.PEERS / "pack.sh", rig.key, rig.folder / "packed", *raws],
    }, runs=8, prepare="rm -rf packed && mkdir packed && sync")
    rig.remove("packed")
    return [pair(f"pack {len(raws)} in one call, durable / shell script in a loop", sides, 0.15, 0.1)]


MEASURES = [("verify many", verify), ("pack many", pack)]
