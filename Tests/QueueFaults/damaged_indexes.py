"""An index of the database does not match its rows, so that queries which use the index leave rows out.

SQLite notices this only if it compares them: quick_check says that the database is sound.
"""
import contextlib
import json
import sqlite3
import struct

from Kit.invariants import gives, holds, refused, words_for_people
from Kit.outcomes import expect
from QueueFaults.database_damage import aside

HISTORY = "transitions_delivery"  # the index by which `history` finds the changes of a delivery


@contextlib.contextmanager
def without_index(rig, name):
    """Takes an index out of the schema and puts it back afterwards, so that it misses what was written meanwhile."""
    def schema(statement, *values):
        with contextlib.closing(sqlite3.connect(rig.queue / "queue.sqlite", isolation_level=None)) as database:
            database.execute("PRAGMA writable_schema = ON")
            rows = database.execute(statement, values).fetchall()
            database.execute(f"PRAGMA schema_version = {database.execute('PRAGMA schema_version').fetchone()[0] + 1}")
            return rows

    row = schema("SELECT * FROM sqlite_master WHERE name = ?", name)[0]
    schema("DELETE FROM sqlite_master WHERE name = ?", name)
    yield
    schema("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", *row)


def filled(bench):
    """Returns a queue that has sent a capture, and the bundles in it."""
    rig, held = bench.rig(), bench.stock[:4]
    rig.to_folder()
    rig.push(held[0])
    rig.run("run", "--until-empty").must(0, about="run")
    rig.push(*held[1:])
    return rig, held


def missed(bench):
    """Returns such a queue, in which the last one was held, and the index does not have this change."""
    rig, held = filled(bench)
    with without_index(rig, HISTORY):
        rig.run("hold", held[3].id).must(0, about="hold")
    return rig, held


def altered(bench):
    """Returns the same queue, in which one byte of the index's page is another one."""
    rig, held = filled(bench)
    rig.run("hold", held[3].id).must(0, about="hold")
    [[page]] = rig.query("SELECT rootpage FROM sqlite_master WHERE name = ?", HISTORY)
    [[number, delivery]] = rig.query("SELECT id, delivery FROM transitions WHERE event = 'hold'")
    with open(rig.queue / "queue.sqlite", "r+b") as file:
        file.seek((page - 1) * 4096)
        content = file.read(4096)
        entry = struct.pack("6B", 5, 3, 1, 1, delivery, number)  # file format, sections 1.6 and 2.1
        expect(content.count(entry) == 1, "the entry of the index is not on its root page")
        file.seek((page - 1) * 4096 + content.index(entry) + 4)
        file.write(bytes([100]))
    return rig, held


def events(rig, bundle):
    lines = rig.run("history", bundle.id, "--json").must(0, about="history").out.splitlines()
    return [json.loads(line)["event"] for line in lines]


def mended(damaged):
    def test(bench):
        rig, held = damaged(bench)
        expect("hold" not in events(rig, held[3]), "the index has the hold: this test shows nothing")
        rig.run("check").must(0, about="a check that compares no index with its rows")
        old = (rig.queue / "queue.sqlite").read_bytes()
        for options in (["--read-data"], ["--read-data", "--repair"], ["--read-data-subset", "1%"]):
            said = refused(rig.run("check", *options), 74, about=" ".join(options)).text
            expect("an index" in said and "salvage" in said, f"check says {said!r}")
            expect((rig.queue / "queue.sqlite").read_bytes() == old, "check changes a damaged database")
        words = words_for_people(rig.run("salvage").must(0, about="salvage"))
        expect("receipts are kept" in words.text and not words.out, f"salvage says {words.text!r}, {words.out!r}")
        expect(aside(rig, old), "the old database is gone")
        rows = rig.rows()
        states = [rows[bundle.id]["state"] for bundle in held]
        expect(states == ["completed", "pending", "pending", "held"], f"salvage leaves captures {states}")
        expect(rows[held[0].id]["deliveries"][0].get("receipt"), "the receipt is gone")
        expect("hold" in events(rig, held[3]), "history still lacks the hold")
        holds(rig, *held, rows=rows)
        rig.run("check", "--read-data").must(0, about="check after salvage")
        refused(rig.run("salvage"), 64, about="salvage of a sound database")
        rig.run("run", "--until-empty").must(15, about="run after salvage")
    return test


def rebuilt(rig, held, *options, code=0, about):
    """Checks that salvage did not trust the rows: it holds everything."""
    old = (rig.queue / "queue.sqlite").read_bytes()
    words_for_people(rig.run("salvage", *options).must(code, about=about), lines=10)
    rows = rig.rows()
    states = {row["state"] for row in rows.values()}
    expect(states == {"held"} and len(rows) == len(held), f"{about}: salvage leaves {len(rows)} captures {states}")
    expect(aside(rig, old), f"{about}: the old database is gone")
    expect("queue.sqlite.new" not in rig.names(), f"{about}: the mended copy was left")
    rig.run("check", "--read-data").must(code, about=f"{about}: check")
    return rows


def not_of_this_spool(bench):
    """Rows that do not agree with the spool may be those of an earlier time: what they say was not sent may be sent."""
    rig, held = missed(bench)
    rig.stray(bench.stock[9])
    holds(rig, *held, bench.stock[9], rows=rebuilt(rig, [*held, bench.stock[9]], about="a file without a row"))
    rig, held = missed(bench)
    rig.spool_file(held[1]).unlink()
    rows = rebuilt(rig, held, code=74, about="a row without its file")
    expect(rows[held[1].id]["holding"] == "missing", "a capture without bytes is not missing")


def ambiguous(bench):
    """Two rows have one key, so the index of the key cannot be built again."""
    rig, held = missed(bench)
    with without_index(rig, "deliveries_capture"):
        rig.change("INSERT INTO deliveries (capture, destination, state, priority, due, elapsed_from) "
                   "SELECT capture, destination, state, priority, due, elapsed_from FROM deliveries WHERE id = 2")
    holds(rig, *held, rows=rebuilt(rig, held, about="two rows with one key"))


def forced(bench):
    rig, held = missed(bench)
    holds(rig, *held, rows=rebuilt(rig, held, "--force", about="--force"))
    gives(rig, *held)


TESTS = [
    ("an index lacks a row: check --read-data says so, salvage builds it again and keeps states", mended(missed)),
    ("an index has another row: check --read-data says so, salvage builds it again", mended(altered)),
    ("rows that do not agree with the spool: salvage builds another database", not_of_this_spool),
    ("an index that cannot be built again: salvage builds another database", ambiguous),
    ("salvage --force builds another database", forced),
]
