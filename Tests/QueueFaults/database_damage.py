"""The database is damaged, foreign, missing or newer.

The tool never deletes it, never ignores the damage, and never shows internals; `salvage` builds a new one from the
spool.
"""
import hashlib
import pathlib
import shutil
import sqlite3

from Kit.outcomes import IS_LONG, every, expect
from Kit.invariants import gives, holds, refused, words_for_people
from Kit.queues import few
from QueueFaults.many_processes import locked

COUNT = 12 if IS_LONG else 5  # captures; with 12, tables and indexes have their own pages
SPOILT = (0, 74)
ASKING = few([["list"], ["push", "NEW"], ["check", "--repair"], ["status"], ["prune", "--dry-run"], ["check"]], 3)


def filled(bench):
    """Returns a queue of captures in several states, whose database has nothing in its write-ahead log."""
    if not hasattr(bench, "filled"):
        rig = bench.rig()
        rig.push(*bench.stock[:COUNT])
        rig.run("hold", bench.stock[0].id).must(0, about="hold")
        rig.uploaded(bench.stock[1])
        rig.run("config", "retention", "9d").must(0, about="config")
        rig.run("push", "--session", "monday", "--priority", "3", bench.stock[COUNT].path).must(0, about="push")
        rig.query("PRAGMA wal_checkpoint(TRUNCATE)")
        for ending in ("-wal", "-shm"):
            (rig.queue / f"queue.sqlite{ending}").unlink(missing_ok=True)
        bench.filled = rig
    return bench.filled, bench.stock[:COUNT + 1]


def aside(rig, bytes_):
    """Returns the files in the queue folder, except the database, that contain exactly these bytes."""
    return [path for path in rig.queue.iterdir() if path.is_file() and path.name != "queue.sqlite"
            and path.read_bytes() == bytes_]


def salvaged(rig, held, about, released=False):
    """Checks that salvage keeps the old database and finds every capture, and that nothing is then sent."""
    path = rig.queue / "queue.sqlite"
    old = path.read_bytes() if path.exists() else None
    spool = rig.spool()
    result = rig.run("salvage", *(["--release"] if released else [])).must(0, about=f"{about}: salvage")
    words_for_people(result, lines=10, about=f"{about}: salvage")
    expect(spool == rig.spool(), f"{about}: salvage changes the spool")
    expect(old is None or aside(rig, old), f"{about}: the old database is gone")
    rows = rig.rows(about=f"{about}: list after salvage")
    expect(len(rows) == len(held), f"{about}: salvage finds {len(rows)} of {len(held)}")
    holds(rig, *held, rows=rows, about=f"{about}: after salvage")
    states = {row["state"] for row in rows.values()}
    expect(states == {"pending" if released else "held"}, f"{about}: salvage leaves captures {states}")
    expect(rig.run("config", "retention").must(0).out.strip() == b"9d", f"{about}: the retention is another one")
    rig.run("check", "--read-data").must(0, about=f"{about}: check after salvage")
    said = rig.run("push", held[0].path).must(0, about=f"{about}: push after salvage").text
    expect(("capqueue release" in said) != released, f"{about}: push of what is held says {said!r}")


def spoilt(rig, held, about):
    """Checks that every command works as before, or exits with 74 and names salvage, and that no file is changed."""
    path = rig.queue / "queue.sqlite"
    before, spool = path.read_bytes(), rig.spool()
    names = {"NEW": rig.bench.stock[30].path}
    refusals = 0
    for words in ASKING:
        result = rig.run(*(names.get(word, word) for word in words))
        result.must(*SPOILT, about=f"{about}: {' '.join(words)}")
        words_for_people(result, about=f"{about}: {words[0]}")
        if result.code:
            refusals += 1
            # With another tool's database the folder may not be a queue at all.
            hinted = "salvage" in result.text or "capqueue did not create" in result.text
            expect(hinted, f"{about}: {words[0]} does not name salvage: {result.text!r}")
        elif words == ["list"]:
            expect(len(rig.rows()) == len(held), f"{about}: list leaves captures out, and answers 0")
        now = rig.spool()
        expect(all(now.get(name) == data for name, data in spool.items()), f"{about}: {words[0]} changes the spool")
        expect(path.exists(), f"{about}: {words[0]} takes the database away")
        spool = now if words[0] == "push" and result.code == 0 else spool
    if refusals == len(ASKING):
        expect(path.read_bytes() == before, f"{about}: a database that is refused was changed")
    return refusals


