"""folder: copies that a power cut left half written, and receipts of release 1.0, which did not sync a copy under its name."""
import contextlib
import fcntl
import json
import shutil
import sqlite3
import subprocess
import tarfile

from Kit.disks import mounted, small, without_nameless_files
from Kit.outcomes import ROOT, expect
from Kit.tracing import require_strace, strace
from QueueFaults.wrong_clocks import faked

NEWER = ROOT / "Spec/Vectors/container/container_version_2"
RELEASED = ROOT / "Tests/Data/1.0/queue.tar.gz"
EXT2 = 'truncate -s 8M "$0.img" && mkfs.ext2 -q "$0.img" && mount -o loop "$0.img" "$0"'


def vector(path):
    """The bytes of a vector, without its header."""
    return path.read_bytes().partition(b"\n\n")[2]


def later(rig, code=15):
    """Runs until everything is sent, by a clock that is two minutes ahead, which status then names."""
    rig.env["NO_FAKE_STAT"] = "1"  # the times of files stay as they are
    with faked(rig, "+2m"):
        rig.send("--until-empty", code=code)


def torn_copies(bench):
    """What a power cut can leave under the name of a copy is set aside, once it has not changed for a minute."""
    rig = bench.rig()
    disk = rig.to_folder()
    left = dict(zip(bench.bundles(4), (b"", bytes(5000), None, b"\xff" * 700)))
    rig.push(*left)
    for bundle, data in left.items():
        (disk / f"{bundle.id}.bundle").write_bytes(bundle.data[:4000] if data is None else data)
    rig.send("--once", code=15)
    for bundle in left:
        row = rig.delivery(bundle)
        expect((row.state, row.error_code) == ("failed", "folder.unsettled"), f"{row.state} {row.error_code}")
    later(rig)
    for bundle, data in left.items():
        kept = (disk / f"{bundle.id}.bundle.damaged").read_bytes()
        expect(kept == (bundle.data[:4000] if data is None else data), "other bytes were set aside")
        expect((disk / f"{bundle.id}.bundle").read_bytes() == bundle.data, "the copy has other bytes")
        expect(rig.receipt(bundle)["name_synced"] is True, "the receipt does not say name_synced")


def foreign_bundles(bench):
    """A sound bundle and one of a later version are never set aside."""
    rig = bench.rig()
    disk = rig.to_folder()
    one, two, other = bench.bundles(3)
    there = {one: other.data, two: vector(NEWER)}
    rig.push(*there)
    for bundle, data in there.items():
        (disk / f"{bundle.id}.bundle").write_bytes(data)
    later(rig, 14)
    for bundle, data in there.items():
        expect(rig.delivery(bundle).state == "conflict", f"is {rig.delivery(bundle).state}")
        expect((disk / f"{bundle.id}.bundle").read_bytes() == data, "the other file was changed")


def taken_away(bench):
    """A reader takes the copy before its name is opened once more: completed, and the receipt says so."""
    require_strace()
    rig, bundle = bench.rig(), bench.bundles(1)[0]
    disk = rig.to_folder()
    rig.push(bundle)
    # A pause before each sync, and so also between the name and the look at it.
    slow = strace("-e", "trace=fsync", "-e", "inject=fsync:delay_enter=200000")
    taker = subprocess.Popen(["sh", "-c", 'while ! mv "$0"/*.bundle "$0/taken" 2>/dev/null; do :; done', disk])
    try:
        rig.run("run", "--until-empty", prefix=slow, seconds=60).must(0, about="run")
    finally:
        taker.kill()
        taker.wait()
    expect((disk / "taken").read_bytes() == bundle.data, "the taken copy has other bytes")
    expect("gone" in rig.receipt(bundle)["note"], f"no note: {rig.receipt(bundle)}")


