"""The upload commands with full disks, broken pipes, no place for temporary files, and bundles of 300 MB."""
import functools
import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

from bench import PHOTO, write_raw
from checks import every, expect
from crash_upload_commands import COMMANDS, MANY, Scene
from memory import PHOTO_SIZE, frugal, measured
from real_disks import mounted, tmpfs
from records import counter_in
from standard_streams import closed

LIMIT = 40 << 20
UUID = "3f2b8c1e-5d47-4b1a-9c0e-7a6f1d2e3b4c"


def no_temporary_place(bench):
    """If TMPDIR is not a writable folder, commands that need it say so, and the others do not care."""
    scene = Scene(bench, "multipart", ())
    needing = {"multipart -": ["multipart", "-", "-o", "body"],
               "multipart -o -": ["multipart", "../x.bundle", "-o", "-"],
               "multipart --headers -": ["multipart", "../x.bundle", "-o", "body", "--headers", "-"],
               "from-body -o -": ["from-body", "../x.body", "-o", "-"],
               "extract": ["extract", "../x.bundle", "photo.jpg"]}

    def judge(name, words):
        rig = scene.rig()
        for place in (rig.folder / "missing", rig.folder / "x.bundle", "/proc"):
            with open(rig.folder / "x.bundle", "rb") as bundle:
                ended = rig.run(*words, stdin=bundle, env={"TMPDIR": str(place)})
            ended.must(73, 74, about=str(place)).naming(place, name)
            expect("TMPDIR" in ended.text and not ended.out, f"no word of TMPDIR, or output: {ended.text!r}")
            expect(not list(rig.out.iterdir()), f"leaves {os.listdir(rig.out)}")

    every(needing, judge)
    for command, (words, _) in COMMANDS.items():
        rig = Scene(bench, command, ()).rig()
        rig.run(*words, env={"TMPDIR": str(rig.folder / "missing")}).must(0, about=f"{command} needs no TMPDIR")


def full_temporary_place(bench):
    """The place for temporary files is too small for the bundle."""
    rig = bench.rig()
    raw = write_raw(rig.folder / "large", photo=PHOTO[:-2] + b"\x55" * 600_000 + b"\xff\xd9")
    rig.pack(rig.out / "x.bundle", raw=raw).must(0)
    rig.run("multipart", "x.bundle", "-o", "../x.body").must(0)
    place = rig.folder / "small"
    rig.env["TMPDIR"] = str(place)
    for words in (["multipart", "x.bundle", "-o", "-"], ["extract", "x.bundle", "photo.jpg"],
                  ["from-body", "../x.body", "-o", "-"]):
        ended, left = mounted(rig, place, tmpfs("size=64k"), *words)
        ended.must(74, about=" ".join(words))
        expect(not left and not ended.out, f"{words[0]}: leaves {left}, or {len(ended.out)} bytes were written")
    expect(not rig.strays(), f"leaves {rig.strays()}")


def full_target(bench):
    """If the files do not fit at their target, the exit code is 74, and none of their names exists."""
    def judge(command, case):
        words, names = case
        scene = Scene(bench, command, ())
        rig = scene.rig()
        photo = PHOTO[:-2] + b"\x55" * 200_000 + b"\xff\xd9"
        for name in ("raw", *(f"raws/{name}" for name in MANY)):
            (rig.folder / name / "photo.jpg").write_bytes(photo)
        rig.run("pack", "../raw", "-o", "../x.bundle", "--force").must(0)
        rig.run("multipart", "../x.bundle", "-o", "../x.body", "--force").must(0)
        ended, left = mounted(rig, rig.folder / "small", tmpfs("size=64k") + ' && cd "$place"', *words)
        ended.must(74)
        expect(not [name for name in left if name not in ("new", "all")], f"leaves {left}")

    every(COMMANDS, judge)


