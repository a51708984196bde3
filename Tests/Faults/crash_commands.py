"""The commands that write bundles, bodies and entries, with a fault at each of their system calls.

They promise that each final name has a complete file or its earlier contents, that the files which they read stay as
they are, that no counter is used twice, that the same command works again, and that no other file is left behind. Linux
can replace a file only if the new one gets another name first, so a kill just before `rename` leaves that name: a
hidden file beside the target is then allowed. Beside the key it contains a secret, so the next run must remove it.
Complete files of a run may stay if a disk fails later.
"""
import functools
import re

from Faults import failing_calls
from Faults.failing_calls import MAKING, fails, killed
from Kit.injection import in_order, since, trace
from Kit.outcomes import every, expect, long
from Kit.records import counter_in
from Kit.rigs import PHOTO, write_raw
from Kit.tracing import require_strace, strace

MANY = "abc"
# The commands, which run in the rig's `out` beside x.bundle and its body, and the names that each makes there.
COMMANDS = {
    "multipart": (["multipart", "../x.bundle", "-o", "body", "--headers", "headers"], ("body", "headers")),
    "from-body": (["from-body", "../x.body", "-o", "y.bundle", "--quiet"], ("y.bundle",)),
    "extract": (["extract", "../x.bundle", "-o", "."], ("depth.f32.gz", "location.json", "metadata.json", "photo.jpg")),
    "extract --floats to a new folder": (["extract", "../x.bundle", "-o", "new", "--floats"],
                                         ("new/depth.f32", "new/location.json", "new/metadata.json", "new/photo.jpg")),
    "redact": (["redact", "../whole.bundle", "--withhold", "location.json,depth", "-o", "y.bundle"], ("y.bundle",)),
    "restore": (["restore", "../cut.bundle", "../whole.bundle", "-o", "y.bundle"], ("y.bundle",)),
    "pack": (["pack", "../raw", "-o", "y.bundle"], ("y.bundle",)),
    "pack --multipart": (["pack", "../raw", "-o", "y.bundle", "--multipart", "body", "--headers", "headers"],
                         ("y.bundle", "body", "headers")),
    "pack --out-dir": (["pack", *(f"../raws/{name}" for name in MANY), "--out-dir", "all", "--jobs", "1"],
                       tuple(f"all/{name}.bundle" for name in MANY)),
}
PIPED = "pack to a pipe"
WAYS = {"": (), ", replacing": ("--force",), ", without O_TMPFILE": ("named",),
        ", replacing, without O_TMPFILE": ("named", "--force")}
OLD = b"what was there before"
INPUTS = ("x.bundle", "whole.bundle", "cut.bundle", "x.body")


@functools.cache
def prepared(bench, photo):
    """Returns a rig with bundles, a body and raw captures, which scenes copy."""
    rig = bench.rig()
    for name in ("raw", *(f"raws/{name}" for name in MANY)):
        write_raw(rig.folder / name, photo, device_model=name)
    (rig.folder / "tmp").mkdir()
    for words in (["pack", "../raw", "-o", "../x.bundle"], ["multipart", "../x.bundle", "-o", "../x.body"],
                  ["pack", "../raw", "-o", "../whole.bundle", "--withholdable", "photo,depth"],
                  ["redact", "../whole.bundle", "--withhold", "location.json,depth", "-o", "../cut.bundle"]):
        rig.run(*words).must(0, about=words[0])
    return rig


