"""tarfile, gzip and numpy: `extract` writes the contents of the archive, and nothing if it must not."""
import gzip
import json
import os

import numpy

from Judges.bench import SAMPLE, SPEC, Bundle, expect
from Judges.bodies import bodies

HEAD = ("manifest.json", "assertion.cbor")
MAY_REPLACE = ((), ("--force",))


def _payload(bundle):
    return {name: data for name, data in bundle.entries.items() if name not in ("mimetype", *HEAD)}


def _files(folder):
    """Returns every file below the folder by name, and None as the contents of links and other kinds."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() and not path.is_symlink() else None
            for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()}


def all_entries(bench):
    for name, body in bodies(bench).items():
        out = bench.scratch("out")
        bench.capbundle("extract", body.bundle.path, "-o", out)
        expect(_files(out) == _payload(body.bundle), f"{name}: other files than tarfile's: {sorted(_files(out))}")
        out = bench.scratch("out") / "made"
        bench.capbundle("extract", "-", "-o", out, input=body.bundle.data)
        expect(_files(out) == _payload(body.bundle), f"{name}: a pipe gives others")
    for bundle in (bench.pack(), bodies(bench)["boundaries in the photo"].bundle):
        for name in [*_payload(bundle), *HEAD]:
            for source, given in ((bundle.path, None), ("-", bundle.data)):
                piped = bench.capbundle("extract", source, name, input=given).out
                expect(piped == bundle.entries[name], f"{name} from {source} to a pipe: other bytes")


def floats(bench):
    bundle, out = bench.pack(), bench.scratch("out")
    bench.capbundle("extract", bundle.path, "--floats", "-o", out)
    ours = numpy.frombuffer((out / "depth.f32").read_bytes(), "<f4")
    said = bench.run("gzip", "-t", bench.write("depth.f32.gz", bundle.entries["depth.f32.gz"]))
    expect(not said.err, "gzip -t has something to say")
    # Compare bytes, because NaN equals nothing, and a missing pixel must keep its bits too.
    theirs = gzip.decompress(bundle.entries["depth.f32.gz"])
    expect(theirs == (SAMPLE / "depth.f32").read_bytes(), "a float differs from the captured one")
    expect(ours.tobytes() == theirs, "--floats gives other floats than gzip")
    size = json.loads(bundle.manifest)["depth"]
    expect(ours.size == size["width"] * size["height"], "the manifest has another size")
    expect(numpy.isnan(ours).any() and (ours == 0).any(), "the sample has no missing pixels: it tests too little")
    expect(_files(out).keys() == _payload(bundle).keys() - {"depth.f32.gz"} | {"depth.f32"}, "other files")
    without = bench.pack("no-depth", SAMPLE, "--no-depth")
    bench.refused(66, "extract", without.path, "--floats", "-o", bench.scratch("out")).naming("depth")


def obstacles(bench):
    """What is not a plain file is neither followed nor replaced, with --force either."""
    vector = (SPEC / "Vectors/valid/valid_everything").read_bytes()
    bundle = Bundle(bench.write("everything.bundle", vector[vector.index(b"\n\n") + 2:]))
    out = bench.scratch("out")
    bench.capbundle("extract", bundle.path, "-o", out)
    expect(_files(out) == _payload(bundle) and (out / "source").is_dir(), "other files than tarfile's")
    victim, nowhere = bench.scratch("victim"), bench.folder / "nowhere"
    (victim / "photo.jpg").write_bytes(b"not yours")
    makes = {"a link to a file": lambda it: (it / "photo.jpg").symlink_to(victim / "photo.jpg"),
             "a dangling link": lambda it: (it / "photo.jpg").symlink_to(victim / "new"),
             "a FIFO": lambda it: os.mkfifo(it / "photo.jpg"), "a folder": lambda it: (it / "photo.jpg").mkdir(),
             "a link as source": lambda it: (it / "source").symlink_to(victim),
             "a dangling link as source": lambda it: (it / "source").symlink_to(nowhere),
             "a file as source": lambda it: (it / "source").write_bytes(b"a file")}
    for force in MAY_REPLACE:
        for what, make in makes.items():
            make(out := bench.scratch("out"))
            before = [(path.name, path.lstat().st_mode) for path in out.iterdir()]
            bench.refused(73, "extract", bundle.path, "-o", out, *force)
            expect([(path.name, path.lstat().st_mode) for path in out.iterdir()] == before, f"{what} is replaced")
            expect(_files(victim) == {"photo.jpg": b"not yours"} and not nowhere.exists(), f"{what} is followed")
        file, link = bench.write("a-file", b"mine"), bench.folder / "link"
        for target in (victim, nowhere, file, "/dev/null", "/dev/full", file / "below"):
            if target in (victim, nowhere):
                link.unlink(missing_ok=True)
                link.symlink_to(target)
                target = link
            bench.refused(73, "extract", bundle.path, "-o", target, *force)
        expect(file.read_bytes() == b"mine" and not nowhere.exists() and len(_files(victim)) == 1, "a target changed")


TESTS = [
    ("extract: tarfile reads the same entries, from a file and from a pipe, all and one to a pipe", all_entries),
    ("gzip -t, numpy and extract --floats read the captured floats, bit for bit", floats),
    ("extract: no link in the target is followed; a FIFO, folder, device or file is refused", obstacles),
]