def as_released(rig):
    """Moves the rows of the rig's database into the schema of release 1.0.0, as that release wrote it."""
    with tarfile.open(RELEASED) as archive:
        archive.extract("queue/queue.sqlite", rig.folder, filter="data")
    old, new = rig.queue / "queue.sqlite", rig.folder / "queue/queue.sqlite"
    with contextlib.closing(sqlite3.connect(new)) as database:
        database.execute("PRAGMA foreign_keys = OFF")
        database.execute("ATTACH ? AS today", (str(old),))
        triggers = database.execute("SELECT name, sql FROM main.sqlite_master WHERE type = 'trigger'").fetchall()
        tables = database.execute("SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
                                  "AND name <> 'grdb_migrations'").fetchall()
        for name, _ in triggers:
            database.execute(f"DROP TRIGGER main.{name}")
        for (table,) in tables:
            old_names, names = ([row[1] for row in database.execute(f"PRAGMA {schema}.table_info({table})")]
                                for schema in ("main", "today"))
            columns = ", ".join(name for name in old_names if name in names)
            database.execute(f"DELETE FROM main.{table}")
            database.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM today.{table}")
        for _, statement in triggers:
            database.execute(statement)
        database.execute("UPDATE deliveries SET receipt = json_remove(receipt, '$.name_synced') WHERE json_valid(receipt)")
        database.commit()
    for ending in ("-wal", "-shm"):
        old.with_name(old.name + ending).unlink(missing_ok=True)
    new.chmod(0o600)
    shutil.copy2(new, old)


def old_queue(rig, disk, bundles):
    """Makes the queue that release 1.0.0 would have left after it delivered these bundles to `disk`."""
    rig.push(*bundles)
    rig.send("--until-empty", code=0)
    as_released(rig)
    return [disk / f"{bundle.id}.bundle" for bundle in bundles]


def concerns(rig, *how):
    return {entry["code"]: entry["count"] for entry in json.loads(rig.run("status", "--json", *how).out)["concerns"]}


def old_receipts(bench):
    """prune keeps what 1.0 sent to a folder, until a run has read the copies; wrong copies are kept and named."""
    rig, bundles = bench.rig(), bench.bundles(3)
    disk = rig.to_folder()
    right, wrong, gone = old_queue(rig, disk, bundles)
    wrong.write_bytes(bytes(len(bundles[1].data)))
    gone.unlink()
    marked = bench.bundles(1, start=3)[0]
    rig.push(marked)
    rig.uploaded(marked)
    expect(rig.prune("--older-than", "0s") == [marked.id], "prune deletes what nobody has looked at, or keeps the user's word")
    away = disk.with_name("away")
    disk.rename(away)  # as if its disk were not mounted
    rig.send("--once", code=0)
    expect(rig.prune("--older-than", "0s") == [], "prune deletes what is not mounted")
    away.rename(disk)
    rig.send("--once", code=15)
    found = concerns(rig)
    expect(found.get("copies.wrong") == 1, f"concerns: {found}")
    rig.run("status", "--check").must(15, about="status --check")
    expect("name_synced" in rig.receipt(bundles[0]), "the receipt of the right copy is not new")
    # Where 1.0 lost no name, such as on ext4, somebody has taken the copy that is gone.
    expected = {bundles[0].id} if "copies.absent" in found else {bundles[0].id, bundles[2].id}
    expect(set(rig.prune("--older-than", "0s")) == expected, "prune keeps what is right, or deletes what is not")
    rig.run("check", "--remote").must(15, about="check --remote")
    later(rig)
    expect(wrong.read_bytes() == bundles[1].data, "the wrong copy was not replaced")
    expect("copies.wrong" not in concerns(rig), "still a concern")
    expect(rig.prune("--older-than", "0s", "--accept-clock") == [bundles[1].id], "prune keeps it")


def old_receipts_elsewhere(bench):
    """A copy of 1.0 that is not on its disk, which may have lost it: kept until its owner says that it was moved."""
    rig, bundles = bench.rig(), bench.bundles(2)
    folder = rig.folder / "disk"
    with mounted(rig, folder, small("4m")) as place:
        rig.before = place.prefix
        rig.run("dest", "add", "disk", "--kind", "folder", "--path", folder).must(0, about="dest add")
        old_queue(rig, place.inside, bundles)
        for file in place.inside.glob("*.bundle"):
            file.unlink()
        rig.send("--once", code=15)
        expect(concerns(rig).get("copies.absent") == 2, f"concerns: {concerns(rig)}")
        expect(rig.prune("--older-than", "0s") == [], "prune deletes what may be lost")
        told = rig.run("status", "--check").must(15, about="status --check")
        expect(b"prune --accept-absent" in told.out and b"check --remote" in told.out, f"status says {told.out!r}")
        kept = set(rig.prune("--older-than", "0s", "--accept-absent"))
        expect(kept == {bundle.id for bundle in bundles}, "--accept-absent deletes nothing")


