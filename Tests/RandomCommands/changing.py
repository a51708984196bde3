"""Commands with which the user changes deliveries: hold, release, cancel, retry, mark-uploaded, prune."""
import copy

from RandomCommands.model import HELD
from Kit.outcomes import expect
from RandomCommands.seen import finished, of_capture, of_record
from RandomCommands.spec import EXIT_CODES, MACHINE
from RandomCommands.taking import SESSIONS

EVENTS = ("hold", "release", "cancel", "retry")


def some_id(dice, model):
    """Names a capture as a user may: by its id, the beginning of it, its hash, or with a mistake."""
    if not model.captures or dice.random() < 0.05:
        return dice.choice(("00000000-0000-8000-8000-000000000000", "abc", "ffffffff", "not an id"))
    capture = dice.choice(list(model.captures.values()))
    form = dice.random()
    if form < 0.6:
        return capture.id
    if form < 0.85:
        return capture.id[:dice.randint(4, 30)]
    return capture.bundle.sha256[:dice.randint(8, 64)]


def meant(model, text):
    """Returns the capture that an id means, or the exit code if it means none or several."""
    if len(text) < 4 or " " in text:
        return None, 64
    found = model.find(text)
    return (found[0], 0) if len(found) == 1 else (None, 64 if found else 66)


def change(world, dice):
    """Runs one of the four commands, with ids or with a filter."""
    event = dice.choice(EVENTS)
    dry = dice.random() < 0.15
    words = ["--dry-run"] if dry else []
    if event == "retry" and dice.random() < 0.2:
        words.append("--reset")
    if dice.random() < 0.6:
        _change_ids(world, dice, event, dry, words)
    else:
        _change_filtered(world, dice, event, dry, words)


def _change_ids(world, dice, event, dry, words):
    after = world.model.copy()
    texts = _different(after, [some_id(dice, after) for _ in range(dice.choice((1, 1, 2, 3)))])
    changed, codes = [], []
    for text in texts:
        capture, code = meant(after, text)
        code = code or _apply(after, capture, event)
        codes.append(code)
        changed += [] if code else [capture.id]
    piped = dice.random() < 0.3
    stdin = "".join(f"{text}\n" for text in texts).encode() if piped else b""
    ended = world.write(event, *(["-"] if piped else texts), *words, stdin=stdin)
    _judge(world, ended, after, changed, EXIT_CODES.worst(codes), dry)


def _different(model, texts):
    """Drops ids of the same capture, because the Spec does not say what --dry-run prints for the second one."""
    meanings = {meant(model, text)[0].id if meant(model, text)[0] else text: text for text in texts}
    return list(meanings.values())


def _change_filtered(world, dice, event, dry, words):
    after = world.model.copy()
    kind = dice.choice(("all", "state", "session", "destination"))
    value = {"all": None, "state": dice.choice(MACHINE.states), "session": dice.choice(SESSIONS),
             "destination": dice.choice(list(after.destinations) or [None])}[kind]
    if kind == "destination" and value is None:
        kind = "all"
    chosen = after.chosen(**{kind: value}) if kind != "all" else after.chosen()
    filters = ["--all"] if kind == "all" else [f"--{kind.replace('destination', 'dest')}={value}"]
    code = 66 if kind == "session" and value not in after.sessions else 0
    # A filter that does not name cancelled captures retries none of them.
    passing = ("cancelled",) if event == "retry" and value != "cancelled" else ()
    changed = [capture.id for capture in chosen
               if _apply(after, capture, event, value if kind == "destination" else None, passing) == 0]
    ended = world.write(event, *filters, *words)
    _judge(world, ended, after, changed, code, dry, ordered=False)


def _apply(model, capture, event, destination=None, passing=()):
    """Applies the event to a capture of the model; returns the exit code."""
    if event in ("release", "retry") and capture.holding not in HELD:
        # A capture without bytes cannot wait to be sent (66). For a completed one the state is the reason (64).
        return 64 if capture.state == "completed" else 66
    changed = capture.apply(event, destination, passing)
    for delivery in changed:
        delivery.due, delivery.again = model.step, True
    return 0 if changed else 64


