"""One large bundle: the speed of its upload body. Tests/Faults/memory.py shows its memory."""
from Bench.measure_one import pair

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


MEASURES = [("multipart", multipart)]
