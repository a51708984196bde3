"""The expected contents of a queue after each command: captures, deliveries, places of bytes. No files, no clock.

The states come from the table of Spec/queue.md. This file expresses the rest of that page, as briefly as possible.
"""
import copy
import dataclasses

from RandomCommands.spec import MACHINE

HELD = ("spool", "reference")  # holdings whose bytes can be sent
OVER = ("completed", "cancelled")  # states of a delivery in which its capture may be released
FAILED = ("permanently_failed", "conflict", "quarantined")


@dataclasses.dataclass
class Delivery:
    destination: str | None = None  # None only if the queue had no destination at the push
    state: str = "pending"
    receipt: str | None = None  # text of mark-uploaded; None for a receipt of a run, which is checked when it is made
    later: bool = False  # due at a time after the end of the sequence
    priority: int = 0
    due: int = 0  # the step since which it is due
    number: int = 0  # among deliveries of the same step, the older one comes first
    doubt: bool = False  # the destination may have it, and is asked before it is sent
    again: bool = False  # due again; among such deliveries of one step the clock decides the order

    def apply(self, event):
        """Applies the event if the table has a cell for it; returns whether it has."""
        state = MACHINE.after(self.state, event)
        if state is None:
            return False
        self.state = state
        if state != "completed":
            self.receipt = None
        if event == "resend":
            self.doubt = False
        return True


@dataclasses.dataclass
class Capture:
    id: str
    bundle: object  # the bundle whose bytes the queue has, or had
    session: str | None
    priority: int
    deliveries: list
    holding: str = "spool"
    file: str = "whole"  # the bytes on the disk: whole, flipped (same length), cut or gone
    reference: str | None = None  # the path of the user's own file
    referred: int = 0  # the step of the push that named this file, also if it is missing now
    sidecar: bool = True
    stale: tuple | None = None  # destinations and reference in the sidecar of a push that was killed before it wrote the row
    order: tuple = (0, 0)  # of the pushes; the sidecar keeps it
    row: int = 0  # its row number
    pushed_to: tuple = ()  # the destinations in the sidecar: those of the first push

    @property
    def state(self):
        return MACHINE.overall({delivery.state for delivery in self.deliveries})

    @property
    def turn(self):
        """Sorts the members of a session."""
        return self.order, self.row

    @property
    def told(self):
        """What its sidecar says: destinations and reference."""
        return self.stale or (tuple(sorted(self.pushed_to)), self.reference)

    @property
    def bound(self):
        """The names of its destinations."""
        return tuple(each.destination for each in self.deliveries if each.destination)

    def apply(self, event, destination=None, passing=()):
        """Applies the event to each delivery (of one destination, if named) that has a cell for it; returns those."""
        chosen = [each for each in self.deliveries if destination is None or each.destination == destination]
        return [each for each in chosen if each.state not in passing and each.apply(event)]

    def lose_bytes(self):
        """Applies the discovery of damage; a referenced file of the user is never set aside."""
        apart = self.holding == "spool" and self.file != "gone"
        self.holding, self.reference = "quarantined" if apart else "missing", None
        self.file = "gone" if apart else self.file
        self.apply("damage")

    def regain_bytes(self, bundle, reference):
        self.holding, self.file, self.sidecar, self.bundle = "spool", "whole", True, bundle
        if reference:
            self.holding, self.reference = "reference", reference
        else:
            self.reference = None
        self.apply("restore")


