"""Damage done by hand to files of the spool, and the commands that find it: check, check --repair, salvage."""
import os

from model import Capture, Delivery, HELD
from outcomes import expect
from seen import listing, settle
from spec import EXIT_CODES


def damage(world, dice):
    """Deletes, cuts or flips a byte of the file that holds a capture, or deletes its sidecar."""
    captures = [each for each in world.model.captures.values() if each.holding in HELD and each.file == "whole"]
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


def flip(path, place):
    with open(path, "r+b") as file:
        file.seek(place)
        value = file.read(1)[0]
        file.seek(place)
        file.write(bytes([value ^ 0xFF]))


def check(world, dice):
    run_check(world, read_data=dice.random() < 0.5, repair=dice.random() < 0.25)


def run_check(world, read_data, repair=False):
    """Damage is set aside and reported; a clean queue is called clean."""
    words = (["--read-data"] if read_data else []) + (["--repair"] if repair else [])
    after = world.model.copy()
    codes = _check(after, read_data)
    if repair:
        _repair(after)
    ended = world.write("check", *words)
    if ended.killed:
        settle(world, after)
        return
    if not repair and (after.strays or _untidy(world, after)):
        codes.add(15)
    missing = [each for each in world.model.captures.values() if each.holding == "missing"]
    again = [EXIT_CODES.worst(codes | {74})] if missing else []  # said once, or as long as it is so
    if ended.existed:
        ended.must(EXIT_CODES.worst(codes), *again)
    else:
        ended.must(66)
    after.litter = False
    world.model = after


def _check(model, read_data):
    """Looks at all files; the exit codes of what is found."""
    codes = set()
    for capture in model.captures.values():
        if capture.holding not in HELD or capture.file == "whole" or (capture.file == "flipped" and not read_data):
            continue
        capture.lose_bytes()
        codes.add(1 if capture.holding == "quarantined" else 74)
    return codes


def _repair(model):
    """Strays are adopted, sidecars made again."""
    for bundle in list(model.strays.values()):
        model.push(bundle)
    model.strays = {}
    for capture in model.captures.values():
        capture.sidecar = capture.sidecar or capture.holding in HELD


def _untidy(world, model):
    """Are there sidecars without a bundle, or held bundles without a sidecar?"""
    held = {each.bundle.sha256 for each in model.captures.values() if each.holding in HELD}
    there = {path.stem for path in (world.queue / "spool").glob("*/*.json")}
    return bool(there ^ held)


def salvage(world, dice):
    """The database is lost; what the spool has comes back, held, since what happened to it is not known."""
    if not world.exists or world.model.strays or not any(each.holding in HELD for each in world.model.captures.values()):
        return
    release = ["--release"] if dice.random() < 0.3 else []
    for name in ("queue.sqlite", "queue.sqlite-wal", "queue.sqlite-shm"):
        world.shell(f"rm -f queue/{name}", (world.queue / name).unlink, True)
    ended = world.write("salvage", *release)
    if ended.killed:
        ended = world.read("salvage", *release)
    ended.must(0)
    model = world.model
    before = {each.bundle.sha256: each for each in model.captures.values() if each.holding in HELD}
    records = listing(world)
    expect({record["sha256"] for record in records} == {sha256 for sha256, each in before.items() if each.file == "whole"},
           f"{ended.words}: takes in {[record['id'] for record in records]} of {list(before.values())}")
    model.captures, model.sessions = {}, {}
    for record in reversed(records):
        _salvaged(model, record, before[record["sha256"]], "pending" if release else "held")
    expect(sorted(ended.lines) == sorted(model.captures), f"{ended.words}: prints {ended.lines}")


def _salvaged(model, record, old, state):
    """A capture as its sidecar has it, or without one as its bundle does."""
    name = old.id if old.sidecar else record["id"]
    expect(name.partition(".")[0] == old.bundle.id, f"salvage: {name} is no id of {old.bundle.id}")
    capture = Capture(name, old.bundle, None, 0, [Delivery(None, state)], old.holding, reference=old.reference)
    if old.sidecar:
        capture.session, capture.priority = old.session, old.priority
        names = old.pushed_to or [None]
        capture.deliveries = [Delivery(each, state, later=old.deliveries[0].later) for each in names]
    if capture.session:
        model.sessions[capture.session] = "open"
    model.captures[name] = capture


COMMANDS = {"damage": (9, damage), "check": (7, check), "salvage": (2, salvage)}
