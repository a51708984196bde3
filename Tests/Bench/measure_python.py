"""The Python package of Samples/python: verifying many bundles, and a depth map beside gzip and numpy."""
import gzip
import sys
import tarfile
import time

import numpy
from Bench import bench, captures
from Kit.outcomes import ROOT, expect

SOURCE = ROOT / "Samples/python/src"
sys.path.append(str(SOURCE))
import capbundle  # noqa: E402  (the line above makes it importable)

PHOTO_BYTES = 2_930_000  # so that a bundle has 3 MB


def bundles_of(rig):
    return rig.bundles(rig.scaled(20, 2), "large", photo_bytes=PHOTO_BYTES)


def verify(rig):
    bundles = bundles_of(rig) * rig.scaled(25, 1)
    words = ["verify", "--json", *bundles]
    python = ["env", f"PYTHONPATH={SOURCE}", "PYTHONDONTWRITEBYTECODE=1", sys.executable, "-m", "capbundle"]
    return rig.compare({
        "Python": lambda _: rig.timed(*python, *words, "--trust", rig.env["CAPBUNDLE_TRUST"]),
        "capbundle": lambda _: rig.timed(rig.binary, *words),
    }, 4, (f"Python verifies {len(bundles)} of 3 MB / capbundle verify", 2.00, 1.50), hashes=True, sha=bench.size(bundles))


def depth(rig):
    """Without verification. The other side reads the entry of the depth map alone, and both sides are processor time."""

    def ours(path):
        with capbundle.open(path, verify=False) as bundle:
            return bundle.depth

    def by_hand(path):
        with open(path, "rb") as file:
            return numpy.frombuffer(gzip.decompress(file.read()), "<f4").reshape(captures.HEIGHT, captures.WIDTH)

    def seconds(function, files):
        began = time.process_time()
        for file in files * 10:
            function(file)
        return time.process_time() - began

    paths, entries = bundles_of(rig), []
    for path in paths:
        entries.append(rig.folder / f"{path.name}.gz")
        with tarfile.open(path) as archive:
            entries[-1].write_bytes(archive.extractfile("depth.f32.gz").read())
    expect(all(numpy.array_equal(ours(path), by_hand(entry), equal_nan=True) for path, entry in zip(paths, entries)),
           "Python reads other samples")
    return rig.compare({"Python": lambda _: seconds(ours, paths), "gzip and numpy": lambda _: seconds(by_hand, entries)},
                       5, ("a depth map in Python, not verified / gzip and numpy", 1.30, 1.15))


MEASURES = [("python verify", verify), ("python depth", depth)]
