"""Standard streams that are full or closed, or whose reader goes away."""
import functools
import os
import signal
import subprocess
import zipfile

from Faults.crash_commands import COMMANDS, Scene
from Kit.injection import preloaded
from Kit.outcomes import PATIENCE, every, expect, long

# The sandbox of the decoder kills it at a call that strace lets fail.
FAILING_WRITE = """
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t write(int descriptor, const void *bytes, size_t count) {
    static int number;
    if (descriptor == 1 && ++number == atoi(getenv("FAILING"))) return errno = EIO, -1;
    return syscall(SYS_write, descriptor, bytes, count);
}
"""
UUID = "3f2b8c1e-5d47-4b1a-9c0e-7a6f1d2e3b4c"
# Commands that print, in the rig of a Scene.
PRINTING = {
    "verify": ["verify", "../x.bundle"], "verify --json": ["verify", "--json", "../x.bundle"],
    "verify of many": ["verify", *["../x.bundle"] * 9], "show": ["show", "../x.bundle"],
    "show --json": ["show", "--json", "../x.bundle"], "key show": ["key", "show"],
    "key public": ["key", "public", "--format", "jwk"], "trust list": ["trust", "list"], "--help": ["--help"],
    "--version": ["--version"], "extract": ["extract", "../x.bundle", "photo.jpg"],
    "extract --floats": ["extract", "../x.bundle", "depth.f32.gz", "--floats"],
    "multipart -o -": ["multipart", "../x.bundle", "-o", "-"],
    "multipart --json": ["multipart", "../x.bundle", "-o", "b1", "--json"],
    "multipart --headers -": ["multipart", "../x.bundle", "-o", "b2", "--headers", "-"],
    "from-body -o -": ["from-body", "../x.body", "-o", "-"], "from-body": ["from-body", "../x.body", "-o", "b3"],
    "sign-request": ["sign-request", "../x.body", "--device-id", UUID],
    "sign-request json": ["sign-request", "../x.body", "--device-id", UUID, "--format", "json"],
    "pack -o -": ["pack", "../raw", "-o", "-"], "pack --json": ["pack", "../raw", "--json", "-o", "new.bundle"],
    "pack --dry-run --json": ["pack", "../raw", "--json", "--dry-run"],
    "pack of many": ["pack", "../raw", "../raws/a", "--out-dir", "all", "--json"]}
# Commands that change a file and print only messages.
CHANGING = {"trust add": ["trust", "add", "other", "-"], "trust revoke": ["trust", "revoke", "rig"],
            "key recover": ["key", "recover", "--counter", "90"], "verify -": ["verify", "-"]}


def full(bench):
    """A full disk behind standard output must not look like success."""
    rig = Scene(bench, "multipart").rig()

    def judge(_, words):
        with open("/dev/full", "wb") as sink:
            result = rig.run(*words, stdout=sink).must(74).naming("standard output")
        expect(len(result.text.splitlines()) <= 4, f"a storm of messages: {result.text[:300]!r}")

    every(PRINTING, judge)


def quiet_needs_no_output(bench):
    rig = bench.rig()
    bundle = rig.bundle()
    with open("/dev/full", "wb") as sink:
        rig.run("verify", "-q", bundle, stdout=sink).must(0)
        rig.run("verify", bundle, stderr=sink).must(0, about="full standard error")
        rig.pack(rig.out / "new.bundle", stderr=sink).must(0, about="full standard error")
    rig.verify(rig.out / "new.bundle")


def reader_goes_away(bench):
    """`pack -o - | head -c 100` ends by SIGPIPE, or with 74 and one message if that signal is ignored."""
    rig = Scene(bench, "multipart").rig()

    def judge(_, words):
        for ignored in (False, True):
            reader, writer = os.pipe()
            os.close(reader)
            before = functools.partial(signal.signal, signal.SIGPIPE, signal.SIG_IGN if ignored else signal.SIG_DFL)
            ended = rig.run(*words, stdout=writer, restore_signals=False, preexec_fn=before)
            os.close(writer)
            ended.must(74, *(() if ignored else (-signal.SIGPIPE,)), about=f"SIGPIPE ignored: {ignored}")
            expect(len(ended.text.splitlines()) <= 2, f"a storm of messages: {ended.text[:300]!r}")

    names = ("pack -o -", "show", "verify of many", "--help", "multipart -o -", "extract", "from-body -o -",
             "sign-request")
    every({name: PRINTING[name] for name in names}, judge)
    done = subprocess.run(["sh", "-c", '"$@" | head -c 100 > part', "sh", *rig.argv("pack", "../raw", "-o", "-")],
                          env=rig.env, cwd=rig.out, capture_output=True, timeout=PATIENCE, check=False)
    expect(len((rig.out / "part").read_bytes()) == 100, "head got fewer than 100 bytes")
    expect(len(done.stderr.splitlines()) <= 2, f"a storm of messages: {done.stderr[:300]!r}")


