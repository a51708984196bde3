"""A command of --on-event that hangs, fails or prints without end changes nothing, nor do other such commands."""
import json
import os
import shlex
import time
from signal import SIGTERM

from Kit.rigs import NOBODY
from Kit.servers.capture_api import Answer, CaptureAPI
from Kit.outcomes import IS_LONG, every, expect, long
from Kit.sending import wait_until
from Sending.leftovers import cleaned, left
from Sending.scenes import ENDED, sending

SECONDS = 40
TOLD = {"completed", "permanently_failed", "conflict", "quarantined", "session", "quota", "blocked"}


def sent_with(bench, command, *options, count=3, answers=(), code=0, seconds=60):
    """Runs with this command; returns the rig and the output. All captures must land unless `answers` prevent it."""
    with sending(bench, bench.stock[:count]) as (rig, api):
        api.answer(*answers)
        result = rig.send("--until-empty", "--on-event", command, *options, code=code, seconds=seconds)
        if not answers:
            api.holds(*map(bench.photo, bench.stock[:count]))
            expect(rig.states() == {"completed"}, f"they are {rig.states()}")
    return rig, result


def told(bench):
    """One command runs for each event, one after another, with the event on standard input and names in variables.

    The command may use the queue, which has recorded the event. Texts from servers are data, never part of a command.
    """
    marker = "$(touch broken); `touch broken`; '\"; touch broken #"
    refused = Answer(400, body={"error": {"code": "X", "message": marker}})
    show = " ".join(map(shlex.quote, [os.fspath(bench.capqueue), "show"]))
    script = f'cat >> events; echo "$CAPQUEUE_EVENT $CAPQUEUE_ID $CAPQUEUE_DESTINATION" >> names; ' \
             f'{show} "$CAPQUEUE_ID" --json >> shown'
    rig, result = sent_with(bench, script, "--json", answers=[refused, None, None], code=14)
    events = [json.loads(line) for line in (rig.out / "events").read_text().splitlines()]
    printed = [line for line in map(json.loads, result.out.splitlines()) if line["event"] in TOLD]
    expect(events == printed, f"the command got {events}, the run printed {printed}")
    words = ["permanently_failed", "completed", "completed"]
    expect([event["event"] for event in events] == words, f"{events}")
    names = (rig.out / "names").read_text().splitlines()
    expect(names == [f"{event['event']} {event['id']} api" for event in events], f"names are {names}")
    shown = [json.loads(line)["state"] for line in (rig.out / "shown").read_text().splitlines()]
    expect(shown == words, f"it was told before it was on the disk: {shown}")
    expect(marker in events[0]["message"], f"the message is {events[0]['message']!r}")
    expect(not (rig.out / "broken").exists(), "a word of the server was run")


def changes_nothing(bench):
    """A failing command causes a warning, and the output of a command is dropped, whether it reads its input or not."""
    commands = {"exit 7": True, "head -c 5000000 /dev/zero; head -c 5000000 /dev/zero >&2; exit 1": True,
                "exec 0<&-; echo sesame": False, "kill -9 $$": True, "/nothing/there": True}

    def judge(command, is_warned):
        _, result = sent_with(bench, command, "--json", count=1)
        warnings = [line for line in map(json.loads, result.out.splitlines()) if line["event"] == "warning"]
        expect(bool(warnings) == is_warned, f"{len(warnings)} warnings")
        expect(b"sesame" not in result.out + result.err and len(result.out) < 10_000, "its output is shown")

    every(commands if IS_LONG else dict(list(commands.items())[:3]), judge)


def held_is_told(bench):
    rig, _ = sent_with(bench, 'echo "$CAPQUEUE_EVENT" >> names', answers=[Answer(410)] * 2, code=15)
    expect((rig.out / "names").read_text().split() == ["blocked"], f"told {(rig.out / 'names').read_text()!r}")


@long
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


def left_out(result, about=""):
    """How many events were left out, by the warnings."""
    found = [line["message"] for line in map(json.loads, result.out.splitlines()) if line["event"] == "warning"]
    return sum(int(text.split()[1]) for text in found if "skipped" in text)


@long
def over_with_the_run(bench):
    """--max-duration and SIGTERM end a command that hangs, and say how many events were left out."""
    def judge(case, ends):
        with CaptureAPI(bench.public) as api:
            rig = bench.rig()
            with cleaned(rig):
                rig.http(api.url)
                rig.push(*bench.stock[:6])
                words = () if ends else ("--max-duration", "2s")
                hook = 'echo "$CAPQUEUE_ID" >> ids; echo $$ >> pids; exec sleep 4242'
                with rig.start("run", "--until-empty", "--json", *words, "--on-event", hook) as running:
                    wait_until(lambda: rig.status()["backlog"]["captures"] == 0, "everything to be sent")
                    wait_until((rig.out / "pids").exists, "the command to be run")
                    if ends:
                        ends(running)
                    # One command alone would have 30 seconds.
                    result = running.end(seconds=25).must(*(ENDED[SIGTERM] if ends else (0,)), about=case)
                wait_until(lambda: not left(rig), "the command goes with the run", seconds=20)
            expect(len((rig.out / "ids").read_text().split()) == 1, "it was run again")
            expect(left_out(result) == 5, f"{case}: {left_out(result)} events are said to be left out")

    every({"--max-duration": None, "SIGTERM": lambda running: running.tell(SIGTERM)}, judge)


@long
def few_tasks(bench):
    """With a limit of tasks (TasksMax, ulimit -u) a run has fewer transfers, says so, and every event is accounted for."""
    def judge(most, concurrency):
        rig, bundles = bench.rig(), bench.stock[:20]
        for name in ("one", "two"):
            (rig.out / name).mkdir()
            rig.dest(name, "folder", "--path", rig.out / name, "--concurrency", str(concurrency))
        rig.push(*bundles, options=["--dest", "one", "--dest", "two"])
        user = NOBODY - int(most)  # whose processes are only these
        for place in (rig.folder, *rig.folder.rglob("*")):
            os.chown(place, user, user)
        hook = 'echo "$CAPQUEUE_ID" >> ids'
        result = rig.run("run", "--until-empty", "--json", "--on-event", hook, prefix=(
            "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "prlimit", f"--nproc={most}"),
            ).must(0, about="run")
        texts = [line["message"] for line in map(json.loads, result.out.splitlines()) if line["event"] == "warning"]
        expect(rig.states() == {"completed"}, f"they are {rig.states()}")
        fewer = [text for text in texts if "transfers at a time" in text]
        expect(len(fewer) == 2 and "TasksMax" in fewer[0], f"says of fewer transfers {texts}")
        told = len((rig.out / "ids").read_text().split())
        failed = [text for text in texts if "cannot be run" in text]
        expect(told + len(failed) + left_out(result) == 2 * len(bundles), f"{told} told, {texts}")

    every({"20": 16, "64": 64}, judge)


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

    commands = {"--on-event": True, "--url-command": False, "--token-command": False}
    every(commands if IS_LONG else {"--on-event": True}, judge)


TESTS = [
    ("the event and its form; texts from a server are not executed", told),
    ("a blocked destination has an event", held_is_told),
    ("a command that fails is a warning, and its output is dropped", changes_nothing),
    ("a command that hangs is killed", hangs),
    ("--max-duration and SIGTERM end a command that hangs", over_with_the_run),
    ("a limit of tasks: fewer transfers, a warning, and no event is lost without one", few_tasks),
    ("commands that print without end", flood),
]
