"""A queue of an earlier version: when the tool migrates it, and what a run of the earlier version prevents."""
import fcntl
import pathlib
import shutil

from checks import expect
from invariants import refused

DATABASES = pathlib.Path(__file__).resolve().parents[1] / "CaptureQueueTests/Databases"
SAVED = ("v1.sqlite", "v2.sqlite", "v3.sqlite")


def old(rig, saved):
    rig.queue.mkdir(mode=0o700)
    for name in ("spool", "incoming", "quarantine"):
        (rig.queue / name).mkdir(mode=0o700)
    shutil.copy(DATABASES / saved, rig.queue / "queue.sqlite")
    (rig.queue / "queue.sqlite").chmod(0o600)


def versions(rig):
    return [name for name, in rig.query("SELECT identifier FROM grdb_migrations ORDER BY 1")]


def beside_a_run(bench):
    """While an older run is alive, each command exits with 10, and the database is not changed."""
    for saved in SAVED:
        rig = bench.rig()
        old(rig, saved)
        before = versions(rig)
        with open(rig.queue / "run.lock", "w", encoding="ascii") as lock:
            (rig.queue / "run.lock").chmod(0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            for words in (["list"], ["status"], ["push", bench.stock[0].path], ["run"]):
                result = refused(rig.run(*words), 10, about=f"{saved}: {words[0]} beside an older run")
                expect("stop that run" in result.text, f"{words[0]} says {result.text!r}")
            expect(versions(rig) == before, "the database was changed")
        expect(rig.rows(), f"{saved}: nothing is listed after the run has ended")
        expect(versions(rig)[-1] != before[-1], "the database was not changed after the run has ended")


def keeps(bench):
    """Every capture is listed as before, with a destination if there is one, and no delivery is cancelled."""
    for saved in SAVED:
        rig = bench.rig()
        old(rig, saved)
        before = dict(rig.query("SELECT id, state FROM captures"))
        cancelled = rig.query("SELECT count(*) FROM deliveries WHERE state = 'cancelled'")
        rows = rig.rows()
        expect(set(rows) == set(before), "other captures are listed than before")
        after = rig.query("SELECT count(*) FROM deliveries WHERE state = 'cancelled'")
        expect(after <= cancelled, f"{saved}: {after} deliveries are cancelled, {cancelled} were")
        unbound = rig.query("SELECT id FROM deliveries WHERE destination IS NULL AND state <> 'completed'")
        expect(not unbound, f"{saved}: {len(unbound)} deliveries wait without a destination")


TESTS = [
    ("an older run blocks its queue: every command of this version exits with 10", beside_a_run),
    ("the migration keeps every capture and cancels nothing", keeps),
]
