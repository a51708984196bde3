"""Rows and whole queues that are lost, and what brings them back: check --repair, backup and restore, adopt."""
import contextlib
import json
import os
import shutil
import sqlite3

from Kit.outcomes import expect
from RandomCommands import interrupting, taking
from RandomCommands.harm import run_check
from RandomCommands.model import HELD
from RandomCommands.seen import finished, settle
from RandomCommands.sending import WEB, run


def backup(world, dice):
    """Backs the queue up, into a folder of its own or over the last backup."""
    model = world.model
    if not world.exists or not _is_sound(model):
        return
    folder = world.saved[0] if world.saved and dice.random() < 0.5 else world.folder / f"backup{model.step}"
    saved = model.copy()
    saved.strays = {}
    for capture in saved.captures.values():
        for delivery in capture.deliveries:
            delivery.apply("park")
            delivery.doubt = delivery.state != "completed"
    ended = world.write("backup", folder.name)
    if ended.killed:
        ended = world.read("backup", folder.name)
    ended.must(0)
    world.saved = folder, saved
    world.counts["backups"] += 1


def _is_sound(model):
    return all(each.holding == "removed" or each.holding == "missing" or each.holding in HELD and each.file == "whole"
               and (each.sidecar or each.reference) for each in model.captures.values())


def restore(world, dice):
    """Loses the queue, and makes one of the last backup: in an empty place, or over what is left of the lost one."""
    if not world.saved:
        backup(world, dice)
        world.crash, world.clock = None, ""
        taking.push(world, dice)
    if not world.saved or not world.exists or not _is_sound(world.model):
        return
    old = None
    if over := dice.random() < 0.5:
        world.crash, world.clock = None, ""
        _copy_over(world, dice)
    else:
        old = world.folder / f"lost{world.model.step}"
        world.shell(f"mv data/capqueue {old.name}; cp -a {world.saved[0].name} data/capqueue", _put_aside, world, old)
    ended = world.write("restore")
    if ended.killed:
        ended = world.read("restore")
        ended.must(0, 64)  # 64: the one that was killed had done everything
    ended.must(0, 64)
    lost = world.model
    world.model = model = world.saved[1].copy()
    model.step, model.number, model.unordered, model.orders = lost.step, lost.number, True, lost.orders
    if over:
        named = {each.bundle.sha256 for each in model.captures.values() if each.holding == "spool"}
        model.strays = {path.stem: world.pool.by_sha256[path.stem] for path in (world.queue / "spool").glob("*/*.bundle")
                        if path.stem not in named}
        _keep_one_packing(world, model)
        world.counts["restored over leftovers"] += 1
        run_check(world, read_data=False, repair=True)
    else:
        world.counts["restored"] += 1
        adopt_spool(world, dice, old)
    world.saved = None  # the restored queue has another number


def _keep_one_packing(world, model):
    """Deletes all but one packing of a capture, because it is not promised which one is adopted."""
    seen = set()
    for sha256, bundle in sorted(model.strays.items()):
        if bundle.identity in seen:
            path = world.spool(bundle)
            world.shell(f"rm {os.path.relpath(path, world.folder)}", path.unlink)
            world.spool(bundle, ".json").unlink(missing_ok=True)
            del model.strays[sha256]
        seen.add(bundle.identity)


def _put_aside(world, old):
    world.queue.rename(old)
    shutil.copytree(world.saved[0], world.queue, copy_function=shutil.copy2)


def _copy_over(world, dice):
    """Copies the backup over a queue whose processes were killed, so that it has a log."""
    log = world.queue / "queue.sqlite-wal"
    with contextlib.closing(sqlite3.connect(f"file:{world.queue / 'queue.sqlite'}?mode=ro", uri=True)) as reader:
        reader.execute("SELECT count(*) FROM captures").fetchall()
        taking.push(world, dice)
        left = log.read_bytes()
    world.shell(f"cp -a {world.saved[0].name}/. data/capqueue    # beside a log of {len(left)} bytes", _over, world, left)
    if left:
        for words in (["restore"], ["list"], ["check", "--repair"], ["salvage", "--force"]):
            world.read(*words).must(73)
        expect(log.read_bytes() == left, "the log was changed")
        world.shell("mv data/capqueue/queue.sqlite-wal left", log.rename, world.folder / "left")


def _over(world, left):
    shutil.copytree(world.saved[0], world.queue, copy_function=shutil.copy2, dirs_exist_ok=True)
    for end in ("-wal", "-shm"):
        (world.queue / f"queue.sqlite{end}").unlink(missing_ok=True)
    if left:
        (world.queue / "queue.sqlite-wal").touch(0o600)
        (world.queue / "queue.sqlite-wal").write_bytes(left)


