"""An archive whose verdicts are known, the jobs of Samples/spark, and what they wrote, as pyarrow reads it."""
import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

import pyarrow.parquet
from Kit import processes
from Kit.outcomes import ROOT, Failed, Result, expect
from Kit.rigs import Home, write_raw

SAMPLES = ROOT / "Samples/spark"
PROGRAMS = pathlib.Path(sys.executable).parent
SETTINGS = ["spark.ui.enabled=false", "spark.driver.bindAddress=127.0.0.1", "spark.driver.host=127.0.0.1"]
SECONDS = 900  # until a job counts as hanging
ODD_NAMES = ["with space", "new\nline", "quote'\"`$(x)", "-dash", "\u00e9\u4e2d", "{}", "tab\t%", "a::b?c#d", "100%41"]
# How many bundles of which device have which fault; Spec/command-line.md has the names of the faults.
KINDS = [
    ("gate", 180, "verified", None), ("yard", 40, "verified", None), ("stranger", 30, "unknown-device", "trust.unknown"),
    ("stolen", 4, "unacceptable", "trust.revoked"), ("gate", 25, "altered", "entry.sha256"),
    ("yard", 12, "altered", "assertion.signature"), ("gate", 6, "malformed", "container.trailing"),
    (None, 15, "malformed", "container.magic"), (None, 5, "malformed", "container.truncated"),
]


class Archive(Home):
    """Bundles in folders, and the expected counts."""

    def __init__(self, binary, folder):
        super().__init__(folder / "home")
        self.binary, self.folder, self.trust, self.bundles = binary, folder, folder / "trust", folder / "arch ive"
        self.bin = folder / "bin"
        self.bin.mkdir()
        (self.bin / "capbundle").symlink_to(binary)
        self.env |= {"PATH": f"{self.bin}:{PROGRAMS}:{self.env['PATH']}", "TMPDIR": str(folder), "SPARK_LOCAL_DIRS": str(folder),
                     "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(SAMPLES), "PYTHONDONTWRITEBYTECODE": "1"}
        self.key_ids = {name: self.make_key(name) for name in ("gate", "yard", "stranger", "stolen")}
        self.capbundle("trust", "revoke", "stolen", "--trust", self.trust)
        self.verdicts, self.faults, self.devices = (collections.Counter() for _ in range(3))
        for number, kind in enumerate(KINDS):
            self.fill(self.bundles / f"kind{number}", number, *kind)

    def capbundle(self, *words):
        return self.call(self.binary, *words).must(0, about=f"capbundle {words[0]}").out.decode()

    def make_key(self, name):
        key = self.folder / name / "device.key"
        key.parent.mkdir(mode=0o700)
        key_id = self.capbundle("key", "new", "--key", key).strip()
        if name != "stranger":
            self.capbundle("trust", "add", name, f"{key}.pub", "--trust", self.trust)
        return key_id

    def fill(self, folder, number, device, count, verdict, fault):
        """Makes the bundles of one kind, damages them, and counts them."""
        folder.mkdir(parents=True)
        seeded = random.Random(number)
        if device:
            raws = [write_raw(self.folder / f"raw{number}/{index:03}", captured_at=f"2026-03-14T09:{number:02}:00.{index:03}Z")
                    for index in range(count)]
            self.capbundle("pack", *raws, "--out-dir", folder, "--key", self.folder / device / "device.key")
            self.devices[self.key_ids[device], verdict] += count
        for index in range(count):
            path = folder / f"{index:03}.bundle"
            data = path.read_bytes() if device else b""
            path.write_bytes(spoilt(data, fault, seeded))
            if index < len(ODD_NAMES):
                path.rename(folder / f"{ODD_NAMES[index]}.bundle")
        self.verdicts[verdict] += count
        if fault:
            self.faults[fault] += count

    def varied(self, folder, count):
        """Writes files in 20 folders: sound bundles, and copies of them with a changed bit or without their end."""
        sound = [path.read_bytes() for number in range(4) for path in sorted((self.bundles / f"kind{number}").iterdir())]
        seeded = random.Random(28)
        for number in range(20):
            (folder / f"{number:02}").mkdir(parents=True)
        for number in range(count):
            data = bytearray(sound[number % len(sound)])
            if number % 3 == 0:
                data[seeded.randrange(len(data))] ^= 1 << seeded.randrange(8)
            elif number % 17 == 0:
                del data[seeded.randrange(len(data)):]
            (folder / f"{number % 20:02}/{number:05}.bundle").write_bytes(data)

    def found(self, folder):
        return sorted(path for path in folder.rglob("*.bundle"))

    def judged(self, paths):
        """Returns what capbundle verify says of each of these files, without the name."""
        names = b"".join(os.fsencode(path) + b"\0" for path in paths)
        told = self.call(self.binary, "verify", "--json", "--from0", "--trust", self.trust, input=names)
        reports = [json.loads(line) for line in told.out.splitlines()]
        expect(len(reports) == len(paths), f"{len(reports)} reports on {len(paths)} files")
        return {path: report | {"file": None} for path, report in zip(paths, reports)}

    # Jobs

    def start(self, script, *words, master="local[2]", **env):
        """Starts a job, whose output goes to files in `folder`."""
        command = ["spark-submit", "--master", master, *[word for one in SETTINGS for word in ("--conf", one)], script, *words]
        if os.geteuid() == 0 and shutil.which("unshare") and shutil.which("ip") and not env:  # no network is needed
            command = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *command]
        with open(self.folder / "out", "wb") as out, open(self.folder / "err", "wb") as err:
            return subprocess.Popen([os.fspath(word) for word in command], env=self.env | env, cwd=self.folder,
                                    stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)

    def ended(self, job, seconds=SECONDS):
        """Waits for the end of a job, and returns its Result with the last lines of its log."""
        try:
            job.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"the job hangs: {self.log()}") from None
        finally:
            processes.end(job)
        return Result(job.returncode, (self.folder / "out").read_bytes(), self.log().encode())

    def log(self):
        lines = (self.folder / "err").read_text(errors="replace").splitlines()
        return "\n".join([line for line in lines if "Error" in line][-3:])

    def spark(self, script, *words, **how):
        return self.ended(self.start(SAMPLES / script, *words, **how))

    def verify(self, name, *options, listed="list.parquet", **how):
        """Runs verify_archive.py with the reports of this name, and returns its Result."""
        return self.spark("verify_archive.py", listed, name, "scratch", *options, "--", "--trust", self.trust, **how)

    def listing(self, place, **how):
        shutil.rmtree(self.folder / "list.parquet", ignore_errors=True)
        self.spark("list_archive.py", place, "list.parquet", **how).must(0, about="list_archive.py")


