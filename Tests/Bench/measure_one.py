"""One capture: packing it, verifying it, and the start of the program."""
from Bench import bench
from Bench.results import Row


def pair(title, sides, must, aim):
    """Returns a row that compares the first side with the second."""
    (ours, one), (peer, other) = sides.items()
    return Row(title, one.median / other.median, must, aim, detail=f"{ours} {one}, {peer} {other}",
               runs={name: side.facts for name, side in sides.items()})


def pack(rig):
    raw = rig.raw("one", 0)
    sides = rig.hyperfine({
        "capbundle pack": [rig.binary, "pack", raw, "-o", "one.bundle"],
        "shell script": [bench.PEERS / "pack.sh", rig.key, rig.folder, raw],
    }, runs=40, warmup=3, prepare="rm -f one.bundle one.tar; sync")
    return [pair("pack one, durable / shell script without fsync", sides, 0.6, 0.45)]


def verify(rig):
    raw = rig.raw("one", 0)
    rig.run("rm", "-f", "one.bundle", "one.tar")
    rig.capbundle("pack", raw, "-o", "one.bundle")
    rig.run(bench.PEERS / "pack.sh", rig.key, rig.folder, raw)
    if rig.short:
        refuses_changes(rig)
    bag(rig)
    ours = [rig.binary, "verify", "--quiet", "one.bundle"]
    script = rig.hyperfine({
        "capbundle verify": ours,
        "shell script": [bench.PEERS / "verify.sh", rig.public, rig.folder / "one.tar"],
    }, runs=60, warmup=3)
    bagit = rig.hyperfine({"capbundle verify": ours, "bagit.py": [bench.BAGIT, "--quiet", "--validate", "bag"]},
                          runs=30, warmup=3)
    return [pair("verify one / shell script", script, 0.5, 0.35), pair("verify one / bagit.py --validate", bagit, 0.15, 0.1)]


def refuses_changes(rig):
    """Checks that both sides notice a changed byte, because a peer that checks nothing would be fast."""
    for name, command in (("one.bundle", [rig.binary, "verify", "--quiet"]),
                          ("one.tar", [bench.PEERS / "verify.sh", rig.public])):
        data = bytearray((rig.folder / name).read_bytes())
        data[len(data) // 2] ^= 1
        (rig.folder / "changed").write_bytes(data)
        rig.run(*command, rig.folder / "changed", code=1)


def bag(rig):
    """Makes a BagIt bag of the same payload, with SHA-256 alone."""
    folder = rig.folder / "bag"
    folder.mkdir()
    rig.run("tar", "-xf", "one.tar", "-C", folder, "depth.f32.gz", "metadata.json", "photo.jpg")
    rig.run(bench.BAGIT, "--quiet", "--sha256", folder)


def start(rig):
    sides = rig.hyperfine({"capbundle --version": [rig.binary, "--version"], "openssl version": ["openssl", "version"]},
                          runs=400, warmup=20)
    return [pair("capbundle --version / openssl version", sides, 2.5, 1.9)]


MEASURES = [("pack one", pack), ("verify one", verify), ("start", start)]
