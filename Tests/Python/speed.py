"""The package beside capbundle, and beside gzip and numpy: ratios of the best of some runs, in turn."""
import gzip
import tarfile
import time

import capbundle
import numpy
from Bench import captures
from Kit.outcomes import expect, long

DIFFERENT, COUNT, PHOTO_BYTES, ROUNDS = 20, 500, 2_930_000, 5


def bundles(place):
    """Packs bundles of 3 MB, and returns their paths."""
    folder = place.folder / "fast"
    if not folder.exists():
        raws = [captures.write_raw(place.folder / f"fast-raw/{number:03}", number, PHOTO_BYTES) for number in range(DIFFERENT)]
        place.rig.run("pack", *raws, "--out-dir", folder).must(0, about="pack")
    return sorted(folder.iterdir())


def best(clock, *functions):
    """Returns the shortest time of each function by a clock, after one call that does not count."""
    times = [[] for _ in functions]
    for _ in range(ROUNDS + 1):
        for function, seconds in zip(functions, times):
            began = clock()
            function()
            seconds.append(clock() - began)
    return [min(seconds[1:]) for seconds in times]


@long
def verification(place):
    """500 bundles of 3 MB in one process take at most twice as long as `capbundle verify`."""
    words = ["verify", "--json", "--trust", place.trust, *bundles(place) * (COUNT // DIFFERENT)]
    ours, theirs = best(time.monotonic, lambda: place.python("-m", "capbundle", *words).must(0), lambda: place.rig.run(*words).must(0))
    print(f"verify: {ours / theirs:.2f} times capbundle's time ({ours:.2f} s, {theirs:.2f} s)")
    expect(ours <= 2 * theirs, f"{ours:.2f} s, capbundle {theirs:.2f} s")


@long
def depth(place):
    """A depth map without verification takes at most 1.3 times what gzip and numpy take for its unpacked entry."""
    paths, unpacked = bundles(place), []
    for path in paths:
        unpacked.append(place.folder / f"{path.name}.gz")
        with tarfile.open(path) as archive:
            unpacked[-1].write_bytes(archive.extractfile("depth.f32.gz").read())
    expect(all(numpy.array_equal(ours(path), by_hand(other), equal_nan=True) for path, other in zip(paths, unpacked)),
           "other samples")

    def each(function, files):
        for file in files * 10:
            function(file)
    mine, theirs, archived = best(time.process_time, lambda: each(ours, paths), lambda: each(by_hand, unpacked),
                                  lambda: each(from_archive, paths))
    print(f"depth: {mine / theirs:.2f} times gzip and numpy, {mine / archived:.2f} times tarfile, gzip and numpy")
    expect(mine <= 1.3 * theirs, f"{mine:.3f} s, gzip and numpy {theirs:.3f} s")


def ours(path):
    with capbundle.open(path, verify=False) as bundle:
        return bundle.depth


def by_hand(path):
    with open(path, "rb") as file:
        return numpy.frombuffer(gzip.decompress(file.read()), "<f4").reshape(captures.HEIGHT, captures.WIDTH)


def from_archive(path):
    with tarfile.open(path) as archive:
        data = archive.extractfile("depth.f32.gz").read()
    return numpy.frombuffer(gzip.decompress(data), "<f4").reshape(captures.HEIGHT, captures.WIDTH)


TESTS = [("500 bundles, beside capbundle", verification), ("depth maps, beside gzip and numpy", depth)]
