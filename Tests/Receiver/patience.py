"""64 devices with real queues, whose receiver has one trouble after the other: none of them gives up a capture."""
import collections
import concurrent.futures
import contextlib
import json
import os
import random
import shutil
import subprocess

from Kit.outcomes import PATIENCE, expect, long
from Kit.rigs import PHOTO, write_raw
from Kit.sending import wait_until
from Receiver.support import Receiver
from Receiver.troubles import ABORTED, AGAIN, disk, garbage

DEVICES = 64
KILLS = 6


class Fleet:
    """Devices, each with a queue that `capqueue run --watch` sends from."""

    def __init__(self, tools, receiver):
        self.tools, self.receiver, self.phases, self.pushed = tools, receiver, [], collections.Counter()
        self.pool = concurrent.futures.ThreadPoolExecutor(4)
        self.devices = list(self.pool.map(self._device, range(DEVICES)))

    def _device(self, number):
        rig = self.tools.rig(f"fleet-{number}")
        rig.env = rig.env | {"CAPQUEUE_DIR": str(rig.folder / "queue")}
        device = self.receiver.device(rig)
        self.capqueue(rig, "dest", "add", "receiver", "--kind", "http", "--url", self.receiver.url, "--device-id", device,
                      "--key", rig.key)
        return rig

    def capqueue(self, rig, *words, allowed=(0,)):
        return self.tools.run("capqueue", *words, env=rig.env, allowed=allowed).decode()

    @contextlib.contextmanager
    def watching(self):
        with contextlib.ExitStack() as stack:
            for rig in self.devices:
                said = stack.enter_context(open(rig.folder / "run.log", "wb"))
                run = subprocess.Popen([self.tools.programs["capqueue"], "run", "--watch"], env=self.tools.env | rig.env,
                                       stdin=subprocess.DEVNULL, stdout=said, stderr=said)
                stack.callback(run.wait, PATIENCE)
                stack.callback(run.terminate)
            yield

    def push(self, phase, count=1):
        """Each device takes a new capture."""
        def taken(rig):
            for number in range(count):
                raw = write_raw(rig.folder / f"{phase}-{number}", PHOTO + f"{phase} {number} {rig.name}".encode())
                self.capqueue(rig, "push", rig.pack(f"{phase}-{number}", raw))
        list(self.pool.map(taken, self.devices))
        self.phases.append((phase, count))

    def deliveries(self):
        """Returns (state, tries) of each delivery of each device, with the phase in which it was pushed."""
        phases = [phase for phase, count in self.phases for _ in range(count)]

        def listed(rig):
            captures = [json.loads(line) for line in self.capqueue(rig, "list", "--json").splitlines()]
            captures.sort(key=lambda capture: capture["pushed_at"])
            return [(phase, *((one["state"], one["attempts"]) for one in capture["deliveries"]))
                    for phase, capture in zip(phases, captures, strict=True)]
        return [(phase, state, tries) for found in self.pool.map(listed, self.devices) for phase, (state, tries) in found]

    def refused(self, code, trouble, mend, least=DEVICES):
        """Each device takes a capture while the receiver has some trouble, and `least` requests are refused."""
        before = self.receiver.said().count(f": {code}: ")
        trouble()
        self.push(trouble.__name__)
        wait_until(lambda: self.receiver.said().count(f": {code}: ") >= before + least, f"{trouble.__name__}: refusals")
        mend()

    def landed(self, seconds=400):
        """Waits until all captures have landed, or one is given up."""
        def is_over():
            self.states = collections.Counter((state, tries) for _, state, tries in self.deliveries())
            return any(state == "permanently_failed" for state, _ in self.states) or {state for state, _ in self.states} == {
                "completed"}
        wait_until(is_over, "all captures land", seconds)
        expect({state for state, _ in self.states} == {"completed"}, f"states and tries: {dict(self.states)}")


@long
def never_given_up(tools):
    chance = random.Random(43)
    with disk(tools, "400M") as (place, shell):
        receiver = Receiver(tools, place / "captures", "--port", "0")
        receiver.log = place.with_suffix(".log")
        receiver.start()
        try:
            fleet = Fleet(tools, receiver)
            receiver.options = ("--port", str(receiver.port))
            folder = receiver.folder
            receiver.queue("config", "free-floor", "none")

            def again():
                receiver.kill()
                receiver.start()

            def broken_index():
                garbage(folder / "index.sqlite")

            def missing_keys():
                (folder / "shared/keys").rename(folder / "shared/keys.away")

            def encryption_required():
                receiver.queue("config", "require-encrypted", "on")

            def read_only_disk():
                expect(not shell(ABORTED).returncode, "the disk cannot be made read-only")

            def mounted_again():
                receiver.kill()
                expect(not shell(AGAIN).returncode, "the disk cannot be mounted again")
                receiver.start()

            def full_disk():
                with open(place / "filler", "wb", buffering=0) as filler:
                    for size in (1 << 20, 4096, 1024):
                        with contextlib.suppress(OSError):
                            while filler.write(bytes(size)) == size:
                                pass

            def room():
                (place / "filler").unlink()

            with fleet.watching():
                fleet.push("healthy")
                fleet.landed()
                fleet.refused("STORE_UNAVAILABLE", broken_index, again)
                fleet.landed()
                fleet.refused("STORE_UNAVAILABLE", missing_keys,
                              lambda: (folder / "shared/keys.away").rename(folder / "shared/keys"))
                fleet.landed()
                fleet.refused("STORE_UNAVAILABLE", encryption_required,
                              lambda: receiver.queue("config", "require-encrypted", "off"))
                fleet.landed()
                fleet.refused("STORE_UNAVAILABLE", read_only_disk, mounted_again)
                fleet.landed()
                fleet.refused("STORAGE_FULL", full_disk, room, DEVICES // 2)  # some may fit
                fleet.landed()
                # Killed while 64 devices send, three captures each.
                pushing = fleet.pool.submit(fleet.push, "killed", 3)
                for _ in range(KILLS):
                    wait_until(lambda: receiver.arriving() or pushing.done(), "a body arrives")
                    with contextlib.suppress(concurrent.futures.TimeoutError):
                        pushing.result(chance.uniform(0.1, 2))
                    again()
                pushing.result(PATIENCE)
                fleet.landed()
            tries = collections.defaultdict(collections.Counter)
            for phase, _, count in fleet.deliveries():
                tries[phase][count] += 1
            print({phase: dict(counts) for phase, counts in tries.items()}, flush=True)
            for phase, counts in tries.items():
                most = 1 + KILLS if phase == "killed" else 2  # a kill may break the connection of a capture that waits
                expect(max(counts) <= most, f"{phase}: captures with so many tries: {dict(counts)}")
            expect(len(receiver.held()) == DEVICES * sum(count for _, count in fleet.phases), "captures are missing")
            expect("INTERNAL_ERROR" not in receiver.said(), receiver.said()[-400:])
        finally:
            receiver.kill()


TESTS = [("64 devices give up no capture, whatever the receiver suffers", never_given_up)]
