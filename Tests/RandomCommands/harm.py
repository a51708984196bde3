"""Damages files of the spool, and runs the commands that find the damage: check, check --repair, salvage."""
import json
import os

from RandomCommands.model import Capture, HELD, OVER
from Kit.outcomes import expect
from RandomCommands.seen import finished, listing
from RandomCommands.sending import WAITING, landed
from RandomCommands.spec import EXIT_CODES

# exit codes that each check repeats until the bytes are back or no longer needed
SAID = {"missing": 74, "quarantined": 1}


def damage(world, dice):
    """Deletes or cuts the file of a capture, flips one of its bytes, or deletes its sidecar."""
    captures = [each for each in world.model.captures.values() if each.holding in HELD and each.file == "whole"
                and not may_have_landed(world, each)]
    if not captures:
        return
    capture = dice.choice(captures)
    path = world.file(capture)
    name = os.path.relpath(path, world.folder)
    kind = dice.choice(("gone", "cut", "flipped", "flipped", "sidecar"))
    if kind == "gone":
        world.shell(f"rm {name}", path.unlink)
    elif kind == "cut":
        size = dice.randrange(capture.bundle.bytes)
        world.shell(f"truncate -s {size} {name}", os.truncate, path, size)
    elif kind == "flipped":
        place = dice.randrange(capture.bundle.bytes)
        world.shell(f"flip the bits of byte {place} of {name}", flip, path, place)
    else:
        sidecar = world.spool(capture.bundle, ".json")
        world.shell(f"rm -f {os.path.relpath(sidecar, world.folder)}", sidecar.unlink, True)
        capture.sidecar = False
        return
    capture.file = kind


def may_have_landed(world, capture):
    """Whether a run that was killed may have sent it. Then only the queue knows whether it is in doubt."""
    return any(delivery.state in WAITING and not delivery.doubt and delivery.destination in world.model.destinations
               and landed(world, capture, delivery.destination) for delivery in capture.deliveries)


def flip(path, place):
    with open(path, "r+b") as file:
        file.seek(place)
        value = file.read(1)[0]
        file.seek(place)
        file.write(bytes([value ^ 0xFF]))


def check(world, dice):
    run_check(world, read_data=dice.random() < 0.5, repair=dice.random() < 0.25)


def run_check(world, read_data, repair=False):
    """Runs check, which must set damage aside, report it, and find nothing in a clean queue."""
    words = (["--read-data"] if read_data else []) + (["--repair"] if repair else [])
    after = world.model.copy()
    found = find_damage(after, read_data)
    regained = set()
    if repair:
        lost = [each for each in after.captures.values() if each.holding in SAID]
        codes_before = {each.id: SAID[each.holding] for each in lost}
        _repair(world, after)
        regained = {codes_before[each.id] for each in lost if each.holding in HELD}
    ended = world.write("check", *words)
    codes = {SAID[each.holding] for each in after.captures.values()
             if each.holding in SAID and (each.id in found or any(it.state not in OVER for it in each.deliveries))}
    codes |= {15 for each in after.captures.values() if each.holding == "removing"}
    if not repair and (after.strays or _untidy(world, after)):
        codes.add(15)
    if repair and len(world.model.strays) > 1 and not ended.killed:
        _in_their_order(world, after)
    # A capture whose bytes are found in another packing was damaged or missing until then.
    codes |= {ended.code} & regained
    finished(world, ended, after, EXIT_CODES.worst(codes))


def find_damage(model, read_data):
    """Applies a check to the model, of all bytes or of existence and length; returns ids of damaged captures."""
    found = set()
    for capture in model.captures.values():
        is_lost = capture.holding in ("missing", "quarantined") and not capture.reference
        if is_lost and model.strays.pop(capture.bundle.sha256, None):
            capture.regain_bytes(capture.bundle, None)
        if capture.holding in HELD and capture.file in ("gone", "cut", "flipped" if read_data else ""):
            capture.lose_bytes()
            found.add(capture.id)
        if capture.holding == "quarantined":  # a check that was killed may have left the damaged file in place
            capture.file = "gone"
    return found


