"""A bundle is replaced, overwritten or cut while it is read: each command reports what it read, and never a mixture.

strace stops the tool after one of its reads of the bundle; then the test changes the file, and lets the tool go on.
"""
import contextlib
import functools
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import time

from Kit.rigs import PHOTO, write_raw
from Kit.outcomes import PATIENCE, Failed, Result, every, expect
from Kit.injection import report, sweep
from Kit.tracing import calls_in, require_strace, separate, strace

BODY = 400_000  # bytes of a photo that takes several reads


COMMANDS = {"verify": lambda bundle, _: ["verify", "--json", bundle],
            "show": lambda bundle, _: ["show", "--json", bundle],
            "extract": lambda bundle, target: ["extract", bundle, "-o", target],
            "multipart": lambda bundle, target: ["multipart", bundle, "-o", target],
            "depth": lambda bundle, _: ["depth", "--json", bundle],
            "report": lambda bundle, target: ["report", bundle, "-o", target]}


class Scene:
    """Two sound bundles of one length whose contents differ from the first entry to the last."""

    def __init__(self, bench):
        self.rig = bench.rig()
        self.bundles = []
        for name, filler, model, metres in (("old", b"\x12\x34", "Rig 1", 1.0), ("new", b"\x56\x78", "Rig 2", 2.0)):
            raw = write_raw(self.rig.folder / name, photo=PHOTO[:-2] + filler * (BODY // 2) + b"\xff\xd9",
                            device_model=model)
            (raw / "depth.f32").write_bytes(struct.pack("<12f", *[metres] * 12))
            self.bundles.append(self.rig.bundle(f"{name}.bundle", raw=raw))
        sizes = {one.stat().st_size for one in self.bundles}
        expect(len(sizes) == 1, f"the bundles have the sizes {sizes}")

    def output(self, command, bundle, folder):
        """Returns what a command gives for a file: its exit code and the bytes that identify the contents."""
        folder.mkdir()
        return self.rig.run(*command(bundle, folder / "made")), folder / "made"


def contents(out, target):
    """Returns the facts of an output: printed JSON without the file's name, and the files that were written."""
    found = {}
    for line in out.splitlines() if out.startswith(b"{") else ():
        one = json.loads(line)
        one.pop("file", None)
        one.pop("output", None)
        found["json"] = json.dumps(one, sort_keys=True)
    if target.is_dir():
        found |= {path.name: path.read_bytes() for path in target.rglob("*") if path.is_file()}
    elif target.exists():
        # A page tells the name and the times of the file; what it shows of the capture is enough.
        data = target.read_bytes()
        found["made"] = b" ".join(re.findall(rb"Rig [12]", data)) if data.startswith(b"<!") else data
    return found


def reads_of(scene, name):
    """Returns the numbers, in their thread, of some reads of the bundle: early ones, one in the middle, the last."""
    log = scene.rig.folder / f"reads-{name}"
    bundle = scene.bundles[0]
    scene.rig.run(*COMMANDS[name](bundle, scene.rig.folder / f"read-{name}"),
                  prefix=strace("-y", "-e", "trace=read", log=log)).must(0)
    counts, numbers = {}, []
    for thread, _, text in calls_in(log):
        counts[thread] = counts.get(thread, 0) + 1
        if str(bundle) in text:
            numbers.append(counts[thread])
    expect(len(numbers) >= 5, f"{name}: {len(numbers)} reads of the bundle")
    return sorted({numbers[0], numbers[1], numbers[len(numbers) // 2], numbers[-2], numbers[-1]})


def replace(path, new):
    shutil.copy(new, path.with_name("other"))
    os.replace(path.with_name("other"), path)


def overwrite(path, new):
    with open(path, "r+b") as file:
        file.write(new.read_bytes())


CHANGES = {"replaced by rename": replace, "overwritten": overwrite, "cut": lambda path, _: os.truncate(path, 1000)}


def run_stopped(rig, words, number, change, log):
    """Runs the tool, and calls `change` when it is stopped after a read; returns the Result, or None without a stop."""
    prefix = strace("-e", "trace=read", "-e", f"inject=read:signal=SIGSTOP:when={number}", log=log)
    argv = [*map(os.fspath, prefix), *rig.argv(*words)]
    with subprocess.Popen(argv, env=rig.env, cwd=rig.out, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True) as tool:
        changed, seen, end = False, 0, time.monotonic() + PATIENCE
        while tool.poll() is None:
            stops = re.findall(r"^(\d+) +--- stopped by SIGSTOP ---", log.read_text() if log.exists() else "", re.M)
            if len(stops) > seen:
                if not changed:
                    change()
                changed, seen = True, len(stops)
                # Each thread reports that it stopped. The report of one can come after the tool has ended.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(stops[-1]), signal.SIGCONT)
            if time.monotonic() > end:
                os.killpg(tool.pid, signal.SIGKILL)
                raise Failed(f"hangs: {' '.join(map(str, words))}")
            time.sleep(0.005)
        out, err = tool.communicate()
    return Result(tool.returncode, out, *separate(err)) if changed else None


def trial(scene, expected, item):
    name, how, number = item
    about = f"{name}, {how} after read {number}"
    folder = scene.rig.folder / f"{name}-{how.split()[0]}-{number}"
    folder.mkdir()
    bundle, target = folder / "x.bundle", folder / "made"
    shutil.copy(scene.bundles[0], bundle)
    result = run_stopped(scene.rig, COMMANDS[name](bundle, target), number,
                         functools.partial(CHANGES[how], bundle, scene.bundles[1]), folder / "trace")
    if result is None:
        return [f"{about}: was not stopped"]
    try:
        result.must(*((0,) if how == "replaced by rename" else (0, 1, 2, 66)), about=about)
        found = contents(result.out, target)
        if result.code == 0:
            # The reads of a report are counted in each thread, so a stop can come before the bundle is opened.
            is_open = how == "replaced by rename" and name != "report"
            whole = expected[name][:1] if is_open else expected[name]
            expect(found in whole, f"{about}: the output is of neither bundle: {sorted(found)}")
        elif name != "report":  # a report is about damaged bundles too
            expect(not target.exists() or not any(target.iterdir()), f"{about}: exit {result.code} with output")
    except Failed as reason:
        return [str(reason)]
    return []


def no_mixture(bench):
    require_strace()
    scene = Scene(bench)
    expected = {}
    for name, command in COMMANDS.items():
        expected[name] = []
        for bundle in scene.bundles:
            folder = scene.rig.folder / f"expected-{name}-{bundle.stem}"
            result, target = scene.output(command, bundle, folder)
            result.must(0, about=name)
            expected[name].append(contents(result.out, target))
        expect(expected[name][0] != expected[name][1], f"{name} gives the same for both bundles")
    items = [(name, how, number) for name in COMMANDS for number in reads_of(scene, name) for how in CHANGES]
    report(sweep(items, functools.partial(trial, scene, expected)))


def endless_inputs(bench):
    """An endless file is refused after a few bytes; a FIFO is read like a pipe."""
    require_strace()
    rig = bench.rig()
    bundle = rig.bundle()
    limit = functools.partial(resource.setrlimit, resource.RLIMIT_AS, (4 << 30, 4 << 30))

    def judge(name, command):
        log = rig.folder / f"zero-{name}"
        target = rig.folder / f"zero-made-{name}"
        rig.run(*command("/dev/zero", target), preexec_fn=limit,
                prefix=strace("-y", "-e", "trace=read", log=log)).must(2)
        reads = [text for _, _, text in calls_in(log) if "/dev/zero" in text]
        total = sum(int(text.rpartition("= ")[2]) for text in reads)
        expect(total <= 1 << 20, f"reads {total} bytes of an endless file")
        expect(name == "report" or not target.exists() or not any(target.iterdir()), "there is output")
        fifo = rig.folder / f"fifo-{name}"
        os.mkfifo(fifo)
        with subprocess.Popen(["cp", bundle, fifo]) as feeder:
            try:
                log = rig.folder / f"fifo-opens-{name}"
                rig.run(*command(fifo, rig.folder / f"fifo-made-{name}"),
                        prefix=strace("-e", "trace=open,openat,openat2", log=log)).must(0, about="a FIFO")
            finally:
                feeder.kill()
        # If it were opened twice, the feeder could have written all between, and ended.
        opened = [text for _, _, text in calls_in(log) if f'"{fifo}"' in text]
        expect(len(opened) == 1, f"opens a FIFO {len(opened)} times")

    every(COMMANDS, judge)


TESTS = [
    ("a bundle that changes while it is read gives no mixture", no_mixture),
    ("endless files are refused after a few bytes, and FIFOs are read", endless_inputs),
]
