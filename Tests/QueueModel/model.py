"""What a queue has to be after each command: captures, their deliveries, where their bytes are. No files, no clock.

The states come from the table of Spec/queue.md. What stands here is the rest of that page, as short as it can be said.
"""
import copy
import dataclasses

from spec import MACHINE

HELD = ("spool", "reference")  # where bytes can be sent from
OVER = ("completed", "cancelled")  # states of a delivery that lets its capture go
FAILED = ("permanently_failed", "conflict", "quarantined")


@dataclasses.dataclass
class Delivery:
    destination: str | None = None  # none only where the queue had none when it was pushed
    state: str = "pending"
    receipt: str | None = None  # as text; None of a run's own, which is looked at where it is made
    later: bool = False  # due at a time that no sequence lives to see
    priority: int = 0
    due: int = 0  # the step since which it is due
    number: int = 0  # of those that were made by the same step the older one comes first
    again: bool = False  # due anew: within a step it is up to the clock which of such come first

    def apply(self, event):
        """True if the event has a cell in the table; then the delivery is in the state that it names."""
        state = MACHINE.after(self.state, event)
        if state is None:
            return False
        self.state = state
        if state != "completed":
            self.receipt = None
        return True


@dataclasses.dataclass
class Capture:
    id: str
    bundle: object  # whose bytes the queue holds, or held
    session: str | None
    priority: int
    deliveries: list
    holding: str = "spool"
    file: str = "whole"  # what the disk has of it: whole, flipped (same length), cut, gone, or set aside by a kill
    reference: str | None = None  # the user's own file
    sidecar: bool = True
    pushed_to: tuple = ()  # what the sidecar says of destinations: those of the first push

    @property
    def state(self):
        return MACHINE.overall({delivery.state for delivery in self.deliveries})

    @property
    def bound(self):
        """The names of the destinations that it goes to."""
        return tuple(each.destination for each in self.deliveries if each.destination)

    @property
    def unsent(self):
        """Does it wait for somebody, who may be somebody else? What a run has claimed does not."""
        return any(each.state in ("pending", "failed", "held") for each in self.deliveries)

    def apply(self, event, destination=None, passing=()):
        """The event to each delivery (of the destination, if one is named) that has a cell for it; those, changed."""
        chosen = [each for each in self.deliveries if destination is None or each.destination == destination]
        return [each for each in chosen if each.state not in passing and each.apply(event)]

    def lose_bytes(self):
        """What is found when the bytes are looked at: a file of the user's own is never set aside."""
        apart = self.holding == "spool" and self.file != "gone"
        self.holding, self.reference = "quarantined" if apart else "missing", None
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
        self.sessions = {}  # name: "open", "ended" or "incomplete"
        self.destinations = {}  # name: number of the folder
        self.default = None
        self.strays = {}  # files in the spool that no row names: bundle by SHA-256
        self.step = 0  # the number of the command: what one command makes due is due since the same moment
        self._number = 0

    def copy(self):
        return copy.deepcopy(self)

    def find(self, text):
        """The captures that an id, or a beginning of one or of a hash, can mean."""
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
        self._number += 1
        return Delivery(name, state, None, later, priority, self.step, self._number)

    # Taking in

    def free_id(self, bundle):
        number, name = 1, bundle.id
        while name in self.captures:
            number += 1
            name = f"{bundle.id}.{number}"
        return name

    def add_destination(self, name, number):
        """The first is the default, and gets what was pushed before; a receipt without a destination stays one."""
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

    def push(self, bundle, session=None, destinations=(), priority=0, later=False, reference=None, resend=False):
        """The id that push prints, and its outcome."""
        held = self.by_identity(bundle)
        if session and not held:  # a session begins, and begins again, with a capture that it has not
            self.sessions[session] = "open"
        if held:
            named = held.bound + tuple(name for name in destinations if name not in held.bound)
            if resend:
                self._resend(held, destinations, later)
            outcome = self._push_again(held, bundle, destinations, priority, later, reference)
            if outcome != "held-already":
                held.pushed_to = named  # its sidecar is written anew
            return held.id, outcome
        names = tuple(destinations) or (self.default,)
        deliveries = [self.delivery(name, priority, later) for name in names]
        capture = Capture(self.free_id(bundle), bundle, session, priority, deliveries,
                          pushed_to=tuple(name for name in names if name))
        if reference:
            capture.holding, capture.reference = "reference", reference
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
        return outcome

    def _outcome(self, held, reference):
        """What a bundle that is known already comes to: its bytes are taken if the queue has none of its own."""
        if held.holding == "reference" and not reference:
            return "stored"
        if held.holding in ("removing", "removed"):
            return "stored"
        return "restored" if held.holding not in HELD or held.file != "whole" else "held-already"

    def _resend(self, held, destinations, later):
        """What was delivered is sent again: to those that are named, else to all; without a destination to the default."""
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

    # Letting go

    def may_go(self, capture, aged, cancelled):
        """Spec section 8: `aged` says whether completed ones are old enough, `cancelled` that the user asked."""
        states = {each.state for each in capture.deliveries}
        if capture.holding == "removing":
            return True
        if capture.holding not in HELD or not states <= set(OVER):
            return False
        return aged if "completed" in states else cancelled

    def let_go(self, capture):
        capture.holding, capture.reference, capture.sidecar = "removed", None, False

    # Counting

    def totals(self):
        counts = {}
        for capture in self.captures.values():
            count = counts.setdefault(capture.state, {"bytes": 0, "captures": 0})
            count["bytes"] += capture.bundle.bytes
            count["captures"] += 1
        return counts

    def session_counts(self):
        """How many sessions are open, ended, and due: ended, and all that they wait for has landed."""
        counts = {"due": 0, "ended": 0, "open": 0}
        for name, phase in self.sessions.items():
            landed = {"completed"} if phase == "ended" else {"completed", "cancelled", *FAILED}
            members = {capture.state for capture in self.captures.values() if capture.session == name}
            counts["open" if phase == "open" else "ended"] += 1
            counts["due"] += phase != "open" and members <= landed
        return counts
