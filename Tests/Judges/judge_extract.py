"""tarfile, gzip and numpy: `extract` writes the contents of the archive, and nothing if it must not."""
import gzip
import os

import numpy

from bench import SAMPLE, SPEC, Bundle, expect
from bodies import bodies

HEAD = ("manifest.json", "assertion.cbor")


def _payload(bundle):
    return {name: data for name, data in bundle.entries.items() if name not in ("mimetype", *HEAD)}


def _files(folder):
    """Returns every file below the folder by name, and None as the contents of links and other kinds."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() and not path.is_symlink() else None
            for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()}


def _extract(bench, bundle, out, *options, code=0, **how):
    result = bench.capbundle("extract", bundle, *options, "-o", out, expected=None, **how)
    expect(result.returncode == code, f"exit {result.returncode}, not {code}: {result.stderr.decode()[:200]}")
    return result


def all_entries(bench):
    for name, body in bodies(bench).items():
        out = bench.scratch("out")
        _extract(bench, body.bundle.path, out)
        expect(_files(out) == _payload(body.bundle), f"{name}: other files than tarfile's: {sorted(_files(out))}")
        out = bench.scratch("out") / "made"
        _extract(bench, "-", out, input=body.bundle.data)
        expect(_files(out) == _payload(body.bundle), f"{name}: a pipe gives others")


def head_on_request(bench):
    bundle = bench.pack()
    out = bench.scratch("out")
    _extract(bench, bundle.path, out, *HEAD)
    expect(_files(out) == {name: bundle.entries[name] for name in HEAD}, f"other files: {sorted(_files(out))}")
    out = bench.scratch("out")
    everything = [name for name in bundle.entries if name != "mimetype"]
    _extract(bench, bundle.path, out, *everything)
    expect(_files(out) == {name: bundle.entries[name] for name in everything}, "naming them all gives others")


def one_to_a_pipe(bench):
    for bundle in (bench.pack(), bodies(bench)["boundaries in the photo"].bundle):
        for name in _payload(bundle) | dict.fromkeys(HEAD):
            for source, given in ((bundle.path, None), ("-", bundle.data)):
                result = bench.capbundle("extract", source, name, input=given)
                expect(result.stdout == bundle.entries[name], f"{name} from {source}: other bytes")


def floats(bench):
    bundle, out = bench.pack(), bench.scratch("out")
    _extract(bench, bundle.path, out, "--floats")
    ours = numpy.frombuffer((out / "depth.f32").read_bytes(), "<f4")
    theirs = numpy.frombuffer(gzip.decompress(bundle.entries["depth.f32.gz"]), "<f4")
    expect(ours.tobytes() == theirs.tobytes() and len(ours), "--floats gives other floats than gzip")
    expect(ours.tobytes() == (SAMPLE / "depth.f32").read_bytes(), "--floats gives other floats than were captured")
    expect(_files(out).keys() == _payload(bundle).keys() - {"depth.f32.gz"} | {"depth.f32"}, "other files")
    piped = bench.capbundle("extract", bundle.path, "depth.f32.gz", "--floats").stdout
    expect(piped == ours.tobytes(), "--floats to a pipe gives others")
    without = bench.pack("no-depth", SAMPLE, "--no-depth")
    result = _extract(bench, without.path, bench.scratch("out"), "--floats", code=66)
    expect(b"depth" in result.stderr, "a bundle without depth: the message does not say so")


def absent(bench):
    bundle, withheld = bench.pack(), bodies(bench)["position withheld"].bundle
    for source, names in ((bundle, ["nothing"]), (bundle, ["photo.jpg", "../photo.jpg"]), (bundle, ["mimetype"]),
                          (bundle, ["source/x"]), (withheld, ["location.json"]), (withheld, ["photo.jpg", "x"])):
        out = bench.folder / "never-made"
        _extract(bench, source.path, out, *names, code=66)
        expect(not out.exists(), f"{names}: something was made")
    for words in (["extract", bundle.path], ["extract", bundle.path, "photo.jpg", "metadata.json"],
                  ["extract", bundle.path, "photo.jpg", "photo.jpg", "-o", bench.folder / "never-made"],
                  ["extract", bundle.path, "photo.jpg", "--floats"]):
        result = bench.capbundle(*words, expected=None)
        expect(result.returncode == 64 and not result.stdout, f"{words[2:]}: exit {result.returncode}")


def altered(bench):
    """No byte of an altered or malformed bundle is extracted, wherever the fault is."""
    bundle = bench.pack()
    spoilt = {name: (bundle.spoilt(name, -2), 1) for name in ("photo.jpg", "depth.f32.gz", "assertion.cbor")}
    spoilt |= {"trailing": (bundle.data + b"x", 2), "cut": (bundle.data[:-1024], 2), "empty": (b"", 2),
               "no bundle": (b"x" * 5000, 2), "no photo": (bundle.without("photo.jpg"), 2)}
    out = bench.folder / "never-made"
    for what, (data, wanted) in spoilt.items():
        path = bench.write("spoilt.bundle", data)
        verdict = bench.verify(path)
        expect(verdict == wanted, f"{what}: verify says {verdict}")
        for options in ((), ("metadata.json",), ("--floats",)):
            for source, given in ((path, None), ("-", data)):
                result = bench.capbundle("extract", source, *options, "-o", out, input=given, expected=None)
                expect(result.returncode == wanted, f"{what}: exit {result.returncode}, not {wanted}")
                expect(not out.exists(), f"{what} {options}: something was made: {list(out.rglob('*'))[:3]}")
        result = bench.capbundle("extract", path, "metadata.json", expected=None)
        expect(result.returncode == wanted and not result.stdout, f"{what}: {len(result.stdout)} bytes were written")


def overwriting(bench):
    bundle, out = bench.pack(), bench.scratch("out")
    (out / "photo.jpg").write_bytes(b"mine")
    (out / "other").write_bytes(b"mine too")
    _extract(bench, bundle.path, out, code=73)
    expect(_files(out) == {"photo.jpg": b"mine", "other": b"mine too"}, "a refused run changed the folder")
    _extract(bench, bundle.path, out, "metadata.json")
    expect(_files(out).keys() == {"photo.jpg", "other", "metadata.json"}, "a file beside it is in the way")
    _extract(bench, bundle.path, out, "--force")
    expect(_files(out) == _payload(bundle) | {"other": b"mine too"}, "--force gives others")
    before = _files(out)
    _extract(bench, bench.write("spoilt.bundle", bundle.spoilt("photo.jpg", 99)), out, "--force", code=1)
    expect(_files(out) == before, "--force with an altered bundle changed existing files")


def links(bench):
    """No link is followed: neither a file nor a folder in the target, nor the target folder itself."""
    bundle, victim = bench.pack(), bench.scratch("victim")
    (victim / "photo.jpg").write_bytes(b"not yours")
    before = _files(victim)
    for force in ((), ("--force",)):
        out = bench.scratch("out")
        (out / "photo.jpg").symlink_to(victim / "photo.jpg")
        _extract(bench, bundle.path, out, *force, code=73)
        expect(_files(victim) == before, "a link to a file was written through")
        out = bench.scratch("out")
        (out / "photo.jpg").symlink_to(victim / "new")
        _extract(bench, bundle.path, out, *force, code=73)
        expect(_files(victim) == before, "a dangling link was written through")
        link = bench.folder / "link"
        link.unlink(missing_ok=True)
        link.symlink_to(victim)
        _extract(bench, bundle.path, link, *force, code=73)
        expect(_files(victim) == before, "the target folder is a link and was written through")
        link.unlink()
        link.symlink_to(bench.folder / "nowhere")
        _extract(bench, bundle.path, link, *force, code=73)
        expect(not (bench.folder / "nowhere").exists(), "a dangling link was made a folder")


def sources(bench):
    """Entries below source/ are extracted; the vector has one of every kind."""
    vector = (SPEC / "Vectors/valid/valid_everything").read_bytes()
    path = bench.write("everything.bundle", vector[vector.index(b"\n\n") + 2:])
    bundle, victim = Bundle(path), bench.scratch("victim")
    expect(any(name.startswith("source/") for name in bundle.entries), "the vector has no source entry")
    out = bench.scratch("out")
    _extract(bench, path, out)
    expect(_files(out) == _payload(bundle), "other files than tarfile's")
    for force in ((), ("--force",)):
        for place in (victim, bench.folder / "nowhere"):
            out = bench.scratch("out")
            (out / "source").symlink_to(place)
            _extract(bench, path, out, *force, code=73)
            expect(not _files(victim) and not (bench.folder / "nowhere").exists(), "the link `source` was followed")
            expect(_files(out) == {"source": None}, f"leaves {sorted(_files(out))}")
        out = bench.scratch("out")
        (out / "source").write_bytes(b"a file")
        _extract(bench, path, out, *force, code=73)
        expect(_files(out) == {"source": b"a file"}, "a file `source` was replaced, or others were made")


def odd_targets(bench):
    bundle = bench.pack()
    for force in ((), ("--force",)):
        for make in (os.mkfifo, os.mkdir):
            out = bench.scratch("out")
            make(out / "photo.jpg")
            kind = os.lstat(out / "photo.jpg").st_mode
            _extract(bench, bundle.path, out, *force, code=73)
            expect(os.listdir(out) == ["photo.jpg"] and os.lstat(out / "photo.jpg").st_mode == kind, "it was replaced")
        file = bench.write("a-file", b"mine")
        for target in (file, "/dev/null", "/dev/full", file / "below"):
            _extract(bench, bundle.path, target, *force, code=73)
        expect(file.read_bytes() == b"mine", "a file that was given as the folder was changed")


JUDGES = [
    ("extract: tarfile reads the same entries, from a file and from a pipe", all_entries),
    ("extract: manifest.json and assertion.cbor on request", head_on_request),
    ("extract: one entry to a pipe", one_to_a_pipe),
    ("extract --floats: gzip and numpy read the same floats", floats),
    ("extract: a missing entry is 66, and no file is made", absent),
    ("extract: no byte of an altered or malformed bundle is extracted", altered),
    ("extract: nothing is overwritten without --force", overwriting),
    ("extract: no link in the target is followed", links),
    ("extract: source/ is extracted, and not through a link", sources),
    ("extract: a FIFO, folder, device or file at the target is refused", odd_targets),
]
