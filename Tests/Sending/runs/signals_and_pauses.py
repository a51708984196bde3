"""What users do during a run: signals, time limits, pause, hold and cancel."""
import functools
import signal
import time

from Kit.outcomes import expect
from Kit.sending import freeze, wait_until
from Kit.servers.capture_api import CaptureAPI
from Sending.scenes import ENDED, Scene


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


def asked_twice(number, is_half, bench):
    """A second signal stops at once: no attempt is used, and a capture that was sent completely is in doubt.

    The first signal says what is waited for, the second that it is given up.
    """
    with Scene(bench, is_half=is_half, words=("run", "--until-empty", "--grace", "1h")) as scene:
        scene.running.tell(number)
        again = "^C again" if number == signal.SIGINT else "a second signal"
        wait_until(lambda: f"letting 1 transfer end (1 h 0 min); {again} stops them" in scene.running.err.read_text(),
                   "the first answer")
        expect(scene.running.is_alive, "one signal ends it at once")
        started = time.monotonic()
        text = scene.running.stop(number).must(*ENDED[number], about="the second signal").text
        expect(time.monotonic() - started < 10, "the second signal does not end it at once")
        expect("stopping 1 transfer; the next run sends what was not sent" in text, f"it says {text!r}")
        expect("3 wait" in text.splitlines()[-1], f"it ends with {text!r}")
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


def paused(bench):
    """`pause` lets the current transfer finish; no run begins another one until `resume`."""
    with Scene(bench, words=("run", "--watch", "--json")) as scene:
        scene.rig.run("pause").must(0, about="pause")
        wait_until(lambda: scene.running.saw("paused"), "the run notices")
        scene.gate.set()
        wait_until(lambda: scene.running.saw("completed"), "the current one is finished")
        scene.rig.push(bench.stock[9])
        expect(scene.rig.status()["paused"] is True, "status does not say so")
        scene.running.stop()
        scene.rig.send("--until-empty", code=15, about="run of a paused queue")
        expect(len(scene.api.seen()) == 1, "a paused queue sends")
        with scene.rig.start("run", "--watch") as running:
            scene.rig.run("resume").must(0, about="resume")
            scene.rig.run("wait", "--all", "--timeout", "60s", seconds=70).must(0, about="wait")
            running.stop()
        expect(not scene.rig.status().get("paused"), "status says paused after resume")
        scene.bundles.append(bench.stock[9])
        scene.ends_well()


def paused_now(is_half, bench):
    """`pause --now` stops the current transfer and uses no attempt."""
    with Scene(bench, is_half=is_half, words=("run", "--watch")) as scene:
        scene.rig.run("pause", "--now").must(0, about="pause --now")
        wait_until(lambda: scene.states() == ["pending"] * 3, "all are given back")
        row = scene.rig.delivery(scene.bundles[0])
        expect((row.attempts, bool(row.in_doubt)) == (0, not is_half), f"{row.attempts} attempts, {row.in_doubt}")
        expect(len(scene.api.seen()) == 1 and scene.running.is_alive, "the run still sends, or has ended")
        scene.running.stop()
        scene.rig.run("resume").must(0, about="resume")
        scene.ends_well()


def paused_after_rename(bench):
    """A run follows `dest rename`: the new name is in output and events, and stops the destination at once."""
    with Scene(bench, words=("run", "--watch", "--dest", "api", "--json")) as scene:
        scene.rig.run("dest", "rename", "api", "office").must(0, about="dest rename")
        scene.rig.run("pause", "--now", "--dest", "office").must(0, about="pause --now")
        wait_until(lambda: scene.states() == ["pending"] * 3, "all are given back")
        expect(scene.running.saw("paused", destination="office"), "the run does not tell of the new name")
        wait_until(lambda: scene.running.saw("pending", destination="office"), "an event with the new name")
        scene.rig.run("resume", "--dest", "office").must(0, about="resume")
        scene.gate.set()
        wait_until(lambda: scene.running.saw("completed", destination="office"), "the run to continue")
        wait_until(lambda: set(scene.states()) == {"completed"}, "all are there")
        scene.running.stop()


