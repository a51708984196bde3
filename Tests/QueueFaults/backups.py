"""`backup` and `restore`: a backup is whole or the earlier one, whatever happens while it is made."""
import contextlib
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import tarfile
import time

from Kit.disks import FULL, mounted, small
from Kit.invariants import check_says, findings, holds, refused
from Kit.kills import KILLED, Scene, killed_everywhere
from Kit.outcomes import ROOT, expect
from Kit.queues import QueueRig
from Kit.tracing import require_strace, strace


class Copy:
    """A folder with a backup or a restored queue, for the checks that take a rig."""

    def __init__(self, rig, folder):
        self.rig, self.queue = rig, folder

    def run(self, command, *args, **how):
        return self.rig.run(command, *args, "--queue", self.queue, **how)

    rows, spool_file = QueueRig.rows, QueueRig.spool_file


def backed_up(rig, place=None, code=0):
    """Makes a backup, and returns it with the object that it prints."""
    place = place or rig.out / "backup"
    result = rig.run("backup", place, "--json").must(code, about="backup")
    return Copy(rig, place), json.loads(result.out)


def restored(rig, backup, name="restored"):
    """Copies a backup, and makes a queue of the copy."""
    folder = rig.out / name
    shutil.copytree(backup.queue, folder, copy_function=shutil.copy2)
    queue = Copy(rig, folder)
    queue.run("restore").must(0, about="restore")
    return queue


def whole(backup, *bundles, about):
    """Checks that a backup has these captures and their bytes, and that `check` finds nothing in it."""
    found = check_says(backup, 0, about=f"{about}: check")
    expect(not found, f"{about}: check finds {found}")
    rows = backup.rows(about=about)
    expect(set(rows) == {bundle.id for bundle in bundles}, f"{about}: lists {len(rows)} captures")
    return rows


def over_leftovers(bench):
    """A backup that is copied over a folder with a foreign log: no command lets SQLite apply it. Once the log is moved
    away, restore makes a queue of the backup, and what else is in the spool is a stray."""
    rig, other = bench.rig(), bench.rig()
    rig.push(*bench.stock[:2])
    backup, _ = backed_up(rig)
    other.push(bench.stock[2])
    with contextlib.closing(sqlite3.connect(other.queue / "queue.sqlite")) as database:
        database.execute("SELECT count(*) FROM captures").fetchall()  # so that nobody closes it as the last one
        other.push(bench.stock[3])
        log = (other.queue / "queue.sqlite-wal").read_bytes()
        expect(log, "the other queue has no log")
        shutil.copytree(other.queue, rig.out / "over", copy_function=shutil.copy2)
    folder = rig.out / "over"
    shutil.copytree(backup.queue, folder, copy_function=shutil.copy2, dirs_exist_ok=True)
    (folder / "queue.sqlite-wal").write_bytes(log)
    over = Copy(rig, folder)
    before = {path: path.read_bytes() for path in folder.glob("queue.sqlite*")}
    commands = [["restore"], ["list"], ["status"], ["check", "--repair"], ["salvage", "--force"],
                ["push", bench.stock[4].path]]
    for words in commands:
        said = refused(over.run(*words), 73, about=f"{words[0]} beside a foreign log").text
        expect(f"mv {folder}/queue.sqlite-wal" in said, f"{words[0]} says {said!r}")
    refused(rig.run("backup", folder), 73, about="backup beside a foreign log")
    expect({path: path.read_bytes() for path in folder.glob("queue.sqlite*")} == before, "the database is changed")
    (folder / "queue.sqlite-wal").rename(folder / "queue.sqlite-wal.old")
    over.run("restore").must(0, about="restore without the log")
    holds(over, *bench.stock[:2], rows=over.rows())
    found = check_says(over, 15, about="restored over leftovers")
    expect({finding["kind"] for finding in found} == {"stray"}, f"check finds {found}")


