"""Commands that only read: get, list, show, status. Their output must agree with the model."""
import json

from RandomCommands.model import HELD
from Kit.outcomes import expect
from RandomCommands.changing import meant, some_id
from RandomCommands.seen import listing, of_capture, of_record, same_captures
from RandomCommands.spec import MACHINE
from RandomCommands.taking import SESSIONS


def get(world, dice):
    text = some_id(dice, world.model)
    capture, code = meant(world.model, text)
    if code:
        world.read("get", text, "-o", "-").finding(code).printing([], "bytes")
        return
    get_one(world, capture, text)


def get_one(world, capture, text=None):
    """Checks that get returns the pushed bytes, or no bytes at all."""
    ended = world.read("get", text or capture.id, "-o", "-")
    if capture.holding not in HELD or capture.file == "gone":
        # A destination may have a copy, unless the user reported the upload.
        is_sent = any(each.destination and each.state == "completed" for each in capture.deliveries)
        ended.must(66, *[0] * is_sent)
    else:
        ended.must(0 if capture.file == "whole" else 1)
    expect(ended.out == (b"" if ended.code else capture.bundle.data), f"{ended.words}: other bytes than were pushed")


def list_some(world, dice):
    """Lists with filters and in pages; the pages together must be the whole list."""
    if not world.exists:
        world.read("list", "--json").must(66)
        return
    state = dice.choice(MACHINE.states) if dice.random() < 0.3 else None
    session = dice.choice(SESSIONS) if dice.random() < 0.3 else None
    if session and session not in world.model.sessions:
        session = None
    filters = ([f"--state={state}"] if state else []) + ([f"--session={session}"] if session else [])
    chosen = world.model.chosen(state=state, session=session)
    if dice.random() < 0.5:
        same_captures(world, listing(world, *filters), chosen, f"list {filters}")
        return
    size, records = dice.randint(1, 3), []
    for _ in range(len(chosen) // size + 1):
        after = [f"--after={records[-1]['id']}"] if records else []
        page = listing(world, *filters, f"--limit={size}", *after)
        records += page
        expect(len(page) <= size, f"list: {len(page)} with --limit={size}")
    same_captures(world, records, chosen, f"list {filters} in pages of {size}")


def show(world, dice):
    text = some_id(dice, world.model)
    capture, code = meant(world.model, text)
    ended = world.read("show", text, "--json").finding(code)
    if capture and not code:
        expect(of_record(json.loads(ended.out)) == of_capture(capture), f"{ended.words}: {ended.out!r}, expected "
               f"{of_capture(capture)}")


def status(world):
    return json.loads(world.read("status", "--json").must(0).out)


def status_of(world, dice=None):
    """Compares counts and bytes with the model."""
    del dice
    model = world.model
    if not world.exists:
        world.read("status", "--json").must(66)
        return
    there = status(world)
    counts = {state: count for state, count in there["captures"].items() if count["captures"]}
    expect(counts == model.totals(), f"status: captures {counts}, expected {model.totals()}")
    expect(there["sessions"] == model.session_counts(),
           f"status: sessions {there['sessions']}, expected {model.session_counts()}")
    _used(world, there["quota"]["used_bytes"])


def _used(world, there):
    """Checks `used_bytes`: all bundles of the spool as they were pushed, and what is in quarantine without being replaced."""
    holding = [capture for capture in world.model.captures.values()
               if capture.holding in ("spool", "removing") and not capture.reference]
    used = sum(capture.bundle.bytes for capture in holding)
    replaced = {capture.bundle.sha256 for capture in holding if capture.holding == "spool"}
    apart = sum(path.stat().st_size for path in (world.queue / "quarantine").glob("*")
                if path.name.partition(".")[0] not in replaced)
    expect(there == used + apart, f"status: used_bytes {there}, expected {used + apart}, {apart} of it in quarantine")


COMMANDS = {"get": (3, get), "list": (3, list_some), "show": (3, show), "status": (2, status_of)}
