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
import subprocess

HEADINGS = ("measure", "ratio", "must reach", "aim", "verdict")


@dataclasses.dataclass
class Row:
    """A figure and its limits; smaller is better. A figure without limits is only reported."""
    measure: str
    value: float | None
    must: float | None = None
    aim: float | None = None
    unit: str = ""
    detail: str = ""
    runs: dict = dataclasses.field(default_factory=dict)  # measured values of each side

    @property
    def missed(self):
        return self.value is None or (self.must is not None and self.value > self.must)

    def verdict(self, judged=True):
        if self.value is None:
            return "FAILED"
        if self.must is None:
            return "reported"
        if not judged:
            return "not judged"
        return "MISSED" if self.missed else "aim reached" if self.value <= self.aim else "reached"

    def cells(self, judged):
        def shown(number):
            return "-" if number is None else f"{number:g} {self.unit}" if self.unit else f"{number:.2f}"
        value = "-" if self.value is None else f"{self.value:.1f} {self.unit}" if self.unit else f"{self.value:.3f}"
        return self.measure, value, shown(self.must), shown(self.aim), self.verdict(judged)


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
             "tar": ("tar", "--version"), "sha256sum": ("sha256sum", "--version"), "sh": ("readlink", "-f", "/bin/sh"),
             "rm": ("rm", "--version"), "hyperfine": ("hyperfine", "--version")}
    tools |= {name: ("dpkg-query", "--show", "--showformat", "${Version}", name) for name in ("curl", "nginx")}
    packages = ("bagit", "numpy")
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


def store(folder, facts, rows):
    """Writes the last result, as JSON and as printed; git ignores the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    measures = [dataclasses.asdict(row) | {"verdict": row.verdict()} for row in rows]
    (folder / "bench.json").write_text(json.dumps(facts | {"measures": measures}, indent=1) + "\n")
    text = f"{described(facts)}\n\n{table(rows, True)}\n\n{details(rows)}\n"
    (folder / "bench.txt").write_text(text)


def room(folder):
    return shutil.disk_usage(folder).free
