"""Unusual sources for push: links, FIFOs, devices, folders, files that change, files that are not bundles.

Push opens a source once, and accepts a plain file or a pipe. No source may make it wait for ever, fill the disk, or
delete a file that another program has just written.
"""
import functools
import os
import resource
import subprocess
import threading

from bench import NOBODY
from checks import Skipped, every, expect
from invariants import clean, gives, holds, refused, words_for_people
from queues import ids
from tracing import require_strace, strace


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
    cases = {"a FIFO": place / "fifo", "a link to a FIFO": place / "to a fifo", "/dev/zero": "/dev/zero",
             "a link to /dev/zero": place / "to zero", "/dev/null": "/dev/null", "a folder": place,
             "a link to itself": place / "loop", "a dangling link": place / "dangling", "nothing": place / "nothing",
             "an empty name": "", "below a file": bench.stock[0].path / "x", "/dev/tty": "/dev/tty",
             "/proc/self/mem": "/proc/self/mem", "a name of 5000 bytes": "n" * 5000, "the queue": rig.queue}

    def judge(name, path):
        limit = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (1 << 24, 1 << 24))
        for options in ((), ("--move",), ("--reference",)):
            result = rig.run("push", *options, path, preexec_fn=limit)
            refused(result, *((2,) if "proc" in name else ()), 64, 66, 74, about=f"push {' '.join(options)}")
        absent = ("nothing", "an empty name", "below a file", "a name of 5000 bytes")
        expect(name in absent or os.path.lexists(path), "is gone")

    every(cases, judge)
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
    with subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as endless:
        refused(rig.run("push", "-", stdin=endless.stdout), 2, about="zeros without end")
        endless.stdout.close()
    with subprocess.Popen(["sh", "-c", 'cat "$0"; exec cat /dev/zero', bundle.path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as endless:
        refused(rig.run("push", "-", stdin=endless.stdout), 2, about="a bundle and zeros without end")
        endless.stdout.close()
    refused(rig.run("push", "-"), 2, 64, 66, about="push - < /dev/null")
    expect(len(clean(rig)) == 1, "something was stored")


def links(bench):
    """A link to a bundle works like the bundle; --move never unlinks a file that was not named."""
    rig = bench.rig()
    target = rig.out / "x.bundle"
    target.write_bytes(bench.stock[0].data)
    link = rig.out / "link"
    link.symlink_to("x.bundle")
    expect(ids(rig.run("push", link).must(0, about="push of a link")) == [bench.stock[0].id], "another id")
    gives(rig, bench.stock[0])
    target.write_bytes(bench.stock[1].data)
    result = rig.run("push", "--move", link)
    words_for_people(result.must(0, 64, 66, about="push --move of a link"))
    if result.code == 0:
        gives(rig, bench.stock[1])
    expect(target.read_bytes() == bench.stock[1].data or not link.is_symlink() and not target.exists(),
           "the link's target was touched, the link was not")
    hard = rig.out / "hard"
    hard.write_bytes(bench.stock[2].data)
    os.link(hard, rig.out / "second name")
    rig.run("push", "--move", hard).must(0, about="push --move of a file with two names")
    expect((rig.out / "second name").read_bytes() == bench.stock[2].data, "the other name's bytes are gone")
    gives(rig, bench.stock[2])


def private_copy(bench):
    """Whatever happens to the source after the push, the queue has its own bytes, even after --move."""
    rig = bench.rig()
    path = rig.out / "x.bundle"
    for options in ((), ("--move",)):
        bundle = bench.stock[3 if options else 2]
        path.write_bytes(bundle.data)
        os.link(path, rig.out / "other") if options else None
        rig.run("push", *options, path).must(0, about="push")
        with open(rig.out / "other" if options else path, "r+b") as file:
            file.write(b"overwritten")
            file.truncate(100)
        gives(rig, bundle, about=f"{' '.join(options) or 'push'}, and the source was overwritten")
    rig.run("check", "--read-data").must(0, about="check")


def moved_only_if_the_same(bench):
    """--move does not unlink a file that another program put under the name meanwhile. strace delays the tool."""
    require_strace()
    rig = bench.rig()
    rig.push(bench.stock[9])
    path = rig.out / "x.bundle"
    path.write_bytes(bench.stock[0].data)
    stop = strace("-e", "trace=flock", "-e", "inject=flock:delay_enter=300000:when=1")
    done = threading.Event()

    def replace():
        # At this time the tool has read the source and is about to take the writers' lock.
        done.wait(0.2)
        other = rig.out / "new"
        other.write_bytes(bench.stock[1].data)
        other.rename(path)

    thread = threading.Thread(target=replace)
    thread.start()
    result = rig.run("push", "--move", path, prefix=stop)
    thread.join()
    result.must(0, about="push --move")
    known = {bench.stock[0].id: bench.stock[0], bench.stock[1].id: bench.stock[1]}
    name, = ids(result)
    gives(rig, known[name])
    if name == bench.stock[0].id:
        expect(path.exists() and path.read_bytes() == bench.stock[1].data, "a file that was not pushed is unlinked")


def moved_into_itself(bench):
    """--move leaves a file of the queue, or one that run delivered, where it is."""
    rig = bench.rig()
    (rig.out / "disk").mkdir()
    rig.run("dest", "add", "disk", "--kind", "folder", "--path", rig.out / "disk").must(0, about="dest add")
    bundle = bench.stock[0]
    rig.push(bundle)
    os.link(rig.spool_file(bundle), rig.out / "another name")
    rig.run("run").must(0, about="run")
    for path in (rig.spool_file(bundle), rig.out / f"disk/{bundle.id}.bundle"):
        (rig.out / "link").symlink_to(path)
        for name in (path, rig.out / "link"):
            result = rig.run("push", "--move", name)
            words_for_people(result.must(0, 64, 66, about=f"push --move of {path.parent.name}/"))
            expect(path.read_bytes() == bundle.data, f"--move takes {path.parent.name}/{path.name} away")
        (rig.out / "link").unlink(missing_ok=True)
    rig.run("push", "--move", rig.out / "another name").must(0, about="push --move of another name of a spool file")
    gives(rig, bundle)
    clean(rig)


def no_bundles(bench):
    """The verdicts are those of capbundle verify; of a batch only the good bundles are stored."""
    rig = bench.rig()
    data = bench.stock[0].data
    spoilt = bytearray(data)
    spoilt[data.index(b"\xff\xd8\xff\xc0") + 40] ^= 1
    cases = {"empty": (b"", 2), "text": (b"hello\n" * 2000, 2), "cut": (data[:-700], 2),
             "one byte more": (data + b"\0", 2), "an altered photo": (bytes(spoilt), 1), "zeros": (bytes(len(data)), 2)}

    def judge(name, case):
        path = rig.out / f"{name}.bundle"
        path.write_bytes(case[0])
        for options in ((), ("--move",), ("--reference",)):
            refused(rig.run("push", *options, path), case[1], about=" ".join(options))
        expect(path.read_bytes() == case[0], "the source has changed")
        verdict = rig.bench.template.run("verify", path)
        verdict.must(case[1], about="capbundle verify")

    every(cases, judge)
    expect(rig.run("list").code == 66 or not clean(rig), "something was stored")
    result = rig.run("push", bench.stock[1].path, rig.out / "cut.bundle", bench.stock[2].path).must(2, about="a batch")
    expect(ids(result) == [bench.stock[1].id, bench.stock[2].id], f"a batch prints {result.out!r}")
    result = rig.run("push", rig.out / "cut.bundle", rig.out / "an altered photo.bundle", rig.out / "nothing",
                     bench.stock[3].path).must(66, about="the worst wins")
    expect(ids(result) == [bench.stock[3].id], f"a batch prints {result.out!r}")
    holds(rig, *bench.stock[1:4], rows=clean(rig))


def grows(bench):
    """A bundle that is still being written is refused, or stored completely."""
    rig = bench.rig()
    rig.push(bench.stock[9])
    path, done = rig.out / "x.bundle", threading.Event()
    bundle = bench.stock[0]

    def write():
        while not done.is_set():
            with open(path, "wb", buffering=0) as file:
                for start in range(0, len(bundle.data), 4096):
                    file.write(bundle.data[start:start + 4096])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(15):
            result = rig.run("push", path).must(0, 1, 2, 66, 74, about="push of a file that is written")
            expect(result.code or ids(result) == [bundle.id], f"prints {result.out!r}")
    finally:
        done.set()
        writer.join()
    clean(rig)


def unreadable(bench):
    if os.geteuid() != 0:
        raise Skipped("needs another user to whom files are closed")
    rig = bench.rig()
    path = rig.out / "x.bundle"
    path.write_bytes(bench.stock[0].data)
    path.chmod(0)
    for folder in (rig.out, rig.home, rig.folder):
        os.chown(folder, NOBODY, NOBODY)
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    refused(rig.run("push", path, **who), 66, about="a file that may not be read").naming(path)
    path.chmod(0o644)
    os.chown(rig.out, 0, 0)
    rig.run("push", path, **who).must(0, about="a file that may be read")
    result = rig.run("push", "--move", path, **who)
    expect(path.exists(), "--move unlinks a file that it must keep")
    expect(result.code == 0 or result.text, f"exit {result.code} without a word")


TESTS = [
    ("FIFOs, devices, folders, dangling links: refused soon", odd),
    ("push -: a file, a device, a pipe that never ends", odd_standard_inputs),
    ("links and hard links", links),
    ("the queue's bytes are its own", private_copy),
    ("--move unlinks only the very file that was stored", moved_only_if_the_same),
    ("--move of the queue's own file, or of a delivered copy, removes nothing", moved_into_itself),
    ("files that are not bundles: the verdict of verify, and the good ones are stored", no_bundles),
    ("a bundle that is still being written", grows),
    ("a bundle that may not be read", unreadable),
]
