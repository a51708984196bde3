"""How often a push flushes the disk, which is what it costs on a disk that is slow to flush; and what a flush covers."""
import json

from Kit.outcomes import every, expect, long
from PowerCut.blocks import Flush, Log, Write
from PowerCut.filesystems import FILE_SYSTEMS
from PowerCut.recording import Machine
from PowerCut.workload import KEY, SETTINGS

GROUP = 100
# The most flushes of a push of one bundle. On ext4 and XFS they are those of release 1.0, because a second sync of the
# file is not needed there. On F2FS a sync of the folder follows each change of the database (Spec/queue.md section 7.2).
LIMITS = {"ext4": 12, "XFS": 13, "btrfs": 16, "F2FS": 17}
RAWS = ("for n in $(seq 1000 {}); do cp -r /raw/small /tmp/raw$n; printf 0000$n | dd of=/tmp/raw$n/photo.jpg bs=1 seek=200 "
        "conv=notrunc 2>/dev/null; done; ")


def few(bench):
    every(LIMITS, lambda name, limit: counted(bench, name, limit))


def counted(bench, name, limit):
    with bench.machine([FILE_SYSTEMS[name]]) as (guest, disks):
        machine = Machine(guest, disks, [FILE_SYSTEMS[name]], None)
        expect(machine.mount() is None, "a new file system cannot be mounted")
        machine.shell.must(f"mkdir /mnt/h; {SETTINGS}capbundle key new; capqueue init; capqueue config free-floor none; "
                           f"{RAWS.format(1001 + GROUP)}capbundle pack /tmp/raw* --out-dir /mnt/b; sync")
        names = machine.shell.must("ls -d /mnt/b/*.bundle").split()
        expect(len(names) == GROUP + 2, f"{len(names)} bundles were packed")

        def flushes(*pushed):
            disks[0].log = log = Log()
            machine.shell.must(f"{SETTINGS}capqueue push {' '.join(pushed)}")
            return sum(isinstance(entry, Flush) for entry in log)
        flushes(names[0])  # the first push makes files that stay
        one, group = flushes(names[1]), flushes(*names[2:])
    print(f"     {name}: {one} flushes for a push of one bundle, {group} for {GROUP}", flush=True)
    expect(one <= limit, f"{one} flushes for a push of one bundle, at most {limit} expected")


def after_a_checkpoint(bench):
    """The first sync of F2FS after a checkpoint flushes the disk before the inode is written."""
    system = FILE_SYSTEMS["F2FS"]
    with bench.machine([system]) as (guest, disks):
        machine = Machine(guest, disks, [system], None)
        expect(machine.mount() is None, "a new file system cannot be mounted")
        machine.shell.must(f"mkdir /mnt/h; {SETTINGS}capbundle key new; capbundle trust add rig {KEY}.pub; "
                           f"{RAWS.format(1021)}capbundle pack /tmp/raw* --out-dir /mnt/b")
        for name in machine.shell.must("ls -d /mnt/b/*.bundle").split():
            machine.shell.must("sync")
            disks[0].log = log = Log()
            code, report = machine.shell(
                f"{SETTINGS}capbundle verify --state /mnt/seen --require fresh --json {name} 2>/dev/null")
            record = bytes.fromhex(json.loads(report)["bundle"]["manifest_sha256"])
            entries = list(enumerate(log))
            flushed = max((place for place, entry in entries if isinstance(entry, Flush)), default=-1)
            expect(any(isinstance(entry, Write) and record in entry.data and entry.answered <= flushed
                       for _, entry in entries), f"{name}: exit {code}, and no flush covers its record: {len(entries)} entries")


TESTS = [("a push flushes no more often than it has to", long(few)),
         ("what F2FS syncs first after a checkpoint is on the disk", long(after_a_checkpoint))]