def _repair(world, model):
    """Applies --repair to the model: it adopts strays as their sidecars say, and makes missing sidecars again."""
    orders = dict(model.orders)
    for bundle in list(model.strays.values()):
        sidecar, known = world.spool(bundle, ".json"), {}
        if sidecar.exists():
            known = json.loads(sidecar.read_bytes())
        held, sessions = model.by_identity(bundle), dict(model.sessions)
        if held and (held.holding != "spool" or held.file != "whole"):
            held.regain_bytes(bundle, None)  # only the bytes return, because no push has named destinations
            held.pushed_to, held.stale = held.bound, None
        elif not held:
            name, _ = model.push(bundle, known.get("session"), known.get("destinations", ()), known.get("priority", 0),
                                 "not_before" in known, like=known.get("id"))
            capture = model.captures[name]
            model.insert(capture, orders.get(bundle.sha256))
            for delivery in capture.deliveries:
                delivery.state, delivery.doubt = "held", True
        model.sessions |= sessions  # adopting does not open an ended session
    model.strays = {}
    for capture in model.captures.values():
        # The sidecar is made from the row, which knows today's destinations.
        if capture.holding in HELD and not capture.sidecar:
            capture.sidecar, capture.pushed_to, capture.stale = True, capture.bound, None


def _in_their_order(world, model):
    """Takes the ids from the queue, because the order in which strays are adopted is not promised."""
    there = {record["sha256"]: record["id"] for record in reversed(listing(world))}
    wanted = {each.bundle.sha256: each.id for each in model.captures.values()}
    expect(set(there) == set(wanted), f"after --repair: only in the queue {there.keys() - wanted.keys()}, only expected "
           f"{[wanted[each] for each in wanted.keys() - there.keys()]}")
    by_sha256 = {each.bundle.sha256: each for each in model.captures.values()}
    model.captures = {name: by_sha256[sha256] for sha256, name in there.items()}
    for name, capture in model.captures.items():
        expect(name.partition(".")[0] == capture.bundle.id, f"after --repair: {name} is {capture.bundle}")
        capture.id = name


def _untidy(world, model):
    """Whether there are sidecars without rows, or stored bundles without sidecars."""
    held = [each for each in model.captures.values() if each.holding in HELD]
    return bool(_unnamed_sidecars(world, model)) or not all(world.spool(each.bundle, ".json").exists() for each in held)


def _unnamed_sidecars(world, model):
    named = {each.bundle.sha256 for each in model.captures.values() if each.holding != "removed"}
    return {path.stem for path in (world.queue / "spool").glob("*/*.json")} - named


def mend(world, dice):
    """Brings a missing file back, as from a backup; the next check takes it back."""
    captures = [each for each in world.model.captures.values() if each.holding == "missing" and not each.referred]
    if captures:
        bundle = dice.choice(captures).bundle
        path = world.spool(bundle)
        if path.parent.is_dir() and not path.exists():
            world.shell(f"cp {world.source(bundle)} {os.path.relpath(path, world.folder)}", _private, path, bundle.data)
            world.model.strays[bundle.sha256] = bundle


def _private(path, data):
    path.touch(0o600)
    path.write_bytes(data)


