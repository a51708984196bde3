"""Unusual sources for push: links, FIFOs, devices, folders, files that change, files that are not bundles.

Push opens a source once, and accepts a plain file or a pipe. No source may make it wait for ever, fill the disk, or
delete a file that another program has just written.
"""
import functools
import os
import resource
import subprocess

from Kit.rigs import NOBODY
from Kit.outcomes import Skipped, every, expect
from Kit.invariants import clean, gives, refused, words_for_people
from Kit.queues import few, ids
from QueueFaults.many_processes import ended, locked
from QueueFaults.signals_and_streams import wait_for_lock


def odd(bench):
    """A source that is neither a plain file nor a pipe is refused soon, and nothing is left behind."""
    rig = bench.rig()
    rig.push(bench.stock[0])
    place = rig.out / "odd"
    place.mkdir()
    os.mkfifo(place / "fifo")
    (place / "loop").symlink_to("loop")
    (place / "dangling").symlink_to("nowhere")
    (place / "to a fifo").symlink_to("fifo")
    (place / "to zero").symlink_to("/dev/zero")
    cases = {"a link to a FIFO": place / "to a fifo", "a link to /dev/zero": place / "to zero", "a folder": place,
             "a dangling link": place / "dangling", "/proc/self/mem": "/proc/self/mem", "a FIFO": place / "fifo",
             "/dev/zero": "/dev/zero", "/dev/null": "/dev/null", "a link to itself": place / "loop",
             "nothing": place / "nothing", "an empty name": "", "below a file": bench.stock[0].path / "x",
             "/dev/tty": "/dev/tty", "a name of 5000 bytes": "n" * 5000, "the queue": rig.queue}

    def judge(name, path):
        limit = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (1 << 24, 1 << 24))
        for options in few([("--move",), ("--reference",), ()], 2):
            result = rig.run("push", *options, path, preexec_fn=limit)
            refused(result, *((2,) if "proc" in name else ()), 64, 66, 74, about=f"push {' '.join(options)}")
        absent = ("nothing", "an empty name", "below a file", "a name of 5000 bytes")
        expect(name in absent or os.path.lexists(path), "is gone")

    every(few(cases, 5), judge)
    expect(len(clean(rig)) == 1, "something was stored")


