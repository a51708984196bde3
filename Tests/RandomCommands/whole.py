"""The end of a sequence: everything that the queue reports and contains is compared with the model."""
import contextlib
import json
import sqlite3

from RandomCommands.harm import run_check
from RandomCommands.looking import get_one, status_of
from RandomCommands.interrupting import in_doubt
from RandomCommands.model import HELD
from Kit.outcomes import expect
from RandomCommands.seen import listing, same_captures
from RandomCommands.sending import WEB, on_the_web
from RandomCommands.spec import MACHINE


def judge(world):
    if not world.exists:
        expect(not world.model.captures, "captures were acknowledged, but the database is missing")
        return
    run_check(world, read_data=True)
    same_captures(world, listing(world), list(world.model.captures.values()), "at the end")
    status_of(world)
    _files(world)
    _sidecars(world)
    for capture in world.model.captures.values():
        if capture.holding in HELD:
            get_one(world, capture)
    with contextlib.closing(sqlite3.connect(f"file:{world.queue / 'queue.sqlite'}?mode=ro", uri=True)) as database:
        _database(world, database)
    in_doubt(world)
    everything_lands(world)


def everything_lands(world):
    """Releases and sends everything: what is whole lands at the server, and nothing is sent again unasked."""
    model = world.model
    if WEB not in model.destinations:
        return
    for words in (["release", "--all"], ["retry", "--all", "--state=cancelled"], ["retry", "--all"], ["run", f"--dest={WEB}"]):
        world.read(*words)
    for record in listing(world):
        capture = model.captures[record["id"]]
        states = {each["state"] for each in record["deliveries"] if each.get("destination") == WEB}
        if capture.holding in HELD and capture.file == "whole" and not any(each.later for each in capture.deliveries):
            # `retry --state cancelled` leaves out what is completed elsewhere.
            expect(states <= {"completed"} or states == {"cancelled"} and len(capture.deliveries) > 1
                   or _waits_for_another(model, capture), f"in the end {capture.id} is {states}")
    on_the_web(world)


def _waits_for_another(model, capture):
    """Whether an earlier member of its session cannot be sent yet."""
    return capture.session and any(each.turn < capture.turn and each.session == capture.session and
                                   any(it.later for it in each.deliveries) for each in model.captures.values())


def _files(world):
    """Checks that the spool has all stored files with their bytes, and strays, and that others can open none."""
    model, spool = world.model, world.queue / "spool"
    held = [capture.bundle for capture in model.captures.values() if capture.holding == "spool"]
    wanted = {bundle.sha256: bundle for bundle in held}
    going = {capture.bundle.sha256 for capture in model.captures.values() if capture.holding == "removing"}
    there = {path.stem: path for path in spool.glob("*/*.bundle")}
    expect(set(there) - going == set(wanted) | set(model.strays),
           f"the spool has {sorted(there)}, expected {sorted(set(wanted) | set(model.strays))}")
    for name, bundle in wanted.items():
        expect(there[name].read_bytes() == bundle.data, f"{name}.bundle has other bytes than were pushed")
    left = [path.name for path in (world.queue / "incoming").glob("*")]
    expect(not left, f"incoming has {left} after a check")
    for path in world.queue.rglob("*"):
        mode = path.lstat().st_mode & 0o777
        expect(mode == (0o700 if path.is_dir() else 0o600), f"{path.name} has mode {mode:03o}")


def _sidecars(world):
    """Checks that each sidecar tells salvage what the queue knows, above all the id that push printed."""
    for capture in world.model.captures.values():
        path = world.spool(capture.bundle, ".json")
        if capture.holding in HELD and capture.sidecar:
            expect(path.exists(), f"{capture.id} has no sidecar")
            there = json.loads(path.read_bytes())
            destinations, reference = capture.told
            wanted = {"bundle_id": capture.bundle.id, "bytes": capture.bundle.bytes, "format": "capqueue/sidecar/1",
                      "destinations": list(destinations), "id": capture.id, "identity": capture.bundle.identity,
                      "manifest_sha256": capture.bundle.manifest_sha256, "priority": capture.priority,
                      "sha256": capture.bundle.sha256, "session": capture.session, "reference": reference}
            there["destinations"] = sorted(there["destinations"])
            other = {name: (there.get(name), value) for name, value in wanted.items() if there.get(name) != value}
            expect(not other, f"the sidecar of {capture.id} has, and should have: {other}")


def _database(world, database):
    """Checks the tables of Spec/queue.md section 3, and the values that triggers keep, with another SQLite."""
    expect(database.execute("pragma integrity_check").fetchall() == [("ok",)], "the database is not sound")
    expect(not database.execute("pragma foreign_key_check").fetchall(), "a foreign key leads nowhere")
    kept = database.execute("select state, captures, bytes from totals where captures <> 0").fetchall()
    counted = database.execute("select state, count(*), sum(bytes) from captures group by state").fetchall()
    expect(sorted(kept) == sorted(counted), f"totals are {kept}, the rows have {counted}")
    kept = database.execute("select * from delivery_totals where deliveries <> 0").fetchall()
    counted = database.execute("select coalesce(destination, 0), deliveries.state, count(*), sum(bytes) "
                               "from deliveries join captures on seq = capture group by 1, 2").fetchall()
    expect(sorted(kept) == sorted(counted), f"totals of deliveries are {kept}, the rows have {counted}")
    _transitions(database)
    identities = {identity for (identity,) in database.execute("select hex(identity) from captures")}
    wanted = {capture.bundle.identity.upper() for capture in world.model.captures.values()}
    expect(identities == wanted, f"identities {identities}, expected {wanted}")


def _transitions(database):
    """Checks that each change of a delivery is in the table, continues the one before, and leads to its state."""
    last = {}
    rows = database.execute("select delivery, from_state, event, to_state, at from transitions order by id")
    for delivery, before, event, after, at in rows:
        expect(at and event, f"delivery {delivery}: a transition to {after} without time or event")
        expect(last.get(delivery) == before, f"delivery {delivery}: {event} from {before}, it was {last.get(delivery)}")
        allowed = after if before is None else MACHINE.after(before, event)
        expect(allowed == after, f"delivery {delivery}: {before} {event} {after}, the table has {allowed}")
        last[delivery] = after
    states = dict(database.execute("select id, state from deliveries"))
    expect(states == last, f"deliveries are {states}, their transitions lead to {last}")
