"""Memory does not grow with the bundle, and the tool never reads what it does not need."""
import io
import os
import pathlib
import random
import subprocess
import sys
import time

from Kit.rigs import PHOTO, write_raw
from Kit.outcomes import ROOT, every, expect, long

PHOTO_SIZE = 300 << 20
UUID = "3f2b8c1e-5d47-4b1a-9c0e-7a6f1d2e3b4c"
# More than twice the number of links that are sorted in memory (65,536). More would take minutes on a busy machine.
LINKS = 140_000
# A million links may take 200 MB. Most of what is measured here is the same for any number of links.
LINKS_LIMIT = 64 << 20
LIMIT = 40 << 20
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


def fed(rig, words, source=None):
    """Runs a command under measure, with a pipe from the file `source`."""
    feeder = subprocess.Popen(["cat", source], stdout=subprocess.PIPE) if source else None
    try:
        return measured(rig, *words, stdin=feeder.stdout if feeder else subprocess.DEVNULL)
    finally:
        if feeder:
            feeder.kill()
            feeder.stdout.close()
            feeder.wait()


def large_photo(bench):
    """Each command handles 300 MB in constant memory, from a file and from a pipe."""
    rig = bench.rig()
    raw = write_raw(rig.folder / "raw")
    with open(raw / "photo.jpg", "wb") as photo:
        photo.write(PHOTO[:-2])
        piece = b"\r\n--capture-bundle-" + bytes(range(1, 251)) * 4000
        while photo.tell() < PHOTO_SIZE:
            photo.write(piece)
    bundle, body, other, opened = (rig.folder / name for name in ("x.bundle", "body", "y.bundle", "opened"))
    frugal(measured(rig, "pack", raw, "-o", bundle), 0, PACK_LIMIT, "pack")
    cases = {"multipart": (["multipart", bundle, "-o", body], None),
             "from-body": (["from-body", body, "-o", other], None), "verify": (["verify", bundle], None),
             "show": (["show", bundle], None), "multipart -": (["multipart", "-", "-o", "-"], bundle),
             "verify -": (["verify", "-"], bundle), "from-body -": (["from-body", "-", "-o", "-"], body),
             "extract": (["extract", bundle, "-o", opened], None), "extract -": (["extract", "-", "photo.jpg"], bundle),
             "sign-request": (["sign-request", body, "--device-id", UUID], None)}
    every(cases, lambda name, case: frugal(fed(rig, *case), 0, LIMIT, name))
    same = subprocess.run(["cmp", bundle, other], check=False).returncode == 0
    expect(same and (opened / "photo.jpg").stat().st_size == (raw / "photo.jpg").stat().st_size, "it wrote other bytes")
    with open(bundle, "r+b") as file:
        file.seek(200 << 20)
        file.write(b"\0")
    frugal(measured(rig, "verify", bundle), 1, LIMIT, "verify of an altered file")


def many_names(bench):
    """Memory does not grow with the number of files, nor with an endless name."""
    rig = bench.rig()
    names = rig.folder / "names"
    names.write_bytes(b"%s\0" % bytes(rig.bundle()) * 20_000)
    for options in (["--json"], ["--json", "--jobs", "8"]):
        with open(names, "rb") as source:
            frugal(measured(rig, "verify", "--from0", *options, stdin=source), 0, LIMIT, "20,000 names")
    endless = rig.folder / "endless"
    endless.write_bytes(b"x" * 300_000_000)
    frugal(fed(rig, ["verify", "--from0"], endless), 66, LIMIT, "a name of 300 MB")
    endless.unlink()


def names_of_links(rig, count):
    """Writes a list of names for --from0: the links 1 to 3 of a chain, each under many long names."""
    folder = rig.folder / ("d" * 200)
    folder.mkdir()
    for seq in (1, 2, 3):
        (folder / str(seq)).write_bytes((ROOT / f"Spec/Vectors/side/chain_{seq}").read_bytes())
    path = rig.folder / "names"
    with open(path, "wb") as file:
        for index in range(count):
            file.write(b"%s/%s%d\0" % (os.fsencode(folder), b"./" * (index % 7), 1 + index % 3))
    return path


