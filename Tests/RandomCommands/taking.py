"""Commands that store captures: push in all its forms, and adopt."""
import json

from RandomCommands.model import HELD
from Kit.outcomes import expect
from RandomCommands.seen import settle
from RandomCommands.spec import EXIT_CODES

SESSIONS = ("monday", "tuesday")


class Request:
    """One push: its bundles, how they are passed, and its options."""

    def __init__(self, world, dice):
        model = world.model
        self.how = dice.choice(("files", "files", "pipe", "from0"))
        count = 1 if self.how == "pipe" else dice.choice((1, 1, 2, 3))
        self.bundles = [dice.choice(world.pool.sound) for _ in range(count)]
        self.kept = "move" if dice.random() < 0.12 else "reference" if dice.random() < 0.12 else None
        if dice.random() < 0.08:
            self.bundles[dice.randrange(count)] = dice.choice(world.pool.broken)
            self.kept = None
        self.session = dice.choice(SESSIONS) if dice.random() < 0.35 else None
        self.reopen = bool(self.session) and dice.random() < 0.15
        self.resend = dice.random() < 0.1
        names = list(model.destinations)
        self.destinations = dice.sample(names, dice.randint(1, len(names))) if names and dice.random() < 0.4 else []
        self.unknown = self.kept is None and dice.random() < 0.04
        self.priority = dice.randint(-10, 10) if dice.random() < 0.25 else 0
        self.later = dice.random() < 0.06
        self.json = dice.random() < 0.3
        self.seed = dice.randrange(10 ** 6)

    def refusal(self, model):
        """Returns the exit code of a push that is refused before anything is read, or None."""
        if self.unknown:
            return 78
        if self.kept == "reference" and self.how == "pipe":
            return 64
        if self.session and model.sessions.get(self.session, "open") != "open" and not self.reopen:
            return 64
        return None

    def options(self):
        words = [f"--dest={name}" for name in self.destinations + ["nowhere"] * self.unknown]
        words += [f"--session={self.session}"] if self.session else []
        words += ["--reopen"] if self.reopen else []
        words += ["--resend"] if self.resend else []
        words += [f"--priority={self.priority}"] if self.priority else []
        words += ["--not-before=+9d"] if self.later else []
        words += [f"--{self.kept}"] if self.kept else []
        return words + (["--json"] if self.json else [])

    def sources(self, world):
        """Returns the names of the files; for --move and --reference they are copies that belong to the user."""
        if not self.kept:
            return [world.source(bundle) for bundle in self.bundles]
        copies = [world.copy(bundle, f"{self.seed}-{place}.bundle") for place, bundle in enumerate(self.bundles)]
        return [path.relative_to(world.folder) for path in copies]

    def run(self, world, sources):
        options = self.options()
        if self.how == "pipe":
            return world.write("push", "-", *options, stdin=self.bundles[0].data)
        if self.how == "from0":
            names = "".join(f"{source}\0" for source in sources).encode()
            return world.write("push", "--from0", *options, stdin=names)
        return world.write("push", *sources, *options)


def push(world, dice, resends=True):
    request = Request(world, dice)
    request.resend &= resends
    sources = [] if request.how == "pipe" else request.sources(world)
    after = world.model.copy()
    refusal = request.refusal(after)
    told = [] if refusal else [_take(world, after, request, place, sources) for place in range(len(request.bundles))]
    if request.reopen and not refusal and request.session in after.sessions and any(not each.code for each in request.bundles):
        after.sessions[request.session] = "open"
    world.pushing = request.bundles
    want(world, request.bundles, request.resend)
    ended = request.run(world, sources)
    if ended.killed:
        _killed(world, request, sources, after, ended)
        return
    codes = [code for _, _, code in told]
    ended.must(EXIT_CODES.worst([refusal] if refusal else codes))
    if request.json:
        _told_as_json(ended, request, told)
    else:
        ended.printing([name for name, _, code in told if not code])
    world.model = after
    _sources_afterwards(world, request, sources, told, ended)


def found(world, bundle):
    """Whether the spool has the sidecar of a bundle that no row names."""
    return not bundle.code and not world.model.by_identity(bundle) and world.spool(bundle, ".json").exists()


def want(world, bundles, resend=False):
    """Tells the server what it may get again: with --resend, or by a push of what the queue does not know."""
    for bundle in bundles:
        held = None if bundle.code else world.model.by_identity(bundle)
        if resend and held and any(each.state == "completed" for each in held.deliveries):
            world.web.wanted.add(f"/{held.bundle.sha256}")
        if not bundle.code and not held and not found(world, bundle):
            world.web.wanted.add(f"/{bundle.sha256}")


