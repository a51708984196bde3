"""`multipart`, `from-body`, `extract` and `pack --out-dir` are killed at each system call, or a call fails.

They promise that each final name has a complete file or its earlier contents, that the same command works again, and
that no other file is left behind. Complete files of a run may stay if a disk fails later.
"""
import functools
import re
import subprocess

from bench import write_raw
from checks import Failed, every, expect
from failing_calls import ERRORS, is_message
from injection import Call, FILTER, prefix, report, sweep, without_unnamed_files
from records import counter_in
from tracing import calls_in, require_strace, strace

MANY = "abcdef"
# The commands, which run in the rig's `out` beside x.bundle and its body, and the names that each makes there.
COMMANDS = {
    "multipart": (["multipart", "../x.bundle", "-o", "body", "--headers", "headers"], ("body", "headers")),
    "from-body": (["from-body", "../x.body", "-o", "y.bundle", "--quiet"], ("y.bundle",)),
    "extract": (["extract", "../x.bundle", "-o", "."], ("depth.f32.gz", "location.json", "metadata.json", "photo.jpg")),
    "extract --floats to a new folder": (["extract", "../x.bundle", "-o", "new", "--floats"],
                                         ("new/depth.f32", "new/location.json", "new/metadata.json", "new/photo.jpg")),
    "pack --multipart": (["pack", "../raw", "-o", "y.bundle", "--multipart", "body", "--headers", "headers"],
                         ("y.bundle", "body", "headers")),
    "pack --out-dir": (["pack", *(f"../raws/{name}" for name in MANY), "--out-dir", "all", "--jobs", "1"],
                       tuple(f"all/{name}.bundle" for name in MANY)),
}
WAYS = {"": (), ", replacing": ("--force",), ", without O_TMPFILE": ("named",),
        ", replacing, without O_TMPFILE": ("named", "--force")}
OLD = b"what was there before"


class Scene:
    """One command, one way to run it, and a rig for each trial."""

    def __init__(self, bench, command, way):
        self.bench, self.way = bench, way
        words, self.names = COMMANDS[command]
        self.words = [*words, *(["--force"] if "--force" in way else [])]
        self.packs = words[0] == "pack"
        self.hidden = r"(.*/)?\.[\w.]+\.\w+\.tmp" if way else "nothing"
        self.extra = ()

    @functools.cached_property
    def source(self):
        """A rig with the bundle, its body and the raw captures, which trials copy."""
        rig = self.bench.rig()
        rig.run("pack", rig.raw, "-o", rig.folder / "x.bundle").must(0, about="pack")
        rig.run("multipart", rig.folder / "x.bundle", "-o", rig.folder / "x.body").must(0, about="multipart")
        return rig

    def rig(self):
        rig = self.bench.rig()
        subprocess.run(["cp", "-R", self.source.home, self.source.folder / "x.bundle", self.source.folder / "x.body",
                        self.bench.raw, rig.folder], check=True)
        for name in MANY:
            write_raw(rig.folder / "raws" / name, device_model=name)
        (rig.folder / "tmp").mkdir()
        rig.env["TMPDIR"] = str(rig.folder / "tmp")
        if "--force" in self.way:
            for name in self.names:
                (rig.out / name).parent.mkdir(exist_ok=True)
                (rig.out / name).write_bytes(OLD)
        return rig

    @functools.cached_property
    def wanted(self):
        """The bytes of each file after an undisturbed run; None if another run makes other bytes."""
        rig = self.rig()
        rig.run(*self.words).must(0, about="the undisturbed run")
        return {name: None if self.packs else (rig.out / name).read_bytes() for name in self.names}

    def calls(self):
        """Returns the calls of an undisturbed run from the first that names the bundle, the body or the raw capture.

        strace counts for each thread separately, and acts on the first thread that reaches the number. So a call can
        only be tested if no other thread made as many such calls earlier, for example while it was loaded. Calls for
        later captures can be tested.
        """
        require_strace()
        calls = self._trace()
        if "named" in self.way:
            self.extra = without_unnamed_files(calls)
            calls = self._trace()
            expect(not any("O_TMPFILE" in call.text for call in calls), "O_TMPFILE is used without /proc/self/fd")
        start = next(place for place, call in enumerate(calls) if re.search(r'"\.\./|device\.key', call.text))
        seen = {(call.name, call.number) for call in calls[:start]}
        found = []
        for call in calls[start:]:
            if (call.name, call.number) not in seen:
                seen.add((call.name, call.number))
                found.append(call)
        self.messages = {(call.name, call.number) for call in calls if is_message(call)}
        return found

    def _trace(self):
        rig = self.rig()
        log = rig.folder / "trace"
        traced = strace("--seccomp-bpf", "-s", "256", "-e", FILTER, *self.extra, log=log)
        rig.run(*self.words, prefix=traced).must(0, about="the traced run")
        calls, counts, foreign = [], {}, {}
        for thread, name, text in calls_in(log):
            counts[thread, name] = counts.get((thread, name), 0) + 1
            if name.startswith("open") and "/openssl.cnf" in text:  # libcrypto's own file; it continues without
                foreign[thread] = text.rpartition("= ")[2]
            if thread not in foreign:
                calls.append(Call(name, counts[thread, name], text))
            elif name == "close" and text.startswith(foreign[thread]):
                del foreign[thread]
        return calls

    def judge(self, rig, is_killed):
        """Checks that all files are complete, and that the command works again."""
        made = {name: (rig.out / name).read_bytes() for name in self.names if (rig.out / name).exists()}
        expect(len(made) == len(self.names) or "--force" not in self.way, "something that was there is gone")
        whole = {name: data for name, data in made.items() if data != OLD}
        for name, data in whole.items():
            if self.wanted[name] is not None:
                expect(data == self.wanted[name], f"{name} is there and not whole ({len(data)} bytes)")
            elif name.endswith(".bundle"):
                rig.run("verify", name).must(0, about=f"{name} is there and not whole")
        self._judge_bodies(rig, whole)
        found = {str(path.relative_to(rig.out)) for path in rig.out.rglob("*") if not path.is_dir()}
        left = [name for name in found - made.keys() if not (is_killed and re.fullmatch(self.hidden, name))]
        # A spool file has a name between its creation and its unlinking, but no bytes yet.
        left += [path.name for path in (rig.folder / "tmp").iterdir() if not is_killed or path.stat().st_size]
        expect(not left, f"leaves {left}")
        rig.run(*self.words, *([] if "--force" in self.words or not made else ["--force"])).must(0, about="once more")
        for name in self.names:
            expect(self.wanted[name] in (None, (rig.out / name).read_bytes()), f"once more: another {name}")
        if self.packs:
            self._judge_counters(rig, whole)

    def _judge_bodies(self, rig, whole):
        """Checks that a body that pack made beside a bundle belongs to that bundle."""
        if self.packs and "body" in whole:
            expect("y.bundle" in whole, "a body is there without its bundle")
            rig.run("multipart", "y.bundle", "-o", "../again").must(0, about="multipart")
            expect((rig.folder / "again").read_bytes() == whole["body"], "body is there and not whole")
        if self.packs and "headers" in whole:
            expect("body" in whole and whole["headers"].endswith(b"\n"), "headers without a body, or not whole")

    def _judge_counters(self, rig, whole):
        before = [counter_in(data) for name, data in whole.items() if name.endswith(".bundle")]
        after = [counter_in((rig.out / name).read_bytes()) for name in self.names if name.endswith(".bundle")]
        every_one = [counter_in((rig.folder / "x.bundle").read_bytes()), *before, *after]
        expect(len(set(every_one)) == len(every_one) and max(before, default=0) < min(after), f"counters {every_one}")
        expect(rig.state("once more") == max(after), f"the state says {rig.state()} after {after}")


