"""A run that has sent a whole bundle to the server, and commands that come before the answer."""
import contextlib
import os
import signal
import sqlite3
import subprocess
import time

from Kit.outcomes import PATIENCE, expect
from Kit.sending import freeze
from RandomCommands import taking
from RandomCommands.harm import find_damage, flip
from RandomCommands.seen import listing, of_capture, of_record
from RandomCommands.sending import NAMES, WEB, end_session, place

# What the user does, and what may follow while the run still waits. None leaves the transfer alone.
EVENTS = {"hold": "release", "cancel": "retry", None: None}


class Sending:
    """A run for the server, which does not answer yet. `target` is the id of the capture that it has."""

    def __init__(self, world, dice):
        self.world, self.web, self.dice, self.target = world, world.web, dice, None
        self.web.gate.clear()
        self.web.slow = dice.choice(("PUT", "PUT", "HEAD"))
        self.web.waiting.clear()
        self.before = len(self.web.puts)
        words = ["run", "--until-empty", "--grace", "0s", "--dest", WEB]
        world.note(f"capqueue {' '.join(words)} &    # the server answers no {self.web.slow}")
        self.process = subprocess.Popen([world.bench.capqueue, *words], env=world.env, cwd=world.home, start_new_session=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        self._until(lambda: self.web.waiting)
        if self.web.waiting:
            sha256 = self.web.waiting[0][1:]
            self.target = next(each.id for each in self.world.model.captures.values() if each.bundle.sha256 == sha256)
            self.world.note(f"the server has {self.target}")
        # A run takes back what a killed one had claimed, at all destinations.
        for capture in self.world.model.captures.values():
            for delivery in capture.deliveries:
                if delivery.destination != WEB and delivery.state in ("uploading", "processing"):
                    delivery.apply("park")
                    delivery.due, delivery.again = self.world.model.step, True
        return self

    def __exit__(self, *_):
        self.web.gate.set()
        self._end(signal.SIGKILL)

    @property
    def waits(self):
        """Whether a run with --until-empty waits for what is due later."""
        return any(each.later for capture in self.world.model.captures.values() for each in capture.deliveries)

    @property
    def sent(self):
        return set(self.web.puts[self.before:])

    def goes_on(self):
        """Waits until the run sends something else, if it does."""
        count, end = len(self.web.waiting), time.monotonic() + 0.5
        self._until(lambda: len(self.web.waiting) > count or time.monotonic() > end)

    def freeze(self):
        """Freezes the run, so that it dies without having settled anything."""
        self.world.note("the run gets SIGSTOP")
        freeze(self.world.queue, self.process.pid)

    def stop(self, how):
        """Ends the run: by a signal, or by the answers of the server."""
        self.world.note(f"the run gets {how}")
        if how == "its answers":
            self.web.gate.set()
            self._until(lambda: False)
            self._end(signal.SIGTERM)
        else:
            self._end(getattr(signal, how))
        code = self.process.returncode
        expect(code in (0, 14, 15, -9, -15, 143), f"run --until-empty: exit {code}")
        self.web.gate.set()

    def _end(self, number):
        if self.process.poll() is None:
            os.kill(self.process.pid, number)
        self.process.wait(PATIENCE)

    def _until(self, condition):
        start = time.monotonic()
        while not condition() and self.process.poll() is None and not (self.waits and time.monotonic() > start + 1):
            expect(time.monotonic() < start + PATIENCE, "run --until-empty hangs")
            time.sleep(0.005)


def interrupt(world, dice):
    """Interrupts transfers to the server after the last byte, and checks that the queue keeps its doubt."""
    world.crash, world.clock = None, ""
    prepare(world, dice)
    if not _may_send(world.model):
        return
    with Sending(world, dice) as sending:
        follow(world, sending)
        paused = is_stopped = False
        if sending.target:
            world.counts["interrupted"] += 1
            way = dice.choice(("hold", "hold", "cancel", "cancel", "pause", "check", "record", None))
            _keeps_order(world, sending)
            if is_stopped := dice.random() < 0.25:
                sending.freeze()
            states, paused = _act(world, dice, sending, way)
            if way not in ("pause", None) and not is_stopped:
                sending.goes_on()
            follow(world, sending, states)
            if dice.random() < 0.25:
                taking.push(world, dice, resends=False)
            elif dice.random() < 0.25:
                end_session(world, dice)
        ways = ("SIGKILL",) if is_stopped else ("SIGKILL", "SIGTERM") if paused else ("SIGKILL", "SIGTERM", "its answers")
        sending.stop(dice.choice(ways))
        follow(world, sending, "any")
    if paused:
        world.read("resume").must(0)
        world.read("resume", f"--dest={WEB}").must(0)
    in_doubt(world)


def follow(world, sending, states="any"):
    """Takes over what the run has done with deliveries to the server; everything else must be as in the model."""
    model = world.model
    model.unordered = True
    records = {record["id"]: record for record in listing(world)}
    for capture in model.captures.values():
        there = {each.get("destination"): each["state"] for each in records[capture.id]["deliveries"]}
        for delivery in capture.deliveries:
            if delivery.destination == WEB:
                allowed = states if capture.id == sending.target and states != "any" else _possible(capture, delivery)
                expect(there[WEB] in allowed, f"{capture.id} is {there[WEB]}, expected one of {allowed}")
                _moved(world, sending, capture, delivery, there[WEB])
        expect(of_record(records[capture.id]) == of_capture(capture), f"during a run: is\n  "
               f"{of_record(records[capture.id])}, expected\n  {of_capture(capture)}")


def _possible(capture, delivery):
    if delivery.state not in ("pending", "failed", "uploading"):
        return (delivery.state,)
    return "pending", "uploading", "completed", delivery.state, "quarantined" if capture.file != "whole" else "pending"


def _moved(world, sending, capture, delivery, state):
    if state == "quarantined" and delivery.state != "quarantined":
        capture.lose_bytes()
    if state != delivery.state:
        delivery.due, delivery.again = world.model.step, True
    if state == "completed":
        # What was completed before, or just before a push, may have been of another packing.
        there = [world.pool.by_sha256[path[1:]] for path in list(world.web.kept)]
        expect(delivery.receipt or delivery.state == state or capture.bundle.identity in {each.identity for each in there},
               f"{capture.id} ({capture.bundle}) is completed, and the server has {there}")
        delivery.doubt = False
    elif f"/{capture.bundle.sha256}" in sending.sent:
        delivery.doubt = True
    delivery.state = state


def in_doubt(world):
    """Checks that the queue will ask the server about each capture that this may have without an answer."""
    with contextlib.closing(sqlite3.connect(f"file:{world.queue / 'queue.sqlite'}?mode=ro", uri=True)) as database:
        doubted = {name for name, in database.execute(
            "SELECT captures.id FROM captures JOIN deliveries ON capture = seq JOIN destinations ON destinations.id = "
            "destination WHERE destinations.name = ? AND (in_doubt = 1 OR deliveries.state = 'uploading')", (WEB,))}
    for capture in world.model.captures.values():
        for delivery in capture.deliveries:
            if delivery.destination == WEB and delivery.doubt and delivery.state != "completed":
                expect(capture.id in doubted, f"{capture.id} may have landed, and is not in doubt")


def prepare(world, dice):
    """Adds the server and pushes a capture for it, if there is nothing to send."""
    model = world.model
    if WEB not in model.destinations:
        world.read("dest", "add", WEB, *place(world, WEB)).must(0)
        model.add_destination(WEB, NAMES.index(WEB))
        world.saved = None
    new = [bundle for bundle in world.pool.sound if not model.by_identity(bundle)]
    if new and not _may_send(model):
        bundle = dice.choice(new)
        taking.want(world, [bundle])
        found = taking.found(world, bundle)
        world.read("push", world.source(bundle), f"--dest={WEB}").must(0)
        model.push(bundle, None, (WEB,), found=found)


def _may_send(model):
    return any(delivery.destination == WEB and delivery.state in ("pending", "failed", "uploading")
               for capture in model.captures.values() for delivery in capture.deliveries)


def _delivery(capture):
    return next(each for each in capture.deliveries if each.destination == WEB)


def _keeps_order(world, sending):
    """Checks that no earlier member of its session waits for the server."""
    captures = world.model.captures.values()
    target = world.model.captures[sending.target]
    behind = [each.id for each in captures if target.session and each.session == target.session and
              each.turn < target.turn and any(it.destination == WEB and it.state in ("pending", "failed", "uploading")
                                              for it in each.deliveries)]
    expect(not behind, f"{sending.target} is sent before {behind}")


def _act(world, dice, sending, way):
    """Does what interrupts the transfer; returns the states that the delivery may have then, and whether it is paused."""
    target = world.model.captures[sending.target]
    again = dice.random() < 0.4
    world.counts[f"interrupted by {way}"] += 1
    if way in ("hold", "cancel"):
        world.read(way, target.id).must(0)
        _others(target, way)
        if not again:
            return {"hold": ("held", "uploading"), "cancel": ("cancelled", "uploading")}[way], False
        world.read(EVENTS[way], target.id)
        _others(target, EVENTS[way])
        return "any", False
    if way == "pause":
        world.read("pause", "--now", *([f"--dest={WEB}"] if again else [])).must(0)
        return "any", True
    if way == "check" and target.holding == "spool" and target.file == "whole":
        world.shell(f"flip a byte of {target.bundle}", flip, world.file(target), dice.randrange(target.bundle.bytes))
        target.file = "flipped"
        world.read("check", "--read-data").must(1, 74, 15)
        find_damage(world.model, True)
        return ("quarantined",), False
    if way == "record":
        receipt = f"stored {target.bundle.sha256}\n"
        ended = world.read("mark-uploaded", target.id, f"--dest={WEB}", "--receipt", "-", stdin=receipt.encode())
        ended.must(0)
        _delivery(target).receipt = receipt
        return ("completed",), False
    return "any", False


def _others(capture, event):
    """Applies the event to the deliveries to other destinations."""
    for delivery in capture.deliveries:
        if delivery.destination != WEB:
            delivery.apply(event)


COMMANDS = {"interrupt": (20, interrupt)}