def over_a_journal(bench):
    """A backup that is copied over a folder in which `init` was killed: SQLite does not take the backup back to what the
    journal says."""
    require_strace()
    rig = bench.rig()
    rig.push(*bench.stock[:2])
    backup, _ = backed_up(rig)
    folder = rig.out / "over"
    rig.run("init", "--queue", folder, prefix=strace("-e", "trace=unlink", "-e", "inject=unlink:signal=KILL:when=2")).must(*KILLED)
    expect((folder / "queue.sqlite-journal").stat().st_size, "the killed init has left no journal")
    shutil.copytree(backup.queue, folder, copy_function=shutil.copy2, dirs_exist_ok=True)
    over = Copy(rig, folder)
    for words in (["restore"], ["list"]):
        said = refused(over.run(*words), 73, about=f"{words[0]} beside a foreign journal").text
        expect(f"mv {folder}/queue.sqlite-journal" in said, f"{words[0]} says {said!r}")
    (folder / "queue.sqlite-journal").rename(folder / "queue.sqlite-journal.old")
    over.run("restore").must(0, about="restore without the journal")
    holds(over, *bench.stock[:2], rows=whole(over, *bench.stock[:2], about="restored"))


def half_restored(bench):
    """A restore that was killed has said so in the folder: its log is its own, and the same command goes on."""
    rig = bench.rig()
    rig.push(*bench.stock[:2])
    backup, _ = backed_up(rig)
    mark = backup.queue / "backup.json"
    mark.write_text(json.dumps(json.loads(mark.read_text()) | {"restoring": True}))
    with contextlib.closing(sqlite3.connect(backup.queue / "queue.sqlite")) as database:
        database.execute("DELETE FROM settings WHERE name = 'queue-number'")
        database.commit()
        log = (backup.queue / "queue.sqlite-wal").read_bytes()
        old = (backup.queue / "queue.sqlite").read_bytes()
    expect(log, "there is no log")
    (backup.queue / "queue.sqlite").write_bytes(old)
    (backup.queue / "queue.sqlite-wal").touch(0o600)
    (backup.queue / "queue.sqlite-wal").write_bytes(log)
    refused(rig.run("backup", backup.queue), 64, about="a backup into it")
    backup.run("restore").must(0, about="restore again")
    holds(backup, *bench.stock[:2], rows=whole(backup, *bench.stock[:2], about="restored"))


def of_an_older_version(bench):
    """A backup of an older version is read without a change of its files; restore brings it to this version."""
    rig = bench.rig()
    with tarfile.open(ROOT / "Tests/Data/1.0/queue.tar.gz") as archive:
        archive.extractall(rig.out, filter="tar")
    folder, = (path.parent for path in rig.out.rglob("queue.sqlite"))
    (folder / "backup.json").write_text('{"format":"capqueue/backup/1","queue":"00"}')
    old, before = Copy(rig, folder), (folder / "queue.sqlite").read_bytes()
    rows = old.rows()
    old.run("status").must(0, about="status")
    expect(rows and (folder / "queue.sqlite").read_bytes() == before, "reading it has changed it")
    expect(not (folder / "queue.sqlite-wal").exists() or not (folder / "queue.sqlite-wal").stat().st_size, "it has a log")
    refused(old.run("hold", "--all"), 64, about="a change")
    old.run("restore").must(0, about="restore")
    expect(set(old.rows()) == set(rows), "other captures after restore")


class Again(Scene):
    """A second backup, after a push, a prune and a change. It is killed: the folder has the first or the second."""

    def make(self, rig):
        first, second, third, fourth = self.bench.stock[:4]
        rig.push(first, second, third)
        rig.to_folder()
        backed_up(rig)
        rig.push(fourth)
        rig.run("cancel", third.id).must(0, about="cancel")
        rig.uploaded(first, days=8)
        rig.prune()

    def words(self, rig):
        return ["backup", rig.out / "backup"]

    def judge(self, rig, ended, _):
        first, second, third, fourth = self.bench.stock[:4]
        backup = Copy(rig, rig.out / "backup")
        rows = backup.rows(about="after the kill")
        is_new = fourth.id in rows
        expect(rows[third.id]["state"] == ("cancelled" if is_new else "pending"), "rows of two backups")
        kept = (second, third, fourth) if is_new else (first, second, third)
        holds(backup, *kept, rows=rows, about="after the kill")
        expect(is_new or ended.code != 0, "it has ended, and the old backup is there")
        found = check_says(backup, 0, 15, about="after the kill")
        expect(all(finding["kind"] in ("stray", "leftover") for finding in found), f"check finds {found}")
        _, said = backed_up(rig)
        expect(said["missing"] == [], f"the next backup misses {said['missing']}")
        holds(backup, second, third, fourth, rows=whole(backup, *self.bench.stock[:4], about="the next one"))
        expect(not backup.spool_file(first).exists(), "the backup keeps what was pruned")


