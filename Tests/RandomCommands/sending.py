"""Destinations, ends of sessions, and runs that copy due captures to folders."""
import hashlib
import json

from RandomCommands.model import FAILED, HELD
from Kit.outcomes import expect
from RandomCommands.seen import after_kill, finished, of_capture, of_record, settle
from RandomCommands.taking import SESSIONS

WEB = "web"
NAMES = ("nas", "usb", WEB)
MARKER = ".capqueue-destination"
AWAY = "marker-of-a-disk-that-is-not-mounted"
WAITING = ("pending", "failed", "uploading", "processing")


def destination(world, dice):
    action, name = dice.choice(("add", "add", "add", "remove", "default", "list")), dice.choice(NAMES)
    after, number = world.model.copy(), NAMES.index(name)
    if action == "list":
        ended = world.read("dest", "list").finding(0)
        missing = [each for each in after.destinations if each not in ended.out.decode()]
        expect(not missing, f"{ended.words}: does not list {missing}")
        return
    is_known = name in after.destinations
    is_used = any(each.destination == name for capture in after.captures.values() for each in capture.deliveries)
    if action == "add":
        code = 64 if is_known else 0
    else:
        code = 78 if not is_known else 64 if action == "remove" and is_used else 0
    if not code:
        {"add": lambda: after.add_destination(name, number), "remove": lambda: after.remove_destination(name),
         "default": lambda: setattr(after, "default", name)}[action]()
    words = place(world, name) if action == "add" else ()
    ended = world.write("dest", action, name, *words)
    world.saved = None if action == "add" else world.saved  # a folder may have another marker now
    _changed(world, ended, after, code if ended.existed or action == "add" else 66)


def place(world, name):
    """Returns the options of `dest add`."""
    if name != WEB:
        return "--kind", "folder", "--path", f"disk{NAMES.index(name)}", "--retry", "0x10"  # no waiting times, even after kills
    url = world.web.url
    return "--kind", "put", "--url", url + "/{sha256}", "--session-end-url", f"{url}/ends", "--retry", "0x10"


def _changed(world, ended, after, code):
    """Checks a change that only `dest` shows; after a kill `dest` tells which of the two states is there."""
    if not ended.killed:
        ended.must(code)
        world.model = after
        return
    after_kill(world)
    if not world.exists:
        return
    world.read("config", "retention", "7d").must(0)  # writes settings.json, which a kill leaves behind the database
    listed = world.read("dest", "list").must(0).out.decode()
    default = world.read("dest", "default").must(0, 78).out.decode().strip()
    there = {name for name in NAMES if any(name in line.split() for line in listed.splitlines())}
    for model in (after, world.model):
        if there == set(model.destinations) and default == (model.default or ""):
            world.model = model
            return
    expect(False, f"after the kill destinations are {there}, default {default!r}; before "
           f"{world.model.destinations} {world.model.default}, after {after.destinations} {after.default}")


def end_session(world, dice, name=None):
    after = world.model.copy()
    name = name or dice.choice(SESSIONS)
    incomplete = dice.random() < 0.4
    code = 0 if name in after.sessions else 66
    if not code:
        incomplete = incomplete or after.sessions[name] == "incomplete"
        if after.sessions[name] == "open":  # an end that is said again is the same end
            after.reported[name] = len(world.web.reports)
        after.sessions[name] = "incomplete" if incomplete else "ended"
    ended = world.write("session", "end", name, *(["--incomplete"] if incomplete else []))
    if ended.killed:
        before = world.model.sessions.get(name)
        settle(world, after)
        _tell_phase(world, name, {before, after.sessions.get(name)})
        return
    ended.must(code)
    world.model = after


def end_twice(world, dice):
    """Ends a session under a clock that was ahead or is behind, so that both ends have one time, and reports both."""
    members = [each for each in world.model.captures.values() if each.session and each.holding in HELD
               and each.file == "whole"]
    if not members:
        return
    told = [each for each in members if any(it.destination == WEB and it.state in ("pending", "completed") for it in each.deliveries)]
    member = dice.choice(told or members)
    for offset in ("+40s", dice.choice(("-2d", "+0s"))):
        world.read("push", world.source(member.bundle), f"--session={member.session}", "--reopen").must(0)
        world.model.push(member.bundle, member.session)
        world.model.sessions[member.session] = "open"
        world.clock = offset
        world.model.unordered = True
        world.counts["ends under a wrong clock"] += 1
        end_session(world, dice, member.session)
        run(world, dice)
        member = world.model.captures[member.id]


def _tell_phase(world, name, possible):
    """Reads from the list whether an ended session is incomplete, because the counts of `status` do not tell."""
    if not world.exists or name not in world.model.sessions:
        return
    lines = [json.loads(line) for line in world.read("session", "list", "--json").must(0).lines]
    told, = [line for line in lines if line["name"] == name]
    phase = "open" if "ended_at" not in told else "incomplete" if told["incomplete"] else "ended"
    expect(phase in possible, f"after the kill {name} is {phase}, which is not one of {possible}")
    world.model.sessions[name] = phase


