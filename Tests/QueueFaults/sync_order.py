"""Checks the order of system calls, which decides what a power cut may leave (Spec/queue.md section 7).

A test cannot cut the power, so this compares syncs: bytes before names, names before rows, rows before the printed id;
and the decision to delete before the deletion, and the deletion before its end is recorded.
"""
import re

from Kit.disks import OVERLAY, mounted
from Kit.outcomes import Failed, expect
from QueueFaults.kill_prune import Prune
from QueueFaults.kill_push import Moved, Push
from Kit.tracing import require_strace, strace

TRACED = "trace=fsync,fdatasync,linkat,link,renameat,renameat2,rename,unlink,unlinkat,write,pwrite64,mkdir,mkdirat"


def traced(scene):
    """Runs the scene under strace; returns the rig and the calls as lines that contain the paths of descriptors."""
    require_strace()
    rig = scene.rig()
    log = rig.folder / "trace"
    result = scene.run(rig, strace("-y", "-s", "200", "-e", TRACED, log=log))
    result.must(0, about="the traced run")
    return rig, [line.partition(" ")[2].strip() for line in log.read_text(errors="replace").splitlines()]


def first(lines, pattern, start, what):
    """Returns the index after the first line from `start` on that matches."""
    for place in range(start, len(lines)):
        if re.match(pattern, lines[place]):
            return place + 1
    raise Failed(f"no {what}, or not in this order")


SYNC = r"(fsync|fdatasync)\("
LOG = SYNC + r"\d+<[^>]*queue\.sqlite-wal>"


def pushed(scene):
    rig, lines = traced(scene)
    printed = first(lines, r"write\(1<", 0, "writing of the id") - 1
    for bundle in scene.new:
        for ending in ("bundle", "json"):
            name = f"{bundle.sha256}.{ending}"
            naming = first(lines, rf"(link|rename)\w*\(.*{name}\"", 0, f"naming of the .{ending}") - 1
            # Nameless files are linked by their descriptor; others are synced under their name in incoming/.
            number = re.search(r"/proc/self/fd/(\d+)", lines[naming])
            what = rf"{SYNC}{number[1]}<" if number else rf"{SYNC}\d+<[^>]*incoming/"
            expect(any(re.match(what, line) for line in lines[:naming]), f"the .{ending} gets its name before its sync")
            shard = rf"{SYNC}\d+<[^>]*/spool/{bundle.sha256[:2]}>"
            step = first(lines, shard, naming, f"sync of the folder after the naming of the .{ending}")
            step = first(lines, LOG, step, f"sync of the row after that of the .{ending}")
            expect(step <= printed, f"the id is printed before the row of the .{ending} is on the disk")
        step = first(lines, rf"mkdir\w*\(.*\"{bundle.sha256[:2]}\"", 0, "making of the shard")
        step = first(lines, rf"{SYNC}\d+<[^>]*/spool>", step, "sync of the spool with its new shard")
        expect(step <= printed, "the id is printed before the spool is synced")
    last = max(place for place, line in enumerate(lines) if re.match(LOG, line) and place < printed)
    later = [line for line in lines[last:printed] if re.match(r"(pwrite64|write)\(\d+<[^>]*queue\.sqlite", line)]
    expect(not later, f"something is written to the database between its last sync and the id: {later[:1]}")
    return rig, lines, last


def bytes_names_rows_id(bench):
    pushed(Push(bench))


def source_goes_last(bench):
    scene = Moved(bench)
    _, lines, last = pushed(scene)
    for bundle in scene.new:
        gone = first(lines, rf"unlink\w*\(.*{bundle.path.name}\"", 0, "unlinking of the source") - 1
        expect(gone > last, "a source is unlinked before its row is on the disk")


