"""Every command of capbundle that writes runs on a disk that is full, or full after a few KiB more.

Its key, trust file, targets and temporary files are all on that disk. The command answers 74 and names a file, leaves
whole files or none, and works once there is room.
"""
import functools
import zipfile

from Faults import chain_crashes, counter_state, crash_commands, crash_files
from Faults.failing_calls import Scene, full
from Kit.outcomes import every, expect, long
from Kit.rigs import PHOTO, write_raw

LARGE = PHOTO[:-2] + b"\x55" * 100_000 + b"\xff\xd9"  # a photo that takes some pages of a disk
DEVICE = "7d4f1f4c-6f43-4a58-9f0e-6d6f9d7f0a11"


class Output(Scene):
    """A command that makes files of its own, and reads a bundle, a body or a raw capture. It can be repeated."""

    arguments, names = (), ()

    def make(self):
        rig = self.bench.copy(crash_commands.prepared(self.bench, LARGE))
        with zipfile.ZipFile(rig.folder / "raw.zip", "w") as archive:
            for path in sorted((rig.folder / "raw").iterdir()):
                archive.write(path, path.name)
        rig.run("key", "new", "--key", rig.folder / "server.key").must(0, about="key new")
        return rig

    def rig(self):
        rig = super().rig()
        rig.env |= {"TMPDIR": str(rig.folder / "tmp"), "CAPBUNDLE_DECODE": str(self.bench.decoder)}
        return rig

    def words(self, rig):
        return [str(word).replace("RIG", str(rig.folder)) for word in self.arguments]

    def judge(self, rig, ended, call, is_killed):
        known = {path.relative_to(self.origin.folder) for path in self.origin.folder.rglob("*")}
        found = {path.relative_to(rig.folder) for path in rig.folder.rglob("*")} - known
        new = sorted(str(path) for path in found if not path.match("*.lock"))
        expect(new == sorted(self.names) if not ended.code else not new, f"exit {ended.code}, and there are {new}")
        expect(not ended.code or not ended.out, f"it failed and printed {ended.out[:80]!r}")
        rig.run(*self.words(rig), *(["--force"] if new else [])).must(0, about="once more")
        for name in self.names:
            data = (rig.folder / name).read_bytes()
            expect(data.endswith((b"</html>\n", b"IEND\xaeB\x60\x82")) or not name.endswith(("html", "png")),
                   f"{name} is not whole: {data[-20:]!r}")
            expect(data, f"{name} is empty")


def output(*arguments, names=(), copes=False):
    return type("Output", (Output,), {"arguments": arguments, "names": names, "copes": copes})


class Changed(crash_files.TrustAdd):
    """`trust set`: the line of the device is the old one or the new one."""

    def words(self, rig):
        return ["trust", "set", "rig", "--valid-before", "2099-01-01"]

    def look(self, rig):
        super().look(rig)
        expect(self.listed(rig) == self.new, "the change is not there")


# Each command that writes, and its scenes.
WRITING = {
    "pack": [functools.partial(crash_commands.Scene, command=command, way=way, photo=LARGE)
             for command in ("pack", "pack --multipart", "pack --out-dir", crash_commands.PIPED)
             for way in ((), ("--force",), ("named",)) if not (way and command == crash_commands.PIPED)]
    + [output("pack", "RIG/raw.zip", "-o", "RIG/z.bundle", names=["z.bundle"])],
    "pack --chain": [functools.partial(chain_crashes.Scene, mode=mode, is_same=is_same)
                     for mode in chain_crashes.MODES.values() for is_same in (False, True)],
    "verify": [counter_state.Scene, functools.partial(counter_state.Scene, count=5)],
    "depth": [output("depth", "RIG/x.bundle", "--image", "RIG/x.png", names=["x.png"])],
    "report": [output("report", "RIG/x.bundle", "RIG/whole.bundle", "-o", "RIG/x.html", names=["x.html"]),
               output("report", "RIG/x.bundle", "-o", "RIG/x.html", "--csv", "RIG/x.csv", names=["x.html", "x.csv"])],
    "extract": [functools.partial(crash_commands.Scene, command=command, photo=LARGE)
                for command in crash_commands.COMMANDS if command.startswith("extract")],
    "redact": [functools.partial(crash_commands.Scene, command="redact", photo=LARGE)],
    "restore": [functools.partial(crash_commands.Scene, command="restore", photo=LARGE)],
    "from-body": [functools.partial(crash_commands.Scene, command="from-body", photo=LARGE)],
    "multipart": [functools.partial(crash_commands.Scene, command="multipart", way=way, photo=LARGE)
                  for way in ((), ("--force",))]
    + [output("multipart", "RIG/x.bundle", "-o", "RIG/new.body", "--headers", "RIG/new.headers", "--profile",
              "realitycam", "--realitycam-key", "RIG/server.key", names=["new.body", "new.headers"])],
    "sign-request": [output("sign-request", "RIG/x.body", "--device-id", DEVICE, copes=True)],
    "stamp": [output("stamp", "RIG/x.bundle", "--query", "RIG/x.tsq", names=["x.tsq"])],
    "key": [crash_files.KeyNew, crash_files.KeyNewAgain, crash_files.KeyRecover],
    "trust": [crash_files.TrustAdd, crash_files.TrustRevoke, Changed],
}
READING = {"show", "chain"}  # `chain` writes from 65,536 names on; see real_disks


def every_command(bench):
    """No command is missing here: each has its scenes above, or writes nothing."""
    words = bench.rig().run("--help").must(0).out.decode().partition("SUBCOMMANDS:\n")[2]
    listed = {line.split(",")[0].split()[0] for line in words.splitlines() if line[:2] == "  " and line[2:3].isalpha()}
    known = READING | {command.split()[0] for command in WRITING}
    expect(listed - {"See"} == known, f"there are {sorted(listed)}")


def all_of(scenes, bench):
    every(dict(enumerate(scenes)), lambda _, scene: full(scene, bench))


TESTS = [("each command that writes is tested on a full disk", every_command)]
TESTS += [(f"{command}: whole files or none, and 74, however much room there is",
           long(functools.partial(all_of, scenes))) for command, scenes in WRITING.items()]