def mount(world, dice):
    """Takes a destination's disk away or brings it back, by its marker."""
    disk = dice.choice(world.disks)
    marker, away = disk / MARKER, world.folder / f"{disk.name}-{AWAY}"
    if marker.exists():
        world.shell(f"mv {disk.name}/{MARKER} {away.name}", marker.rename, away)
    elif away.exists():
        world.shell(f"mv {away.name} {disk.name}/{MARKER}", away.rename, marker)


def occupy(world, dice):
    """Puts another bundle where one will be sent: this is a conflict, and the file is never overwritten."""
    captures = [each for each in world.model.captures.values() if any(it.state in WAITING for it in each.deliveries)]
    if captures:
        capture = dice.choice(captures)
        path = dice.choice(world.disks) / f"{capture.id}.bundle"
        other = dice.choice([each for each in world.pool.sound if each.sha256 != capture.bundle.sha256])
        if not path.exists():
            world.shell(f"cp {world.source(other)} {path.parent.name}/{path.name}", path.write_bytes, other.data)


def mounted(world, model, name):
    return name == WEB or (world.disks[model.destinations[name]] / MARKER).exists()


def run(world, dice):
    """Sends what is due. If a disk is missing, nothing is lost or counts as a failure, and work is left."""
    del dice
    after = world.model.copy()
    told = _send_all(world, after)
    ended = world.write("run")
    failed = any(capture.state in FAILED for capture in after.captures.values())
    left = any(each.state in (*WAITING, "held") for capture in after.captures.values() for each in capture.deliveries)
    # A cancelled member keeps back the end of a session, of which the server has another, unless it was ended as incomplete.
    landed_there = {capture.session for capture, each in _deliveries(after)
                    if each.destination == WEB and each.state == "completed"}
    stuck = any(capture.state == "cancelled" and capture.session in landed_there
                and after.sessions.get(capture.session) == "ended" for capture in after.captures.values())
    code = 14 if failed else 15 if left or stuck or world.askew and ended.code == 15 else 0
    if finished(world, ended, after, code, between=_sending):
        lines = [line for _, _, line in told]
        found, wanted = _without_the_finder(ended.lines), _without_the_finder(lines)
        expect(sorted(found) == sorted(wanted), f"{ended.words}: says {ended.lines}, expected {lines}")
        dues, again = [each.due for _, each, _ in told], [each.due for _, each, _ in told if each.again]
        sessions_in_order(after, told, ended)
        # Each of several destinations has its own order.
        if not after.unordered and len({name for name, _, _ in told}) == 1 and all(dues.count(due) == 1 for due in again):
            expect(found == wanted, f"{ended.words}: in another order: {ended.lines}, expected {lines}")
        tell_ends(world)
    _copies(world)


def _without_the_finder(lines):
    """Returns the lines of a run. Of several destinations any may be the one that finds the damage."""
    return [line.split()[0] if line.endswith(" quarantined") else line for line in lines]


def sessions_in_order(model, told, ended):
    """Checks that the members of each session went in the order of their pushes."""
    by_line = {line: capture_of(model, delivery) for _, delivery, line in told}
    for session in set(model.sessions):
        for name in model.destinations:
            wanted = [line for one, _, line in told
                      if one == name and by_line[line].session == session and not line.endswith(" quarantined")]
            there = [line for line in ended.lines if line in wanted]
            expect(there == wanted, f"{ended.words}: {session} in another order: {there}, expected {wanted}")


def capture_of(model, delivery):
    return next(capture for capture, other in _deliveries(model) if other is delivery)


def tell_ends(world):
    """Checks that the server knows each end that is due, with all members that it has."""
    model = world.model
    for session, phase in model.sessions.items():
        members = [each for each in model.captures.values() if each.session == session]
        landed = sorted((each for each in members if any(it.destination == WEB and it.state == "completed"
                                                         for it in each.deliveries)), key=lambda each: each.turn)
        if phase == "open" or not landed or not model.is_due(session):
            continue
        since = [report for _, report in world.web.reports[model.reported.get(session, 0):]
                 if report["session"] == session]
        expect(since, f"the end of {session} is due and was not reported")
        there, wanted = [each["id"] for each in since[-1]["captures"]], [each.id for each in landed]
        expect(there == wanted, f"the end of {session} is reported with {there}, expected {wanted}")
        world.counts["ends reported"] += 1
        expect(since[-1]["incomplete"] == (phase == "incomplete"), f"the end of {session} is reported as {since[-1]}")


