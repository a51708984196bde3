"""`pack --chain` is killed at each system call that changes a file.

Then another capture is packed, or the same command runs again. No link may belong to two manifests, not even in a
hidden file that the killed run left, and no link may be missing. Only a bundle for a pipe can be lost: the tool says so
then, unless the same content is packed again.
"""
import functools
import re

from bench import write_raw
from chains import Chain
from checks import Failed, expect
from injection import FILTER, Call, prefix, report, since, sweep, trace, without_unnamed_files
from records import links_in
from tracing import calls_in, require_strace, strace

CHANGES = ("write", "pwrite64", "fsync", "linkat", "link", "rename", "renameat", "renameat2", "unlink", "unlinkat",
           "mkdir", "mkdirat", "flock", "exit_group")
MODES = {"a new bundle": (), "a bundle that replaces another": ("--force",), "a bundle in a pipe": ("pipe",),
         "a bundle and its body": ("body",), "five bundles": ("many",),
         "a new bundle without O_TMPFILE": ("named",),
         "a bundle that replaces another, without O_TMPFILE": ("named", "--force")}


class Scene:
    """One way to pack, and a rig for each trial, whose chain has begun."""

    def __init__(self, bench, words):
        self.bench, self.words, self.extra = bench, words, ()
        self.piped, self.many = "pipe" in words, "many" in words
        self.options = [word for word in words if word.startswith("--")]

    def rig(self):
        rig = self.bench.rig()
        rig.raws = [write_raw(rig.folder / f"raws/{index}", device_model=f"Rig {index}")
                    for index in range(6 if self.many else 1)]
        rig.pack(rig.out / "before.bundle", "--chain").must(0, about="the first link")
        if self.options:
            rig.pack(rig.out / "x.bundle").must(0, about="the bundle that is replaced")
        return rig

    def arguments(self, rig):
        if self.many:
            return ["pack", *rig.raws[1:], "--out-dir", rig.out, "--chain", "--jobs", "1", *self.options]
        body = ["--multipart", rig.out / "x.body"] if "body" in self.words else []
        return ["pack", rig.raws[0], "-o", "-" if self.piped else rig.out / "x.bundle", "--chain", *body,
                *self.options]

    def run(self, rig, name="x.bundle", **how):
        if not self.piped:
            return rig.run(*self.arguments(rig), **how)
        with open(rig.out / name, "wb") as sink:
            return rig.run(*self.arguments(rig), stdout=sink, **how)

    def calls(self):
        """Returns the calls that change a file, from the key on."""
        rig = self.rig()
        if self.many:
            calls = first_thread(rig, *self.arguments(rig))
        else:
            calls = trace(rig, *self.arguments(rig))
        if "named" in self.words:
            self.extra = without_unnamed_files(calls)
            rig = self.rig()
            calls = trace(rig, *self.arguments(rig), extra=self.extra)
        return [call for call in since(calls, "device.key")
                if call.name in CHANGES or "O_CREAT" in call.text or "O_TMPFILE" in call.text]


def first_thread(rig, *args):
    """Returns the calls of the thread that writes the bundles; strace counts the calls of each thread apart."""
    require_strace()
    log = rig.folder / "trace"
    rig.run(*args, prefix=strace("--seccomp-bpf", "-s", "256", "-e", FILTER, log=log)).must(0, about="undisturbed")
    calls, counts, first = [], {}, None
    for thread, name, text in calls_in(log):
        first = first or thread
        if thread == first:
            counts[name] = counts.get(name, 0) + 1
            calls.append(Call(name, counts[name], text))
    return calls


def bundles_are_sound(rig, but=()):
    names = [path for path in rig.out.iterdir() if path.name.endswith(".bundle") and path.name not in but]
    rig.verify(*names, about="the bundles that have names")


def body_is_that_of_its_bundle(rig):
    if (rig.out / "x.body").exists():
        expect((rig.out / "x.bundle").exists(), "there is a body without its bundle")
        rig.run("multipart", rig.out / "x.bundle", "-o", rig.out / "y.body", "--force").must(0, about="multipart")
        expect((rig.out / "y.body").read_bytes() == (rig.out / "x.body").read_bytes(), "the body is of another bundle")


