"""A receiver under attack, with an honest and a hostile device."""
import contextlib
import time

from Kit.outcomes import expect
from Kit.sending import wait_until
from Receiver.links import FORM_TYPE, head
from Receiver.support import CAPTURES, receiving

MOST_MEMORY = 120 << 10  # kB
LIMIT = 20 << 20  # the most bytes of a body
# Debian's usual soft limit of open files, which is less than two files for each connection.
FEW_FILES = ("prlimit", "--nofile=1024:")


@contextlib.contextmanager
def besieged(tools, *options):
    """Runs a receiver, and checks afterwards what must hold after every attack."""
    with receiving(tools, *options, program=FEW_FILES) as receiver:
        siege = Siege(tools, receiver)
        yield siege
        siege.serves("after the attack")
        peak = receiver.status_of("VmHWM")
        expect(peak <= MOST_MEMORY, f"the receiver used {peak >> 10} MiB, more than {MOST_MEMORY >> 10}")
        wait_until(lambda: not receiver.arriving(), "bodies that were given up are deleted")
        expect(not receiver.left(), f"files are left: {receiver.left()}")


class Siege:
    """A receiver with an honest and a hostile device; both use keys that it knows."""

    def __init__(self, tools, receiver):
        self.receiver, self.port = receiver, receiver.port
        self.honest, self.hostile = tools.rig("honest"), tools.rig("hostile")
        self.hostile_id = receiver.device(self.hostile)
        receiver.device(self.honest)
        self._numbers = iter(range(100))

    def body(self):
        """Returns a capture of the honest device that this receiver does not know."""
        return self.honest.capture(f"capture-{next(self._numbers)}")

    def serves(self, when):
        """Sends a capture as a device does: after 503 it tries again, until it is accepted."""
        body, seen = self.body(), []

        def is_taken():
            expect(self.receiver.process.poll() is None, f"{when}: the receiver ended: {self.receiver.said()[-300:]}")
            try:
                answer = self.receiver.upload(self.honest, body)
            except OSError as error:
                seen.append(type(error).__name__)
                return False
            seen.append(answer.status)
            expect(answer.status in (202, 503), f"{when}: an honest capture is answered {answer}")
            if answer.status == 503:
                time.sleep(0.2)
            return answer.status == 202
        wait_until(is_taken, f"{when}: an honest capture is accepted; the last answers are {seen[-5:]}")
        expect(self.receiver.ask("GET", "/healthz").status == 200, f"{when}: /healthz")

    def signed(self, data, rig=None):
        rig = rig or self.hostile
        return rig.signed(data, self.receiver.device(rig))

    def upload(self, data, kind=FORM_TYPE, rig=None, **changed):
        """Returns the head of an upload, signed for these bytes."""
        changed = {name.replace("_", "-"): value for name, value in changed.items()}
        return head("POST", CAPTURES, self.signed(data, rig) | {"Content-Type": kind, "Content-Length": str(len(data))}
                    | changed)

    def honest_upload(self, body, **changed):
        return self.upload(body.data, body.content_type, self.honest, **changed)

    def link(self):
        return self.receiver.link()

    def answer(self, data, finishes=False):
        """Sends bytes over a connection of its own, and returns the first answer."""
        with self.link() as link:
            link.send(data)
            if finishes:
                link.finish()
            return link.answer()
