"""Lets the Swift tool and the Python implementation judge cases, and compares their results."""
import dataclasses
import hashlib
import io
import json
import pathlib
import subprocess

from bundle import upload_reader
from capbundle.format import manifest, trust, verifier
from capbundle.format.faults import CODES, TRUST_FILE_EXIT, Fault


@dataclasses.dataclass
class Result:
    """The answer of a judge to a case. Two judges agree if their results are equal."""

    exit_code: int
    codes: list
    facts: dict  # what else both report: id, key, time, withheld entries, warnings, the bundle of a body

    def __str__(self):
        return f"{self.exit_code} {','.join(self.codes) or '-'}"


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
    found, facts = report.manifest, {}
    if found:
        facts = {"id": found.id, "captured_at": found.captured_at, "key_id": found.key_id,
                 "withheld": sorted(report.withheld), "warnings": sorted({code for code, _ in report.warnings})}
    return Result(report.exit_code, report.codes, facts | _digest(rebuilt))


def from_report(found, rebuilt=None):
    """Returns the Result in a line of capbundle's JSON."""
    facts = {}
    if "bundle" in found:
        facts = {"id": found["bundle"]["id"], "captured_at": found["bundle"]["captured_at"],
                 "key_id": found["device"]["key_id"],
                 "withheld": sorted(one["path"] for one in found["entries"] if one["status"] == "withheld"),
                 "warnings": sorted({one["code"] for one in found["warnings"]
                                     if one["code"] == "metadata.position" or one["code"].startswith("exif.")})}
    codes = sorted({fault["code"] for fault in found.get("faults", ())})
    return Result(found["exit_code"], codes, facts | _digest(rebuilt))


def _digest(rebuilt):
    return {} if rebuilt is None else {"bundle": hashlib.sha256(rebuilt).hexdigest()}


class Swift:
    """Runs the Swift tool in a folder of its own."""

    def __init__(self, binary, folder):
        self._binary, self._folder = binary, pathlib.Path(folder)

    def group(self, cases, jobs):
        """Returns the Results of bundles that share a trust file and options, from one process."""
        paths = [self._folder / f"{case.number}.bundle" for case in cases]
        for case, path in zip(cases, paths):
            path.write_bytes(case.data)
        names = b"".join(b"%s\0" % bytes(path) for path in paths)
        done = self._run(cases[0], ["verify", "--from0", "--jobs", str(jobs)], names)
        for path in paths:
            path.unlink()
        reports = [json.loads(line) for line in done.stdout.splitlines()]
        if [report["file"] for report in reports] != [str(path) for path in paths]:
            raise RuntimeError(f"{len(reports)} reports on {len(cases)} bundles, or in disorder; {done.stderr[-900:]}")
        return [from_report(report) for report in reports]

    def one(self, case):
        """Judges a case in a separate process and returns the Result."""
        given, rebuilt = self._folder / "given", self._folder / "rebuilt"
        given.write_bytes(case.data)
        name = "-" if case.is_piped else str(given)
        done = self._run(case, ["from-body", name, "-o", str(rebuilt)] if case.is_body else ["verify", name],
                         case.data if case.is_piped else b"")
        data = rebuilt.read_bytes() if rebuilt.exists() else None
        rebuilt.unlink(missing_ok=True)
        if done.returncode == TRUST_FILE_EXIT and not done.stdout:
            # The trust file is broken, so capbundle verifies no bundle and prints no report.
            return Result(TRUST_FILE_EXIT, [CODES["T0"]], {})
        if not done.stdout:
            return Result(done.returncode, [f"no report: {done.stderr[-500:].decode()}"], {})
        result = from_report(json.loads(done.stdout), data)
        if result.exit_code != done.returncode:
            result.codes.append(f"exit code {done.returncode}")
        return result

    def _run(self, case, words, data):
        """Runs the tool with the trust file and the options of a case."""
        trusted = self._folder / "trust"
        trusted.write_bytes(case.trust)
        return subprocess.run([self._binary, *words, "--json", "--trust", trusted, *case.options], input=data,
                              capture_output=True, check=False)


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
    stream = io.BytesIO(case.data)
    stream = verifier.Reader(upload_reader.Bundle(stream) if case.is_body else stream)
    stream.read_magic()
    return b"".join(stream.chunks(*stream.next_header()))