class Model:
    def __init__(self):
        self.captures = {}  # by id, in the order of arrival
        self.sessions = {}  # phase by name: "open", "ended" or "incomplete"
        self.destinations = {}  # number of the folder by name
        self.default = None
        self.reported = {}  # how many reports the server had when a session ended
        self.orders = {}  # of the pushes, by the SHA-256 of the sidecar
        self.unordered = False  # whether the order in which captures become due is unknown
        self.strays = {}  # files in the spool without rows: bundle by SHA-256
        self.step = 0  # the number of the command; everything that one command makes due has the same due time
        self.number = 0
        self._last, self._push = 0, (0, 0, 0)  # the last row number; of a push: step, last row before it, count of bundles

    def forget(self):
        """Loses the database."""
        self.captures, self.sessions, self._last = {}, {}, 0

    def copy(self):
        return copy.deepcopy(self)

    def find(self, text):
        """Returns the captures that an id, or the beginning of an id or a hash, can mean."""
        if text in self.captures:
            return [self.captures[text]]
        return [capture for capture in self.captures.values() if capture.id.startswith(text)
                or (len(text) >= 8 and capture.bundle.sha256.startswith(text))]

    def chosen(self, state=None, session=None, destination=None):
        return [capture for capture in self.captures.values()
                if state in (None, capture.state) and session in (None, capture.session)
                and (destination is None or any(each.destination == destination for each in capture.deliveries))]

    def by_identity(self, bundle):
        return next((each for each in self.captures.values() if each.bundle.identity == bundle.identity), None)

    def delivery(self, name, priority, later=False, state="pending"):
        self.number += 1
        return Delivery(name, state, None, later, priority, self.step, self.number)

    # Push

    def insert(self, capture, order):
        """Gives a capture its row number, and its place in the order of pushes."""
        self._last = max(self._last, order[0] if order else 0) + 1
        capture.row, capture.order = self._last, order or (self._last - 1, 0)
        self.orders[capture.bundle.sha256] = capture.order

    def _place(self):
        step, last, count = self._push if self._push[0] == self.step else (self.step, self._last, 0)
        self._push = step, last, count + 1
        return last, count

    def free_id(self, bundle):
        number, name = 1, bundle.id
        while name in self.captures:
            number += 1
            name = f"{bundle.id}.{number}"
        return name

    def add_destination(self, name, number):
        """Adds a destination. The first is the default and gets earlier captures, except those with a receipt."""
        self.destinations[name] = number
        if self.default:
            return
        self.default = name
        for capture in self.captures.values():
            for each in capture.deliveries:
                if each.destination is None and each.state != "completed":
                    each.destination = name

    def remove_destination(self, name):
        del self.destinations[name]
        if self.default == name:
            self.default = next(iter(self.destinations), None)

    def push(self, bundle, session=None, destinations=(), priority=0, later=False, reference=None, resend=False, like=None,
             found=False):
        """Returns the id that push prints, and its outcome. A sidecar may know the id, `like`; what was `found` with its sidecar
        may have been sent."""
        held, order = self.by_identity(bundle), self._place()
        if session and not held:  # a new capture opens its session, even one that has ended
            self.sessions[session] = "open"
        if held:
            named = held.bound + tuple(name for name in destinations if name not in held.bound)
            if resend:
                self._resend(held, destinations, later)
            outcome = self._push_again(held, bundle, destinations, priority, later, reference)
            if outcome != "held-already":
                held.pushed_to, held.stale = named, None  # push writes the sidecar again
            return held.id, outcome
        names = tuple(destinations) or (self.default,)
        deliveries = [self.delivery(name, priority, later) for name in names]
        for each in deliveries:
            each.doubt = found
        capture = Capture(like if like and like not in self.captures else self.free_id(bundle), bundle, session, priority, deliveries,
                          pushed_to=tuple(name for name in names if name))
        self.insert(capture, order)
        if reference:
            capture.holding, capture.reference, capture.referred = "reference", reference, self.step
        else:
            self.strays.pop(bundle.sha256, None)
        self.captures[capture.id] = capture
        return capture.id, "stored"

    def _push_again(self, held, bundle, destinations, priority, later, reference):
        everything = all(each.state == "cancelled" for each in held.deliveries)
        for each in held.deliveries:
            if each.state != "cancelled":
                each.apply("push")
            elif everything or each.destination in destinations:
                each.apply("push")
                each.due, each.again, each.later = self.step, True, later
        known = {each.destination for each in held.deliveries}
        held.deliveries += [self.delivery(name, priority, later) for name in destinations if name not in known]
        outcome = self._outcome(held, reference)
        if outcome != "held-already":
            if not reference:
                self.strays.pop(bundle.sha256, None)
            held.regain_bytes(bundle, reference)
            self.orders[bundle.sha256] = held.order
            held.referred = self.step if reference else 0
        return outcome

    def _outcome(self, held, reference):
        """Returns the outcome of a push of a known bundle, which is stored if the queue has no own copy. Of references
        the newest counts, but of one push the first."""
        if held.holding == "reference" and not (reference and held.referred == self.step):
            return "stored"
        if held.holding in ("removing", "removed"):
            return "stored"
        return "restored" if held.holding not in HELD or held.file != "whole" else "held-already"

    def _resend(self, held, destinations, later):
        """Makes delivered captures due again at the named destinations, or at all, or at the default."""
        for each in held.deliveries:
            if each.state != "completed":
                continue
            if each.destination is None and self.default:
                if self.default in held.bound:
                    continue
                each.destination = self.default
            if not destinations or each.destination is None or each.destination in destinations:
                each.apply("resend")
                each.due, each.again, each.later = self.step, True, later

    # Release

    def may_go(self, capture, aged, cancelled):
        """Applies Spec section 8: `aged` means that completed ones are old enough, `cancelled` is the user's wish."""
        states = {each.state for each in capture.deliveries}
        if capture.holding == "removing":
            return True
        if capture.holding not in HELD or not states <= set(OVER):
            return False
        return aged if "completed" in states else cancelled

    def let_go(self, capture):
        capture.holding, capture.reference, capture.sidecar = "removed", None, False

    # Counts

    def totals(self):
        counts = {}
        for capture in self.captures.values():
            count = counts.setdefault(capture.state, {"bytes": 0, "captures": 0})
            count["bytes"] += capture.bundle.bytes
            count["captures"] += 1
        return counts

    def session_counts(self):
        """Returns how many sessions are open, ended and due: ended, and everything that they wait for has landed."""
        counts = {"due": 0, "ended": 0, "open": 0}
        for name, phase in self.sessions.items():
            counts["open" if phase == "open" else "ended"] += 1
            counts["due"] += phase != "open" and self.is_due(name)
        return counts

    def is_due(self, session):
        """Whether everything has landed that the end of a session waits for."""
        landed = {"completed"} if self.sessions[session] == "ended" else {"completed", "cancelled", *FAILED}
        return {capture.state for capture in self.captures.values() if capture.session == session} <= landed