def many_links(bench):
    """The links of 140,000 names are sorted in 64 MiB, because chain sorts them in temporary files."""
    rig = bench.rig()
    path = names_of_links(rig, LINKS)
    for words in ((), ("--json",)):
        with open(path, "rb") as names:
            frugal(measured(rig, "chain", "--from0", *words, stdin=names), 0, LINKS_LIMIT, f"chain {' '.join(words)}")
    with open(path, "rb") as names:
        found = rig.run("chain", "--from0", stdin=names).must(0, about="chain").out.decode()
    expect(f"links 1 to 3\n  3 links in {LINKS} files, no fault\n  newest: link 3 in " in found
           and f"\n{LINKS} bundles: {LINKS} in 1 chain; no fault" in found, f"found {found}")


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


def large_sources(bench):
    """A file of the wrong size is refused before it is read."""
    rig = bench.rig()
    for name, size in (("depth.f32", (1 << 30) - 4), ("depth.f32", 1 << 33), ("metadata.json", 1 << 33),
                       ("photo.jpg", 1 << 40)):
        raw = write_raw(rig.folder / f"{name}{size}")
        os.truncate(raw / name, size)
        frugal(measured(rig, "pack", raw, "-o", rig.out / "x.bundle"), 65, PACK_LIMIT, f"{name} of {size} bytes")
    expect(rig.state() == 0, "a counter was used")


def large_trust_file(bench):
    """A trust file of 100,000 devices or of 64 MiB is read; one byte more is refused, as rule T0 says."""
    rig = bench.rig()
    bundle = rig.bundle()
    trust, limit = rig.trust.read_bytes(), 64 << 20
    base = trust.split()[-1]
    rig.trust.write_bytes(trust + b"".join(b"device-%d valid-after=2020-01-01 p256 %s\n" % (index, base)
                                           for index in range(100_000)))
    frugal(measured(rig, "verify", bundle), 0, 400 << 20, "a trust file of 100,000 lines")
    rig.trust.write_bytes(trust + b"#" * (limit - len(trust)))
    rig.run("verify", bundle).must(0, about="64 MiB")
    with open(rig.trust, "ab") as file:
        file.write(b"#")
    rig.run("verify", bundle).must(78, about="64 MiB and a byte").naming(rig.trust)


def decoders_memory(tool):
    """Returns the memory in bytes that the running decoders of a tool use now."""
    used = 0
    for status in pathlib.Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        except (OSError, ValueError):
            continue  # the process has ended
        if lines["PPid"].strip() == str(tool.pid) and "VmRSS" in lines:
            used += int(lines["VmRSS"].split()[0]) << 10
    return used


def report_of(rig, photo):
    """Makes a report of four bundles with a photo; returns the page and the most memory that its decoders used."""
    raw = write_raw(rig.folder / "raw", photo=photo)
    bundles = [rig.bundle(f"{index}.bundle", raw=raw) for index in range(4)]
    page, most = rig.out / "page.html", 0
    with subprocess.Popen(rig.argv("report", "--jobs", "4", *bundles, "-o", page), cwd=rig.out,
                          stderr=subprocess.DEVNULL, env=rig.env | {"CAPBUNDLE_DECODE": str(rig.bench.decoder)}) as tool:
        while tool.poll() is None:
            most = max(most, decoders_memory(tool))
            time.sleep(0.05)
    expect(tool.returncode == 0, f"report: exit {tool.returncode}")
    return page.read_text(), most


def large_photos(bench):
    """Progressive photos of 36 megapixels are decoded, together in 512 MiB."""
    from PIL import Image
    file = io.BytesIO()
    Image.linear_gradient("L").resize((7200, 5000)).convert("RGB").save(file, "JPEG", progressive=True)
    page, most = report_of(bench.rig(), file.getvalue())
    expect(page.count("data:image/jpeg") >= 8, "a picture is missing")
    expect(100 << 20 < most < 600 << 20, f"the decoders used {most >> 20} MiB")


TESTS = [
    ("a report of large photos: their decoders share 512 MiB", long(large_photos)),
    ("a photo of 300 MB: each command in constant memory", long(large_photo)),
    ("a depth map of 256 MiB: pack, verify, show in constant memory", long(huge_depth)),
    ("a depth map or metadata.json of 8 GiB, photo.jpg of 1 TiB", large_sources),
    ("a trust file of 100,000 lines, and one of 64 MiB and a byte more", long(large_trust_file)),
    ("20,000 names, and one of 300 MB, through --from0 in 40 MiB", long(many_names)),
    ("the links of 140,000 names in 64 MiB", long(many_links)),
]