def full_standard_output(bench):
    scene = Scene(bench, "multipart", ())
    cases = {"multipart -o -": ["multipart", "../x.bundle", "-o", "-"],
             "extract": ["extract", "../x.bundle", "photo.jpg"],
             "extract --floats": ["extract", "../x.bundle", "depth.f32.gz", "--floats"],
             "multipart --json": ["multipart", "../x.bundle", "-o", "b1", "--json"],
             "multipart --headers -": ["multipart", "../x.bundle", "-o", "b2", "--headers", "-"],
             "from-body -o -": ["from-body", "../x.body", "-o", "-"],
             "from-body": ["from-body", "../x.body", "-o", "b3"],
             "sign-request": ["sign-request", "../x.body", "--device-id", UUID],
             "sign-request json": ["sign-request", "../x.body", "--device-id", UUID, "--format", "json"],
             "jwk": ["key", "public", "--format", "jwk"], "verify of many": ["verify", *["../x.bundle"] * 9],
             "pack of many": ["pack", "../raw", "../raws/a", "--out-dir", "all", "--json"]}

    def judge(_, words):
        with open("/dev/full", "wb") as sink:
            ended = scene.rig().run(*words, stdout=sink).must(74)
        ended.naming("standard output")
        expect(len(ended.text.splitlines()) <= 4, f"a storm of messages: {ended.text[:300]!r}")

    every(cases, judge)


def reader_goes_away(bench):
    """If nobody reads a pipe, the command ends by SIGPIPE without a message, or with 74 if that signal is ignored."""
    scene = Scene(bench, "multipart", ())
    cases = {"multipart": ["multipart", "../x.bundle", "-o", "-"], "extract": ["extract", "../x.bundle", "photo.jpg"],
             "from-body": ["from-body", "../x.body", "-o", "-"],
             "sign-request": ["sign-request", "../x.body", "--device-id", UUID],
             "verify of many": ["verify", *["../x.bundle"] * 9]}

    def judge(name, words):
        for ignored in (False, True):
            reader, writer = os.pipe()
            os.close(reader)
            before = functools.partial(signal.signal, signal.SIGPIPE, signal.SIG_IGN if ignored else signal.SIG_DFL)
            ended = scene.rig().run(*words, stdout=writer, restore_signals=False, preexec_fn=before)
            os.close(writer)
            ended.must(74, *(() if ignored else (-signal.SIGPIPE,)), about=f"SIGPIPE ignored: {ignored}")
            expect(len(ended.text.splitlines()) <= 2, f"a storm of messages: {ended.text[:300]!r}")

    every(cases, judge)


def closed_streams(bench):
    """The first opened file gets the number of a closed stream; output must not be written into it."""
    def judge(command, case):
        words, names = case
        scene = Scene(bench, command, ())
        for number in range(3):
            rig = scene.rig()
            bundle = (rig.folder / "x.bundle").read_bytes()
            closed(rig, number, *words).must(0, 74, about=f"without stream {number}")
            expect((rig.folder / "x.bundle").read_bytes() == bundle, "the bundle that was read has changed")
            for name in names:
                wanted, path = scene.wanted[name], rig.out / name
                if path.exists() and path.suffix == ".bundle":
                    expect(rig.run("verify", name).code == 0, f"without stream {number}: {name} is not whole")
                elif path.exists() and wanted:
                    expect(path.read_bytes() == wanted, f"without stream {number}: {name} is not whole")

    every(COMMANDS, judge)


def crowd(bench):
    """With several runs at once, one run gets each name, and no counter is used twice."""
    rig = Scene(bench, "pack --out-dir", ()).rig()

    def race(words):
        with ThreadPoolExecutor(8) as pool:
            return [ended.code for ended in pool.map(lambda place: rig.run(*words(place)), range(8))]

    for words, name in ((["multipart", "../x.bundle", "-o", "one"], "one"),
                        (["from-body", "../x.body", "-o", "one.bundle", "-q"], "one.bundle"),
                        (["extract", "../x.bundle", "photo.jpg", "-o", "."], "photo.jpg")):
        codes = race(lambda _, words=words: words)
        expect(sorted(codes) == [0] + [73] * 7, f"{words[0]}: exit codes {codes}")
        data = (rig.out / name).read_bytes()
        expect(set(race(lambda _, words=words: [*words, "--force"])) == {0}, f"{words[0]} --force: not all succeed")
        expect((rig.out / name).read_bytes() == data, f"{words[0]} --force: other bytes")
    raws = [rig.folder / "raws" / name for name in MANY]
    codes = race(lambda place: ["pack", *raws, "--out-dir", rig.out / f"all{place}", "--jobs", "3"])
    counters = [counter_in(path.read_bytes()) for path in rig.out.glob("all*/*.bundle")]
    expect(codes == [0] * 8 and len(counters) == len(set(counters)) == 8 * len(MANY), f"{codes}, counters {counters}")
    left = [str(path) for path in rig.out.rglob(".*")]
    expect(not left, f"leaves {left}")