class First(Again):
    """The first backup is killed: the folder is complete, or not a queue yet, and the next backup goes on."""

    def make(self, rig):
        rig.push(*self.bench.stock[:2])

    def judge(self, rig, ended, _):
        backup = Copy(rig, rig.out / "backup")
        if ended.code == 0 or backup.run("list").code == 0:
            whole(backup, *self.bench.stock[:2], about="after the kill")
        backed_up(rig)
        holds(backup, *self.bench.stock[:2], rows=whole(backup, *self.bench.stock[:2], about="the next one"))


class Restored(Scene):
    """`restore` is killed: the folder is a backup or a queue, and `restore` can be given again."""

    def make(self, rig):
        rig.push(*self.bench.stock[:2])
        backed_up(rig)

    def words(self, rig):
        return ["restore", "--queue", rig.out / "backup"]

    def judge(self, rig, ended, _):
        backup = Copy(rig, rig.out / "backup")
        if (backup.queue / "backup.json").exists():
            expect(ended.code != 0, "it has ended, and the folder is a backup")
            refused(backup.run("hold", self.bench.stock[0].id), 64, about="a change of a backup")
            backup.run("restore").must(0, about="again")
        holds(backup, *self.bench.stock[:2], rows=whole(backup, *self.bench.stock[:2], about="restored"))
        backup.run("hold", self.bench.stock[0].id).must(0, about="a change")


def killed(bench):
    killed_everywhere(Again(bench))


def first_killed(bench):
    killed_everywhere(First(bench))


def restore_killed(bench):
    killed_everywhere(Restored(bench))


def incremental(bench):
    """What the backup has is not written again, and what the queue lost stays in it."""
    rig = bench.rig()
    rig.push(*bench.stock[:3])
    backup, said = backed_up(rig)
    size = sum(len(bundle.data) for bundle in bench.stock[:3])
    expect((said["captures"], said["copied"], said["copied_bytes"]) == (3, 3, size), f"the first says {said}")
    before = {path: path.stat().st_ino for path in backup.queue.glob("spool/*/*")}
    rig.push(bench.stock[3])
    _, said = backed_up(rig)
    expect((said["captures"], said["copied"]) == (4, 1), f"the second says {said}")
    expect(all(path.stat().st_ino == inode for path, inode in before.items()), "files were copied again")
    torn = backup.spool_file(bench.stock[0])
    torn.write_bytes(b"half")
    rig.spool_file(bench.stock[1]).unlink()
    _, said = backed_up(rig)
    expect((said["copied"], said["missing"]) == (1, []), f"the third says {said}")
    holds(backup, *bench.stock[:4], rows=whole(backup, *bench.stock[:4], about="the third"))
    torn.unlink()
    rig.spool_file(bench.stock[0]).unlink()
    _, said = backed_up(rig, code=74)
    expect(said["missing"] == [bench.stock[0].id], f"without bytes anywhere it says {said}")


