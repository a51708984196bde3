"""Code that the measures share: the binary, a folder with a key and captures, and comparisons of two sides."""
import json
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import time

from Bench import captures
from Kit.outcomes import ROOT, Failed
from Kit.rigs import Home

PEERS = pathlib.Path(__file__).resolve().parent / "peers"
BENCH_BUILD = ROOT / ".build-bench"
BAGIT = pathlib.Path(sys.executable).parent / "bagit.py"
HOUR = 3600  # seconds; no command of a measure takes as long


class Bench(Home):
    """A folder with a key, in which all commands run."""

    def __init__(self, binary, folder, short):
        super().__init__(pathlib.Path(folder).resolve() / "work")
        self.binary, self.folder, self.short = pathlib.Path(binary).resolve(), self.home, short
        self.key, self.public = self.folder / "keys/device.key", self.folder / "keys/device.key.pub"
        self.env |= {"CAPBUNDLE_KEY": str(self.key), "CAPBUNDLE_TRUST": str(self.folder / "trust"),
                     "TMPDIR": str(self.folder)}
        self.key.parent.mkdir(mode=0o700)
        self.capbundle("key", "new")
        self.capbundle("trust", "add", "bench", self.public)

    def run(self, *command, code=0, **options):
        """Runs a command that must exit with a certain code."""
        options.setdefault("stdout", subprocess.DEVNULL)
        command = [str(word) for word in command]
        self.call(*command, seconds=HOUR, **options).must(code, about=" ".join(command[:3]))

    def capbundle(self, *arguments, **options):
        self.run(self.binary, *arguments, **options)

    def beside(self, name):
        """Returns the path of another program of the same build."""
        program = self.binary.with_name(name)
        if not program.is_file():  # this program is in a package of its own; with --short its debug build is enough
            program = BENCH_BUILD / ("debug" if self.short else "release") / name
        if not program.is_file():
            raise Failed(f"{name} was not built beside {self.binary.name}")
        return program

    def scaled(self, number, short):
        """Returns the number for the real benchmark, or a small one with --short."""
        return short if self.short else number

    def raw(self, name, seed, **sizes):
        """Returns a raw folder, which is made once for each name."""
        folder = self.folder / name
        return folder if folder.is_dir() else captures.write_raw(folder, seed, **sizes)

    def raws(self, group, count, **sizes):
        """Returns raw folders group/00000 and so on; an existing group is kept and extended."""
        return [self.raw(f"{group}/{index:05}", index, **sizes) for index in range(count)]

    def pack_all(self, raws, folder, *options):
        """Packs raw folders into bundles with short names, because thousands must fit on one command line."""
        folder = self.folder / folder
        folder.mkdir()
        for start in range(0, len(raws), 500):
            self.capbundle("pack", *raws[start:start + 500], "--out-dir", folder, *options)
        for index, raw in enumerate(raws):
            (folder / f"{raw.name}.bundle").rename(folder / f"{index:04}")
        return [f"{folder.name}/{index:04}" for index in range(len(raws))]

    def names(self, file, names):
        """Writes a list in the format of --from0."""
        (self.folder / file).write_bytes(b"".join(name.encode() + b"\0" for name in names))

    def hyperfine(self, sides, runs, prepare=None, warmup=1):
        """Measures the seconds of each side in one hyperfine run; `sides` maps names to commands, in the order of
        running.

        hyperfine starts each command without a shell. Everything written before is synced first, so that no side pays
        for it.
        """
        os.sync()
        result = self.folder / "hyperfine.json"
        command = ["hyperfine", "-N", "--style", "none", "--export-json", result, "--runs", self.scaled(runs, 2),
                   "--warmup", self.scaled(warmup, 0)]
        if prepare:
            command += ["--prepare", shlex.join(["sh", "-c", prepare])]
        for name, words in sides.items():
            command += ["--command-name", name, shlex.join(str(word) for word in words)]
        self.run(*command)
        measured = json.loads(result.read_text())["results"]
        return {name: Side(one) for name, one in zip(sides, measured, strict=True)}

    def alternate(self, sides, runs, warmup=1):
        """Measures the seconds of each side if a run changes the input of the next one, so that hyperfine cannot repeat
        it.

        The sides take turns, and also take turns at being first. `sides` maps names to functions that take the number
        of the turn, from 0, do their work once and return its seconds.
        """
        warmup = self.scaled(warmup, 0)
        times = {name: [] for name in sides}
        for turn in range(warmup + self.scaled(runs, 1)):
            for name in list(sides) if turn % 2 == 0 else reversed(sides):
                times[name].append(sides[name](turn))
        return {name: Side.of(all_times[warmup:]) for name, all_times in times.items()}

    def timed(self, *command):
        """Returns the seconds of a command. It syncs first, so that this side does not pay for earlier writes."""
        os.sync()
        begin = time.perf_counter()
        self.run(*command)
        return time.perf_counter() - begin

    def told(self, *command):
        """Returns the JSON that a benchmark program prints about itself; its seconds do not contain its own start."""
        os.sync()
        answer = self.folder / "told"
        with open(answer, "wb") as file:
            self.run(*command, stdout=file)
        return json.loads(answer.read_text())

    def peak_memory(self, command, stdin=None):
        """Returns the most memory that a command used, in MiB; `stdin` is a file that it reads from a pipe."""
        told = self.folder / "peak"
        words = ["time", "-f", "%M", "-o", told, *command]
        if stdin is None:
            self.run(*words)
        else:
            with subprocess.Popen(["cat", stdin], stdout=subprocess.PIPE) as cat:
                self.run(*words, stdin=cat.stdout)
        return int(told.read_text().split()[-1]) / 1024

    def remove(self, *names):
        for name in names:
            path = self.folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


class Side:
    """The measured values of one side, by hyperfine's names; outliers change the compared median least."""

    def __init__(self, measured):
        self.median = measured["median"]
        self.facts = {name: measured[name] for name in ("median", "mean", "stddev", "min", "max", "user", "system")
                      if name in measured}
        self.facts["runs"] = len(measured["times"])

    @classmethod
    def of(cls, times):
        return cls({"times": times, "median": statistics.median(times), "mean": statistics.fmean(times),
                    "stddev": statistics.pstdev(times), "min": min(times), "max": max(times)})

    def __str__(self):
        factor, unit = (1, "s") if self.median >= 1 else (1000, "ms") if self.median >= 1e-3 else (1e6, "µs")
        return f"{self.median * factor:.2f} {unit}"
