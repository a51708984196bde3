"""capbundle: packing and verifying one capture and many, a report, and the start of the program."""
import gzip
import sys
import tarfile

from Bench import bench, captures
from Bench.bench import PEERS
from Bench.results import Row
from Kit.outcomes import expect


def pack_one(rig):
    raw, = rig.raws(1)
    return rig.compare({
        "capbundle": rig.program(rig.binary, "pack", raw, "-o", "one.bundle", runs=8, prepare="rm -f one.bundle; sync"),
        "script": rig.program(PEERS / "pack.sh", rig.key, rig.folder, raw, runs=8, prepare="rm -f *.tar; sync"),
    }, 7, ("pack one, durable / shell script without fsync", 0.50, 0.42), hashes=True,
        sha=bench.size(raw.iterdir()), cores=1, disk=bench.size(rig.bundles(1)))


def verify_one(rig):
    raw, (bundle,) = rig.raws(1)[0], rig.bundles(1)
    rig.run(PEERS / "pack.sh", rig.key, rig.folder, raw)
    tar = rig.folder / f"{raw.name}.tar"
    refuses_changes(rig, bundle, tar)
    (rig.folder / "bag").mkdir()
    rig.run("tar", "-xf", tar, "-C", "bag", "depth.f32.gz", "metadata.json", "photo.jpg")
    rig.run(bench.BAGIT, "--quiet", "--sha256", "bag")
    ours = rig.program(rig.binary, "verify", "--quiet", bundle, runs=10)
    bound = {"starts": 1, "cores": 1, **work([bundle])}
    return [
        *rig.compare({"capbundle": ours, "script": rig.program(PEERS / "verify.sh", rig.public, tar, runs=10)},
                     7, ("verify one / shell script", 0.42, 0.38), hashes=True, **bound),
        *rig.compare({"capbundle": ours, "bagit.py": rig.program(bench.BAGIT, "--quiet", "--validate", "bag", runs=3)},
                     5, ("verify one / bagit.py --validate", 0.15, 0.10), hashes=True, **bound)]


def refuses_changes(rig, bundle, tar):
    """Checks that both sides notice a changed byte, because a peer that checks nothing would be fast."""
    for file, *command in ((bundle, rig.binary, "verify", "--quiet"), (tar, PEERS / "verify.sh", rig.public)):
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        (rig.folder / "changed").write_bytes(data)
        rig.run(*command, "changed", code=1)


def verify_many(rig):
    count = rig.scaled(500, 6)
    bundles = rig.bundles(count)
    return rig.compare({
        "capbundle": rig.program(rig.binary, "verify", "--quiet", *bundles),
        "openssl": rig.program("openssl", "dgst", "-sha256", *bundles),
    }, 7, (f"verify {count} in one call / openssl dgst -sha256 of the files", 0.72, 0.62), hashes=True,
        **work(bundles))


def work(bundles):
    """The work of every verifier: to read and hash all bytes, inflate each depth map, and hash its floats."""
    maps = []
    for bundle in bundles:
        with tarfile.open(bundle) as archive:
            maps.append(archive.extractfile("depth.f32.gz").read())
    inflated = len(maps) * len(gzip.decompress(maps[0]))
    return {"sha": bench.size(bundles) + inflated, "read": bundles, "maps": maps}


def pack_many(rig):
    raws, anew = rig.raws(rig.scaled(200, 3)), "rm -rf packed && mkdir packed && sync"
    size = sum(bench.size(raw.iterdir()) for raw in raws)
    return rig.compare({
        "capbundle": rig.program(rig.binary, "pack", *raws, "--out-dir", "packed", prepare=anew),
        "script": rig.program(PEERS / "pack.sh", rig.key, rig.folder / "packed", *raws, prepare=anew),
    }, 3, (f"pack {len(raws)} in one call, durable / shell script in a loop", 0.15, 0.10), hashes=True,
        sha=size, disk=size)


