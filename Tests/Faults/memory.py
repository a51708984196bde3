"""Memory does not grow with the bundle, and the tool never reads what it does not need."""
import os
import random
import subprocess
import sys
import time

from bench import PHOTO, write_raw
from checks import Failed, expect

PHOTO_SIZE = 300 << 20
# Section 11 of the Spec promises memory that does not grow with the bundle; these limits are generous.
VERIFY_LIMIT, PACK_LIMIT = 60 << 20, 160 << 20
SHOW_LIMIT = 80 << 20  # the median needs up to 4 194 304 samples in memory


# Linux counts the memory of the program that forked as the child's own peak, so a small program forks.
LAUNCHER = """
import os, sys
pid = os.fork()
if not pid:
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    os.execv(sys.argv[1], sys.argv[1:])
status, usage = os.wait4(pid, 0)[1:]
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss << 10)
"""


def measured(rig, *words, stdin=subprocess.DEVNULL):
    """Returns exit code, peak memory in bytes and seconds of a run."""
    start = time.monotonic()
    done = rig.run(*words, prefix=[sys.executable, "-I", "-S", "-c", LAUNCHER], stdin=stdin)
    code, memory = map(int, done.out.split())
    return code, memory, time.monotonic() - start


def frugal(run, code, limit, about):
    expect(run[0] == code, f"{about}: exit {run[0]}, expected {code}")
    expect(run[1] <= limit, f"{about}: {run[1] >> 20} MiB, at most {limit >> 20} are expected")


def large_photo(bench):
    """pack, verify from a file, verify from a pipe, and show handle 300 MB."""
    rig = bench.rig()
    raw = write_raw(rig.folder / "raw")
    with open(raw / "photo.jpg", "wb") as photo:
        photo.write(PHOTO[:-2])
        piece = bytes(range(1, 251)) * 4000
        while photo.tell() < PHOTO_SIZE:
            photo.write(piece)
    bundle = rig.out / "x.bundle"
    problems = []

    def check(run, code, limit, about):
        try:
            frugal(run, code, limit, about)
        except Failed as reason:
            problems.append(str(reason))

    check(measured(rig, "pack", raw, "-o", bundle), 0, PACK_LIMIT, "pack")
    check(measured(rig, "verify", bundle), 0, VERIFY_LIMIT, "verify of a file")
    with subprocess.Popen(["cat", str(bundle)], stdout=subprocess.PIPE) as cat:
        check(measured(rig, "verify", "-", stdin=cat.stdout), 0, VERIFY_LIMIT, "verify -")
    check(measured(rig, "show", bundle), 0, VERIFY_LIMIT, "show")
    with open(bundle, "r+b") as file:
        file.seek(200 << 20)
        file.write(b"\0")
    check(measured(rig, "verify", bundle), 1, VERIFY_LIMIT, "verify of an altered file")
    bundle.unlink()
    if problems:
        raise Failed("; ".join(problems))


def large_depth(bench):
    """A depth map of the wrong size is refused before it is read."""
    rig = bench.rig()
    for size in ((1 << 30) - 4, 1 << 33):
        raw = write_raw(rig.folder / f"raw{size}")
        os.truncate(raw / "depth.f32", size)
        frugal(measured(rig, "pack", raw, "-o", rig.out / "x.bundle"), 65, PACK_LIMIT, f"a depth map of {size} bytes")


def huge_depth(bench):
    """A depth map of 256 MiB is compressed in pieces, to the same bytes each time."""
    rig = bench.rig()
    raw = write_raw(rig.folder / "raw", depth_map_dimensions={"width": 16384, "height": 4096})
    with open(raw / "depth.f32", "r+b") as depth:
        depth.write(random.Random(1).randbytes(16 << 20))
        depth.truncate(1 << 28)
    manifests = set()
    for name in ("one", "two"):
        bundle = rig.out / f"{name}.bundle"
        frugal(measured(rig, "pack", raw, "-o", bundle), 0, VERIFY_LIMIT, "pack")
        frugal(measured(rig, "verify", bundle), 0, VERIFY_LIMIT, "verify")
        frugal(measured(rig, "show", bundle), 0, SHOW_LIMIT, "show")
        with open(bundle, "rb") as file:
            manifests.add(file.read(2560)[1536:])
    expect(len(manifests) == 1, "packed twice, to two manifests")


def large_metadata(bench):
    rig = bench.rig()
    raw = write_raw(rig.folder / "raw")
    os.truncate(raw / "metadata.json", 1 << 33)
    frugal(measured(rig, "pack", raw, "-o", rig.out / "x.bundle"), 65, PACK_LIMIT, "metadata.json of 8 GiB")
    os.truncate(raw / "photo.jpg", 1 << 40)
    frugal(measured(rig, "pack", raw, "-o", rig.out / "x.bundle"), 65, PACK_LIMIT, "photo.jpg of 1 TiB")
    expect(rig.state() == 0, "a counter was used")


def endless_input(bench):
    """An endless pipe leads to a verdict."""
    rig = bench.rig()
    data = rig.bundle().read_bytes()
    for head in (b"", data[:1024], data[:2048], data):
        (rig.folder / "head").write_bytes(head)
        tool = subprocess.Popen(["sh", "-c", 'cat "$0"; exec cat /dev/zero', rig.folder / "head"],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            frugal(measured(rig, "verify", "-", stdin=tool.stdout), 2, VERIFY_LIMIT,
                   f"{len(head)} bytes and zeros without end")
        finally:
            tool.kill()
            tool.stdout.close()
            tool.wait()


def large_trust_file(bench):
    """A trust file of 100,000 devices takes seconds, not minutes."""
    rig = bench.rig()
    bundle = rig.bundle()
    line = rig.trust.read_text()
    base = line.split()[-1]
    with open(rig.trust, "a") as trust:
        trust.writelines(f"device-{index} valid-after=2020-01-01 p256 {base}\n" for index in range(100_000))
    run = measured(rig, "verify", bundle)
    frugal(run, 0, 400 << 20, "a trust file of 100,000 lines")


def largest_trust_file(bench):
    """A trust file of 64 MiB is read; one byte more is refused, as rule T0 says."""
    rig = bench.rig()
    bundle = rig.bundle()
    limit = 67108864
    trust = rig.trust.read_bytes()
    rig.trust.write_bytes(trust + b"#" * (limit - len(trust)))
    rig.run("verify", bundle).must(0, about="64 MiB")
    with open(rig.trust, "ab") as file:
        file.write(b"#")
    rig.run("verify", bundle).must(78, about="64 MiB and a byte").naming(rig.trust)


TESTS = [
    ("a photo of 300 MB: pack, verify, show in constant memory", large_photo),
    ("a large depth map of the wrong size", large_depth),
    ("a depth map of 256 MiB: pack, verify, show in constant memory", huge_depth),
    ("metadata.json of 8 GiB, photo.jpg of 1 TiB", large_metadata),
    ("endless pipes", endless_input),
    ("a trust file of 100,000 lines", large_trust_file),
    ("a trust file of 64 MiB, and a byte more", largest_trust_file),
]
