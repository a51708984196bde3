"""Many captures in one call: two cores against one, and whether the time for each capture stays the same."""
from Bench import bench
from Bench import captures
from Bench.measure_one import pair
from Bench.results import Row


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


def small(rig, count):
    """Makes captures of about a tenth of the usual size, so that 10,000 of them and their bundles fit into memory."""
    return rig.raws("small", count, photo_bytes=captures.SMALL_PHOTO_BYTES)


def each(title, sides, few, many, must, aim):
    """Returns two rows that compare the time for each capture, many against few: total, and without the time of one
    capture.

    The start of the call is shared by more captures in the larger run, which would hide a growth.
    """
    one, less, more = (side.median for side in list(sides.values())[:3])
    facts = {name: side.facts for name, side in sides.items()}
    detail = ", ".join(f"{name} {side}" for name, side in sides.items())
    return [Row(f"{title}, {many:,} / {few:,}", (more / many) / (less / few), must, aim, detail=detail, runs=facts),
            Row(f"{title}, {many:,} / {few:,}, without the start",
                (more - one) / (many - 1) / ((less - one) / (few - 1)),
                must, aim)]


def verify_growth(rig):
    few, many = rig.scaled(100, 4), rig.scaled(10_000, 20)
    bundles = rig.pack_all(small(rig, many), "growth")
    rig.remove("small")
    commands = {}
    for count in (1, few, many):
        rig.names(f"names{count}", bundles[:count])
        commands[f"{count:,}"] = ["sh", "-c", f'exec "$0" verify --quiet --from0 <names{count}', rig.binary]
    commands[f"{many:,} arguments"] = [rig.binary, "verify", "--quiet", *bundles]
    # Read all files before each run: the few would otherwise come from the CPU's cache, and the many from memory.
    sides = rig.hyperfine(commands, runs=10, prepare="cat growth/* >/dev/null")
    rig.remove("growth")
    told = Row(f"verify {many:,} named as arguments / by --from0", list(sides.values())[3].median / sides[f"{many:,}"].median)
    return [*each("verify, time a bundle of 120 kB", sides, few, many, 1.1, 1.0), told]


MEASURES = [("verify many", verify), ("pack many", pack), ("verify growth", verify_growth)]
