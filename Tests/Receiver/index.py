"""The index of captures: it is one file, and is made again from the bundles; and what /healthz tries."""
import contextlib
import shutil
import sqlite3

from Kit.outcomes import expect
from Kit.sending import wait_until
from Receiver.links import FORM_TYPE, form
from Receiver.support import RAW, VERIFY_FILE, Receiver, receiving

NO_SQL = ("SELECT", "INSERT", "UPDATE", "Error(")


def says_no_sql(receiver):
    found = [word for word in NO_SQL if word in receiver.said()]
    expect(not found, f"the log has {found}: {receiver.said()[-500:]}")


def rows(index):
    with contextlib.closing(sqlite3.connect(index)) as database:
        return database.execute("SELECT id, device_name, captured_at, verdict, photo_sha256, has_place FROM captures "
                                "ORDER BY number").fetchall()


def one_file(tools):
    """After SIGTERM, a copy of index.sqlite has all captures."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        taken = receiver.taken(rig, rig.capture())
        receiver.stop()
        copy = shutil.copy(receiver.folder / "index.sqlite", tools.scratch("copy"))
        expect([row[0] for row in rows(copy)] == [taken], f"the copy has {rows(copy)}")
        receiver.start()


def made_again(tools):
    """A lost, damaged or old index is completed at the start, from the queue and from destinations. The log says so."""
    rig, other = tools.rig(), tools.rig("other")
    photo = form(('Content-Disposition: form-data; name="file"', (RAW / "photo.jpg").read_bytes()))

    def zeros(index):
        with open(index, "r+b") as file:
            file.seek(4096)
            file.write(bytes(index.stat().st_size - 4096))

    def swapped(index):
        """Leaves two tables that lead to each other's rows, each of which is whole."""
        execute(index, """
            PRAGMA writable_schema = 1;
            UPDATE sqlite_master AS this SET rootpage = other.rootpage FROM sqlite_master AS other
                WHERE this.name || other.name IN ('captures_photocaptures_time', 'captures_timecaptures_photo')""")

    with receiving(tools) as receiver:
        first = receiver.taken(rig, rig.capture("first"))
        wait_until(lambda: first.encode() in receiver.queue("prune", "--older-than", "0s"), "it is passed on and released")
        receiver.stop()
        old = shutil.copy(receiver.folder / "index.sqlite", tools.scratch("old"))
        receiver.start()
        second = receiver.taken(other, other.capture("second"))
        copy = rig.folder / "redacted.bundle"
        rig.run("redact", rig.capture("first").bundle, "--withhold", "location.json", "-o", copy)
        third = receiver.taken(rig, rig.body(copy))
        receiver.stop()
        index = receiver.folder / "index.sqlite"
        whole = rows(index)
        expect([row[0] for row in whole] == [first, second, third], f"the index has {whole}")
        harm = {"removed": lambda: index.unlink(), "empty": lambda: index.write_bytes(b""),
                "no database": lambda: index.write_text("x" * 9000), "zeros": lambda: zeros(index),
                "swapped": lambda: swapped(index), "old": lambda: shutil.copy(old, index),
                "of another version": lambda: execute(index, "DELETE FROM grdb_migrations")}
        for name, change in harm.items():
            change()
            said = len(receiver.said())
            receiver.start()
            log = receiver.said()[said:]
            expect(rows(index) == whole, f"{name}: the index has {rows(index)}")
            expect("the index lacks" in log and (name in ("removed", "empty", "old") or "index.sqlite.damaged" in log),
                   f"{name}: the log says {log}")
            for one in (first, second, third):
                expect(receiver.ask("GET", f"/verify/{one}").status == 200, f"{name}: the page of {one}")
            expect(receiver.asked(rig, first).status == 200, f"{name}: the device asks")
            found = receiver.ask("POST", VERIFY_FILE, {"Content-Type": FORM_TYPE}, photo)
            expect(found.data["capture_id"] == first, f"{name}: {found}")
            receiver.stop()
        says_no_sql(receiver)
        receiver.start()
        expect(receiver.said().count("the index lacks") == len(harm), "a whole index is completed")
        # What cannot be read has no page, and does not keep the receiver from starting.
        receiver.stop()
        index.unlink()
        for path in (receiver.folder / "kept").rglob("*.bundle"):
            path.unlink()
        receiver.start()
        expect({row[0] for row in rows(index)} == {second, third}, f"the index has {rows(index)}")
        expect(f"captures without a page: 1; the first is {first}" in receiver.said(), "the log does not name the lost capture")


def execute(index, script):
    with contextlib.closing(sqlite3.connect(index)) as database:
        database.executescript(script)


def health(tools):
    """When captures cannot be kept, /healthz says which part fails. It tries at most once a minute."""
    rig = tools.rig()
    harm = {"index": lambda folder: execute(folder / "index.sqlite", "DROP TABLE captures"),
            "queue": lambda folder: execute(folder / "queue/queue.sqlite", "DROP TABLE settings"),
            "devices": lambda folder: spoil(folder / "shared/devices")}
    for name, change in harm.items():
        receiver = Receiver(tools).start()
        try:
            expect(receiver.upload(rig, rig.capture()).status == 202, "an upload")
            change(receiver.folder)
            expect(receiver.upload(rig, rig.capture("second")).status in (500, 503), f"{name}: an upload is taken")
            for _ in range(2):
                answer = receiver.ask("GET", "/healthz")
                expect((answer.status, answer.bytes) == (503, f"failing: {name}\n".encode()), f"{name}: {answer.bytes}")
            expect(receiver.said().count("cannot be kept") == 1, f"{name}: {receiver.said()}")
            says_no_sql(receiver)
        finally:
            receiver.kill()
    with receiving(tools) as receiver:
        for _ in range(2):
            answer = receiver.ask("GET", "/healthz")
            expect((answer.status, answer.bytes) == (200, b"ok\n"), f"{answer}")
        expect(not rows(receiver.folder / "index.sqlite"), "the attempt left a row")


def spoil(folder):
    """Makes a folder unusable, also for root."""
    shutil.rmtree(folder)
    folder.write_text("")


TESTS = [
    ("after SIGTERM the index is one file", one_file),
    ("an index that was lost or damaged is made again", made_again),
    ("healthz tries what a capture needs", health),
]
