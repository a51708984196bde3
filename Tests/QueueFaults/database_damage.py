"""The database is damaged, foreign, missing or newer.

The tool never deletes it, never ignores the damage, and never shows internals; `salvage` builds a new one from the
spool.
"""
import hashlib
import json
import sqlite3

from checks import every, expect
from invariants import gives, holds, refused, words_for_people

COUNT = 12  # so many captures that tables and indexes have their own pages
SPOILT = (0, 74)
ASKING = (["list"], ["status"], ["push", "NEW"], ["prune", "--dry-run"], ["check"], ["check", "--repair"])


def filled(bench):
    """Returns a queue of captures in several states, whose database has nothing in its write-ahead log."""
    if not hasattr(bench, "filled"):
        rig = bench.rig()
        rig.push(*bench.stock[:COUNT])
        rig.run("hold", bench.stock[0].id).must(0, about="hold")
        rig.uploaded(bench.stock[1])
        rig.run("push", "--session", "monday", "--priority", "3", bench.stock[COUNT].path).must(0, about="push")
        with rig.database() as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
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
    rig.run("check", "--read-data").must(0, about=f"{about}: check after salvage")
    return rows


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
        if words[0] == "push" and result.code == 0:
            spool = now
    if refusals == len(ASKING):
        expect(path.read_bytes() == before, f"{about}: a database that is refused was changed")
    return refusals


