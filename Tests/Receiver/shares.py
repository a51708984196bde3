"""Slots for bodies: whoever has more of them than others makes room for those who wait."""
import contextlib
import select

from Kit.outcomes import PATIENCE, expect
from Kit.sending import wait_until
from Receiver.links import FORM_TYPE, Link, form, head
from Receiver.support import CAPTURES, RAW, VERIFY_FILE, receiving, same

FORM = form(('Content-Disposition: form-data; name="file"', (RAW / "photo.jpg").read_bytes()))
SLOTS = 4


@contextlib.contextmanager
def stalled(receiver, request, addresses=("127.0.0.2",) * SLOTS):
    """Holds all slots by bodies that stop. Yields their connections."""
    wait_until(lambda: receiver.slots() == 0, "no slot is taken")
    with contextlib.ExitStack() as stack:
        links = [stack.enter_context(Link(receiver.port, address)) for address in addresses]
        for number, link in enumerate(links):
            link.send((request(number) if callable(request) else request) + FORM[:9000])
        wait_until(lambda: receiver.slots() == SLOTS, "all slots are taken")
        yield links


def lookup(**headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return head("POST", VERIFY_FILE, {"Content-Type": FORM_TYPE, "Content-Length": str(len(FORM))} | named)


def gives_way(links):
    """Checks that one of the connections is told to come back."""
    ready, _, _ = select.select([link.socket for link in links], [], [], PATIENCE)
    answer = next(link for link in links if link.socket in ready).answer()
    same(answer, 503, "BUSY", "the one that gave way:")
    expect(answer.headers.get("Retry-After") == "5", f"{answer.headers}")


def addresses(tools):
    """Stopped bodies of one address hold all slots. Others are served at once."""
    rig, other = tools.rig(), tools.rig("other")
    with receiving(tools, "--captures-at-once", str(SLOTS)) as receiver:
        victim, body = receiver.device(rig), rig.capture()
        receiver.device(other)
        # The device id is no secret, and the signature is checked with the body.
        forged = head("POST", CAPTURES, other.signed(FORM, victim) | {
            "Content-Type": FORM_TYPE, "Content-Length": str(len(FORM))})
        for name, request in (("lookups", lookup()), ("uploads with a device's id", forged)):
            with stalled(receiver, request) as links:
                answer = receiver.ask("POST", VERIFY_FILE, {"Content-Type": FORM_TYPE}, FORM)
                expect(answer.status == 200, f"behind {name}, a lookup: {answer}")
                answer = receiver.upload(rig, body)
                expect(answer.status == 202, f"behind {name}, the device: {answer}")
                gives_way(links)
        # A proxy on this machine names the address. Of IPv6, a client has a network of 64 bits.
        proxied = {"one IPv4 address": lambda number: lookup(X_Forwarded_For="10.0.0.1, 203.0.113.7"),
                   "one IPv6 network": lambda number: lookup(X_Forwarded_For=f"2001:db8::{number + 1}:0:0:1")}
        for name, request in proxied.items():
            with stalled(receiver, request, (None,) * SLOTS) as links:
                answer = receiver.upload(rig, body, X_Forwarded_For="2001:db8:0:1::1")
                expect(answer.status == 202, f"behind {name}: {answer}")
                gives_way(links)


def devices(tools):
    """All connections come from one address. One device holds all slots, and another one is served at once."""
    rig, other = tools.rig(), tools.rig("other")
    with receiving(tools, "--captures-at-once", str(SLOTS)) as receiver:
        receiver.device(rig)
        many = head("POST", CAPTURES, other.signed(FORM, receiver.device(other)) | {
            "Content-Type": FORM_TYPE, "Content-Length": str(len(FORM))})
        with stalled(receiver, many, (None,) * SLOTS) as links:
            answer = receiver.upload(rig, rig.capture())
            expect(answer.status == 202, f"{answer}")
            gives_way(links)
        # Lookups from many addresses: one more has to wait, and a device has not.
        with stalled(receiver, lambda number: lookup(X_Forwarded_For=f"10.0.0.{number}"), (None,) * SLOTS):
            more = {"Content-Type": FORM_TYPE, "X-Forwarded-For": "10.0.1.0"}
            same(receiver.ask("POST", VERIFY_FILE, more, FORM), 503, "BUSY")
            answer = receiver.upload(rig, rig.capture("second"), X_Forwarded_For="10.0.1.0")
            expect(answer.status == 202, f"{answer}")


TESTS = [
    ("one address does not keep others out", addresses),
    ("one device does not keep others out", devices),
]