class Scene(failing_calls.Scene):
    """One command, and one way to run it. `photo` replaces the small photo of all captures."""

    start = ('"../', "device.key")
    lines = len(MANY) + 3

    def __init__(self, bench, command, way=(), photo=PHOTO):
        self.piped, self.way, self.photo, self.named = command == PIPED, way, photo, "named" in way
        words, self.names = (["pack", "../raw", "-o", "-"], ()) if self.piped else COMMANDS[command]
        self.arguments = [*words, *(["--force"] if "--force" in way else [])]
        self.packs, self.places = words[0] == "pack", ("../", *self.names, *(f"error: {word}: " for word in words[1:]))
        self.hidden = r"(.*/)?\.[\w.]+\.\w+\.tmp" if way else "nothing"
        super().__init__(bench)

    def make(self):
        rig = self.bench.copy(prepared(self.bench, self.photo))
        if "--force" in self.way:
            for name in self.names:
                (rig.out / name).parent.mkdir(exist_ok=True)
                (rig.out / name).write_bytes(OLD)
        self.inputs = {name: (rig.folder / name).read_bytes() for name in INPUTS}
        return rig

    def rig(self):
        rig = super().rig()
        rig.env["TMPDIR"] = str(rig.folder / "tmp")
        return rig

    def words(self, _):
        return self.arguments

    def run(self, rig, **how):
        if not self.piped:
            return super().run(rig, **how)
        with open(rig.folder / "piped", "wb") as sink:
            return super().run(rig, stdout=sink, **how)

    def judge_message(self, rig, ended, error):
        # strace counts the calls of each thread, so the error can also take the message's own line away.
        if "--out-dir" not in self.arguments or ", 1 failed" not in ended.text or "error: " in ended.text:
            super().judge_message(rig, ended, error)

    @functools.cached_property
    def wanted(self):
        """The bytes of each file after an undisturbed run; None if another run makes other bytes."""
        rig = self.rig()
        self.run(rig).must(0, about="the undisturbed run")
        return {name: None if self.packs else (rig.out / name).read_bytes() for name in self.names}

    def calls(self):
        found = super().calls() if self.wanted is not None else []  # it is made before threads ask for it
        is_named = False
        for call in reversed(found):
            is_named = is_named or call.name in MAKING and any(name in call.text for name in self.names)
            call.is_after_naming = not is_named
        return found

    def judge(self, rig, ended, call, is_killed):
        made = {name: (rig.out / name).read_bytes() for name in self.names if (rig.out / name).exists()}
        expect(len(made) == len(self.names) or "--force" not in self.way, "something that was there is gone")
        # Only the sync of the folder can fail after the file has its name.
        expect(is_killed or not ended.code or len(self.names) != 1 or call.is_after_naming or
               all(data == OLD for data in made.values()), "it failed and changes the final file")
        for name, data in self.inputs.items():
            expect((rig.folder / name).read_bytes() == data, f"{name}, which was read, has changed")
        whole = {name: data for name, data in made.items() if data != OLD}
        for name, data in whole.items():
            if self.wanted[name] is not None:
                expect(data == self.wanted[name], f"{name} is there and not whole ({len(data)} bytes)")
        bundles = [name for name in whole if self.packs and name.endswith(".bundle")]
        if bundles:
            rig.verify(*bundles, about=f"one of {bundles} is there and not whole")
        self._judge_bodies(rig, whole)
        found = {str(path.relative_to(rig.out)) for path in rig.out.rglob("*") if not path.is_dir()}
        left = [name for name in found - made.keys() if not (is_killed and re.fullmatch(self.hidden, name))]
        # A spool file has a name between its creation and its unlinking, but no bytes yet.
        left += [path.name for path in (rig.folder / "tmp").iterdir() if not is_killed or path.stat().st_size]
        left += [name for name in rig.strays() if "/" in name and not is_killed]
        expect(not left, f"leaves {left}")
        counters = [counter_in(data) for name, data in whole.items() if name.endswith(".bundle")]
        counters += [counter_in((rig.folder / "piped").read_bytes()) or 0] if self.piped else []
        # A command that makes several files finishes what it has begun.
        finishes = "--headers" in self.arguments and "--force" not in self.arguments
        if finishes and "y.bundle" in whole:
            counters = []
        again = [] if "--force" in self.arguments or finishes or not made else ["--force"]
        (self.run(rig) if self.piped else rig.run(*self.arguments, *again)).must(0, about="once more")
        for name in self.names:
            data = (rig.out / name).read_bytes()
            expect(self.wanted[name] in (None, data), f"once more: another {name}")
            expect(not finishes or whole.get(name, data) == data, f"once more: {name} was replaced")
        if self.packs:
            self._judge_counters(rig, counters)

    def _judge_bodies(self, rig, whole):
        """Checks that a body that pack made beside a bundle belongs to that bundle."""
        if self.packs and "body" in whole:
            expect("y.bundle" in whole, "a body is there without its bundle")
            rig.run("multipart", "y.bundle", "-o", "../again").must(0, about="multipart")
            expect((rig.folder / "again").read_bytes() == whole["body"], "body is there and not whole")
        if self.packs and "headers" in whole:
            expect("body" in whole and whole["headers"].endswith(b"\n"), "headers without a body, or not whole")

    def _judge_counters(self, rig, before):
        paths = [rig.folder / "piped"] if self.piped else rig.out.rglob("*.bundle")
        after = [counter_in(path.read_bytes()) for path in paths]
        every_one = [counter_in(self.inputs["whole.bundle"]), *filter(None, before), *after]
        expect(len(set(every_one)) == len(every_one) and max(before, default=0) < min(after), f"counters {every_one}")
        expect(rig.state("once more") == max(after), f"the state says {rig.state()} after {after}")
        left = [name for name in rig.strays() if "/" in name]
        expect(not left, f"leaves {left} beside the key")


