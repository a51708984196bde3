"""How runs end: signals, --grace and --max-duration."""
import functools
import signal
import time

from checks import expect
from scenes import ENDED, Scene


def asked_to_end(number, bench):
    """After a signal the current transfer is finished, and no new one begins."""
    with Scene(bench) as scene:
        scene.running.tell(number)
        scene.rig.push(bench.stock[9])
        expect(scene.running.is_alive, "the run ends with a transfer under way")
        scene.gate.set()
        scene.running.end().must(*ENDED[number], about=number.name)
        expect(scene.states() == ["completed", "pending", "pending"], f"they are {scene.states()}")
        expect(len(scene.api.seen()) == 1, "another transfer was begun")
        scene.bundles.append(bench.stock[9])
        scene.ends_well()


def asked_twice(is_half, bench):
    """A second signal stops at once: no attempt is used, and a capture that was sent completely is in doubt."""
    with Scene(bench, is_half=is_half, words=("run", "--until-empty", "--grace", "1h")) as scene:
        scene.running.tell()
        time.sleep(0.5)  # the kernel merges two signals that are pending at the same time
        expect(scene.running.is_alive, "one signal ends it at once")
        scene.running.stop().must(*ENDED[signal.SIGTERM], about="the second signal")
        row = scene.rig.delivery(scene.bundles[0])
        expect((row.state, row.attempts) == ("pending", 0), f"is {row.state} after {row.attempts} attempts")
        expect(bool(row.in_doubt) == (not is_half), f"in doubt: {row.in_doubt}")
        scene.ends_well()


def grace(bench):
    """When --grace is over, the current transfer is stopped without using an attempt."""
    with Scene(bench, words=("run", "--until-empty", "--grace", "1s")) as scene:
        scene.running.stop().must(*ENDED[signal.SIGTERM], about="after the grace")
        expect(scene.states() == ["pending"] * 3, f"they are {scene.states()}")
        expect(scene.rig.delivery(scene.bundles[0]).attempts == 0, "the parked capture used an attempt")
        scene.ends_well()


def duration(bench):
    """--max-duration ends a run as a signal does."""
    with Scene(bench, words=("run", "--watch", "--max-duration", "1s", "--grace", "1s")) as scene:
        scene.running.end().must(15, about="after --max-duration")
        expect(scene.states() == ["pending"] * 3, f"they are {scene.states()}")
        scene.ends_well()


FAMILY = [
    *((f"{number.name}: what is under way is finished", functools.partial(asked_to_end, number)) for number in ENDED),
    ("a second signal parks a capture that is completely sent", functools.partial(asked_twice, False)),
    ("a second signal parks what is half sent", functools.partial(asked_twice, True)),
    ("--grace", grace),
    ("--max-duration", duration),
]