def refuses(bench):
    """Folders that are not a backup of this queue are refused and not changed, and a backup changes by nothing else."""
    rig, other = bench.rig(), bench.rig()
    for each in (rig, other):
        each.push(bench.stock[0])
    foreign = rig.out / "foreign"
    foreign.mkdir(mode=0o700)
    (foreign / "letter").write_text("mine")
    (rig.out / "file").write_text("mine")
    backup, _ = backed_up(rig)
    for place, of in ((foreign, rig), (rig.out / "file", rig), (backup.queue, other), (rig.queue, rig),
                      (other.queue, rig)):
        before = {path: path.stat().st_mtime_ns for path in place.rglob("*") if path.is_file()}
        refused(of.run("backup", place), 73, about=f"a backup into {place.name}")
        after = {path: path.stat().st_mtime_ns for path in place.rglob("*") if path.is_file()}
        expect({path for path in after if path not in before} <= {place / "queue.lock"}, f"{place.name} is changed")
    (rig.out / "way").symlink_to(rig.queue)
    for place in (rig.queue / "copy", rig.queue / "spool/copy/deep", rig.out / "way/copy"):
        refused(rig.run("backup", place), 73, about=f"a backup into {place}").naming("own folder", str(place))
        expect(not os.path.lexists(place), f"{place} was made")
    with mounted(rig, rig.out / "bound", f'mount --bind "{rig.queue}" "$0"') as there:
        refused(there.run("backup", there.place / "copy"), 73, about="a backup into another mount of the queue")
        expect(not os.path.lexists(rig.queue / "copy"), "a copy was made by way of the mount")
    opened = rig.out / "opened"
    opened.mkdir()
    opened.chmod(0o777)
    refused(rig.run("backup", opened), 77, about="a folder that others can write")
    place = rig.to_folder()
    for words in (("push", bench.stock[1].path), ("cancel", bench.stock[0].id), ("config", "limit", "1GB"), ("prune",),
                  ("dest", "add", "disk", "--kind", "folder", "--path", place), ("run",), ("pause",), ("salvage", "--force")):
        result = backup.run(*words)
        expect(result.code == 64 and "is a backup" in result.text, f"{words[0]} in a backup: {result}")
    expect([path.name for path in place.iterdir()] == [".capqueue-destination"], "a backup was sent")
    refused(rig.run("restore"), 64, about="restore of a queue")
    whole(backup, bench.stock[0], about="after all")


def two_machines(bench):
    """Both go on from the same state: what one sent meanwhile, the other asks for; what was cancelled stays so."""
    rig = bench.rig()
    place = rig.to_folder()
    sent, waits, cancelled, held = bench.stock[:4]
    rig.push(sent, waits, cancelled, held)
    rig.push(bench.stock[4], options=("--reference",))
    rig.run("cancel", cancelled.id).must(0, about="cancel")
    rig.run("hold", held.id).must(0, about="hold")
    backup, _ = backed_up(rig)
    rig.run("run").must(15, about="run here")
    before = {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in place.glob("*.bundle")}
    with contextlib.closing(sqlite3.connect(f"file:{backup.queue}/queue.sqlite?mode=ro", uri=True)) as database:
        (sure,), = database.execute("SELECT count(*) FROM deliveries WHERE in_doubt = 0")
    expect(sure == 0, f"{sure} deliveries of the backup would be sent without asking")
    there = restored(rig, backup)
    rows = whole(there, *bench.stock[:5], about="restored")
    expect(rows[bench.stock[4].id]["path"] == str(bench.stock[4].path), "the reference has another path")
    there.run("run").must(15, about="run there")
    rows = there.rows()
    states = [rows[bundle.id]["state"] for bundle in bench.stock[:5]]
    expect(states == ["completed", "completed", "cancelled", "held", "completed"], f"there: {states}")
    after = {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in place.glob("*.bundle")}
    expect(after == before, "what had landed was sent again")
    there.run("push", bench.stock[5].path).must(0, about="push there")
    refused(there.run("backup", backup.queue), 73, about="a backup of the other queue")
    backed_up(rig)
    whole(backup, *bench.stock[:5], about="the backup of the first")


def sent_meanwhile(bench):
    """A delivery that is being sent during the backup waits in the copy, in doubt, and its try burned no attempt."""
    rig = bench.rig()
    with socket.create_server(("127.0.0.1", 0)) as server:
        rig.run("dest", "add", "web", "--kind", "put", "--url", f"http://127.0.0.1:{server.getsockname()[1]}/{{sha256}}"
                ).must(0, about="dest add")
        rig.push(bench.stock[0])
        run = rig.begin("run", "--watch")
        try:
            end = time.monotonic() + 30
            while rig.rows()[bench.stock[0].id]["state"] != "uploading" and time.monotonic() < end:
                time.sleep(0.05)
            backup, _ = backed_up(rig)
            expect(rig.rows()[bench.stock[0].id]["state"] == "uploading", "the backup changed the queue")
        finally:
            run.kill()
            run.communicate()
    rows = whole(backup, bench.stock[0], about="while it is sent")
    expect(rows[bench.stock[0].id]["state"] == "pending", f"is {rows[bench.stock[0].id]['state']} in the backup")
    with contextlib.closing(sqlite3.connect(f"file:{backup.queue}/queue.sqlite?mode=ro", uri=True)) as database:
        found = database.execute("SELECT in_doubt, attempts, outcome, deliveries.token FROM deliveries "
                                 "JOIN attempts ON delivery = deliveries.id").fetchall()
    expect(found == [(1, 0, "lost", None)], f"the delivery in the backup is {found}")