def synced_before_named(bench):
    """After a power cut no name comes before its bytes: a file is synced, then named, then its folder synced."""
    require_strace()

    def judge(command, _):
        scene = Scene(bench, command)
        rig = scene.rig()
        log = rig.folder / "trace"
        traced = strace("-y", "-s", "256", "-e", "trace=fsync,fdatasync,linkat,renameat,renameat2", log=log)
        scene.run(rig, prefix=traced).must(0, about="traced")
        lines = log.read_text().splitlines()
        for name in scene.names:
            last = name.rpartition("/")[2]
            naming = rf'(linkat|rename\w*)\(.*"{last}"'
            at = next((place for place, line in enumerate(lines) if re.search(naming, line)), None)
            expect(at is not None, f"{name} gets its name by no link and no rename")
            number = re.search(r"/proc/self/fd/(\d+)", lines[at])
            expect(number and any(re.search(rf"f(data)?sync\({number[1]}<", line) for line in lines[:at]),
                   f"{name} is named before it is synced")
            folder = (rig.out / name).parent.resolve()
            expect(any(f"<{folder}>" in line and "fsync(" in line for line in lines[at + 1:]),
                   f"the folder of {name} is not synced after it")

    every(COMMANDS, judge)


def counter_synced_first(bench):
    """After a power cut the counter is on disk before any byte of the bundle."""
    rig = bench.rig()
    calls = since(trace(rig, "pack", rig.raw, "-o", rig.out / "x.bundle", extra=("-y",)), "device.key")
    in_order(calls, ("write", "capture-bundle-key-state", "write of the new counter"),
             ("fsync", str(rig.keys), "fsync of the state"), ("rename", 'device.key.state"', "rename of the state"),
             ("fsync", f"{rig.keys}>", "fsync of the key's folder"),
             ("write", "mimetype", "write of the bundle after the counter is on disk"))


# Scenes of which each part is in another scene: a new bundle of pack and its body, one that is replaced, one in a pipe.
LONG = {(killed, "pack", ()), (fails, "pack", ()), (fails, PIPED, ()), (killed, "pack --multipart", ("--force",)),
        (killed, "pack --out-dir", ("--force",)), (killed, "extract --floats to a new folder", ("--force",)),
        (fails, "extract --floats to a new folder", ())}


def test(fault, command, way):
    run = functools.partial(fault, lambda bench: Scene(bench, command, way))
    return long(run) if "named" in way or (fault, command, way) in LONG else run


TESTS = [("a power cut finds bytes before names", synced_before_named),
         ("a power cut finds the counter before the bundle", counter_synced_first)]
TESTS += [(f"{command}{how}: a kill at any system call leaves whole files", test(killed, command, way))
          for command in (*COMMANDS, PIPED) for how, way in WAYS.items()
          # strace cannot count the calls of several threads together; "pack" tests files with names in a folder.
          if not (way and command == PIPED or "named" in way and command == "pack --out-dir")]
TESTS += [(f"{command}{how}: an error at any system call leaves whole files", test(fails, command, way))
          for command in (*COMMANDS, PIPED) for how, way in WAYS.items()
          if way in ((), ("named",) if command == "pack" else ())]
