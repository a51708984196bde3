"""`pack --chain` with a fault at each system call that changes a file.

After it another capture is packed, or the same command runs again. No link may belong to two manifests, not even in a
hidden file that a killed run left, and no link may be missing. Only a bundle for a pipe can be lost: the tool says so
then, unless the same content is packed again.
"""
import functools
import re

from Faults import failing_calls
from Faults.chains import Chain
from Faults.failing_calls import fails, killed
from Kit.injection import in_order, since, trace
from Kit.outcomes import expect, long
from Kit.records import links_in
from Kit.rigs import write_raw

CHANGES = ("write", "pwrite64", "fsync", "linkat", "link", "rename", "renameat", "renameat2", "unlink", "unlinkat",
           "mkdir", "mkdirat", "flock", "exit_group")
MODES = {"a bundle and its body": ("body",), "a bundle that replaces another": ("--force",),
         "a bundle in a pipe": ("pipe",), "three bundles": ("many",), "a new bundle": (),
         "a new bundle without O_TMPFILE": ("named",),
         "a bundle that replaces another, without O_TMPFILE": ("named", "--force")}
SHORT = (("body",), ("pipe",), ("many",))  # --force differs in pack's last rename only, which crash_commands tests


class Scene(failing_calls.Scene):
    """One way to pack with a chain that has begun, and what follows: another capture, or the same one first."""

    def __init__(self, bench, mode, is_same=False):
        self.mode, self.is_same = mode, is_same
        self.piped, self.many, self.named = "pipe" in mode, "many" in mode, "named" in mode
        self.options = [word for word in mode if word.startswith("--")]
        self.unsound = ("x.bundle",) if self.piped else ()  # a pipe can get a part of a bundle
        self.lines = 8 if self.many else 3
        super().__init__(bench)

    def make(self):
        rig = self.bench.rig()
        for index in range(3 if self.many else 1):
            write_raw(rig.folder / f"raws/{index}", device_model=f"Rig {index}")
        rig.pack(rig.out / "before.bundle", "--chain").must(0, about="the first link")
        if self.options:
            rig.pack(rig.out / "x.bundle").must(0, about="the bundle that is replaced")
        return rig

    def words(self, rig):
        if self.many:
            return ["pack", *sorted((rig.folder / "raws").iterdir()), "--out-dir", rig.out, "--chain", "--jobs", "1"]
        body = ["--multipart", rig.out / "x.body"] if "body" in self.mode else []
        return ["pack", rig.folder / "raws/0", "-o", "-" if self.piped else rig.out / "x.bundle", "--chain", *body,
                *self.options]

    def run(self, rig, name="x.bundle", **how):
        if not self.piped:
            return super().run(rig, **how)
        with open(rig.out / name, "wb") as sink:
            return super().run(rig, stdout=sink, **how)

    def codes(self, call, error):
        return (*super().codes(call, error), *((74,) if self.many else ()))

    def calls(self):
        """Returns the calls that change a file, from the key on."""
        return [call for call in super().calls()
                if call.name in CHANGES or "O_CREAT" in call.text or "O_TMPFILE" in call.text]

    def judge(self, rig, ended, _, is_killed):
        chain = Chain(rig, known=self.origin)
        bundles_are_sound(rig, but=self.unsound)
        chain.look(ended)
        if self.is_same:
            links = {link for path, link in links_in(rig.out).items() if path.suffix == ".bundle"}
            chain.look(self.run(rig, "y.bundle").must(0, about="the same again"))
            count = 3 if self.many else 1
            expect(self.piped or chain.state()["seq"] == 1 + count, f"packed twice: {chain.state()}")
            expect(links <= set(links_in(rig.out).values()), "a link was replaced")
        # The file that was to be replaced still has the name: only the same command may replace it.
        if "--force" in self.mode:
            first = rig.pack(rig.out / "next.bundle", "--chain").must(0, 73, about="the next capture")
            chain.look(first, *([self.run(rig).must(0, about="the interrupted command")] if first.code else []))
        chain.look(rig.pack(rig.out / "next.bundle", "--chain").must(0, about="the next capture"))
        bundles_are_sound(rig, but=self.unsound)
        body_is_that_of_its_bundle(rig)
        chain.judge(may_have_gaps=not is_killed or self.piped and not self.is_same)
        signed = [path for path in links_in(rig.out) if re.fullmatch(r"\..*\.tmp", path.name)]
        told = "".join(chain.texts)
        expect(all(path.name in told for path in signed), f"leaves signed bundles in {signed} and does not say so")
        expect(not [name for name in rig.strays() if "/" in name], f"leaves {rig.strays()}")


def bundles_are_sound(rig, but=()):
    names = [path for path in rig.out.iterdir() if path.name.endswith(".bundle") and path.name not in but]
    rig.verify(*names, about="the bundles that have names")


def body_is_that_of_its_bundle(rig):
    if (rig.out / "x.body").exists():
        expect((rig.out / "x.bundle").exists(), "there is a body without its bundle")
        rig.run("multipart", rig.out / "x.bundle", "-o", rig.out / "y.body", "--force").must(0, about="multipart")
        expect((rig.out / "y.body").read_bytes() == (rig.out / "x.body").read_bytes(), "the body is of another bundle")


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


def test(fault, mode, is_same, is_short):
    run = functools.partial(fault, lambda bench: Scene(bench, mode, is_same))
    return run if is_short else long(run)


THEN = {"another capture": False, "the same capture": True}
TESTS = [("after a power cut the link precedes its signature, and bytes precede names", syncs_in_order)]
TESTS += [(f"{title}: a kill at any call, then {then}",
           test(killed, mode, is_same, is_same == ("pipe" not in mode) and mode in SHORT))
          for title, mode in MODES.items() for then, is_same in THEN.items()]
TESTS += [(f"{title}: an error at any call", test(fails, mode, False, mode == ("body",)))
          for title, mode in MODES.items() if "named" not in mode]
