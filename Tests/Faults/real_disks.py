"""Places that are really full, read-only, limited or missing, where several calls in a row fail."""
import functools
import os
import resource
import signal
import zipfile

from Faults.chains import Chain
from Faults.crash_commands import COMMANDS, Scene
from Faults.memory import names_of_links
from Kit.disks import READ_ONLY, mounted, small
from Kit.outcomes import IS_LONG, ROOT, every, expect, long
from Kit.rigs import PHOTO, write_raw

LARGE = PHOTO[:-2] + b"\x55" * 600_000 + b"\xff\xd9"  # a photo that does not fit on the small disks below
FILL = '{ head -c 9999999 /dev/zero > "$0/filler" 2> /dev/null; true; }'


def limited(size=None, disposition=signal.SIG_IGN):
    """Returns options that limit the size of files for a run."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        signal.signal(signal.SIGXFSZ, disposition)

    return {"restore_signals": False, "preexec_fn": limit}


def full_target(bench):
    """If the files do not fit at their target, the exit code is 74, and none of their names exists."""
    def judge(command, case):
        scene = Scene(bench, command, photo=PHOTO[:-2] + b"\x55" * 200_000 + b"\xff\xd9")
        rig = scene.rig()
        before = rig.state()
        with mounted(rig, rig.folder / "small", small("64k")) as disk:
            disk.run(*case[0], prefix=["sh", "-c", 'cd "$0" && exec "$@"', disk.place]).must(74)
            left = [name for name in disk.names() if name not in ("new", "all")]
        expect(not left, f"leaves {left}")
        expect(not scene.packs or rig.state() > before, "the counter does not count as used")

    every(COMMANDS, judge)


def full_temporary_folder(bench):
    """An archive that does not fit into the temporary folder: the message names this folder and TMPDIR."""
    rig = bench.rig()
    raw = write_raw(rig.folder / "large", LARGE)
    with zipfile.ZipFile(rig.folder / "scan.zip", "w") as archive:
        for path in sorted(raw.iterdir()):
            archive.write(path, path.name)
    with mounted(rig, rig.folder / "small", small("64k")) as disk:
        rig.env |= {"TMPDIR": str(disk.place), "CAPBUNDLE_DECODE": str(bench.decoder)}
        result = disk.run("pack", rig.folder / "scan.zip", "-o", rig.out / "x.bundle").must(74)
        result.naming(disk.place, "full temporary folder")
        expect("no space left on device" in result.text and "export TMPDIR=" in result.text, f"says {result.text!r}")
    expect(not list(rig.out.iterdir()), f"leaves {list(rig.out.iterdir())}")


def no_inode(bench):
    rig = bench.rig()
    with mounted(rig, rig.folder / "small", small("1m", ",nr_inodes=1")) as disk:
        result = disk.run("pack", rig.raw, "-o", disk.place / "x.bundle").must(73, 74)
        result.naming(disk.place / "x.bundle", "no inode left")
        expect(not disk.names(), f"leaves {disk.names()}")
    expect(rig.state() == 0, "a counter was used although the bundle could not be begun")


def full_key_disk(bench):
    """If the counter or the pending link cannot be written, nothing is signed."""
    for options in ((), ("--chain",)):
        rig = bench.rig()
        mount = f'{small("64k")} && cp -p "{rig.keys}"/* "$0" && {FILL}'
        with mounted(rig, rig.folder / "small", mount) as disk:
            result = disk.run("pack", rig.raw, "-o", rig.out / "x.bundle", *options, "--key", disk.place / "device.key")
            result.must(74, about=f"{options}").naming(disk.place / "device.key.state", "full key disk")
            expect(not list(rig.out.iterdir()), f"{options}: leaves {rig.strays()}, or a bundle without its counter")
            expect(not [name for name in disk.names() if name.startswith(".")], f"leaves {disk.names()}")


def full_state_disk(bench):
    """If the record of verify --state does not fit, no verdict is printed."""
    rig = bench.rig()
    bundle = rig.bundle()
    mount = f'{small("64k")} && mkdir -m 700 "$0/state" && {FILL}'
    with mounted(rig, rig.folder / "small", mount) as disk:
        result = disk.run("verify", "--state", disk.place / "state", bundle).must(74).naming(disk.place / "state")
        expect(not result.out, "a verdict was printed")


def full_in_a_batch(bench):
    """A bundle that does not fit gets no link, and the other captures of the batch follow each other."""
    rig = bench.rig()
    raws = [write_raw(rig.folder / f"raws/{index}", LARGE if index == 2 else PHOTO, device_model=f"Rig {index}")
            for index in range(5)]
    with mounted(rig, rig.folder / "small", small("256k")) as disk:
        result = disk.run("pack", *raws, "--out-dir", disk.place, "--chain", "--json", "--jobs", "1").must(74)
        expect(disk.names() == [f"{index}.bundle" for index in (0, 1, 3, 4)], f"the disk has {disk.names()}")
    expect(Chain(rig).state()["seq"] == 4, f"the state has {Chain(rig).state()}")
    expect(b'"seq":4' in result.out and b'"seq":5' not in result.out, f"the links are {result.out!r}")


def read_only(bench):
    rig = bench.rig()
    bundle = rig.bundle()
    cases = {"a target": (rig.out, 73, ["pack", rig.raw, "-o", rig.out / "new.bundle"], rig.out / "new.bundle"),
             "a target, --force": (rig.out, 73, ["pack", "--force", rig.raw, "-o", bundle], bundle),
             "verify": (rig.out, 0, ["verify", bundle], ""),
             "a key": (rig.keys, 74, ["pack", rig.raw, "-o", rig.out / "new.bundle"], rig.keys),
             "key public": (rig.keys, 0, ["key", "public"], ""), "key show": (rig.keys, 0, ["key", "show"], ""),
             "a trust file": (rig.trust.parent, 74, ["trust", "revoke", "rig"], rig.trust),
             "trust list": (rig.trust.parent, 0, ["trust", "list"], "")}

    def judge(_, case):
        place, code, words, name = case
        with mounted(rig, place, READ_ONLY) as disk:
            disk.run(*words).must(*((73, 74) if code == 74 else (code,))).naming(name)

    every(cases, judge)
    expect(rig.state() == 1, "a counter was used for a target that cannot be made")


def file_size_limit(bench):
    """`ulimit -f` gives 74 and a message, whatever SIGXFSZ does; no file stays."""
    rig = bench.rig()
    raw = write_raw(rig.folder / "large", LARGE)
    for disposition in (signal.SIG_DFL, signal.SIG_IGN):
        rig.pack(rig.out / "x.bundle", raw=raw, **limited(100_000, disposition)).must(74).naming("(ulimit -f)")
        expect(not list(rig.out.iterdir()) and not rig.strays(), f"leaves {rig.strays()}")
    rig.verify(rig.bundle())


def temporary_file_limit(bench):
    """If the temporary file of chain cannot grow, no result is printed."""
    rig = bench.rig()
    with open(names_of_links(rig, 70_000), "rb") as names:
        done = rig.run("chain", "--from0", stdin=names, **limited(1 << 20)).must(74).naming("TMPDIR")
    expect(not done.out, f"printed {done.out}")


def no_temporary_place(bench):
    """If TMPDIR is not a writable folder, commands that need it say so, and the others do not care."""
    scene = Scene(bench, "multipart")
    needing = {"multipart -": ["multipart", "-", "-o", "body"],
               "multipart -o -": ["multipart", "../x.bundle", "-o", "-"],
               "multipart --headers -": ["multipart", "../x.bundle", "-o", "body", "--headers", "-"],
               "from-body -o -": ["from-body", "../x.body", "-o", "-"],
               "extract": ["extract", "../x.bundle", "photo.jpg"],
               "chain": ["chain", ROOT / "Spec/Vectors/side/chain_1"]}

    def judge(name, words):
        rig = scene.rig()
        for place in (rig.folder / "missing", rig.folder / "x.bundle", "/proc"):
            with open(rig.folder / "x.bundle", "rb") as bundle:
                ended = rig.run(*words, stdin=bundle, env={"TMPDIR": str(place)})
            ended.must(73, 74, about=str(place)).naming(place, name)
            expect("TMPDIR" in ended.text and not ended.out, f"no word of TMPDIR, or output: {ended.text!r}")
            expect(not list(rig.out.iterdir()), f"leaves {os.listdir(rig.out)}")

    every(needing, judge)
    rig = scene.rig()
    for command, (words, _) in COMMANDS.items():
        rig.run(*words, "--force", env={"TMPDIR": "missing"}).must(0, about=f"{command} needs no TMPDIR")


def full_temporary_place(bench):
    """The place for temporary files is too small for the bundle."""
    rig = Scene(bench, "multipart", photo=LARGE).rig()
    with mounted(rig, rig.folder / "small", small("64k")) as disk:
        rig.env["TMPDIR"] = str(disk.place)
        for words in (["multipart", "../x.bundle", "-o", "-"], ["extract", "../x.bundle", "photo.jpg"],
                      ["from-body", "../x.body", "-o", "-"]):
            ended = disk.run(*words).must(74, about=" ".join(words))
            expect(not disk.names() and not ended.out, f"{words[0]}: leaves {disk.names()}, or {len(ended.out)} bytes")
    expect(not rig.strays(), f"leaves {rig.strays()}")


def few_descriptors(bench):
    """With any amount of room the result is an error with a message or a complete bundle."""
    rig = bench.rig()
    worked = 0
    for count in range(3, 16) if IS_LONG else (3, 5, 8, 15):
        limit = functools.partial(resource.setrlimit, resource.RLIMIT_NOFILE, (count, count))
        target = rig.out / f"{count}.bundle"
        result = rig.pack(target, preexec_fn=limit).must(0, 66, 70, 73, 74, 77, 78, 127, about=f"{count} descriptors")
        expect(result.code == 0 or result.err, f"{count} descriptors: fails without a word")
        if result.code == 0:
            rig.verify(target)
            worked += 1
        else:
            expect(not target.exists(), f"{count} descriptors: exit {result.code}, but a bundle is there")
        expect(not rig.strays(), f"{count} descriptors: leaves {rig.strays()}")
    expect(worked >= (5 if IS_LONG else 1), f"only {worked} limits are enough")


TESTS = [
    ("a full disk: 74, and no file", full_target),
    ("a full disk in a batch with --chain: the captures that fit follow each other", full_in_a_batch),
    ("a disk without a free inode: nothing is signed", no_inode),
    ("a full disk below the key: 74, nothing is signed, no link is given out", full_key_disk),
    ("a full disk below the state of verify: no verdict", full_state_disk),
    ("a read-only disk: 73, nothing is signed; reading commands work", read_only),
    ("a limit on file sizes: no file stays", file_size_limit),
    ("a limit on the temporary file of chain: 74", long(temporary_file_limit)),
    ("an unusable TMPDIR: a message, but only if it is needed", no_temporary_place),
    ("a full place for temporary files: 74, no output", full_temporary_place),
    ("an archive that does not fit into the temporary folder: the message names it and TMPDIR", full_temporary_folder),
    ("few file descriptors: an error with a message, or a complete bundle", few_descriptors),
]
