"""Checks the order of system calls, which decides what a power cut may leave (Spec/queue.md section 7).

A test cannot cut the power, so this compares syncs: bytes before names, names before rows, rows before the printed id;
and the decision to delete before the deletion, and the deletion before its end is recorded.
"""
import re

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


TESTS = [("a power cut finds bytes before names, names before rows, rows before the id", bytes_names_rows_id),
         ("with --move a power cut leaves the row or the source", source_goes_last),
         ("a power cut finds the decision to delete before the deletion", decided_before_deleted)]