def odd_standard_inputs(bench):
    """`push -` accepts a pipe and a plain file; an endless source is refused before it fills the disk."""
    rig = bench.rig()
    bundle = bench.stock[1]
    with open(bundle.path, "rb") as file:
        expect(ids(rig.run("push", "-", stdin=file).must(0, about="push - < FILE")) == [bundle.id], "another id")
    for name in ("/dev/zero", "/dev/null"):
        with open(name, "rb") as device:
            refused(rig.run("push", "-", stdin=device), 2, 64, 66, about=f"push - < {name}")
    with subprocess.Popen(["sh", "-c", 'cat "$0"; exec cat /dev/zero', bundle.path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as endless:
        refused(rig.run("push", "-", stdin=endless.stdout), 2, about="a bundle and zeros without end")
        endless.stdout.close()
    refused(rig.run("push", "-"), 2, 64, 66, about="push - < /dev/null")
    expect(len(clean(rig)) == 1, "something was stored")


def links(bench):
    """A link to a bundle works like the bundle; --move unlinks no file that was not named, and `FILE/` names none."""
    rig = bench.rig()
    target, link, hard = (rig.out / name for name in ("x.bundle", "link", "hard"))
    target.write_bytes(bench.stock[0].data)
    link.symlink_to("x.bundle")
    expect(ids(rig.run("push", link).must(0, about="push of a link")) == [bench.stock[0].id], "another id")
    gives(rig, bench.stock[0])
    target.write_bytes(bench.stock[1].data)
    result = rig.run("push", "--move", link)
    words_for_people(result.must(0, 64, 66, about="push --move of a link"))
    if result.code == 0:
        gives(rig, bench.stock[1])
    expect(target.read_bytes() == bench.stock[1].data, "the link's target was touched")
    rig.run("push", "--move", f"{target}/").must(66, about="push --move of FILE/")
    expect(target.exists(), "--move unlinks FILE for FILE/")
    hard.write_bytes(bench.stock[2].data)
    os.link(hard, rig.out / "second name")
    rig.run("push", "--move", hard).must(0, about="push --move of a file with two names")
    expect((rig.out / "second name").read_bytes() == bench.stock[2].data, "the other name's bytes are gone")
    gives(rig, bench.stock[2])


def private_copy(bench):
    """Whatever happens to the source after the push, the queue has its own bytes, even after --move."""
    rig = bench.rig()
    path, other = rig.out / "x.bundle", rig.out / "other"
    for options, bundle in (((), bench.stock[2]), (("--move",), bench.stock[3])):
        path.write_bytes(bundle.data)
        other.unlink(missing_ok=True)
        os.link(path, other)
        rig.run("push", *options, path).must(0, about="push")
        with open(other, "r+b") as file:
            file.write(b"overwritten")
            file.truncate(100)
        gives(rig, bundle, about=f"{' '.join(options) or 'push'}, and the source was overwritten")


def moved_only_if_the_same(bench):
    """--move does not unlink a file that another program puts under the name while the push waits for its turn."""
    rig, (one, other) = bench.rig(), bench.stock[:2]
    rig.push(bench.stock[9])
    path = rig.out / "x.bundle"
    path.write_bytes(one.data)
    with locked(rig.queue / "queue.lock"):
        tool = rig.begin("push", "--move", path)
        wait_for_lock(tool)
        (rig.out / "new").write_bytes(other.data)
        (rig.out / "new").rename(path)
    expect(ended(tool, 0) == [one.id], "push --move did not read the file before its turn")
    gives(rig, one)
    expect(path.exists() and path.read_bytes() == other.data, "a file that was not pushed is unlinked")


def moved_into_itself(bench):
    """--move leaves files of the queue and of a destination where they are, also behind a link and whatever their names
    begin with. OnlyCopyTests has the plain cases."""
    rig, bundle = bench.rig(), bench.stock[0]
    disk = rig.to_folder()
    rig.push(bundle)
    os.link(rig.spool_file(bundle), rig.out / "another name")
    odd = disk / "\u0301x.bundle"
    odd.write_bytes(bench.stock[1].data)
    (rig.out / "link").symlink_to(rig.spool_file(bundle))
    for path, name in ((rig.spool_file(bundle), rig.out / "link"), (odd, odd)):
        words_for_people(rig.run("push", "--move", name).must(0, 64, 66, about=f"push --move of {path.name}"))
        expect(path.exists(), f"--move takes {path.name} away")
    rig.run("push", "--move", rig.out / "another name").must(0, about="push --move of another name of a spool file")
    gives(rig, bundle)
    clean(rig)


def odd_bytes(bench):
    """A path that SQLite or a setting cannot hold unchanged is refused before anything is made."""
    rig = bench.rig()
    odd = os.fsencode(rig.out) + b"/odd\xff"
    os.mkdir(odd)
    (rig.out / "link").symlink_to(os.fsdecode(odd))
    rig.push(bench.stock[0])
    rig.run("dest", "add", "disk", "--kind", "folder", "--path", rig.out / "link").must(73)
    result = rig.run("push", bench.stock[1].path, env={"CAPQUEUE_DIR": os.fsdecode(odd + b"/queue")}).must(73, 74)
    expect("UTF-8" in result.text, f"says {result.text!r}")
    expect(os.listdir(odd) == [], f"left in it: {os.listdir(odd)}")


def unreadable(bench):
    if os.geteuid() != 0:
        raise Skipped("needs another user to whom files are closed")
    rig = bench.rig()
    path = rig.out / "x.bundle"
    path.write_bytes(bench.stock[0].data)
    path.chmod(0)
    for folder in (rig.home / ".local/share", rig.home / ".local", rig.home, rig.folder):
        os.chown(folder, NOBODY, NOBODY)
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    refused(rig.run("push", path, **who), 66, about="a file that may not be read").naming(path)
    path.chmod(0o644)
    result = rig.run("push", "--move", path, **who).must(0, 66, 73, 74, 77, about="--move in a folder of another user")
    expect(path.exists() and result.text, "--move unlinks a file that it must keep, or says nothing")


TESTS = [
    ("FIFOs, devices, folders, dangling links: refused soon", odd),
    ("push -: a file, a device, a pipe that never ends", odd_standard_inputs),
    ("links and hard links", links),
    ("the queue's bytes are its own", private_copy),
    ("--move unlinks only the very file that was stored", moved_only_if_the_same),
    ("--move of the queue's own file, or in a destination, removes nothing", moved_into_itself),
    ("paths that are not UTF-8", odd_bytes),
    ("a bundle that may not be read", unreadable),
]
