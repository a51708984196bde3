"""`key new`, `key recover`, `trust add` and `trust revoke` with a fault at each of their system calls.

A key without its state would sign with counters that were used before, so it must never exist; a trust file is the old
one or the new one.
"""
import functools
import shutil

from Faults.failing_calls import Scene, fails, killed
from Kit.outcomes import expect, long


class Files(Scene):
    def __init__(self, bench, named=False):
        self.named = named
        super().__init__(bench)

    def judge(self, rig, ended, _, is_killed):
        expect(is_killed or not rig.strays(), f"leaves {rig.strays()}")
        self.look(rig)

    def codes(self, call, error):
        return (*super().codes(call, error), *((78,) if "key.pub" in call.text else ()))


class KeyNew(Files):
    start = ("capbundle/device.key",)

    def make(self):
        return self.bench.rig(empty=True)

    def words(self, rig):
        return ["key", "new"]

    def look(self, rig):
        if (rig.keys / "device.key").exists():
            rig.state("a key is there")
            rig.run("key", "show").must(0, about="key show of the key that is there")
        else:
            rig.run("key", "show").must(78, about="key show without a key")
            rig.run("key", "new").must(0, about="key new again")
        expect((rig.keys / "device.key").stat().st_mode & 0o777 == 0o600, "the key's mode is not 600")
        rig.bundle()
        left = [name for name in rig.strays() if "capbundle/.device.key" in name]
        expect(not left, f"leaves a secret in {left}")


class KeyNewAgain(KeyNew):
    """There are the files that a `key new` leaves if it is killed before the key itself has its name."""

    def make(self):
        rig = self.bench.rig(empty=True)
        rig.keys.mkdir(parents=True)
        for end in (".pub", ".state", ".lock"):
            shutil.copy(f"{self.bench.template.key}{end}", f"{rig.key}{end}")
        return rig


class KeyRecover(Files):
    start = ("device.key.lock",)

    def words(self, rig):
        return ["key", "recover", "--counter", "500"]

    def look(self, rig):
        old = rig.state("after the fault")
        expect(old in (0, 500), f"the counter is {old}, expected 0 or 500")
        rig.bundle()
        expect(rig.state() == old + 1, "the counter does not continue")


class TrustAdd(Files):
    """The trust file is the old or the new one, complete; then the same command leads to the new one."""

    start = ("trusted_devices",)

    def make(self):
        rig = self.bench.rig()
        rig.run("key", "new", "--key", rig.folder / "other").must(0, about="key new")
        self.old = self.listed(rig)
        changed = self.bench.copy(rig)
        changed.run(*self.words(changed)).must(0, about="trust")
        self.new = self.listed(changed)
        expect(self.old != self.new, "the command changes nothing")
        return rig

    def words(self, rig):
        return ["trust", "add", "other", rig.folder / "other.pub"]

    def listed(self, rig):
        return rig.run("trust", "list").must(0, about="trust list").out

    def look(self, rig):
        found = self.listed(rig)
        expect(found in (self.old, self.new), f"neither the old nor the new trust file: {found!r}")
        if found == self.old:
            rig.run(*self.words(rig)).must(0, about="the same command again")
            expect(self.listed(rig) == self.new, "the same command again does not lead to the new file")


class TrustRevoke(TrustAdd):
    def words(self, rig):
        return ["trust", "revoke", "rig"]


COMMANDS = {"key new": (KeyNew, "no key, or a whole one with its state"),
            "key recover": (KeyRecover, "the old counter or the new one"),
            "trust add": (TrustAdd, "the old file or the new one"),
            "trust revoke": (TrustRevoke, "the old file or the new one")}
FAULTS = {"a kill": killed, "an error": fails}
TESTS = [(f"{command}: {what} at any call leaves {rest}", functools.partial(fault, scene))
         for command, (scene, rest) in COMMANDS.items() for what, fault in FAULTS.items()]
TESTS += [(f"key new after a killed one: {what} at any call", long(functools.partial(fault, KeyNewAgain)))
          for what, fault in FAULTS.items()]
TESTS += [(f"{command}, without O_TMPFILE: {what} at any call",
           long(functools.partial(fault, functools.partial(scene, named=True))))
          for command, (scene, _) in COMMANDS.items() for what, fault in FAULTS.items()]
