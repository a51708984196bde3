"""`key new`, `key recover`, `key passwd`, `trust add` and `trust revoke` with a fault at each of their system calls.

A key without its state would sign with counters that were used before, so it must never exist; a trust file is the old
one or the new one.
"""
import functools
import shutil
import subprocess

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


class KeyRecoverPublic(Files):
    """The public half is lost. It is there or not; then the same command makes it."""

    start = ("device.key.lock",)

    def make(self):
        rig = self.bench.rig()
        self.public = (rig.keys / "device.key.pub").read_bytes()
        (rig.keys / "device.key.pub").write_bytes(b"")
        return rig

    def words(self, rig):
        return ["key", "recover"]

    def codes(self, call, error):
        # Once the public half is whole, the command only looks at the key and its halves once more.
        return (*super().codes(call, error), 0, 78)

    def judge(self, rig, ended, call, is_killed):
        made = (rig.keys / "device.key.pub").read_bytes() == self.public
        expect(made or ended.code not in (0, 78), f"exit {ended.code} without a public half")
        super().judge(rig, ended, call, is_killed)

    def look(self, rig):
        expect((rig.keys / "device.key.pub").read_bytes() in (b"", self.public), "a part of the public half is there")
        rig.run(*self.words(rig)).must(0, about="key recover again")
        expect((rig.keys / "device.key.pub").read_bytes() == self.public, "another public half")
        rig.bundle()


class KeyPasswd(Files):
    """The key is whole, and opens with its old passphrase or with the new one."""

    start = ("device.key.lock",)
    words_of_change = ["--remove", "--passphrase-file", "../old"]

    def make(self):
        rig = self.bench.rig()
        for name in ("old", "new"):
            (rig.folder / name).write_text(name)
            (rig.folder / name).chmod(0o600)
        # Few iterations, so that each trial takes little time.
        sealed = subprocess.run(["openssl", "pkcs8", "-topk8", "-in", rig.key, "-v2", "aes-256-cbc", "-iter", "2048",
                                 "-passout", "pass:old"], check=True, capture_output=True).stdout
        (rig.keys / "device.key").write_bytes(sealed)
        self.files = {name: (rig.keys / name).read_bytes() for name in ("device.key.pub", "device.key.state")}
        self.old = sealed
        return rig

    def words(self, rig):
        return ["key", "passwd", *self.words_of_change]

    def look(self, rig):
        path = rig.keys / "device.key"
        expect(path.stat().st_mode & 0o777 == 0o600, "the key's mode is not 600")
        for name, data in self.files.items():
            expect((rig.keys / name).read_bytes() == data, f"{name} has changed")
        which = "old" if path.read_bytes() == self.old else "new"
        rig.pack(rig.out / "x.bundle", "--passphrase-file", f"../{which}").must(0, about=f"pack with the {which} passphrase")
        rig.verify(rig.out / "x.bundle")
        rig.run(*self.words_of_another(which)).must(0, about="key passwd again")
        left = [name for name in rig.strays() if "capbundle/.device.key" in name]
        expect(not left, f"leaves a key in {left}")

    def words_of_another(self, which):
        return ["key", "passwd", *self.words_of_change[:-1], f"../{which}"]


class KeyPasswdToAnother(KeyPasswd):
    words_of_change = ["--new-passphrase-file", "../new", "--passphrase-file", "../old"]


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
            "key recover of the public half": (KeyRecoverPublic, "none or a whole one"),
            "key passwd --remove": (KeyPasswd, "the old key or the new one"),
            "trust add": (TrustAdd, "the old file or the new one"),
            "trust revoke": (TrustRevoke, "the old file or the new one")}
FAULTS = {"a kill": killed, "an error": fails}
TESTS = [(f"{command}: {what} at any call leaves {rest}", functools.partial(fault, scene))
         for command, (scene, rest) in COMMANDS.items() for what, fault in FAULTS.items()]
TESTS += [(f"key new after a killed one: {what} at any call", long(functools.partial(fault, KeyNewAgain)))
          for what, fault in FAULTS.items()]
TESTS += [(f"key passwd to another passphrase: {what} at any call", long(functools.partial(fault, KeyPasswdToAnother)))
          for what, fault in FAULTS.items()]
TESTS += [(f"{command}, without O_TMPFILE: {what} at any call",
           long(functools.partial(fault, functools.partial(scene, named=True))))
          for command, (scene, _) in COMMANDS.items() for what, fault in FAULTS.items()]