def _take(world, model, request, place, sources):
    """Returns what push reports of one bundle: id, outcome, exit code."""
    bundle = request.bundles[place]
    if bundle.code:
        return None, None, bundle.code
    reference = world.folder / sources[place] if request.kept == "reference" else None
    name, outcome = model.push(bundle, request.session, request.destinations, request.priority, request.later,
                               reference and str(reference), request.resend, found=found(world, bundle))
    return name, outcome, 0


def _told_as_json(ended, request, told):
    lines = [json.loads(line) for line in ended.lines]
    expect(len(lines) == len(told), f"{ended.words}: {len(lines)} lines for {len(told)} bundles")
    for line, bundle, (name, outcome, code) in zip(lines, request.bundles, told):
        wanted = {"error", "exit_code"} if code else {"id", "outcome", "sha256", "bytes", "verdict"}
        expect(wanted <= set(line), f"{ended.words}: a line without {wanted - set(line)}")
        there = (line.get("id"), _taken(line.get("outcome")), line.get("exit_code", 0), line.get("bytes"))
        wanted = (name, _taken(outcome), code, None if code else bundle.bytes)
        expect(there[:3 if code else 4] == wanted[:3 if code else 4], f"{ended.words}: told {line}, expected {wanted}")


def _taken(outcome):
    """Treats `stored` and `restored` as the same, because this test does not decide which one is right."""
    return "taken" if outcome in ("stored", "restored") else outcome


def _sources_afterwards(world, request, sources, told, ended):
    """Checks that only `--move` removes a source, only if the queue has its bytes, and that none is changed."""
    for source, bundle, (name, outcome, code) in zip(sources, request.bundles, told or [(None, None, 1)] * 9):
        path = world.folder / source
        if path.exists():
            expect(path.read_bytes() == bundle.data, f"{ended.words}: {source} was changed")
            expect(request.kept != "move" or outcome != "stored", f"{ended.words}: {source} was not moved")
            continue
        held = world.model.captures.get(name)
        expect(request.kept == "move" and held and held.bundle is bundle and world.on_disk(held) == "whole",
               f"{ended.words}: {source} is gone ({outcome}, {code})")


def _killed(world, request, sources, after, ended):
    """Checks that a printed id is a promise; without one, all or none of the captures are stored."""
    kept = settle(world, after, whole=True)
    if ended.lines and not request.json:
        missing = [name for name in ended.lines if name not in world.model.captures]
        expect(not missing, f"{ended.words}: printed {missing} and was killed, and does not hold them")
    for source, bundle in zip(sources, request.bundles):
        if not (world.folder / source).exists():
            held = world.model.by_identity(bundle)
            expect(request.kept == "move" and held and world.on_disk(held) == "whole",
                   f"{ended.words}: {source} is gone, and the queue does not hold it ({kept})")


def adopt(world, dice):
    """Adopts a folder of bundles: each unknown one is stored once, but not the target of a link, which is named."""
    folder = f"found{dice.randrange(10 ** 6)}"
    bundles = dice.sample(world.pool.sound, dice.randint(1, 4))
    for place, bundle in enumerate(bundles):
        world.copy(bundle, f"{folder}/{place}.bundle")
    linked = dice.choice(world.pool.sound)
    link = world.own / folder / "link.bundle"
    world.shell(f"ln -s {linked.path} own/{folder}/link.bundle", link.symlink_to, linked.path)
    session = dice.choice(SESSIONS) if dice.random() < 0.2 else None
    after = world.model.copy()
    refused = session and after.sessions.get(session, "open") != "open"
    told = [] if refused else [after.push(bundle, session, found=found(world, bundle)) for bundle in bundles if wanted(after, bundle)]
    world.pushing = bundles
    want(world, bundles)
    ended = world.write("adopt", f"own/{folder}", *([f"--session={session}"] if session else []))
    if ended.killed:
        settle(world, after, whole=True)
        return
    ended.must(64 if refused else 66)  # the link
    ended.printing([name for name, _ in told])
    world.model = after


def wanted(model, bundle):
    """Whether the queue lacks the bundle or its bytes; a capture that was released does not count as lost."""
    held = model.by_identity(bundle)
    unseen = held is not None and held.holding in HELD and held.file in ("gone", "cut")
    return held is None or held.holding in ("missing", "quarantined") or unseen


COMMANDS = {"push": (30, push), "adopt": (4, adopt)}