def decided_before_deleted(bench):
    scene = Prune(bench)
    _, lines = traced(scene)
    unlinks = {}
    for bundle in scene.going:
        place = first(lines, rf"unlink\w*\(.*{bundle.sha256}\.bundle\"", 0, "unlinking of a bundle") - 1
        unlinks[bundle] = place
        decided = any(re.match(LOG, line) for line in lines[:place])
        expect(decided, "a bundle is unlinked before the decision is on the disk")
    for bundle, place in unlinks.items():
        shard = rf"{SYNC}\d+<[^>]*/spool/{bundle.sha256[:2]}>"
        step = first(lines, shard, place, "sync of the shard after the unlinking")
        first(lines, LOG, step, "sync of `removed` after that of the shard")


def names(lines):
    """Yields (place, name, pattern) of each name that a file gets: the pattern matches a sync of that file."""
    nameless = {}  # the descriptors of files without a name, by the names that they got
    for place, line in enumerate(lines):
        if linked := re.match(r'linkat\(AT_FDCWD\S*, "/proc/self/fd/(\d+)", \d+<[^>]*>, "([^"]*)"', line):
            nameless[linked[2]] = linked[1]
            yield place, linked[2], rf"{SYNC}{linked[1]}<"
        elif renamed := re.match(r'rename\w*\(.*"(?:[^"]*/)?([^"/]*)", .*"(?:[^"]*/)?([^"/]*)"(?:, \w+)?\)', line):
            number = nameless.get(renamed[1])
            yield place, renamed[2], rf"{SYNC}{number}<" if number else rf"{SYNC}\d+<[^>]*/{re.escape(renamed[2])}>"


def work(rig, tool, capbundle):
    """The commands that publish a file on which a promise rests, by what they publish."""
    disk, backup, bundle = rig.out / "disk", rig.out / "backup", rig.out / "x.bundle"
    return [
        (capbundle, "key", "new", "--key", rig.out / "a.key"),
        (capbundle, "trust", "add", "a", rig.out / "a.key.pub", "--trust", rig.out / "trusted"),
        (capbundle, "pack", rig.raw, "-o", bundle, "--key", rig.out / "a.key"),
        (capbundle, "pack", rig.raw, "-o", rig.out / "y.bundle", "--key", rig.out / "a.key", "--chain"),
        (capbundle, "redact", bundle, "--withhold", "location.json", "-o", rig.out / "less.bundle"),
        (capbundle, "extract", bundle, "-o", rig.out / "parts"),
        (tool, "dest", "add", "disk", "--kind", "folder", "--path", disk), (tool, "push", bundle),
        (tool, "run", "--until-empty"), (tool, "backup", backup),
    ]


def synced_again(bench):
    """Where nobody knows whether a file keeps its name, it is synced again under it, before the folder."""
    require_strace()
    rig = bench.rig()
    missing = []
    with mounted(rig, rig.folder / "disk", OVERLAY) as place:
        rig.out, rig.queue = place.place / "out", place.place / "queue"
        place.shell('mkdir "$0/out"').must(0)
        inside = place.inside / "out"
        rig.env["CAPQUEUE_DIR"] = str(rig.queue)
        for folder in ("disk", "backup", "parts"):
            (inside / folder).mkdir()
        for words in work(rig, rig.bench.capqueue, rig.bench.binary):
            log = rig.folder / "trace"
            trace = strace("-y", "-s", "200", "-e", TRACED, log=log)
            done = rig.call(*place.prefix, *trace, *words)
            done.must(0, 3, about=" ".join(map(str, words[:3])))
            lines = [line.partition(" ")[2].strip() for line in log.read_text(errors="replace").splitlines()]
            for start, name, sync in names(lines):
                if name == "run.json" or name.endswith(".tmp") and "chain" not in str(words):
                    continue
                step = next((at for at in range(start, len(lines)) if re.match(sync, lines[at])), None)
                folder = step and next((at for at in range(step, len(lines)) if re.match(SYNC, lines[at])), None)
                if not folder:
                    missing.append(f"{words[1]} {name}")
    expect(not missing, f"not synced again under its name: {missing}")


TESTS = [("a power cut finds bytes before names, names before rows, rows before the id", bytes_names_rows_id),
         ("with --move a power cut leaves the row or the source", source_goes_last),
         ("a power cut finds the decision to delete before the deletion", decided_before_deleted),
         ("every published file is synced again under its name, before its folder", synced_again)]