def salvage(world, dice):
    """Loses the database: salvage finds the captures of the spool, and holds them because their states are unknown."""
    model = world.model
    before = {each.bundle.identity: each for each in model.captures.values() if _known_to_spool(world, each)}
    if not world.exists or model.strays or not before or _strange(world, model):
        return  # salvage would also find files without rows
    damaged = any(each.holding in ("spool", "quarantined") and each.file in ("cut", "flipped")
                  for each in model.captures.values())
    release = ["--release"] if dice.random() < 0.3 else []
    release += _lose(world, dice.choice(("gone", "damaged", "sound")))
    ended = world.write("salvage", *release)
    if again := ended.killed:
        ended = world.read("salvage", "--force", *release)
    records = listing(world)
    there = {world.pool.by_sha256[record["sha256"]].identity for record in records}
    expect(there == set(before), f"{ended.words}: stores {[record['id'] for record in records]}, expected "
           f"{[each.id for each in before.values()]}")
    model.forget()
    world.saved = None
    for record in reversed(records):
        old = before[world.pool.by_sha256[record["sha256"]].identity]
        _salvaged(world, record, old, "pending" if "--release" in release else "held")
    expect(sorted(ended.lines) == sorted(model.captures), f"{ended.words}: prints {ended.lines}")
    # Bytes that were set aside before are missing. Bytes without a sidecar are set aside without a row, so a second
    # salvage does not know about them.
    codes = {74} if "missing" in {record["holding"] for record in records} else {1} if damaged else {0}
    ended.must(*codes | ({0} if again and codes == {1} else set()))


def _known_to_spool(world, capture):
    """Whether the spool has a file from which salvage learns about the capture: its bundle or its sidecar."""
    whole = capture.holding == "spool" and capture.file == "whole"
    return whole or (capture.holding not in ("removed", "removing") and world.spool(capture.bundle, ".json").exists())


def _strange(world, model):
    """Whether there are sidecars of pushes that were never acknowledged, or captures that are being released."""
    return any(each.holding == "removing" for each in model.captures.values()) or bool(_unnamed_sidecars(world, model))


def _lose(world, how):
    """Loses, damages or keeps the database; a damaged one must make every command fail and stay unchanged.

    Returns the options that `salvage` then needs, because it refuses a sound database without --force.
    """
    path = world.queue / "queue.sqlite"
    if how == "damaged":
        world.shell("head -c 8192 /dev/zero | tr '\\0' x | dd of=data/capqueue/queue.sqlite conv=notrunc", _overwrite, path)
    elif how == "gone":
        for end in ("", "-wal", "-shm"):
            world.shell(f"rm -f data/capqueue/queue.sqlite{end}", path.with_name(path.name + end).unlink, True)
    if how == "damaged":
        for words in (["list"], ["check"], ["push", world.source(world.pool.sound[0])]):
            world.read(*words).must(74)
    if how == "sound":
        world.read("salvage").must(64)
        return ["--force"]
    return []


def _overwrite(path):
    with open(path, "r+b") as file:
        file.write(b"x" * 8192)


def _salvaged(world, record, old, state):
    """Adds a capture to the model as its sidecar describes it, or without one as its bundle does."""
    model, sidecar = world.model, world.spool(old.bundle, ".json").exists()
    name = old.id if sidecar else record["id"]
    expect(name.partition(".")[0] == old.bundle.id, f"salvage: {name} is not an id of {old.bundle.id}")
    whole = old.holding in HELD and old.file == "whole"
    damaged = old.holding in ("spool", "quarantined") and old.file in ("cut", "flipped")
    lost = "quarantined" if damaged and record["holding"] == "quarantined" else "missing"
    capture = Capture(name, old.bundle, None, 0, [], old.holding if whole else lost, sidecar=sidecar,
                      reference=old.reference if whole or sidecar else None, referred=old.referred,
                      pushed_to=old.pushed_to if sidecar else ())
    model.insert(capture, old.order if sidecar else None)
    if sidecar:
        capture.session, capture.priority = old.session, old.priority
    later = old.deliveries[0].later and sidecar
    state = state if whole or state == "held" else "quarantined"
    capture.deliveries = [model.delivery(each, capture.priority, later, state)
                          for each in capture.pushed_to or [model.default]]
    for delivery in capture.deliveries:
        delivery.doubt = True
    if capture.session:
        model.sessions[capture.session] = "open"
    model.captures[name] = capture


COMMANDS = {"damage": (9, damage), "mend": (2, mend), "check": (7, check), "salvage": (4, salvage)}