def copies_in_doubt(rig, disk, mount, bundles):
    """Makes an old queue whose copies are gone from the disk `mount`, and lets a run look."""
    rig.run("dest", "add", "disk", "--kind", "folder", "--path", disk).must(0, about="dest add")
    old_queue(rig, mount.inside, bundles)
    kept = {file: file.read_bytes() for file in mount.inside.glob("*.bundle")}
    for file in kept:
        file.unlink()
    rig.send("--once", code=15)
    expect(concerns(rig).get("copies.absent") == len(bundles), f"concerns: {concerns(rig)}")
    return kept


def old_receipts_without_journal(bench):
    """ext2 has the number of ext4, but can lose a name."""
    rig, disk = bench.rig(), bench.rig().folder / "disk"
    with mounted(rig, disk, EXT2) as mount:
        rig.before = mount.prefix
        copies_in_doubt(rig, disk, mount, bench.bundles(1))
        expect(rig.prune("--older-than", "0s") == [], "prune deletes what may be lost")


def put_back(bench):
    """check --remote ends doubt about copies that are back in their folder."""
    rig, disk = bench.rig(), bench.rig().folder / "disk"
    with mounted(rig, disk, small("4m")) as mount:
        rig.before = mount.prefix
        bundles = bench.bundles(2)
        for file, data in copies_in_doubt(rig, disk, mount, bundles).items():
            file.write_bytes(data)
        rig.run("check", "--remote", "--dry-run").must(0, about="check --remote --dry-run")
        expect("copies.absent" in concerns(rig), "a dry run changes something")
        rig.run("check", "--remote").must(0, about="check --remote")
        rig.run("status", "--check").must(0, about="status --check")
        expect("name_synced" in rig.receipt(bundles[0]), "the receipt is not new")
        expect(set(rig.prune("--older-than", "0s")) == {bundle.id for bundle in bundles}, "prune keeps what is right")


def two_queues(bench):
    """Another queue reads back what it wrote, which takes it more than a minute: its hidden file stays."""
    rig, bundle = bench.rig(), bench.bundles(1)[0]
    disk = rig.to_folder()
    rig.push(bundle)
    hidden = disk / f".{bundle.id}.bundle.new.tmp"
    with open(hidden, "wb") as other:
        other.write(b"another queue")
        other.flush()
        fcntl.flock(other, fcntl.LOCK_EX)
        rig.before = without_nameless_files()
        later(rig)
        expect(hidden.exists() and hidden.read_bytes() == b"another queue", "the file of another queue is removed")
    expect((disk / f"{bundle.id}.bundle").read_bytes() == bundle.data, "the copy has other bytes")


def counted_once(bench):
    """prune names the captures whose copies of 1.0 it has not seen, and not their copies."""
    rig, bundles = bench.rig(), bench.bundles(2)
    rig.to_folder()
    rig.to_folder("second")
    rig.push(*bundles, options=("--dest", "disk", "--dest", "second"))
    rig.send("--until-empty", code=0)
    as_released(rig)
    told = rig.run("prune", "--older-than", "0s").must(0, about="prune").text
    expect("2 captures of release 1.0 stay" in told, f"prune says {told!r}")


def abandoned(bench):
    """A run that was killed a moment ago left its hidden file, and the next run begins at once."""
    rig, bundle = bench.rig(), bench.bundles(1)[0]
    disk = rig.to_folder()
    rig.push(bundle)
    hidden = disk / f".{bundle.id}.bundle.new.tmp"
    hidden.write_bytes(bundle.data[:9000])
    rig.before = without_nameless_files()
    rig.run("run", "--until-empty").must(0, about="run")
    expect((disk / f"{bundle.id}.bundle").read_bytes() == bundle.data, "the copy has other bytes")
    expect(not hidden.exists(), "the hidden file stays for ever")


TESTS = [
    ("what a power cut left of a copy is set aside, and the copy is made again", torn_copies),
    ("a sound bundle, or one of a later version, under the name of a copy is a conflict", foreign_bundles),
    ("a copy that a reader takes at once is completed, with a note", taken_away),
    ("receipts of 1.0: nothing is pruned before a run has read the copies", old_receipts),
    ("receipts of 1.0: a copy that its disk may have lost", old_receipts_elsewhere),
    ("receipts of 1.0: a copy that ext2 may have lost", old_receipts_without_journal),
    ("receipts of 1.0: check --remote ends doubt about copies that are back", put_back),
    ("two queues that write the same copy at the same time", two_queues),
    ("receipts of 1.0: a capture in two folders is one", counted_once),
    ("what a run left that was killed a moment ago is removed", abandoned),
]
