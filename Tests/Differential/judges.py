"""Lets the Swift tool and the Python implementation judge cases, and compares their results."""

import hashlib
import io
import json
import os
import subprocess

from bundle import manifest, trust, upload_reader, verifier
from bundle.faults import CODES, TRUST_FILE_EXIT, Fault


class Result:
    """The answer of a judge to a case. Two judges agree if their results are equal."""

    def __init__(self, exit_code, codes, facts):
        self.exit_code = exit_code
        self.codes = codes
        self.facts = facts  # what else both report: id, key, time, withheld entries, warnings, the bundle of a body

    def __str__(self):
        return "%s %s" % (self.exit_code, ",".join(self.codes) or "-")


def in_python(case):
    """Returns the Result of the second implementation."""
    try:
        lines = trust.parse(case.trust)
    except Fault as fault:
        return Result(fault.exit_class, [fault.code], {})
    options = {"trust_lines": lines, "allow_withheld": case.allow_withheld, "require": case.require}
    if case.is_body:
        rebuilt, report = upload_reader.decode(case.data, **options)
    else:
        rebuilt, report = None, verifier.verify(io.BytesIO(case.data), **options)
    facts = {}
    if report.manifest:
        facts = {
            "id": report.manifest.id, "captured_at": report.manifest.captured_at, "key_id": report.manifest.key_id,
            "withheld": sorted(report.withheld), "warnings": sorted({code
                                                                     for code, _ in report.warnings})
        }
    if rebuilt is not None:
        facts["bundle"] = hashlib.sha256(rebuilt).hexdigest()
    return Result(report.exit_code, report.codes, facts)


def from_report(found, rebuilt=None):
    """Returns the Result in a line of capbundle's JSON."""
    codes = sorted({fault["code"] for fault in found.get("faults", ())})
    facts = {}
    if "bundle" in found:
        facts = {
            "id": found["bundle"]["id"], "captured_at": found["bundle"]["captured_at"], "key_id":
            found["device"]["key_id"], "withheld": sorted(one["path"] for one in found["entries"]
                                                          if one["status"] == "withheld"), "warnings":
            sorted({one["code"]
                    for one in found["warnings"] if one["code"] == "metadata.position"})
        }
    if rebuilt is not None:
        facts["bundle"] = hashlib.sha256(rebuilt).hexdigest()
    return Result(found["exit_code"], codes, facts)


def _arguments(case, trust_file):
    required = ["--require", ",".join(case.require)] if case.require else []
    return ["--json", "--trust", trust_file] + ["--allow-withheld"] * case.allow_withheld + required


class Swift:
    """Runs the Swift tool in a folder of its own."""

    def __init__(self, binary, folder):
        self._binary = binary
        self._folder = folder
        self._trust_file = os.path.join(folder, "trust")

    def group(self, cases, jobs):
        """Returns the Results of bundles that share a trust file and options, from one process."""
        names = []
        for case in cases:
            names.append(os.path.join(self._folder, "%d.bundle" % case.number))
            with open(names[-1], "wb") as file:
                file.write(case.data)
        self._write_trust(cases[0])
        done = self._run(["verify", "--from0", "--jobs", str(jobs)] + _arguments(cases[0], self._trust_file),
                         b"".join(name.encode() + b"\0" for name in names))
        for name in names:
            os.remove(name)
        lines = done.stdout.splitlines()
        if len(lines) != len(cases):
            raise RuntimeError("%d reports on %d bundles; %s" % (len(lines), len(cases), done.stderr[-2000:].decode()))
        reports = [json.loads(line) for line in lines]
        if [report["file"] for report in reports] != names:
            raise RuntimeError("the reports are in another order than the bundles")
        return [from_report(report) for report in reports]

    def one(self, case):
        """Judges a case in a separate process and returns the Result."""
        self._write_trust(case)
        given, rebuilt = os.path.join(self._folder, "given"), os.path.join(self._folder, "rebuilt")
        name = "-"
        if not case.is_piped:
            with open(given, "wb") as file:
                file.write(case.data)
            name = given
        arguments = ["from-body", name, "-o", rebuilt] if case.is_body else ["verify", name]
        done = self._run(arguments + _arguments(case, self._trust_file), case.data if case.is_piped else b"")
        data = None
        if os.path.exists(rebuilt):
            with open(rebuilt, "rb") as file:
                data = file.read()
            os.remove(rebuilt)
        if done.returncode == TRUST_FILE_EXIT and not done.stdout:  # it reports on no bundle if the trust file is broken
            return Result(TRUST_FILE_EXIT, [CODES["T0"]], {})
        if not done.stdout:
            return Result(done.returncode, ["no report: " + done.stderr[-500:].decode()], {})
        result = from_report(json.loads(done.stdout), data)
        if result.exit_code != done.returncode:
            result.codes.append("exit code %d" % done.returncode)
        return result

    def _write_trust(self, case):
        with open(self._trust_file, "wb") as file:
            file.write(case.trust)

    def _run(self, arguments, data):
        return subprocess.run([self._binary] + arguments,
                              input=data,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE,
                              check=False)


def differ(case, swift, python):
    """Whether two results disagree. Where several rules of the manifest are broken, each reader chooses one."""
    if swift.exit_code != python.exit_code:
        return True
    if swift.codes != python.codes:
        return not _is_choice(case, swift, python)
    return python.exit_code in (0, 1, 3, 4) and swift.facts != python.facts


def _is_choice(case, swift, python):
    mine, other = set(python.codes) - set(swift.codes), set(swift.codes) - set(python.codes)
    if len(mine) != 1 or len(other) != 1 or not all(code.startswith("manifest.") for code in mine | other):
        return False
    return other.pop() in manifest.broken_rules(manifest_of(case))


def manifest_of(case):
    """Returns the bytes that a reader takes as the manifest."""
    if case.is_body:
        bundle = upload_reader.Bundle(io.BytesIO(case.data))
        stream = verifier.Reader(bundle)
    else:
        stream = verifier.Reader(io.BytesIO(case.data))
    stream.read_magic()
    return b"".join(stream.chunks(*stream.next_header()))