def _send_all(world, model):
    """Returns a run's reports in the order of sending: destination, delivery and text of each line."""
    for _, delivery in _deliveries(model):
        if delivery.state in ("uploading", "processing"):
            delivery.apply("park")  # the run that had it was killed
            delivery.due, delivery.again = model.step, True
    told = []
    for name in model.destinations:
        while mounted(world, model, name) and (first := _first(model, name)):
            told += _send(world, model, *first, name)
    return told


def _deliveries(model):
    captures = sorted(model.captures.values(), key=lambda capture: capture.turn)
    return [(capture, delivery) for capture in captures for delivery in capture.deliveries]


def _first(model, name):
    """Returns the next delivery: the most urgent, then the longest due; of each session only its earliest member."""
    ready, sessions = [], set()
    for capture, delivery in _deliveries(model):
        if delivery.destination != name or delivery.state not in ("pending", "failed"):
            continue
        if capture.session in sessions:
            continue
        sessions |= {capture.session} - {None}
        if not delivery.later and capture.holding in HELD:
            ready.append((-delivery.priority, delivery.due, delivery.number, capture, delivery))
    return min(ready, key=lambda each: each[:3])[3:] if ready else None


def _send(world, model, capture, delivery, name):
    delivery.apply("claim")
    if name == WEB:
        _send_to_web(world, capture, delivery)
        return [(name, delivery, f"{capture.id} {name} {delivery.state}")]
    target = world.disks[model.destinations[name]] / f"{capture.id}.bundle"
    there = hashlib.sha256(target.read_bytes()).hexdigest() if target.exists() else None
    # The stored file is opened before the folder is looked at, unless the folder may have the capture.
    if there == capture.bundle.sha256 and (capture.file != "gone" or delivery.doubt):
        delivery.apply("complete")
        delivery.doubt = False
    elif capture.file == "gone" or not there and capture.file != "whole":
        capture.lose_bytes()
    else:
        delivery.apply("conflict" if there else "complete")
    return [(name, delivery, f"{capture.id} {name} {delivery.state}")]


def landed(world, capture, name):
    """Whether a destination has the bytes of a capture."""
    path = None if name == WEB else world.disks[world.model.destinations[name]] / f"{capture.id}.bundle"
    return world.on_web(capture) if name == WEB else path.exists() and path.read_bytes() == capture.bundle.data


def _send_to_web(world, capture, delivery):
    has_landed = delivery.doubt and world.on_web(capture)
    if capture.file != "whole" and not has_landed:
        capture.lose_bytes()
    else:
        delivery.apply("complete")
        delivery.doubt = False


def _sending(record, old, new):
    """Returns the capture in the middle of a run: some deliveries are sent, one is claimed, the others wait."""
    if not old or not new:
        return None
    there = {each.get("destination") or "": each["state"] for each in record["deliveries"]}
    for place, delivery in enumerate(old.deliveries):
        later = new.deliveries[place]
        name = next((key for key in (later.destination, delivery.destination) if (key or "") in there), None)
        state = there.get(name or "")
        if state not in (delivery.state, later.state, "uploading", "pending"):
            return None
        delivery.destination, delivery.state = name, state
    old.holding = record["holding"] if record["holding"] == new.holding else old.holding
    return old if of_capture(old) == of_record(record) else None


def _copies(world):
    """Checks that completed captures are whole at their destinations, and that no partial file has a name there."""
    for capture in world.model.captures.values():
        for delivery in capture.deliveries:
            number = world.model.destinations.get(delivery.destination)
            if delivery.destination == WEB:
                continue
            if delivery.state == "completed" and not delivery.receipt and number is not None:
                path = world.disks[number] / f"{capture.id}.bundle"
                expect(path.exists() and path.read_bytes() == capture.bundle.data,
                       f"{capture.id} is completed, and {path.name} is not its bytes")
    on_the_web(world)
    for disk in world.disks:
        for path in disk.glob("*.bundle"):
            expect(any(path.read_bytes() == bundle.data for bundle in world.pool.sound),
                   f"{path.name} at a destination is not a whole bundle")


def on_the_web(world):
    """Checks that the server has what is completed, and got nothing twice unasked."""
    web = world.web
    expect(not web.problems and not web.wrong, f"the server: {web.problems} {web.wrong}")
    expect(not web.twice, f"sent again unasked: {web.twice}")
    sent = {world.pool.by_sha256[path[1:]].identity for path in list(web.kept)}
    for capture in world.model.captures.values():
        for delivery in capture.deliveries:
            if delivery.destination == WEB and delivery.state == "completed" and not delivery.receipt:
                expect(capture.bundle.identity in sent, f"{capture.id} is completed, and the server does not have it")


COMMANDS = {"dest": (8, destination), "session-end": (3, end_session), "end-twice": (8, end_twice), "mount": (4, mount), "occupy": (2, occupy),
            "run": (12, run)}