def trial(scene, is_same, call):
    """Kills at `call`, then packs another capture, or the same one first; returns the broken promises as texts."""
    rig = scene.rig()
    chain = Chain(rig)
    chain.look()
    killed = scene.run(rig, prefix=prefix(call, "signal=KILL", scene.extra))
    try:
        expect(killed.code in (-9, 137), f"was not killed: exit {killed.code}")
        bundles_are_sound(rig, but=("x.bundle",) if scene.piped else ())
        chain.look(killed)
        if is_same:
            links = {link for path, link in links_in(rig.out).items() if path.suffix == ".bundle"}
            # Only a body that is complete already is refused, as any file that exists.
            has_body = (rig.out / "x.body").exists()
            again = scene.run(rig, "y.bundle").must(73 if has_body else 0, about="the same again")
            chain.look(again)
            count = len(rig.raws[1:]) if scene.many else 1
            expect(scene.piped or chain.state()["seq"] == 1 + count, f"packed twice: {chain.state()}")
            expect(links <= set(links_in(rig.out).values()), "a link was replaced")
            bundles_are_sound(rig, but=("x.bundle",) if scene.piped else ())
            body_is_that_of_its_bundle(rig)
        chain.look(rig.pack(rig.out / "next.bundle", "--chain").must(0, about="the next capture"))
        bundles_are_sound(rig, but=("x.bundle",) if scene.piped else ())
        body_is_that_of_its_bundle(rig)
        chain.judge(may_have_gaps=scene.piped and not is_same)
        signed = [path for path in links_in(rig.out) if re.fullmatch(r"\..*\.tmp", path.name)]
        told = "".join(chain.texts)
        expect(all(path.name in told for path in signed), f"leaves signed bundles in {signed} and does not say so")
        expect(not [name for name in rig.strays() if "/" in name], f"leaves {rig.strays()}")
    except Failed as reason:
        return [f"killed at {call}: {reason}"]
    return []


def survives(words, is_same, bench):
    scene = Scene(bench, words)
    report(sweep(scene.calls(), functools.partial(trial, scene, is_same)))


def in_order(calls, *steps):
    """Fails unless the calls contain these steps in this order: (call, text that it names, what it does)."""
    place = 0
    for name, word, what in steps:
        place = next((index + 1 for index, call in enumerate(calls)
                      if index >= place and call.name.startswith(name) and word in call.text), None)
        expect(place is not None, f"{what} is missing or in the wrong place")


def syncs_in_order(bench):
    """After a power cut the link is on the disk before its signature, and the bytes are before their names."""
    rig = bench.rig()
    state = (("write", "pending 1 1", "write of the pending link"), ("fsync", str(rig.keys), "fsync of the state"),
             ("rename", 'device.key.state"', "rename of the state"),
             ("fsync", f"{rig.keys}>", "fsync of the key's folder"))
    calls = since(trace(rig, "pack", rig.raw, "-o", rig.out / "x.bundle", "--chain", extra=("-y", "-s", "600")),
                  "device.key")
    signature = next(index for index, call in enumerate(calls)
                     if call.name == "write" and f"{rig.out}" in call.text and '"assertion.cbor' in call.text)
    in_order(calls, ("write", "mimetype", "write of the unsigned bundle"), ("fsync", f"{rig.out}/", "fsync of it"),
             ("link", ".x.bundle.", "hidden name"), ("fsync", f"{rig.out}>", "fsync of the bundle's folder"), *state)
    in_order(calls[:signature], *state)
    in_order(calls[signature:], ("fsync", f"{rig.out}/", "fsync of the signature"),
             ("rename", "x.bundle", "naming of the bundle"), ("fsync", f"{rig.out}>", "fsync of the bundle's folder"),
             ("write", "chain 1 ", "write of the state"), ("fsync", str(rig.keys), "fsync of the state"))
    rig = bench.rig()
    calls = since(trace(rig, "pack", rig.raw, "-o", "-", "--chain", extra=("-y", "-s", "600")), "device.key")
    first = next(index for index, call in enumerate(calls) if call.name == "write" and "mimetype" in call.text)
    in_order(calls[:first], ("write", "pending 1 1", "write of the pending link"),
             ("rename", 'device.key.state"', "rename of the state"),
             ("fsync", f"{rig.keys}>", "fsync of the key's folder"))


TESTS = [("after a power cut the link precedes its signature, and bytes precede names", syncs_in_order)]
TESTS += [(f"{mode}: a kill at any call, then {then}", functools.partial(survives, words, is_same))
         for mode, words in MODES.items()
         for then, is_same in (("another capture", False), ("the same capture", True))]
