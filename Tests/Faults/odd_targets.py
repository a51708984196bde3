"""Targets that cannot become a bundle: folders, links, FIFOs, devices, names that are too long.

A refused target uses no counter, and the tool writes into or through no existing file.
"""
import functools
import os

from Kit.rigs import NOBODY
from Kit.outcomes import Skipped, every, expect


def link(target):
    return functools.partial(os.symlink, target)


# What exists under the name, and the exit codes without and with --force.
THERE = {
    "a file": (lambda path: path.write_text("mine"), 73, 0),
    "a folder": (os.mkdir, 73, 73),
    "a FIFO": (os.mkfifo, 73, 73),
    "a link to a file": (link("../victim"), 73, 0),
    "a dangling link": (link("nowhere"), 73, 0),
    "a link to itself": (lambda path: path.symlink_to(path.name), 73, None),
    "a link to a folder": (link(".."), 73, 73),
    "a link to /dev/null": (link("/dev/null"), 73, 73),
}


def occupied(forced, bench):
    def judge(name, case):
        make, refused, replaced = case
        rig = bench.rig()
        victim = rig.folder / "victim"
        victim.write_text("not yours")
        target = rig.out / "x.bundle"
        make(target)
        code = replaced if forced else refused
        before = os.lstat(target)
        result = rig.pack(target, *(["--force"] if forced else []))
        result.must(*([0, 73] if code is None else [code]))
        expect(victim.read_text() == "not yours", "the link's target was written to")
        expect(not (rig.out / "nowhere").exists(), "a dangling link was written through")
        expect(not rig.strays(), f"leaves {rig.strays()}")
        if result.code:
            result.naming(target, name)
            expect(os.lstat(target).st_ino == before.st_ino, "the existing file is gone")
            expect(rig.state() == 0, "a counter was used")
        else:
            rig.verify(target)

    every(THERE, judge)


def impossible(bench):
    """The target has a name under which no file can be made."""
    rig = bench.rig()
    (rig.out / "plain.bundle").write_text("x")
    names = {"in a missing folder": "missing/x.bundle", "a folder by its slash": "new/", "the folder itself": ".",
             "below a file": "plain.bundle/x", "a name of 256 bytes": "n" * 256, "no name": "", "the root": "/",
             "a path of 5000 bytes": "a/" * 2500 + "x"}
    names |= {name: name for name in ("/dev/null", "/dev/full", "/dev/stdout", "/proc/x", "/sys/x")}

    def judge(name, target):
        before = rig.state()
        for options in ((), ("--force",)):
            result = rig.pack(target, *options).must(73, 64)
            expect(len(result.err) < 12000, "a message without end")
            expect(not rig.strays(), f"leaves {rig.strays()}")
            expect(rig.state() == before, "a counter was used for a bundle that cannot be made")

    every(names, judge)


def longest_names(bench):
    """The tool accepts every name that the file system accepts, even with --force."""
    rig = bench.rig()
    # The last name joins the slash before it into one Character.
    for name in ("n" * 248 + ".bundle", "€" * 80 + ".bundle", "\U0001f4f7" * 60 + ".bundle", "é" * 124 + ".bundle",
                 "\u0301x.bundle"):
        target = rig.out / name
        rig.pack(target).must(0, about=f"{len(name.encode())} bytes")
        rig.pack(target, "--force").must(0, about=f"{len(name.encode())} bytes, --force")
        rig.verify(target)


def by_permissions(bench):
    if os.geteuid() != 0:
        raise Skipped("needs another user to whom folders are closed")
    rig = bench.rig()
    for folder, _, names in os.walk(rig.home):
        for name in [".", *names]:
            os.chown(os.path.join(folder, name), NOBODY, NOBODY)
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    for mode in (0o755, 0o700, 0o000):
        rig.out.chmod(mode)
        target = rig.out / "x.bundle"
        rig.pack(target, cwd="/", **who).must(73, about=f"folder with mode {mode:03o}").naming(target, "permissions")
    rig.out.chmod(0o755)
    expect(rig.state() == 0, "a counter was used")
    sticky = rig.folder / "sticky"
    sticky.mkdir()
    sticky.chmod(0o1777)
    (sticky / "x.bundle").write_text("root's")
    rig.pack(sticky / "x.bundle", "--force", cwd="/", **who).must(73, 74, about="another's file in a sticky folder")
    expect((sticky / "x.bundle").read_text() == "root's", "another's file was replaced")
    expect(os.listdir(sticky) == ["x.bundle"], f"leaves {os.listdir(sticky)}")


def key_as_target(bench):
    """By mistake the user names the key's own files as the target: they are safe without --force."""
    rig = bench.rig()
    before = {path.name: path.read_bytes() for path in rig.keys.iterdir() if path.suffix != ".lock"}
    for name in before:
        rig.pack(rig.keys / name).must(73, about=name)
    expect(before == {path.name: path.read_bytes() for path in rig.keys.iterdir() if path.suffix != ".lock"},
           "a key file was changed")


def trust_files(bench):
    """The trust file has an odd place."""
    def judge(name, case):
        make, codes = case
        rig = bench.rig()
        path = rig.folder / "place" / "trusted"
        path.parent.mkdir()
        make(path)
        for words in (["trust", "add", "new", rig.key + ".pub"], ["trust", "revoke", "new"], ["trust", "list"],
                      ["verify", rig.bundle() if not (rig.out / "x.bundle").exists() else rig.out / "x.bundle"]):
            rig.run(*words, "--trust", path).must(*codes, about=" ".join(map(str, words[:2])))
        expect(os.lstat(path), "the existing file is gone")

    # A FIFO is not tested here: with a shell's `--trust <(command)` it is right to wait for the writer.
    every({"a folder": (os.mkdir, (66, 73, 74)),
           "a link to itself": (link("trusted"), (66, 73, 74)),
           "/dev/zero": (link("/dev/zero"), (66, 73, 74, 78))}, judge)


TESTS = [
    ("the target exists: 73, and it is not changed", functools.partial(occupied, False)),
    ("the target exists, --force: a file is replaced, anything else is refused", functools.partial(occupied, True)),
    ("names under which no file can be made: 73, no counter is used", impossible),
    ("the longest names of the file system", longest_names),
    ("folders and files of other users", by_permissions),
    ("a bundle in the place of a key file: 73", key_as_target),
    ("odd files in the trust file's place", trust_files),
]
