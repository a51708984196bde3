"""On a read-only disk a queue can be listed and read, and commands that write report an error."""
import shutil
import sqlite3

from Kit.outcomes import expect, long
from Kit.invariants import gives, refused, words_for_people
from Kit.disks import READ_ONLY, mounted
from Kit.queues import few

READING = few([["list", "--json"], ["get", "ID", "-o", "-"], ["status"], ["show", "ID"], ["list"],
               ["show", "ID", "--json"], ["status", "--json"], ["status", "--prometheus"], ["history", "ID"],
               ["dest", "list"], ["session", "list"], ["config"], ["export", "--manifest", "-"]], 3)
WRITING = few([["push", "NEW"], ["prune"], ["config", "retention", "3d"], ["hold", "ID"], ["cancel", "ID"],
               ["session", "end", "nothing"], ["mark-uploaded", "ID", "--receipt", "RECEIPT"]], 3)


def left_over(rig, names):
    """Leaves a queue as a crash does, with rows only in its write-ahead log; then removes the files `names`."""
    reader = sqlite3.connect(rig.queue / "queue.sqlite")
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM captures").fetchall()
    rig.push(rig.bench.stock[2])
    crashed = rig.folder / "crashed"
    shutil.copytree(rig.queue, crashed)
    reader.close()
    expect((crashed / "queue.sqlite-wal").stat().st_size > 32, "nothing is in the write-ahead log")
    shutil.rmtree(rig.queue)
    crashed.rename(rig.queue)
    for name in names:
        (rig.queue / name).unlink()


def tried(rig, run, held, about):
    """Every command that reads works, and every command that writes reports that it cannot."""
    new = rig.bench.stock[9]
    (rig.out / "receipt").write_text(held[0].sha256)
    names = {"ID": held[-1].id, "NEW": new.path, "RECEIPT": rig.out / "receipt"}
    before = {name: (rig.queue / name).read_bytes() for name in rig.names()}
    for words in READING:
        result = run(*(names.get(word, word) for word in words)).must(0, about=f"{about}: {' '.join(words)}")
        words_for_people(result, about=f"{about}: {' '.join(words)}")
        if words[0] == "get":
            expect(result.out == held[-1].data, f"{about}: get gives other bytes")
        if words == ["list", "--json"]:
            expect(len(result.out.splitlines()) == len(held), f"{about}: lists {len(result.out.splitlines())}")
    for words in WRITING:
        result = run(*(names.get(word, word) for word in words))
        refused(result, *((66,) if words[0] == "session" else ()), 73, 74, 77, about=f"{about}: {' '.join(words)}")
    expect(before == {name: (rig.queue / name).read_bytes() for name in rig.names()}, f"{about}: something has changed")


def mount_of(leave, bench):
    rig = bench.rig()
    held = list(bench.stock[:2])
    rig.push(*held)
    if leave is not None:
        left_over(rig, leave)
        held.append(bench.stock[2])
    with mounted(rig, rig.queue, READ_ONLY) as place:
        said = place.run("status", "--check").must(15, about="status --check").out
        expect(b"the disk is read-only" in said, f"status --check says {said!r}")
        tried(rig, place.run, held, "a read-only disk")
    rig.push(bench.stock[10])
    gives(rig, *held, bench.stock[10], about="writable again")


def becomes_read_only(bench):
    """A disk becomes read-only under a queue, and then writable again."""
    rig = bench.rig()
    with mounted(rig, rig.queue, 'mount -t tmpfs -o size=8m,mode=700 none "$0"') as place:
        place.run("push", bench.stock[0].path).must(0, about="push")
        place.shell('mount -o remount,ro "$0"').must(0, about="remount")
        place.run("list").must(0, about="list")
        refused(place.run("push", bench.stock[1].path), 73, 74, about="push")
        place.shell('mount -o remount,rw "$0"').must(0, about="remount")
        place.run("push", bench.stock[1].path).must(0, about="push on the disk that is writable again")
        place.run("check", "--read-data").must(0, about="check")


TESTS = [
    ("a read-only disk: reading commands work, writing ones say why not", lambda bench: mount_of(None, bench)),
    ("a read-only disk, with a write-ahead log and no shared memory: the same",
     lambda bench: mount_of(("queue.sqlite-shm",), bench)),
    ("a read-only disk, with a write-ahead log left by a crash: the same", long(lambda bench: mount_of((), bench))),
    ("a disk that turns read-only and back", becomes_read_only),
]