def used_pages(database):
    """Returns the places of the pages that are in use: what a free page holds means nothing, so no damage is in it."""
    def numbers(place, count):
        return [int.from_bytes(database[at:at + 4]) for at in range(place, place + 4 * count, 4)]
    free, (trunk,) = set(), numbers(32, 1)
    while trunk:  # a list of pages of numbers (sqlite.org/fileformat2.html, section 1.5)
        place = (trunk - 1) * 4096
        following, count = numbers(place, 2)
        free |= {trunk, *numbers(place + 8, count)}
        trunk = following
    return [page for page in range(len(database) // 4096) if page + 1 not in free]


def corrupt_pages(bench):
    """Each page in turn is overwritten with random bytes."""
    origin, held = filled(bench)
    chance = bench.chance("pages")
    pages = used_pages((origin.queue / "queue.sqlite").read_bytes())
    chosen = sorted({0, *chance.sample(pages, min(12 if IS_LONG else 1, len(pages)))})
    noticed = 0

    def judge(name, page):
        nonlocal noticed
        rig = bench.rig().like(origin)
        with open(rig.queue / "queue.sqlite", "r+b") as database:
            database.seek(page * 4096)
            database.write(chance.randbytes(4096))
        noticed += bool(spoilt(rig, held, name))
        now = [bundle for bundle in [*held, bench.stock[30]] if rig.spool_file(bundle).exists()]
        salvaged(rig, now, name)
        gives(rig, held[0], held[-1], about=name)

    every({f"page {page}": page for page in chosen}, judge)
    expect(noticed, "no command noticed a damaged page")


def no_database(bench):
    """Another kind of file has the database's name."""
    origin, held = filled(bench)
    whole = (origin.queue / "queue.sqlite").read_bytes()
    foreign = origin.folder / "foreign.sqlite"
    with sqlite3.connect(foreign) as other:
        other.execute("CREATE TABLE captures (id TEXT)")
    other.close()
    cases = {"the first half": whole[:len(whole) // 8192 * 4096], "another tool's": foreign.read_bytes(),
             "no byte": b"", "text": b"hello\n" * 3000, "zeros": bytes(len(whole)), "one page": whole[:4096],
             "one byte": whole[:1], "random bytes": bench.chance("random").randbytes(20_000)}

    def judge(name, data):
        rig = bench.rig().like(origin)
        (rig.queue / "queue.sqlite").write_bytes(data)
        refusals = spoilt(rig, held, name)
        expect(refusals == len(ASKING), f"only {refusals} of {len(ASKING)} commands refuse it")
        salvaged(rig, held, name, released=name == "another tool's")
        gives(rig, held[2], about=name)

    every(few(cases, 2), judge)


def salvage_without_sidecars(bench):
    """If sidecars are missing or damaged, salvage reads the bundles, and skips one that is damaged."""
    origin, held = filled(bench)
    rig = bench.rig().like(origin)
    for bundle in held[::2]:
        rig.spool_file(bundle, "json").unlink()
    rig.spool_file(held[1], "json").write_bytes(b'{"format":"capqueue/sidecar/1"')
    cut = held[3].data[:-600]
    rig.spool_file(held[3]).write_bytes(cut)
    (rig.queue / "queue.sqlite").unlink()
    words_for_people(rig.run("list").must(66, 74), about="list")
    words_for_people(rig.run("salvage").must(0, 1, 2, 15, 74, about="salvage"), lines=10)
    rows = rig.rows()
    holds(rig, *held[:3], *held[4:], rows=rows)
    expect(rows[held[-1].id].get("session") in ("monday", None), "another session")
    gives(rig, held[0], held[1])
    expect(cut in rig.spool().values(), "the damaged bytes are gone")


def newer(bench):
    """A database with an unknown migration is refused with 11 and not changed."""
    origin, held = filled(bench)
    rig = bench.rig().like(origin)
    with rig.database() as database:
        database.execute("INSERT INTO grdb_migrations (identifier) VALUES ('v10-from-the-future')")
    for ending in ("-wal", "-shm"):
        (rig.queue / f"queue.sqlite{ending}").unlink(missing_ok=True)
    before = digests(rig)
    name = held[0].id
    for words in few([["list"], ["push", bench.stock[30].path], ["check", "--repair"], ["salvage", "--force"], ["run"],
                      ["prune", "--cancelled"], ["get", name, "-o", "-"], ["cancel", "--all"], ["status"],
                      ["config", "retention", "1d"], ["dest", "list"], ["session", "end", "monday"],
                      ["export", "--manifest", "-"]], 5):
        refused(rig.run(*words), 11, about=" ".join(map(str, words)))
        left = {key: value for key, value in digests(rig).items() if not key.endswith(("-wal", "-shm", ".lock"))}
        expect(left == {key: value for key, value in before.items() if not key.endswith(("-wal", "-shm", ".lock"))},
               f"{words[0]} changes the queue of a newer tool")


def digests(rig):
    return {name: hashlib.sha256((rig.queue / name).read_bytes()).hexdigest() for name in rig.names()}


def older(bench):
    """A database from before the first release is refused with 11 and not changed; salvage finds all its bundles."""
    rig, held = filled(bench)
    with rig.database() as database:
        database.execute("DELETE FROM grdb_migrations")
        database.execute("INSERT INTO grdb_migrations (identifier) VALUES ('v1')")
    for words in (["list"], ["push", bench.stock[30].path], ["run"], ["check", "--repair"]):
        result = refused(rig.run(*words), 11, about=" ".join(map(str, words)))
        expect("never released" in result.text and "capqueue salvage" in result.text, f"says {result.text!r}")
    rig.run("salvage").must(0, about="salvage of an older queue")
    holds(rig, *held, rows=rig.rows())


def forced_without_its_copy(bench):
    """`dest add` was killed before it wrote settings.json. A sound database still tells salvage its destinations."""
    rig = bench.rig()
    rig.to_folder("usb")
    rig.push(bench.stock[0])
    (rig.queue / "settings.json").unlink()
    rig.run("salvage", "--force").must(0, about="salvage")
    expect(b"usb" in rig.run("dest", "list").must(0).out, "the destination is lost")


TESTS = [
    ("random bytes over a page: 74 and salvage, or as before; salvage finds all", corrupt_pages),
    ("no database under its name: 74 and salvage, nothing is deleted; salvage finds all", no_database),
    ("salvage without a database and sidecars; it skips a damaged bundle, and keeps it", salvage_without_sidecars),
    ("a forced salvage without settings.json keeps the destinations", forced_without_its_copy),
    ("a queue of a newer tool: 11, untouched", newer),
    ("a queue from before the first release: 11, untouched; salvage finds all", older),
]