def closed(rig, number, *words):
    """Runs with one standard stream closed, as `>&-` closes it."""
    how = {"close_fds": False, "preexec_fn": functools.partial(os.close, number), "stdin": None, "stdout": None,
           "stderr": None}
    with open(os.devnull, "r+b") as null:
        for other, name in enumerate(("stdin", "stdout", "stderr")):
            how[name] = null if other == number else subprocess.PIPE if other else null
        return rig.run(*words, **how)


def closed_stream(number, bench):
    """The first opened file gets the number of the closed stream; output must not be written into it."""
    def judge_made(command, case):
        scene = Scene(bench, command)
        rig = scene.rig()
        closed(rig, number, *case[0]).must(0, 74)
        judge_rig(scene, rig)
        for name in case[1]:
            path, wanted = rig.out / name, scene.wanted[name]
            if path.exists() and path.suffix == ".bundle":
                expect(rig.run("verify", "--allow-withheld", name).code == 0, f"{name} is not whole")
            elif path.exists() and wanted:
                expect(path.read_bytes() == wanted, f"{name} is not whole")

    def judge_rig(scene, rig):
        for name, data in scene.inputs.items():
            expect((rig.folder / name).read_bytes() == data, f"{name}, which was read, has changed")
        rig.state()

    def judge_printed(name, words):
        closed(rig, number, *words).must(0, 2, 66, 73, 74, 78)
        judge_rig(scene, rig)
        if name in CHANGING:
            rig.run("trust", "list").must(0, about="trust list")
            rig.run("key", "public").must(0, about="key public")

    every(COMMANDS, judge_made)
    scene = Scene(bench, "multipart")
    rig = scene.rig()
    every(PRINTING | CHANGING, judge_printed)
    lone = bench.rig(empty=True)
    closed(lone, number, "key", "new").must(0, 74, about="key new")
    lone.state("key new")
    lone.bundle()


def answers_cut_off(bench):
    """A decoder that cannot write a part of an answer ends, so that nobody waits a minute for the rest."""
    rig, library = bench.rig(), preloaded(bench, "failing", FAILING_WRITE)["LD_PRELOAD"]
    with zipfile.ZipFile(rig.folder / "scan.zip", "w") as archive:
        for path in rig.raw.iterdir():
            archive.write(path, path.name)
    decoder = rig.folder / "decoder"
    rig.env["CAPBUNDLE_DECODE"] = str(decoder)
    image = ["depth", rig.raw, "--image", rig.out / "x.png"]
    unpacked = ["pack", rig.folder / "scan.zip", "-o", rig.out / "x.bundle"]

    def judge(name, case):
        number, words = case
        decoder.write_text(f'#!/bin/sh\nLD_PRELOAD={library} FAILING={number} exec {bench.decoder} "$@"\n')
        decoder.chmod(0o755)
        result = rig.run(*words).must(65)
        expect("capbundle-decode ended before it had decoded the file" in result.text, f"says {result.text!r}")
        expect(not list(rig.out.iterdir()), "something was written")

    # The first part says that the decoder is ready. Each other one has a head, and most have bytes.
    cases = [(number, words) for words in (image, unpacked) for number in (1, 2, 3)]
    every({f"{words[0]}, write {number}": (number, words) for number, words in cases}, judge)


TESTS = [
    ("a decoder that cannot write its answer ends", answers_cut_off),
    ("a full standard output: 74", full),
    ("verify -q and full standard error: no failure", quiet_needs_no_output),
    ("a reader that goes away: a quiet end", reader_goes_away),
    ("closed standard output: nothing is printed into a file", functools.partial(closed_stream, 1)),
    ("closed standard input", long(functools.partial(closed_stream, 0))),
    ("closed standard error: nothing is printed into a file", long(functools.partial(closed_stream, 2))),
]