def pruned_meanwhile(bench):
    """A bundle is pruned after the database was copied and before the bundle is: the backup does not list it."""
    require_strace()
    rig = bench.rig()
    rig.push(*bench.stock[:3])
    rig.uploaded(*bench.stock[1:3], days=8)
    slow = strace("-e", "trace=ioctl", "-e", "inject=ioctl:delay_enter=3s:when=1+")
    process = subprocess.Popen([*slow, *rig.argv("backup", rig.out / "backup", "--json")], env=rig.env, cwd=rig.out,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    copy = rig.out / "backup/queue.sqlite.new"
    end = time.monotonic() + 30
    while not (copy.exists() and copy.stat().st_size) and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.5)
    expect(len(rig.prune()) == 2, "prune deletes something else")
    out, err = process.communicate(timeout=120)
    expect(process.returncode == 0, f"the backup ends with {process.returncode}: {err[-200:]!r}")
    expect(json.loads(out)["captures"] == 1, f"the backup says {out!r}")
    backup = Copy(rig, rig.out / "backup")
    rows = whole(backup, *bench.stock[:3], about="after the prune")
    expect([rows[bundle.id]["holding"] for bundle in bench.stock[:3]] == ["spool", "removed", "removed"], "other holdings")


def full(bench):
    """The disk of the backup is full: the command says so, and the earlier backup stays whole."""
    rig = bench.rig()
    rig.push(*bench.stock[:2])
    with mounted(rig, rig.out / "small", small("1m")) as place:
        folder = place.place / "backup"
        place.run("backup", folder).must(0, about="the first")
        place.shell('dd if=/dev/zero of="$0/filler" bs=1k 2>/dev/null')
        rig.push(*bench.stock[2:6])
        result = place.run("backup", folder).must(74, about="on a full disk")
        expect(FULL.search(result.text), f"does not say that the disk is full: {result.text!r}")
        listed = place.run("list", "--json", "--queue", folder).must(0, about="list").out
        expect(listed.count(b'"bundle_id"') == 2, f"the earlier backup lists {listed!r}")
        place.shell('rm "$0/filler"')
        found = findings(place.run("check", "--read-data", "--json", "--queue", folder).must(0, 15, about="check"))
        expect(all(finding["kind"] == "stray" for finding in found), f"check finds {found}")
        place.run("backup", folder).must(0, about="with room again")
        place.run("check", "--read-data", "--queue", folder).must(0, about="check")
        place.shell('dd if=/dev/zero of="$0/filler" bs=1k 2>/dev/null')
        # Restoring needs little room: it is done, or says why not and leaves the backup.
        result = place.run("restore", "--queue", folder).must(0, 74, about="restore on a full disk")
        expect(not result.code or FULL.search(result.text), f"does not say that the disk is full: {result.text!r}")
        place.shell('rm "$0/filler"')
        place.run("restore", "--queue", folder).must(64 if not result.code else 0, about="restore with room again")
        place.run("check", "--read-data", "--queue", folder).must(0, about="check of what was restored")


TESTS = [
    ("restore over a folder in which killed processes left a log", over_leftovers),
    ("restore over a folder in which init was killed", over_a_journal),
    ("restore: one that was killed goes on with its own log", half_restored),
    ("backups of an older version are not changed by readers", of_an_older_version),
    ("backup: a kill at any system call leaves the earlier backup or the new one", killed),
    ("backup: a kill of the first one leaves nothing that looks like a backup, or all of it", first_killed),
    ("restore: a kill leaves a backup or a queue", restore_killed),
    ("backup: only new files are copied, and lost ones are kept", incremental),
    ("backup: folders of others are refused, and a backup changes by nothing else", refuses),
    ("restore: two machines go on from one state, and send nothing twice or cancelled", two_machines),
    ("backup: what is being sent meanwhile is in doubt in the copy", sent_meanwhile),
    ("backup: what is pruned meanwhile is not listed", pruned_meanwhile),
    ("backup: a full disk leaves the earlier backup", full),
]