def adopt_spool(world, dice, old):
    """Adopts the spool of the lost queue: what the restored one lacks comes back as its sidecars know it."""
    release = dice.random() < 0.4
    after, added = world.model.copy(), []
    found = [world.pool.by_sha256[path.stem] for path in (old / "spool").glob("*/*.bundle")]
    known = {bundle.sha256: old / "spool" / bundle.sha256[:2] / f"{bundle.sha256}.json" for bundle in found}
    wanted = [bundle for bundle in found if taking.wanted(after, bundle)]
    if len({bundle.identity for bundle in wanted}) < len(wanted) or not all(known[each.sha256].exists() for each in wanted):
        return
    sidecars = {bundle: json.loads(known[bundle.sha256].read_bytes()) for bundle in wanted}
    # A push that was killed has the order of the next one.
    for bundle in sorted(wanted, key=lambda each: (world.model.orders[each.sha256], sidecars[each]["pushed_at"], each.sha256)):
        added.append(_adopted(after, bundle, sidecars[bundle], release))
    world.pushing = found
    words = ["adopt", f"{old.name}/spool", *(["--release"] if release else [])]
    ended = world.write(*words)
    if ended.killed:
        settle(world, after, whole=True)
        ended = world.read(*words).must(0)
        added = None
    if finished(world, ended, after, 0) and added is not None:
        ended.printing(added)
    world.counts["adopted"] += len(wanted)


def _adopted(model, bundle, sidecar, release):
    """Adds a bundle as its sidecar describes it; returns its id."""
    held, sessions, order = model.by_identity(bundle), dict(model.sessions), model.orders[bundle.sha256]
    name, _ = model.push(bundle, sidecar.get("session"), [each for each in sidecar["destinations"] if each in
                         model.destinations], sidecar["priority"], "not_before" in sidecar, like=sidecar["id"])
    model.sessions |= sessions
    capture = model.captures[name]
    if not held:
        model.insert(capture, order)
        for delivery in capture.deliveries:
            delivery.state, delivery.doubt = "pending" if release else "held", True
    return name


def vanish(world, dice):
    """Takes the rows of a member of a session away, perhaps after it was sent. With `check --repair` it gets its place back
    before all later ones. A push asks for it first."""
    world.crash, world.clock = None, ""
    model, session = world.model, dice.choice(taking.SESSIONS)
    interrupting.prepare(world, dice)
    strays = {stray.identity for stray in model.strays.values()}
    new = [bundle for bundle in world.pool.sound if not model.by_identity(bundle) and bundle.identity not in strays]
    if len(new) < 3:
        return
    bundles = dice.sample(new, 3)
    taking.want(world, bundles)
    found = [taking.found(world, bundle) for bundle in bundles]
    world.read("push", *map(world.source, bundles), f"--session={session}", "--reopen", f"--dest={WEB}").must(0)
    members = [model.push(bundle, session, (WEB,), found=old)[0] for bundle, old in zip(bundles, found)]
    model.sessions[session] = "open"
    if dice.random() < 0.4:
        run(world, dice)
        model = world.model
    lost = dice.choice(members[:2])  # not the last row, because its number would be used again
    world.shell(f"take the rows of {lost} away", _take_away, world.queue / "queue.sqlite", lost)
    bundle = model.captures.pop(lost).bundle
    model.strays[bundle.sha256], model.unordered = bundle, True
    world.counts["vanished"] += 1
    way = dice.choices(("repair", "push", None), (5, 3, 1))[0]
    if way == "repair":
        run_check(world, read_data=False, repair=True)
    elif way == "push":
        world.read("push", world.source(bundle), f"--dest={WEB}").must(0)
        model.push(bundle, None, (WEB,), found=True)
        world.counts["vanished members pushed again"] += 1
        run(world, dice)
        return
    found = world.model.by_identity(bundle)
    if found and dice.random() < 0.8:
        world.read("release", found.id).must(0)
        found.apply("release")
        world.counts["vanished members released"] += 1
        run(world, dice)


def _take_away(path, name):
    deliveries = "SELECT id FROM deliveries WHERE capture = (SELECT seq FROM captures WHERE id = ?)"
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE counts SET number = number - 1, bytes = bytes - (SELECT bytes FROM captures WHERE id = ?1) "
                         "WHERE subject = 'spool' OR subject = 'capture' AND kind = (SELECT state FROM captures WHERE id = ?1) "
                         "OR subject = 'delivery' AND (destination, kind) IN (SELECT coalesce(destination, 0), deliveries.state "
                         "FROM deliveries JOIN captures ON seq = capture WHERE captures.id = ?1)", (name,))
        for table in ("transitions", "attempts"):
            database.execute(f"DELETE FROM {table} WHERE delivery IN ({deliveries})", (name,))
        database.execute(f"DELETE FROM deliveries WHERE id IN ({deliveries})", (name,))
        database.execute("DELETE FROM captures WHERE id = ?", (name,))
        turn = "(coalesce({0}.order_after, {0}.capture - 1), {0}.order_position, {0}.capture)"
        database.execute("UPDATE deliveries SET is_behind = 0 WHERE is_behind = 1 AND NOT EXISTS (SELECT 1 FROM deliveries AS other "
                         "WHERE other.session = deliveries.session AND other.destination IS deliveries.destination AND "
                         "other.state IN ('pending', 'failed', 'uploading') AND "
                         f"{turn.format('other')} < {turn.format('deliveries')})")


COMMANDS = {"vanish": (8, vanish), "backup": (3, backup), "restore": (9, restore)}