def pack_export(rig):
    count, anew = rig.scaled(100, 3), "rm -rf scanned && mkdir scanned && cat scan/* >/dev/null && sync"
    captures.write_scan(rig.folder / "scan", count)
    size = bench.size((rig.folder / "scan").iterdir())
    rows = rig.compare({
        "capbundle": rig.program(rig.binary, "pack", "scan", "--out-dir", "scanned", prepare=anew),
        "Python": rig.program(sys.executable, PEERS / "pack_scan.py", rig.key, rig.folder / "scan", rig.folder / "scanned",
                              prepare=anew),
    }, 5, (f"pack {count} frames of an app's export in one call / Python script", 0.18, 0.15), hashes=True,
        sha=size, disk=size)
    rig.run("rm", "-rf", "scanned")
    (rig.folder / "scanned").mkdir()
    rig.capbundle("pack", "scan", "--out-dir", "scanned")
    rig.run(sys.executable, PEERS / "pack_scan.py", rig.key, rig.folder / "scan", rig.folder / "scanned")
    for number in (0, count - 1):
        expect(floats(rig, number, "bundle") == floats(rig, number, "tar"), f"frame {number}: the sides made other floats")
    return rows


def floats(rig, number, ending):
    with tarfile.open(rig.folder / f"scanned/scan-{number:05}.{ending}") as archive:
        return gzip.decompress(archive.extractfile("depth.f32.gz").read())


def pack_archive(rig):
    """The frames of an archive are known before the first is packed, so memory grows with their number."""
    count = rig.scaled(20_000, 20)
    archive = captures.write_long_scan(rig.folder, count)
    peak = rig.peak_memory(rig.binary, "pack", archive, "--out-dir", "archived")
    made = len(list((rig.folder / "archived").iterdir()))
    expect(made == count, f"{made} of {count} frames were packed")
    return [Row(f"peak memory of pack, an archive of {count:,} frames", peak, 40, 32, unit="MiB")]


def report(rig):
    count, kinds = rig.scaled(200, 4), [rig.folder / f"photo{kind}.jpg" for kind in range(4)]
    for seed, photo in enumerate(kinds):
        captures.write_large_photo(photo, seed)
    raws = [captures.write_raw(rig.folder / f"seen/{index:05}", index, photo_bytes=50_000) for index in range(count)]
    for index, raw in enumerate(raws):
        (raw / "photo.jpg").write_bytes(kinds[index % len(kinds)].read_bytes())
    rig.capbundle("pack", *raws, "--out-dir", "reported")
    bundles = sorted((rig.folder / "reported").iterdir())
    peer = ('"$0" verify --quiet reported/* && '
            "ls seen | xargs -P 2 -I @ djpeg -scale 1/8 -outfile seen/@/small.ppm seen/@/photo.jpg")
    read = "rm -f page.html; cat reported/* seen/*/photo.jpg >/dev/null"
    rows = rig.compare({
        "capbundle": rig.program(rig.binary, "report", *bundles, "-o", "page.html", prepare=read),
        "verify, djpeg": rig.program("sh", "-c", peer, rig.binary, prepare=read),
    }, 3, (f"report on {count} captures with 12 megapixels / verify and djpeg -scale 1/8", 1.10, 1.00), hashes=True,
        warmup=0, sha=bench.size(bundles))
    rig.run("rm", "-f", "page.html")
    rig.capbundle("report", *bundles, "-o", "page.html")
    found = (rig.folder / "page.html").read_bytes().count(b"<img")
    expect(found == 2 * count, f"{found} pictures in the page, expected {2 * count}")
    return rows


def start(rig):
    return rig.compare({
        "capbundle": rig.program(rig.binary, "--version", runs=50),
        "openssl": rig.program("openssl", "version", runs=50),
    }, 9, ("capbundle --version / openssl version", 1.50, 1.30), starts=1)


MEASURES = [("pack one", pack_one), ("verify one", verify_one), ("verify many", verify_many), ("pack many", pack_many),
            ("pack an export", pack_export), ("pack an archive", pack_archive), ("report", report),
            ("start", start)]