def _judge(world, ended, after, changed, code, dry, ordered=True):
    if finished(world, ended, after, code, dry):
        lines = ended.lines if ordered else sorted(ended.lines)
        expect(lines == (changed if ordered else sorted(changed)), f"{ended.words}: ids {lines}, expected {changed}")


def mark_uploaded(world, dice):
    """Records that another program has sent it; the receipt names the bundle's hash, or a wrong one."""
    after = world.model.copy()
    text = some_id(dice, after)
    capture, code = meant(after, text)
    right = dice.random() < 0.85
    receipt = f"stored {capture.bundle.sha256 if capture and right else 'ab' * 32} on {dice.randrange(10 ** 6)}\n"
    words, named = [], None
    if capture and len(capture.deliveries) > 1 and dice.random() < 0.8:
        named = dice.choice([each.destination for each in capture.deliveries if each.destination] or [None])
        words += [f"--dest={named}"] if named else []
    if capture:
        code = _record(capture, named, receipt, right)
    piped = dice.random() < 0.5
    source = "-" if piped else f"own/receipt{dice.randrange(10 ** 6)}"
    if not piped:
        world.shell(f"echo {receipt.strip()!r} > {source}", (world.folder / source).write_text, receipt)
    ended = world.write("mark-uploaded", text, "--receipt", source, *words, stdin=receipt.encode() if piped else b"")
    finished(world, ended, after, code)


def _record(capture, named, receipt, right):
    chosen = [each for each in capture.deliveries if named in (None, each.destination)]
    if len(chosen) > 1 or not right:
        return 64
    if not chosen[0].apply("record"):
        return 64
    chosen[0].receipt = receipt
    return 0


def prune(world, dice):
    """Prunes everything that the Spec allows, and nothing else."""
    world.clock = ""
    if dice.random() < 0.2:
        _prune_ids(world, dice)
        return
    aged, cancelled, dry = dice.random() < 0.7, dice.random() < 0.35, dice.random() < 0.15
    words = (["--older-than=0s"] if aged else []) + (["--cancelled"] if cancelled else [])
    if world.askew and not dry:
        words.append("--accept-clock")  # what was uploaded under a clock that was ahead is not old otherwise
    after = world.model.copy()
    gone = [capture for capture in after.captures.values() if after.may_go(capture, aged, cancelled)]
    # A prune that was killed has deleted these, or somebody else; the next one only notes it.
    noted = {capture.id for capture in gone if capture.holding == "removing" and capture.file == "gone"}
    for capture in gone:
        after.let_go(capture)
    ended = world.write("prune", *words, *(["--dry-run"] if dry else []))
    if finished(world, ended, after, 0, dry, between=_removing):
        names = sorted(capture.id for capture in gone if capture.id not in noted)
        expect(sorted(set(ended.lines) - noted) == names or dry and world.askew, f"{ended.words}: releases {ended.lines}, expected {names}")


def _prune_ids(world, dice):
    """Prunes the named captures that are cancelled, and nothing else."""
    after = world.model.copy()
    texts = _different(after, [some_id(dice, after) for _ in range(dice.choice((1, 2, 3)))])
    gone, codes = [], []
    for text in texts:
        capture, code = meant(after, text)
        code = code or (64 if capture.state != "cancelled" else 0 if capture.holding in HELD else 66)
        codes.append(code)
        gone += [] if code else [capture]
    for capture in gone:
        after.let_go(capture)
    ended = world.write("prune", "--cancelled", *texts)
    if finished(world, ended, after, EXIT_CODES.worst(codes), between=_removing):
        ended.printing([capture.id for capture in gone])


def _removing(record, old, new):
    """Returns the capture of an unfinished deletion, which the next prune continues."""
    if not old or not new or new.holding != "removed":
        return None
    step = copy.copy(old)
    step.holding = "removing"
    return step if of_record(record) == of_capture(step) else None


COMMANDS = {"change": (22, change), "mark-uploaded": (10, mark_uploaded), "prune": (9, prune)}
