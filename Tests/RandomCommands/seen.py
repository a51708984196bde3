"""Reads the queue's output to compare it with the model, and decides which states are allowed after a kill."""
import hashlib
import json

from RandomCommands.model import HELD
from Kit.outcomes import Failed, expect

MEMBERS = set("bundle_id bytes captured_at deliveries device finished_at holding id manifest_sha256 not_before path "
              "priority pushed_at removed_at session sha256 state verdict".split())


def listing(world, *filters):
    """Returns the records of `list --json`, newest first."""
    ended = world.read("list", "--json", *filters).must(0)
    records = [json.loads(line) for line in ended.lines]
    for record in records:
        expect(set(record) <= MEMBERS, f"list: members that the Spec does not name: {set(record) - MEMBERS}")
    return records


def of_record(record):
    deliveries = sorted((each.get("destination") or "", each["state"]) for each in record["deliveries"])
    return (record["id"], record["sha256"], record["bytes"], record.get("session"), record["priority"],
            record["holding"], record["state"], deliveries)


def of_capture(capture):
    deliveries = sorted((each.destination or "", each.state) for each in capture.deliveries)
    return (capture.id, capture.bundle.sha256, capture.bundle.bytes, capture.session, capture.priority,
            capture.holding, capture.state, deliveries)


def same_captures(world, records, captures, about):
    """Checks that the records are those of the captures, newest first."""
    there, wanted = [record["id"] for record in records], [capture.id for capture in captures]
    expect(there == wanted[::-1], f"{about}: ids {there}, expected {wanted[::-1]}")
    for record, capture in zip(records, reversed(captures)):
        expect(of_record(record) == of_capture(capture),
               f"{about}: is\n  {of_record(record)}, expected\n  {of_capture(capture)}")
        _receipts(record, capture)


def _receipts(record, capture):
    wanted = sorted(each.receipt for each in capture.deliveries if each.state == "completed" and each.receipt)
    there = [each.get("receipt") for each in record["deliveries"] if each["state"] == "completed"]
    expect(all(there), f"{capture.id}: completed without a receipt")
    missing = [text for text in wanted if text not in [_text(receipt) for receipt in there]]
    expect(not missing, f"{capture.id}: the receipt {missing[:1]} is not in {there}")
    finished = capture.state == "completed"
    expect(("finished_at" in record) == finished,
           f"{capture.id}: {capture.state}, finished_at {record.get('finished_at')}")


def _text(receipt):
    return receipt if isinstance(receipt, str) else json.dumps(receipt)


# After a kill:

# A damaged file is renamed after its row was changed.
LEFT_IN_PLACE = [("quarantined", file) for file in ("cut", "flipped")]


def after_kill(world):
    """Returns the records, or none if the queue acknowledged nothing and does not exist."""
    world.unmade = False
    if not world.exists:
        return []
    model = world.model
    if not (model.captures or model.sessions or model.destinations) and world.read("list", "--json").code == 66:
        world.unmade = True
        return []
    return listing(world)


def settle(world, after, whole=False, between=None):
    """Checks that after a kill each capture is as before or as the command would have left it.

    With `whole` all of them must be the same of the two, since one transaction writes them. `between(record, old, new)`
    returns the capture in a state between the two, or None. The model takes over what is found.
    """
    before = world.model
    records = after_kill(world)
    seen, steps = {}, set()
    for record in reversed(records):
        name = record["id"]
        old, new = before.captures.get(name), after.captures.get(name)
        capture, step = _matching(record, old, new, between)
        expect(capture, f"after the kill {name} is\n  {of_record(record)}, which is neither the state before,\n  "
               f"{old and of_capture(old)}, nor the state after,\n  {new and of_capture(new)}")
        steps.add(step)
        seen[name] = capture
    lost = [name for name in before.captures if name not in seen]
    expect(not lost, f"after the kill {lost} are lost, which were acknowledged")
    steps.update("before" for name in after.captures if name not in seen)
    expect(not (whole and {"before", "after"} <= steps), "after the kill a part of the transaction is there")
    world.model = (after if "after" in steps else before).copy()
    world.model.captures = seen
    world.model.orders = before.orders | after.orders  # a push that was killed may have left its sidecar
    _sessions(world, before, after)
    files_after_kill(world, before, after)
    return "after" in steps


def finished(world, ended, after, code, dry=False, **how):
    """Checks the exit code, and the model becomes `after`, unless the command ran with --dry-run. After a kill the
    model becomes what is found. Returns whether the command ran to its end."""
    if ended.killed:
        settle(world, world.model.copy() if dry else after, **how)
        return False
    ended.finding(code)
    if not dry:
        world.model = after
    return True


def _sessions(world, before, after):
    """Takes the sessions from the counts of `status`, because no record shows that a session was opened."""
    if before.sessions == after.sessions or not world.exists:
        return
    there = json.loads(world.read("status", "--json").must(0).out)["sessions"]
    for sessions in (after.sessions, before.sessions):
        world.model.sessions = dict(sessions)
        if world.model.session_counts() == there:
            return
    raise Failed(f"after the kill sessions are {there}; they were {before.sessions}, were to be {after.sessions}")


def _matching(record, old, new, between):
    view = of_record(record)
    if old and new and view == of_capture(old) == of_capture(new):
        return (old if new.reference != old.reference and record["path"] == old.reference else new), "same"
    if new and view == of_capture(new):
        return new, "after"
    if old and view == of_capture(old):
        return old, "before"
    return (between(record, old, new) if between else None), "between"


def files_after_kill(world, before, after):
    """Checks that whole bytes stay whole unless their capture was released, and that strays are whole bundles."""
    model = world.model
    for capture in model.captures.values():
        there = world.on_disk(capture)
        old = before.captures.get(capture.id)
        if capture.holding in HELD and (old is None or old.file == "whole" and old.holding in HELD):
            moved = old and after.captures[capture.id].holding not in ("removed", *HELD)
            expect(there == "whole" or moved, f"after the kill the bytes of {capture.id} are {there}")
        capture.file = there
        sidecar = world.spool(capture.bundle, ".json")
        capture.sidecar = capture.holding != "removed" and sidecar.exists()
        if capture.sidecar:
            _sidecar_after_kill(capture, json.loads(sidecar.read_bytes()), old, after.captures.get(capture.id))
    named = {capture.bundle.sha256 for capture in model.captures.values()
             if capture.holding in ("spool", "removing") or (capture.holding, capture.file) in LEFT_IN_PLACE}
    model.strays = {}
    for path in (world.queue / "spool").glob("*/*.bundle") if (world.queue / "spool").exists() else ():
        if path.stem not in named:
            model.strays[path.stem] = _stray(world, path, before)


def _sidecar_after_kill(capture, there, old, new):
    """Takes over which sidecar is there, because a push gives it its name before the row is written."""
    there = tuple(sorted(there["destinations"])), there.get("reference")
    if there in {each.told for each in (old, new) if each}:
        capture.stale = None
        capture.stale = there if there != capture.told else None


def _stray(world, path, before):
    bundle = world.pool.by_sha256.get(path.stem)
    allowed = {each.sha256 for each in world.pushing} | set(before.strays)
    allowed |= {capture.bundle.sha256 for capture in before.captures.values()}
    if bundle is None or path.stem not in allowed:
        raise Failed(f"after the kill the spool has {path.name}, which was never pushed")
    whole = hashlib.sha256(path.read_bytes()).hexdigest() == path.stem
    expect(whole, f"after the kill {path.name} has other bytes than its name says")
    return bundle
