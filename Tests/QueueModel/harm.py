"""Damage done by hand to files of the spool, and the commands that find it: check, check --repair, salvage."""
import os

from model import Capture, Delivery, HELD
from outcomes import expect
from seen import settle


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
    code = _check(after, read_data, repair)
    ended = world.write("check", *words)
    if ended.killed:
        settle(world, after)
        return
    ended.finding(code)
    after.litter = False
    world.model = after


def _check(model, read_data, repair):
    codes = set()
    for capture in model.captures.values():
        codes |= _look(model, capture, read_data)
    if model.strays and repair:
        for bundle in list(model.strays.values()):
            model.push(bundle)
    elif model.strays:
        codes.add(15)
    return next((code for code in (74, 1, 15) if code in codes), 0)


def _look(model, capture, read_data):
    if capture.holding in HELD:
        if capture.file == "gone":
            capture.lose_bytes("missing")
        elif capture.file == "cut" or (capture.file == "flipped" and read_data):
            if capture.holding == "spool":
                model.quarantine += 1
            capture.lose_bytes("quarantined")
            return {1}
    return {74} if capture.holding == "missing" else set()


def salvage(world, dice):
    """The database is lost; what the spool has comes back, held, since what happened to it is not known."""
    if not world.exists or world.model.strays:
        return
    release = dice.random() < 0.3
    for name in ("queue.sqlite", "queue.sqlite-wal", "queue.sqlite-shm"):
        path = world.queue / name
        world.shell(f"rm -f queue/{name}", path.unlink, True)
    after = world.model.copy()
    kept = [each for each in after.captures.values() if each.holding in HELD and each.file == "whole"]
    after.captures = {each.id: _salvaged(each, release) for each in kept}
    ended = world.write("salvage", *(["--release"] if release else []))
    if ended.killed:
        ended = world.read("salvage", *(["--release"] if release else []))
    ended.must(0)
    world.model = after
    expect((world.queue / "queue.sqlite").exists(), f"{ended.words}: makes no database")


def _salvaged(capture, release):
    names = [each.destination for each in capture.deliveries]
    deliveries = [Delivery(name, "pending" if release else "held") for name in names]
    return Capture(capture.id, capture.bundle, capture.session, capture.priority, deliveries, capture.holding,
                   reference=capture.reference)


COMMANDS = {"damage": (9, damage), "check": (7, check), "salvage": (2, salvage)}
