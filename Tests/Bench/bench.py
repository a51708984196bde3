"""Code that the measures share: the binary, folders, a key and captures, and comparisons of sides that take turns."""
import contextlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import time

from Bench import captures, limits
from Bench.results import Row
from Kit.outcomes import ROOT, Failed
from Kit.rigs import Home

PEERS = pathlib.Path(__file__).resolve().parent / "peers"
BAGIT = pathlib.Path(sys.executable).parent / "bagit.py"
BENCH_BUILD = ROOT / ".build-bench"
HOUR = 3600  # seconds; no command of a measure takes as long
# OPENSSL_ia32cap(3): without bit 29 of EBX of leaf 7, which says that the CPU has SHA instructions.
WITHOUT_SHA = {"OPENSSL_ia32cap": ":~0x20000000"}
HAS_SHA = " sha_ni" in pathlib.Path("/proc/cpuinfo").read_text()


class Bench(Home):
    """A home folder with a key and what several measures use; commands run in `folder`, which each measure has anew."""

    def __init__(self, binary, folder, short):
        super().__init__(pathlib.Path(folder).resolve() / "work")
        self.binary, self.folder, self.short = pathlib.Path(binary).resolve(), self.home, short
        self.key, self.public = self.home / "keys/device.key", self.home / "keys/device.key.pub"
        self.env |= {"CAPBUNDLE_KEY": str(self.key), "CAPBUNDLE_TRUST": str(self.home / "trust"), "TMPDIR": str(self.home)}
        self.key.parent.mkdir(mode=0o700)
        self.capbundle("key", "new")
        self.capbundle("trust", "add", "bench", self.public)

    @contextlib.contextmanager
    def measure(self):
        """Gives commands a new folder, which is deleted afterwards."""
        self.folder = self.home / "measure"
        self.folder.mkdir()
        try:
            yield
        finally:
            shutil.rmtree(self.folder)
            self.folder = self.home

    def run(self, *command, code=0, **options):
        """Runs a command that must exit with a certain code."""
        options = {"stdout": subprocess.DEVNULL, "cwd": self.folder} | options
        command = [str(word) for word in command]
        self.call(*command, seconds=HOUR, **options).must(code, about=" ".join(command[:3]))

    def capbundle(self, *arguments, **options):
        self.run(self.binary, *arguments, **options)

    def beside(self, name):
        """Returns the path of another program of the same build, or of the bench's own build."""
        places = [self.binary.parent, BENCH_BUILD / "release", *([BENCH_BUILD / "debug"] if self.short else [])]
        for program in (place / name for place in places):
            if program.is_file():
                return program
        raise Failed(f"{name} was not built beside {self.binary.name}")

    def scaled(self, number, short):
        """Returns the number for the real benchmark, or a small one with --short."""
        return short if self.short else number

    def raws(self, count, group="raws", **sizes):
        """Returns raw folders, which are made once."""
        folders = [self.home / group / f"{index:05}" for index in range(count)]
        for index, folder in enumerate(folders):
            if not folder.is_dir():
                captures.write_raw(folder, index, **sizes)
        return folders

    def bundles(self, count, group="raws", **sizes):
        """Returns bundles of these raw folders, which are packed once."""
        raws, folder = self.raws(count, group, **sizes), self.home / f"{group}-bundles"
        missing = [raw for raw in raws if not (folder / f"{raw.name}.bundle").exists()]
        folder.mkdir(exist_ok=True)
        for start in range(0, len(missing), 500):
            self.capbundle("pack", *missing[start:start + 500], "--out-dir", folder)
        return [folder / f"{raw.name}.bundle" for raw in raws]

    # Sides

    def program(self, *command, runs=1, prepare=None):
        """Makes a side that runs a command several times; hyperfine starts it without a shell."""
        words = ["hyperfine", "-N", "--style", "none", "--export-json", "hyperfine.json", "--runs", self.scaled(runs, 1)]
        if prepare:
            words += ["--prepare", shlex.join(["sh", "-c", prepare])]

        def run(_):
            os.sync()
            self.run(*words, shlex.join(str(word) for word in command))
            return json.loads((self.folder / "hyperfine.json").read_text())["results"][0]["median"]
        return run

    def timed(self, *command):
        """Returns the seconds of a command. It syncs first, so that this side does not pay for earlier writes."""
        os.sync()
        begin = time.perf_counter()
        self.run(*command)
        return time.perf_counter() - begin

    def told(self, *command):
        """Returns the JSON that a program prints."""
        os.sync()
        with open(self.folder / "told", "w+b") as file:
            self.run(*command, stdout=file)
            return json.loads((self.folder / "told").read_text())

    def compare(self, sides, runs, *rows, hashes=False, warmup=1, **bounds):
        """Returns a row for each side but the last one, with which it compares them; `rows` are their title, must and aim.

        The sides take turns, and take turns at being first; each turn gives a ratio. `sides` maps names to functions that
        take the number of the turn, do their work once and return its seconds. Sides that hash take each turn a second
        time, without SHA instructions. `bounds` are the arguments of limits.seconds.
        """
        modes = [{}, WITHOUT_SHA] if hashes and HAS_SHA else [{}]
        warmup, runs = self.scaled(warmup, 0), self.scaled(runs, 1)
        times = [{name: [] for name in sides} for _ in modes]
        for turn in range((warmup + runs) * len(modes)):
            mode, is_even = turn % len(modes), turn // len(modes) % 2 == 0
            self.env |= modes[mode]
            try:
                for name in list(sides) if is_even else reversed(sides):
                    times[mode][name].append(sides[name](turn))
            finally:
                for name in modes[mode]:
                    del self.env[name]
        times = [{name: all_times[warmup:] for name, all_times in one.items()} for one in times]
        bound = limits.seconds(self.folder, **bounds)
        *names, peer = sides
        return [Row.of(title, must, aim, name, peer, times, bound)
                for (title, must, aim), name in zip(rows, names, strict=True)]

    def peak_memory(self, *command):
        """Returns the most memory that a command used, in MiB."""
        self.run("time", "-f", "%M", "-o", "peak", *command)
        return int((self.folder / "peak").read_text().split()[-1]) / 1024


def size(files):
    return sum(file.stat().st_size for file in files)
