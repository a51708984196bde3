"""Verification step by step (section 11), over a stream that is read once."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from typing import Any

from . import assertion, depth, exif, location, manifest, metadata, trust
from .container import Reader, Stream, is_payload_path
from .faults import CLASS_OF_CODE, POSITION_WARNING, Fault, worst
from .state import State

_KEPT = {"metadata.json": manifest.METADATA_LIMIT, "location.json": manifest.LOCATION_SIZE, "photo.jpg": exif.SEARCHED}
REQUIREMENTS = manifest.ROLES + ("chain", "exif", "fresh", "plausible")


def is_requirement(role: str) -> bool:
    """Whether the user can require this: a role, or the path of an entry."""
    return role in REQUIREMENTS + ("depth.f32",) or is_payload_path(role)


class Report:
    """The findings in one bundle."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.warnings: list[tuple[str, str]] = []  # (code, detail)
        self.withheld: list[str] = []
        self.manifest: manifest.Manifest | None = None
        self.trusted_as: str | None = None
        self.counter: int | None = None
        self.seen_before: bool | None = None  # section 11.2; None if no state decided
        self.contents: dict[str, bytes] = {}  # of entries, by their paths: what section 11.1 needs, or of all entries
        self.keeps_all = False
        self.surveys_depth = self.is_plausible = False  # section 5.2

    @property
    def codes(self) -> list[str]:
        return sorted({fault.code for fault in self.faults})

    @property
    def exit_code(self) -> int:
        return worst(CLASS_OF_CODE[code] for code in self.codes)


def verify(stream: Stream, trust_lines: Iterable[trust.Line] = (), allow_withheld: bool = False,
           require: Collection[str] = (), state: State | None = None, keeps_all: bool = False) -> Report:
    """Returns the Report of a bundle, with the bytes of all entries if `keeps_all`. It only calls read() of the stream."""
    report = Report()
    report.keeps_all = keeps_all
    report.surveys_depth = "plausible" in require
    try:
        sound, rp_id_hash, present = _read(Reader(stream), report)
    except Fault as fault:  # a fault of the container or the manifest ends the verification
        report.faults.append(fault)
        return report
    if report.faults:
        return report
    report.trusted_as, refusals = trust.judge(trust_lines, sound.point, rp_id_hash, sound.captured_at)
    report.faults.extend(refusals)
    if report.withheld and not allow_withheld:
        report.faults.append(Fault("R1", ", ".join(report.withheld)))
    _compare_exif(report, present, "exif" in require)
    for role in require:
        if role == "fresh":
            if not state:
                report.faults.append(Fault("R2", "fresh, without a state"))
        elif not (report.is_plausible if role == "plausible" else role in present):
            report.faults.append(Fault("R2", role))
    if state and not report.faults:
        _compare_counter(state, sound, report, "fresh" in require)
    return report


def _compare_exif(report: Report, present: set[str], is_required: bool) -> None:
    """Does section 11.1; a photo with EXIF is then one of those parts that are present."""
    tiff, frame, _ = exif.header(report.contents.get("photo.jpg", b""))
    if tiff is None:
        return
    present.add("exif")
    found = exif.judge(tiff, frame, report.contents["metadata.json"], report.contents.get("location.json"))
    if is_required:
        report.faults.extend(found)
    else:
        report.warnings.extend((fault.code, fault.detail) for fault in found)
    if "location.json" in report.withheld and tiff.position:
        report.warnings.append((exif.WITHHELD_WARNING, "the photo tells the withheld position"))


def _compare_counter(state: State, sound: manifest.Manifest, report: Report, fresh: bool) -> None:
    """Does step 7."""
    try:
        seen = state.judge(sound.key_id, report.counter or 0, hashlib.sha256(sound.data).digest())
    except Fault as fault:
        report.faults.append(fault)
        return
    report.seen_before = seen
    if seen and fresh:
        report.faults.append(Fault("R2", "fresh, but this bundle was seen before"))


def _read(reader: Reader, report: Report) -> tuple[manifest.Manifest, bytes | None, set[str]]:
    """Does steps 1 to 5; returns (manifest, rpIdHash, the roles and paths that --require may name)."""
    listed, signed = reader.read_head()
    sound = report.manifest = manifest.judge(listed)
    faults, rp_id_hash = assertion.judge(signed, sound.data, sound.point)
    report.faults.extend(faults)
    report.counter = None if faults else assertion.counter(signed)

    present = {"chain"} if sound.chain else set()
    waiting = list(reversed(sound.entries))
    while found := reader.next_header():
        path, size = found
        entry = _match(path, size, waiting, report)
        _read_entry(reader, entry, sound, report)
        present.update((entry["role"], path))
        if path == "depth.f32.gz":
            present.add("depth.f32")
    reader.read_end()
    while waiting:
        _pass_over(waiting.pop(), report)
    return sound, rp_id_hash, present


def _match(path: str, size: int, waiting: list[dict[str, Any]], report: Report) -> dict[str, Any]:
    """Checks C12 to C14 for a payload header; returns its manifest entry."""
    passed = []
    while waiting and waiting[-1]["path"] < path:
        passed.append(waiting.pop())
    if not waiting or waiting[-1]["path"] != path:
        raise Fault("C12", path)
    entry = waiting.pop()
    if entry["size"] != size:
        raise Fault("C13", "%s of %d bytes, manifest %d" % (path, size, entry["size"]))
    for other in passed:
        _pass_over(other, report)
    return entry


def _pass_over(entry: dict[str, Any], report: Report) -> None:
    if "withholdable" not in entry:
        raise Fault("C14", entry["path"])
    report.withheld.append(entry["path"])


def _read_entry(reader: Reader, entry: dict[str, Any], sound: manifest.Manifest, report: Report) -> None:
    """Does step 4 for one entry."""
    path = entry["path"]
    digest = hashlib.sha256()
    floats = depth.DepthCheck(sound.depth, report.surveys_depth) if path == "depth.f32.gz" else None
    room = entry["size"] if report.keeps_all else _KEPT.get(path, 0)
    kept = []
    for data in reader.chunks(path, entry["size"]):
        digest.update(data)
        if floats:
            floats.update(data)
        if room > 0:
            kept.append(data)
            room -= len(data)
            if path == "photo.jpg" and not report.keeps_all and not exif.header(b"".join(kept))[2]:
                room = 0
    if digest.hexdigest() != entry["sha256"]:
        report.faults.append(Fault("P1", "%s is %s" % (path, digest.hexdigest())))
        return
    if report.keeps_all or path in _KEPT:
        report.contents[path] = b"".join(kept)
    if floats:
        fault = floats.fault()
        report.faults.extend([fault] if fault else [])
        report.is_plausible = floats.is_plausible
    elif path == "metadata.json":
        faults, positions = metadata.judge(report.contents[path], sound)
        report.faults.extend(faults)
        report.warnings.extend((POSITION_WARNING, name[:100]) for name in positions[:16])
    elif path == "location.json":
        report.faults.extend(location.judge(report.contents[path]))