@functools.cache
def scene_of(bench, command, way):
    scene = Scene(bench, command, way)
    # Compute these before threads ask for them.
    return scene if scene.source and scene.wanted else None


def killed(command, way, bench):
    scene = scene_of(bench, command, way)

    def trial(call):
        rig = scene.rig()
        ended = rig.run(*scene.words, prefix=prefix(call, "signal=KILL", scene.extra))
        try:
            expect(ended.code in (-9, 137), f"was not killed: exit {ended.code}")
            scene.judge(rig, is_killed=True)
        except Failed as reason:
            return [f"killed at {call}: {reason}"]
        return []

    report(sweep(scene.calls(), trial))


def fails(command, error, bench):
    """After an error at any call the exit code is right, the message names a file, and no partial file stays."""
    scene = scene_of(bench, command, ())
    met, codes = ERRORS[error]

    def trial(call):
        rig = scene.rig()
        ended = rig.run(*scene.words, prefix=prefix(call, f"error={error}", scene.extra))
        try:
            ended.must(*codes)
            expect(error == "EINTR" or ended.text.startswith("capbundle: error: "), f"no message: {ended.text!r}")
            expect(len(ended.text.splitlines()) <= len(MANY) + 2, f"a storm of messages: {ended.text[:300]!r}")
            scene.judge(rig, is_killed=False)
        except Failed as reason:
            return [f"{error} at {call}: {reason}"]
        return []

    calls = scene.calls()
    calls = [call for call in calls if call.name in met and (call.name, call.number) not in scene.messages]
    report(sweep(calls, trial))


def synced_before_named(bench):
    """After a power cut no name comes before its bytes: a file is synced, then named, then its folder synced."""
    require_strace()

    def judge(command, _):
        scene = Scene(bench, command, ())
        rig = scene.rig()
        log = rig.folder / "trace"
        traced = strace("-y", "-s", "256", "-e", "trace=fsync,fdatasync,linkat,renameat,renameat2", log=log)
        rig.run(*scene.words, prefix=traced).must(0, about="traced")
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


TESTS = [("a power cut finds bytes before names", synced_before_named)]
TESTS += [(f"{command}{how}: a kill at any system call leaves whole files", functools.partial(killed, command, way))
         for command in COMMANDS for how, way in WAYS.items()
          # strace cannot count the calls of several threads together; crash_pack tests files with names in a folder.
          if not ("named" in way and "--out-dir" in COMMANDS[command][0])]
TESTS += [(f"{command}: {error} at any call", functools.partial(fails, command, error))
          for command in COMMANDS for error in ERRORS]