def parts(reports):
    return sorted(path for path in reports.glob("*") if path.name[0] not in "._")


def rows(reports):
    """Returns the rows by URL. A file that is not whole is an error, and so is a second row about a bundle."""
    found = [row for part in parts(reports) for row in pyarrow.parquet.read_table(part).to_pylist()]
    by_url = {row["url"]: row for row in found}
    expect(len(by_url) == len(found), f"{len(found)} rows are about {len(by_url)} bundles")
    return by_url


def agree(found, judged):
    """Expects a row for each judged file, by its URL, with the very report of capbundle verify."""
    expect(found.keys() == judged.keys(), f"{len(found)} rows for {len(judged)} bundles")
    for url, row in found.items():
        report = json.loads(row["report"] or "{}") | {"file": None}
        expect(report == judged[url], f"{url}: {row['report']}, capbundle verify: {judged[url]}")
        expect(row["verdict"] == report.get("verdict"), f"{url}: {row['verdict']}")


def wait_for(job, condition, about):
    """Waits until a condition gives a value, and returns it. A job that ends before is a failure."""
    end = time.monotonic() + SECONDS
    while not (value := condition()):
        expect(job.poll() is None and time.monotonic() < end, f"the job ended or hung before {about}")
        time.sleep(0.02)
    return value


def spoilt(data, fault, seeded):
    if fault == "container.magic":
        return bytes([0x7f]) + seeded.randbytes(seeded.randrange(1, 5000))
    at = {"entry.sha256": data.rfind(b"\x12\x34"),
          "assertion.signature": data.find(b"authenticatorDataX\x25") + 17 + 2 + 36}.get(fault)  # a byte of the counter
    if at is not None:
        return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]
    return data + b"\0" if fault == "container.trailing" else data
