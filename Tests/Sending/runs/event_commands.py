"""A command of --on-event that hangs, fails or prints without end changes nothing, nor do other such commands."""
import json
import os
import shlex
import threading
import time
from signal import SIGTERM

from capture_api import Answer, CaptureAPI
from checks import every, expect
from leftovers import cleaned, left
from rigs import wait_until
from scenes import ENDED

SECONDS = 40
TOLD = {"completed", "permanently_failed", "conflict", "quarantined", "session", "quota", "blocked"}


def sent_with(bench, command, *options, count=3, answers=(), code=0, seconds=60):
    """Runs with this command; returns the rig and the output. All captures must land unless `answers` prevent it."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.answer(*answers)
        rig.http(api.url)
        rig.push(*bench.stock[:count])
        result = rig.send("--until-empty", "--on-event", command, *options, code=code, seconds=seconds)
        if not answers:
            api.holds(*map(bench.photo, bench.stock[:count]))
            expect(rig.states() == {"completed"}, f"they are {rig.states()}")
    return rig, result


def told(bench):
    """One command runs for each event, one after another, with the event on standard input and names in variables."""
    script = 'cat >> events; echo "$CAPQUEUE_EVENT $CAPQUEUE_ID $CAPQUEUE_DESTINATION" >> names'
    rig, result = sent_with(bench, script, "--json", answers=[Answer(400), None, None], code=14)
    events = [json.loads(line) for line in (rig.out / "events").read_text().splitlines()]
    printed = [line for line in map(json.loads, result.out.splitlines()) if line["event"] in TOLD]
    expect(events == printed, f"the command got {events}, the run printed {printed}")
    expect([event["event"] for event in events] == ["permanently_failed", "completed", "completed"], f"{events}")
    names = (rig.out / "names").read_text().splitlines()
    expect(names == [f"{event['event']} {event['id']} api" for event in events], f"names are {names}")


def held_is_told(bench):
    rig, _ = sent_with(bench, 'echo "$CAPQUEUE_EVENT" >> names', answers=[Answer(410)] * 2, code=15)
    expect((rig.out / "names").read_text().split() == ["blocked"], f"told {(rig.out / 'names').read_text()!r}")


def fails(bench):
    """A failing command causes a warning."""
    for command in ("exit 7", "kill -9 $$", "/nothing/there", "cat > /dev/null; false"):
        _, result = sent_with(bench, command, "--json")
        warnings = [line for line in map(json.loads, result.out.splitlines()) if line["event"] == "warning"]
        expect(warnings, f"{command}: no warning")


def floods(bench):
    """The output of the command is dropped, whether it reads its input or not."""
    for command in ("head -c 50000000 /dev/zero; head -c 50000000 /dev/zero >&2", "exec 0<&-; echo sesame", "true"):
        _, result = sent_with(bench, command)
        expect(b"sesame" not in result.out + result.err and len(result.out) < 10_000, f"{command}: its output is shown")


def hangs(bench):
    """After 30 seconds the command and its child processes are killed; the captures land meanwhile."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api, cleaned(rig):
        rig.http(api.url)
        rig.push(bench.stock[0])
        script = "echo $$ >> pids; sleep 4242 & echo $! >> pids; trap '' TERM; sleep 4242; sleep 4242"
        start = time.monotonic()
        with rig.start("run", "--until-empty", "--on-event", script) as running:
            rig.run("wait", "--all", "--timeout", "25s", seconds=60).must(0, about="wait beside a hook that hangs")
            running.end(seconds=120).must(0, about="run")
        expect(time.monotonic() - start < 100, "it had more than its 30 seconds")
        pids = (rig.out / "pids").read_text().split()
        expect(len(pids) == 2, f"the hook ran otherwise: {pids}")
        wait_until(lambda: not left(rig), "the hook's child processes to end", seconds=20)


def asked_to_end(bench):
    """A run with a hook that gets SIGTERM finishes its transfers, reports its end, and leaves no hook behind."""
    rig, gate = bench.rig(), threading.Event()
    with CaptureAPI(bench.public) as api, cleaned(rig):
        api.answer(None, Answer(gate=gate))
        rig.http(api.url)
        rig.push(bench.stock[0])
        with rig.start("run", "--watch", "--json", "--on-event", "echo $$ >> pids; exec sleep 4242") as running:
            rig.run("wait", "--all", "--timeout", "60s", seconds=70).must(0)
            wait_until((rig.out / "pids").exists, "the hook runs")
            rig.push(bench.stock[1])
            wait_until(lambda: len(api.seen()) == 2 and api.seen()[1].digest, "the second is under way")
            running.tell()
            time.sleep(0.5)
            expect(running.is_alive, "the run ends during a transfer")
            gate.set()
            running.end(seconds=120)
            expect(running.saw("ended"), "no event says that the run has ended")
        expect(rig.states() == {"completed"}, f"they are {rig.states()}")
        wait_until(lambda: not left(rig), "the hook goes with the run", seconds=20)


def cannot_break_out(bench):
    """Names of sessions and texts from servers go to the input as data, and are never part of the command."""
    marker = "$(touch broken); `touch broken`; '\"; touch broken #"
    answer = Answer(400, body={"error": {"code": "X", "message": marker}})
    rig, _ = sent_with(bench, "cat >> events", count=1, answers=[answer], code=14)
    expect("touch broken" in (rig.out / "events").read_text(), "the message is not told")
    expect(not (rig.out / "broken").exists(), "a word of the server was run")


def own_commands(bench):
    """The command may use the queue itself."""
    words = " ".join(map(shlex.quote, [os.fspath(bench.capqueue), "show"]))
    rig, _ = sent_with(bench, f'{words} "$CAPQUEUE_ID" --json >> shown')
    shown = [json.loads(line) for line in (rig.out / "shown").read_text().splitlines()]
    expect([line["state"] for line in shown] == ["completed"] * 3, f"it was told before it was on the disk: {shown}")


FLOOD = "echo $$ >> pids; exec yes 4242"  # `left` finds the process by this number


def flood(bench):
    """A command that prints without end does not prevent a run from ending, and is ended with it."""
    def judge(option, is_hook):
        with CaptureAPI(bench.public) as api:
            rig = bench.rig()
            with cleaned(rig):
                if is_hook:
                    rig.http(api.url)
                elif option == "--token-command":
                    rig.http(api.url, option, FLOOD)
                else:
                    rig.dest("web", "put", option, FLOOD, "--retry", "0,600")
                rig.push(bench.stock[0])
                words = ("--watch", option, FLOOD) if is_hook else ("--until-empty",)
                with rig.start("run", "--grace", "1s", *words) as running:
                    wait_until((rig.out / "pids").exists, "the command to be run")
                    # This is less than the 30 seconds that any command has.
                    running.stop(seconds=20).must(0, 14, *ENDED[SIGTERM], about=f"run {option}")
                wait_until(lambda: not left(rig), "what prints goes with the run", seconds=20)
            if not is_hook:
                row = rig.delivery(bench.stock[0])
                expect(row.state in ("pending", "failed") and row.attempts <= 1, f"is {row.state}, {row.attempts}")

    every({"--on-event": True, "--url-command": False, "--token-command": False}, judge)


FAMILY = [
    ("the event and its form", told),
    ("a blocked destination has an event", held_is_told),
    ("a command that fails is a warning", fails),
    ("a command that floods", floods),
    ("a command that hangs is killed", hangs),
    ("a run with a hook gets SIGTERM", asked_to_end),
    ("texts from a server are not executed", cannot_break_out),
    ("the command may use the queue", own_commands),
    ("commands that print without end", flood),
]