def paused_destination(bench):
    """`pause --dest` stops one destination and not the other."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as one, CaptureAPI(bench.public) as two:
        rig.http(one.url, name="one")
        rig.http(two.url, name="two")
        rig.run("pause", "--dest", "one").must(0, about="pause --dest")
        rig.push(*bench.stock[:2], options=("--dest", "one", "--dest", "two"))
        rig.send("--until-empty", code=15)
        two.holds(*map(bench.photo, bench.stock[:2]))
        expect(not one.requests, "a paused destination is sent to")
        paused_ones = [line["name"] for line in rig.status()["destinations"] if line.get("paused")]
        expect(paused_ones == ["one"], f"status shows {paused_ones} as paused")
        rig.run("resume", "--dest", "one").must(0, about="resume --dest")
        rig.send("--until-empty", code=0)
        one.holds(*map(bench.photo, bench.stock[:2]))
        rig.run("pause", "--dest", "none").must(78, about="pause of no destination")


def stopped_by_user(command, state, is_half, bench):
    """`hold` or `cancel` stops a transfer at once, and the next one begins."""
    with Scene(bench, is_half=is_half) as scene:
        scene.rig.run(command, scene.bundles[0].id).must(0, about=command)
        wait_until(lambda: len(scene.api.seen()) > 1, "the next one goes")
        expect(scene.states()[0] == state, f"is {scene.states()[0]} after {command}")
        # The user's command counts, whatever the server still answers to the first.
        scene.gate.set()
        scene.running.end()
        expect(scene.states() == [state, "completed", "completed"], f"they are {scene.states()}")
        scene.rig.run({"hold": "release", "cancel": "retry"}[command], scene.bundles[0].id).must(0)
        scene.ends_well()


def stopped_and_woken(bench):
    """During SIGSTOP, as on a closed laptop, no other run takes over, and the user's command wins over the answer."""
    with Scene(bench) as scene:
        first = scene.bundles[0]
        freeze(scene.rig.queue, scene.running.pid)
        scene.rig.send("--once", code=10, about="run beside a run that is stopped")
        scene.rig.run("cancel", first.id).must(0, about="cancel")
        scene.gate.set()
        wait_until(lambda: scene.api.stored, "the server to store it and answer")
        expect(scene.states()[0] == "cancelled", f"is {scene.states()[0]} while the run is stopped")
        scene.running.tell(signal.SIGCONT)
        scene.running.end().must(0, about="the run that woke up")
        expect(scene.states() == ["cancelled", "completed", "completed"], f"they are {scene.states()}")
        expect(not scene.rig.delivery(first).receipt, "the late answer left a receipt")
        scene.rig.run("retry", first.id).must(0, about="retry")
        scene.ends_well()


TESTS = [
    *((f"{number.name}: what is under way is finished", functools.partial(asked_to_end, number)) for number in ENDED),
    ("a second signal parks a capture that is completely sent", functools.partial(asked_twice, signal.SIGINT, False)),
    ("a second signal parks what is half sent", functools.partial(asked_twice, signal.SIGTERM, True)),
    ("--grace", grace),
    ("--max-duration", duration),
    ("pause and resume", paused),
    ("pause --now of a capture that is completely sent", functools.partial(paused_now, False)),
    ("pause --now of a capture that is half sent", functools.partial(paused_now, True)),
    ("pause --dest", paused_destination),
    ("pause --now --dest after dest rename", paused_after_rename),
    *((f"{command} while it is sent, {'half' if is_half else 'whole'}",
       functools.partial(stopped_by_user, command, state, is_half))
      for command, state, is_half in (("hold", "held", True), ("cancel", "cancelled", False))),
    ("cancelled while the run is stopped: it wakes up and changes nothing", stopped_and_woken),
]
