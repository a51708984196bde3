"""Raw folders and bundles that are not plain files: FIFOs, devices, folders, links, holes.

No input may make the tool wait for ever, read 8 GiB for one wrong byte, or use a counter for a folder that cannot be
packed.
"""
import functools
import os
import re
import resource
import struct
import threading

from Kit.injection import STATUS, at_path
from Kit.rigs import NOBODY, write_raw
from Kit.outcomes import IS_LONG, ROOT, Skipped, every, expect

MEMBERS = ("photo.jpg", "depth.f32", "metadata.json")


def replace(path, make):
    path.unlink()
    make(path)


ODD = {
    "a folder": os.mkdir,
    "a FIFO": os.mkfifo,
    "a link to /dev/zero": functools.partial(os.symlink, "/dev/zero"),
    "a link to /dev/null": functools.partial(os.symlink, "/dev/null"),
    "a link to a FIFO": lambda path: (os.mkfifo(path.parent.parent / "fifo"), path.symlink_to("../fifo")),
    "a dangling link": functools.partial(os.symlink, "nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "an empty file": lambda path: path.touch(),
}


def odd_members(member, bench):
    def judge(name, make):
        rig = bench.rig()
        raw = write_raw(rig.folder / "raw")
        replace(raw / member, make)
        # No input here justifies more than 2 GiB of memory; /dev/zero could fill more.
        limit = functools.partial(resource.setrlimit, resource.RLIMIT_AS, (2 << 30, 2 << 30))
        result = rig.pack(rig.out / "x.bundle", raw=raw, preexec_fn=limit).must(65, 66)
        result.naming(raw / member, name)
        expect(not list(rig.out.iterdir()), "something was written")
        expect(rig.state() == 0, "a counter was used")

    every(ODD, judge)


def odd_folders(bench):
    """The raw folder is a file, a FIFO, a device, or missing."""
    rig = bench.rig()
    os.mkfifo(rig.folder / "fifo")
    cases = {"a file": rig.raw / "photo.jpg", "a FIFO": rig.folder / "fifo", "a device": "/dev/zero",
             "nothing": "nowhere", "an empty name": "", "below a file": rig.raw / "photo.jpg/x", "a pipe": "-",
             "an endless name": "a/" * 3000}

    def judge(name, raw):
        rig.pack(rig.out / "x.bundle", raw=raw).must(64, 65, 66)
        expect(not list(rig.out.iterdir()), "something was written")

    every(cases, judge)
    expect(rig.state() == 0, "a counter was used")


def links_to_members(bench):
    """A raw folder of symbolic links works like one with plain files."""
    rig = bench.rig()
    raw = rig.folder / "raw"
    raw.mkdir()
    for member in MEMBERS:
        (raw / member).symlink_to(rig.raw / member)
    rig.verify(rig.bundle(raw=raw))


def unreadable(bench):
    if os.geteuid() != 0:
        raise Skipped("needs another user to whom files are closed")
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    for member in (*MEMBERS, "."):
        rig = bench.rig()
        raw = write_raw(rig.folder / "raw")
        bundle = rig.bundle()
        bundle.chmod(0)
        for path in (rig.home, rig.home / ".local", rig.home / ".local/share", rig.keys, *rig.keys.iterdir()):
            os.chown(path, NOBODY, NOBODY)
        os.chown(rig.out, NOBODY, NOBODY)
        (raw / member).chmod(0)
        rig.pack(rig.out / "x.bundle", raw=raw, **who).must(66, about=f"unreadable {member}").naming(raw, member)
        expect(rig.state() == 1, f"unreadable {member}: a counter was used")
        for command in ("verify", "show"):
            rig.run(command, bundle, **who).must(66, about=f"{command} of an unreadable bundle").naming(bundle, command)


def failing_disk(bench):
    """What the disk does not give is not missing: the message names it, and has the words of the system."""
    rig = bench.rig()
    raw, scan = rig.raw, rig.folder / "scan"
    for name in ("images/1.jpg", "cameras/1.json", "depth/1.png"):
        (scan / "keyframes" / name).parent.mkdir(parents=True, exist_ok=True)
        (scan / "keyframes" / name).write_bytes(b"{}")
    archive = rig.folder / "scan.zip"
    archive.write_bytes(b"PK\3\4")
    cases = [(raw, raw / member, call) for member in MEMBERS for call in (STATUS, ("openat",))]
    cases += [(scan, scan / "keyframes" / name, ("openat",)) for name in ("images", "depth")]
    cases += [(place, place, call) for place in (raw, archive) for call in (STATUS, ("openat",))]

    def judge(name, case):
        raw, path, calls = case
        rig = bench.rig()
        target = ["--out-dir", rig.out] if raw == scan else ["-o", rig.out / "x.bundle"]
        result = rig.run("pack", raw, *target, prefix=at_path(path, *calls))
        # With some versions of libc, no call of `STATUS` asks about an open file, so reading it does not fail.
        if result.code == 0 and calls is STATUS and path.parent == raw:
            return
        result.must(74).naming(path)
        expect("cannot be read: input/output error" in result.text and not re.search("missing|expected", result.text),
               f"says {result.text!r}")
        # With --out-dir, counters are reserved before a capture is looked at.
        expect(not list(rig.out.iterdir()) and rig.state() == (raw == scan), "something was written")

    every({f"{path.name}, {calls[0]}": (raw, path, calls) for raw, path, calls in cases}, judge)


def unreadable_in_folder(bench):
    """A file of a folder that cannot be opened is named, and is not counted as something else than a bundle."""
    rig = bench.rig()
    folder = rig.folder / "kept"
    folder.mkdir()
    rig.bundle().rename(folder / "x.bundle")
    (folder / "closed").write_bytes(b"?")
    for error, code, words in (("EIO", 74, "input/output error"), ("EACCES", 66, "permission denied")):
        for command in (["chain", folder], ["report", folder, "-o", rig.out / f"{error}.html"]):
            result = rig.run(*command, prefix=at_path(folder / "closed", "openat", error=error))
            result.must(code, about=command[0]).naming(f"{folder}/closed: cannot be read: {words}")
            expect("left out" not in result.text, f"{command[0]} counts it as well: {result.text!r}")
    expect("left out 1 file" in rig.run("chain", folder).must(0).text, "a file that is not a bundle is not counted")


def read_only_state(bench):
    """A folder for `--state` on a read-only disk is an input/output error, not an output that cannot be made."""
    rig = bench.rig()
    bundle, seen = rig.bundle(), rig.out / "seen"
    rig.run("verify", bundle, "--state", seen).must(0)
    rig.run("verify", bundle, "--state", seen, prefix=at_path(seen, "openat", error="EROFS")).must(74).naming(seen)


def unreadable_trust(bench):
    """A trust file and a counter that cannot be looked up are not absent; `key show` needs only the public half."""
    rig = bench.rig()
    bundle, state = rig.bundle(), rig.keys / "device.key.state"
    rig.run("verify", bundle, prefix=at_path(rig.trust, *STATUS)).must(74).naming(rig.trust)
    told = rig.pack("y.bundle", prefix=at_path(state, *STATUS)).must(73, 74).naming(state)
    expect("lost" not in told.text, f"pack says {told.text!r}")
    before = rig.trust.read_bytes()
    added = rig.run("trust", "add", "other", ROOT / "Samples/desk-lamp/device.pem", prefix=at_path(rig.trust, *STATUS))
    added.must(73, 74).naming(rig.trust)
    expect(rig.trust.read_bytes() == before, "devices are lost")
    rig.run("key", "show", prefix=at_path(rig.key, "openat")).must(0)


def photo_that_grows(bench):
    """A photo that another program still writes is refused, or packed as it was at one moment."""
    rig = bench.rig()
    raw = write_raw(rig.folder / "raw")
    data = (raw / "photo.jpg").read_bytes()
    done = threading.Event()

    def write():
        while not done.is_set():
            (raw / "photo.jpg").write_bytes(data)
            with open(raw / "photo.jpg", "ab") as photo:
                photo.write(b"\x00" * 3000)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for index in range(15 if IS_LONG else 4):
            result = rig.pack(rig.out / f"{index}.bundle", raw=raw).must(0, 65, 66)
            if result.code == 0:
                rig.verify(rig.out / f"{index}.bundle")
    finally:
        done.set()
        writer.join()


def odd_bundles(bench):
    """verify and show soon answer 2 or 66 to any odd input."""
    rig = bench.rig()
    data = rig.bundle().read_bytes()
    place = rig.folder / "odd"
    place.mkdir()
    (place / "empty").touch()
    (place / "loop").symlink_to("loop")
    with open(place / "trailing hole", "wb") as sparse:
        sparse.write(data)
        sparse.truncate(8 << 30)
    with open(place / "hole", "wb") as sparse:
        sparse.truncate(8 << 30)
    with open(place / "huge manifest", "wb") as sparse:  # its header gives a size of 8 GiB - 1
        sparse.write(data[:1024] + header("manifest.json", (8 << 30) - 1))
        sparse.truncate(8 << 30)
    with open(place / "huge assertion", "wb") as sparse:
        size = int(data[1024 + 124:1024 + 135], 8)
        end = 1536 + -(-size // 512) * 512
        sparse.write(data[:end] + header("assertion.cbor", (8 << 30) - 1))
        sparse.truncate(8 << 30)
    cases = {name: (place / name, 2) for name in ("empty", "trailing hole", "hole", "huge manifest", "huge assertion")}
    cases |= {"/dev/zero": ("/dev/zero", 2), "/dev/null": ("/dev/null", 2), "a folder": (place, 66),
              "a link to itself": (place / "loop", 66), "nothing": (place / "nowhere", 66),
              "below a file": (place / "empty/x", 66), "/proc/self/mem": ("/proc/self/mem", 74)}

    def judge(name, case):
        path, code = case
        for command in ("verify", "show"):
            result = rig.run(command, path).must(code, about=command)
            if code == 66:
                result.naming(path, command)

    every(cases, judge)


def header(name, size):
    """Makes a ustar header as in section 3.1 of the Spec."""
    block = bytearray(struct.pack("100s8s8s8s12s12s8s1s", name.encode(), b"000644 ", b"000000 ", b"000000 ",
                                  b"%011o " % size, b"00000000000 ", b" " * 8, b"0").ljust(512, b"\0"))
    block[257:265] = b"ustar\x0000"
    block[329:337] = block[337:345] = b"000000 \0"
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


TESTS = [(f"odd files in place of {member}: 65 or 66, soon", functools.partial(odd_members, member))
         for member in MEMBERS]
TESTS += [
    ("odd things in place of the raw folder", odd_folders),
    ("a raw folder of symbolic links", links_to_members),
    ("unreadable members and bundles: 66", unreadable),
    ("a disk that fails: 74, and nothing is called missing", failing_disk),
    ("a file in a folder that cannot be opened is named", unreadable_in_folder),
    ("a trust file that cannot be looked up is not replaced", unreadable_trust),
    ("a folder of states on a read-only disk is an input/output error", read_only_state),
    ("a photo that changes while it is packed", photo_that_grows),
    ("verify and show of devices, folders, links and holes", odd_bundles),
]
