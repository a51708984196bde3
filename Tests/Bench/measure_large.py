"""One large bundle: the speed of its upload body, and memory that does not grow with it."""
import filecmp

from Bench.measure_one import pair
from Bench.results import Row
from Kit.outcomes import Failed

MIB = 1 << 20


def large(rig, size):
    """Makes a bundle whose photo has this many bytes."""
    raw = rig.raw("large", size, photo_bytes=size, with_depth=False)
    rig.capbundle("pack", raw, "-o", "large.bundle", "--no-depth", "--force")
    rig.remove("large")


def multipart(rig):
    size = rig.scaled(512, 4)
    large(rig, size * MIB)
    sides = rig.hyperfine({
        "capbundle multipart": [rig.binary, "multipart", "large.bundle", "-o", "body"],
        "cp and sync": ["sh", "-c", "cp large.bundle copy && sync copy"],
    }, runs=7, prepare="rm -f body copy; sync")
    rig.remove("large.bundle", "body", "copy")
    return [pair(f"multipart of {size} MiB / cp and sync", sides, 1.6, 1.3)]


def memory(rig):
    size = rig.scaled(1024, 8)
    large(rig, size * MIB)
    bundle, rows = rig.folder / "large.bundle", []
    for title, words, stdin in (("verify -", ["verify", "--quiet", "-"], bundle),
                                ("multipart", ["multipart", bundle, "-o", "body"], None),
                                ("from-body", ["from-body", "body", "-o", "again.bundle"], None)):
        try:
            peak = rig.peak_memory([rig.binary, *words], stdin)
            rows.append(Row(f"peak memory of {title}, {size} MiB", peak, 40, 24, unit="MiB"))
        except Failed as reason:
            rows.append(Row(f"peak memory of {title}, {size} MiB", None, 40, 24, unit="MiB", detail=str(reason)))
    if not all(row.missed for row in rows[1:]) and not filecmp.cmp(bundle, rig.folder / "again.bundle", shallow=False):
        raise Failed("from-body gave another bundle")
    rig.remove("large.bundle", "body", "again.bundle")
    return rows


MEASURES = [("multipart", multipart), ("memory", memory)]