def many_names(bench):
    """Memory does not grow with the number of files, nor with an endless name."""
    rig = bench.rig()
    bundle = rig.bundle()
    names = rig.folder / "names"
    names.write_bytes(b"".join(b"%s\0" % str(bundle).encode() for _ in range(20_000)))
    for options in (["--json"], ["--json", "--jobs", "8"]):
        with open(names, "rb") as source:
            frugal(measured(rig, "verify", "--from0", *options, stdin=source), 0, LIMIT, "20,000 names")
    endless = subprocess.Popen(["head", "-c", "300000000", "/dev/zero"], stdout=subprocess.PIPE)
    letters = subprocess.Popen(["tr", "\\0", "x"], stdin=endless.stdout, stdout=subprocess.PIPE)
    endless.stdout.close()
    frugal(measured(rig, "verify", "--from0", stdin=letters.stdout), 66, LIMIT, "a name of 300 MB")
    letters.stdout.close()
    for process in (endless, letters):
        process.wait()


def large(bench):
    """Each command handles 300 MB in constant memory, from a file and from a pipe."""
    rig = bench.rig()
    raw = write_raw(rig.folder / "raw")
    with open(raw / "photo.jpg", "wb") as photo:
        photo.write(PHOTO[:-2])
        piece = b"\r\n--capture-bundle-" + bytes(range(1, 251)) * 4000
        while photo.tell() < PHOTO_SIZE:
            photo.write(piece)
    bundle, body, other, opened = (rig.folder / name for name in ("x.bundle", "body", "y.bundle", "opened"))
    rig.pack(bundle, raw=raw, seconds=120).must(0)
    cases = {"multipart": (["multipart", bundle, "-o", body], None),
             "from-body": (["from-body", body, "-o", other], None),
             "multipart -": (["multipart", "-", "-o", "-"], bundle), "verify -": (["verify", "-"], bundle),
             "from-body -": (["from-body", "-", "-o", "-"], body), "extract": (["extract", bundle, "-o", opened], None),
             "extract -": (["extract", "-", "photo.jpg"], bundle),
             "sign-request": (["sign-request", body, "--device-id", UUID], None)}

    def judge(name, case):
        words, source = case
        feeder = subprocess.Popen(["cat", source], stdout=subprocess.PIPE) if source else None
        try:
            frugal(measured(rig, *words, stdin=feeder.stdout if feeder else subprocess.DEVNULL), 0, LIMIT, name)
        finally:
            if feeder:
                feeder.kill()
                feeder.stdout.close()
                feeder.wait()

    every(cases, judge)
    same = subprocess.run(["cmp", bundle, other], check=False).returncode == 0
    expect(same and (opened / "photo.jpg").stat().st_size == (raw / "photo.jpg").stat().st_size, "it wrote other bytes")


TESTS = [
    ("an unusable TMPDIR: a message, but only if it is needed", no_temporary_place),
    ("a full place for temporary files: 74, no output", full_temporary_place),
    ("a full disk: 74, and no file", full_target),
    ("a full standard output: 74", full_standard_output),
    ("a reader that goes away: a quiet end", reader_goes_away),
    ("closed standard streams: nothing is printed into a file", closed_streams),
    ("eight runs at once: one gets each name, no counter is used twice", crowd),
    ("20,000 names, and one of 300 MB, through --from0 in 40 MiB", many_names),
    ("300 MB in 40 MiB: multipart, from-body, extract, sign-request, verify -", large),
]
