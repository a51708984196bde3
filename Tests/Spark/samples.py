"""Runs Samples/spark and Samples/parallel.sh on an archive with known contents, and compares the counts.

It uses the Spark of this Python's environment, on two cores of this machine. As root it runs in a network namespace
that has only the loopback interface.
"""
import collections
import json
import os
import pathlib
import random
import shutil
import sys

from Kit.outcomes import ROOT, expect
from Kit.rigs import Home, write_raw

SUBMIT = pathlib.Path(sys.executable).parent / "spark-submit"
ODD_NAMES = ["with space", "new\nline", "quote'\"`$(x)", "-dash", "\u00e9\u4e2d", "{}", "tab\t%"]
# How many bundles of which device have which fault; Spec/command-line.md has the names of the faults.
KINDS = [
    ("gate", 180, "verified", None), ("yard", 40, "verified", None), ("stranger", 30, "unknown-device", "trust.unknown"),
    ("stolen", 4, "unacceptable", "trust.revoked"), ("gate", 25, "altered", "entry.sha256"),
    ("yard", 12, "altered", "assertion.signature"), ("gate", 6, "malformed", "container.trailing"),
    (None, 15, "malformed", "container.magic"), (None, 5, "malformed", "container.truncated"),
]
MISSING = 3


class Archive(Home):
    """Bundles in folders, a list of their names, and the expected counts."""

    def __init__(self, binary, folder):
        super().__init__(folder / "home")
        self.binary, self.folder, self.trust = binary, folder, folder / "trust"
        self.bundles, self.names = folder / "arch ive", folder / "names"
        self.bin = folder / "bin"
        self.bin.mkdir()
        (self.bin / "capbundle").symlink_to(binary)
        self.env |= {"PATH": f"{self.bin}:{self.env['PATH']}", "TMPDIR": str(folder)}
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

    def spark(self, names, summary, *options):
        self.env |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        settings = ["spark.ui.enabled=false", "spark.driver.bindAddress=127.0.0.1", "spark.driver.host=127.0.0.1"]
        command = [SUBMIT, "--master", "local[2]", *[word for one in settings for word in ("--conf", one)],
                   ROOT / "Samples/spark/verify_archive.py", names, summary, "--partition", "40", *options]
        if os.geteuid() == 0 and shutil.which("unshare") and shutil.which("ip"):
            command = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *command]
        return self.call(*command, seconds=300)


def spoilt(data, fault, seeded):
    if fault == "container.magic":
        return bytes([0x7f]) + seeded.randbytes(seeded.randrange(1, 5000))
    at = {"entry.sha256": data.rfind(b"\x12\x34"),
          "assertion.signature": data.find(b"authenticatorDataX\x25") + 17 + 2 + 36}.get(fault)  # a byte of the counter
    if at is not None:
        return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]
    return data + b"\0" if fault == "container.trailing" else data


def spark_counts(archive):
    found = [os.fsencode(path) for path in archive.bundles.rglob("*.bundle")]
    missing = [os.fsencode(archive.bundles / f"missing{index}") for index in range(MISSING)]
    archive.names.write_bytes(b"".join(name + b"\0" for name in found + missing))
    summary = archive.folder / "summary.json"
    archive.spark(archive.names, summary, "--trust", archive.trust).must(0, about="spark-submit")
    devices = collections.defaultdict(dict)
    for (key_id, verdict), count in archive.devices.items():
        devices[key_id][verdict] = count
    wanted = {"bundles": len(found) + MISSING, "verdicts": archive.verdicts | {"unreadable": MISSING},
              "faults": archive.faults | {"input.unreadable": MISSING}, "devices": devices}
    summed = json.loads(summary.read_text())
    expect(summed == wanted, f"the summary is {summed}, expected {wanted}")


def spark_fails(archive):
    """A tool that cannot do its work must not look like an archive without bundles."""
    (archive.folder / "broken-trust").write_text("no line of a trust file\n")
    summary = archive.folder / "no-summary.json"
    code = archive.spark(archive.names, summary, "--trust", archive.folder / "broken-trust").code
    expect(code != 0 and not summary.exists(), f"a broken trust file: exit {code}, a summary: {summary.exists()}")


def parallel_counts(archive):
    done = archive.call(ROOT / "Samples/parallel.sh", archive.bundles, "--trust", archive.trust).must(0, about="parallel.sh")
    found = {name: int(count) for count, name in (line.split() for line in done.out.decode().splitlines())}
    expect(found == archive.verdicts | archive.faults, f"parallel.sh counts {found}")


def parallel_fails(archive):
    archive.call(ROOT / "Samples/parallel.sh", archive.bundles, "--trust", "missing").must(1).naming("0 reports")


TESTS = [("spark: counts of verdicts, faults and devices", spark_counts),
          ("spark: a broken trust file fails the job", spark_fails),
          ("parallel: counts of verdicts and faults", parallel_counts),
          ("parallel: a missing trust file is told", parallel_fails)]