def corrupt_pages(bench):
    """Each page in turn is overwritten with random bytes."""
    origin, held = filled(bench)
    size = (origin.queue / "queue.sqlite").stat().st_size
    chance = bench.chance("pages")
    pages = range(size // 4096)
    chosen = sorted({0, *chance.sample(pages, min(12, len(pages)))})
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
    expect(noticed, "no damaged page was noticed by any command")


def no_database(bench):
    """Another kind of file has the database's name."""
    origin, held = filled(bench)
    whole = (origin.queue / "queue.sqlite").read_bytes()
    foreign = origin.folder / "foreign.sqlite"
    with sqlite3.connect(foreign) as other:
        other.execute("CREATE TABLE captures (id TEXT)")
    other.close()
    cases = {"text": b"hello\n" * 3000, "zeros": bytes(len(whole)), "the first half": whole[:len(whole) // 8192 * 4096],
             "one page": whole[:4096], "one byte": whole[:1], "no byte": b"", "another tool's": foreign.read_bytes(),
             "random bytes": bench.chance("random").randbytes(20_000)}

    def judge(name, data):
        rig = bench.rig().like(origin)
        (rig.queue / "queue.sqlite").write_bytes(data)
        refusals = spoilt(rig, held, name)
        expect(refusals == len(ASKING), f"only {refusals} of {len(ASKING)} commands refuse it")
        salvaged(rig, held, name, released=name == "text")
        gives(rig, held[2], about=name)

    every(cases, judge)


def database_is_gone(bench):
    """salvage also works if there is no database."""
    origin, held = filled(bench)
    rig = bench.rig().like(origin)
    (rig.queue / "queue.sqlite").unlink()
    words_for_people(rig.run("list").must(66, 74), about="list")
    salvaged(rig, held, "no database")
    gives(rig, held[3])


def salvage_without_sidecars(bench):
    """If sidecars are missing or damaged, salvage reads the captures from the bundles."""
    origin, held = filled(bench)
    rig = bench.rig().like(origin)
    for bundle in held[::2]:
        rig.spool_file(bundle, "json").unlink()
    rig.spool_file(held[1], "json").write_bytes(b'{"format":"capqueue/sidecar/1"')
    (rig.queue / "queue.sqlite").write_bytes(b"no database")
    rig.run("salvage").must(0, about="salvage")
    rows = rig.rows()
    expect(len(rows) == len(held), f"salvage finds {len(rows)} of {len(held)}")
    holds(rig, *held, rows=rows)
    expect(rows[held[-1].id].get("session") in ("monday", None), "another session")
    gives(rig, held[0], held[1])


def salvage_passes_damage_over(bench):
    """If one bundle is damaged, salvage still finds the others."""
    origin, held = filled(bench)
    rig = bench.rig().like(origin)
    path = rig.spool_file(held[4])
    path.write_bytes(held[4].data[:-600])
    (rig.queue / "queue.sqlite").write_bytes(b"no database")
    words_for_people(rig.run("salvage").must(0, 1, 2, 15, 74), lines=10)
    rows = rig.rows()
    holds(rig, *held[:4], *held[5:], rows=rows)
    kept = [data for data in rig.spool().values() if data == held[4].data[:-600]]
    expect(kept, "the damaged bytes are gone")


def newer(bench):
    """A database with an unknown migration is refused with 11 and not changed."""
    origin, held = filled(bench)
    rig = bench.rig().like(origin)
    with rig.database() as database:
        database.execute("INSERT INTO grdb_migrations (identifier) VALUES ('v9-from-the-future')")
    for ending in ("-wal", "-shm"):
        (rig.queue / f"queue.sqlite{ending}").unlink(missing_ok=True)
    before = digests(rig)
    name = held[0].id
    for words in (["list"], ["list", "--json"], ["show", name], ["history", name], ["status"], ["check"],
                  ["check", "--repair"], ["push", bench.stock[30].path], ["prune"], ["prune", "--cancelled"], ["run"],
                  ["hold", name], ["cancel", "--all"], ["get", name, "-o", "-"], ["config", "retention", "1d"],
                  ["dest", "list"], ["salvage"], ["salvage", "--force"], ["session", "end", "monday"],
                  ["export", "--manifest", "-"]):
        refused(rig.run(*words), 11, about=" ".join(map(str, words)))
        left = {key: value for key, value in digests(rig).items() if not key.endswith(("-wal", "-shm", ".lock"))}
        expect(left == {key: value for key, value in before.items() if not key.endswith(("-wal", "-shm", ".lock"))},
               f"{words[0]} changes the queue of a newer tool")


def digests(rig):
    return {name: hashlib.sha256((rig.queue / name).read_bytes()).hexdigest() for name in rig.names()}


def settings_are_rebuilt(bench):
    """salvage restores destinations and settings from settings.json."""
    rig = bench.rig()
    (rig.out / "disk").mkdir()
    rig.run("dest", "add", "disk", "--kind", "folder", "--path", rig.out / "disk").must(0, about="dest add")
    rig.run("config", "retention", "9d").must(0, about="config")
    rig.run("push", "--dest", "disk", bench.stock[0].path).must(0, about="push")
    (rig.queue / "queue.sqlite").write_bytes(b"no database")
    rig.run("salvage", "--release").must(0, about="salvage")
    expect(rig.run("config", "retention").must(0).out.strip() == b"9d", "the retention is another one")
    expect(b"disk" in rig.run("dest", "list").must(0).out, "the destination is not known any more")
    rig.run("run").must(0, about="run")
    copy = rig.out / f"disk/{bench.stock[0].id}.bundle"
    expect(copy.read_bytes() == bench.stock[0].data, "run after salvage sends something else")
    delivery, = rig.rows()[bench.stock[0].id]["deliveries"]
    expect(json.dumps(delivery) and delivery["state"] == "completed", f"the delivery is {delivery['state']}")


TESTS = [
    ("random bytes over a page: 74 and salvage, or as before; salvage finds all", corrupt_pages),
    ("no database under its name: 74 and salvage, nothing is deleted; salvage finds all", no_database),
    ("the database is missing: salvage finds all captures", database_is_gone),
    ("salvage without sidecars, or with a broken one", salvage_without_sidecars),
    ("salvage skips a damaged bundle, and keeps it", salvage_passes_damage_over),
    ("salvage keeps destinations and settings", settings_are_rebuilt),
    ("a queue of a newer tool: 11, untouched", newer),
]
