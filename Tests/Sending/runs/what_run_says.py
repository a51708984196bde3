"""What `run` prints for people: a line for each new state, when it tries again, how it ends, and its lines on a terminal."""
import os
import fcntl
import re
import select
import signal
import struct
import subprocess
import termios
import time

from capture_api import Answer, CaptureAPI
from checks import PATIENCE, every, expect
from rigs import wait_until
from scenes import ENDED, Scene
from scripted import Scripted, Shelf

TIME = r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ"


def lines(bench):
    """A line has the id, the destination and the state; the last line of standard error says what was sent where."""
    rig, bundles = bench.rig(), bench.stock[:3]
    with Scripted(Shelf()) as one, Scripted(Shelf()) as two:
        rig.dest("one", "put", "--url", one.url + "/{sha256}")
        rig.dest("two", "put", "--url", two.url + "/{sha256}")
        rig.push(*bundles[:2])
        rig.run("push", "--dest", "two", bundles[2].path).must(0, about="push")
        result = rig.send(code=0)
        wanted = {f"{bundles[0].id} one completed", f"{bundles[1].id} one completed", f"{bundles[2].id} two completed"}
        expect(set(result.out.decode().splitlines()) == wanted, f"run prints {result.out!r}")
        size = sum(len(bundle.data) for bundle in bundles)
        expect(re.fullmatch(rf"capqueue: note: sent 3 captures, {size} bytes, to (one and two|two and one) in \d+\.\d s",
                            result.text.splitlines()[-1]), f"it ends with {result.text!r}")
        expect(rig.send(code=0).text == "capqueue: note: nothing to send\n", "a run without work says something else")
        expect(not rig.send("--quiet", code=0).err, "--quiet says something")
        expect(b"note" not in rig.send("--json", code=0).err, "--json says something to people")


def next_try(bench):
    """A run that ends leaves the retry to the next run; one that goes on does it itself."""
    cases = {"--once": rf"; will be tried by the next run after {TIME}$", "--until-empty": rf"; next try at {TIME}$"}

    def judge(name, pattern):
        rig = bench.rig()
        with CaptureAPI(bench.public) as api:
            api.answer(Answer(500, when="read"))
            rig.http(api.url, "--verify-url", "none", retry="1,1,1")
            rig.push(bench.stock[0])
            result = rig.send(name, code=15 if name == "--once" else 0)
            warnings = [line for line in result.text.splitlines() if "warning" in line]
            expect(len(warnings) == 1 and re.search(pattern, warnings[0]), f"it says {result.text!r}")
            ending = "sent nothing; 1 waits" if name == "--once" else "sent 1 capture"
            expect(ending in result.text.splitlines()[-1], f"it ends with {result.text!r}")

    every(dict(zip(cases, cases.items())), lambda name, case: judge(*case))


def asked_to_end(bench):
    """The first signal says what is waited for, the second that it is given up; what was not sent is kept."""
    def judge(name, number):
        with Scene(bench, words=("run", "--until-empty", "--grace", "1h")) as scene:
            scene.running.tell(number)
            said = lambda: scene.running.err.read_text()  # noqa: E731
            again = "^C again" if number == signal.SIGINT else "a second signal"
            wait_until(lambda: f"letting 1 transfer end (1 h 0 min); {again} stops them" in said(), "the first answer")
            expect(scene.running.is_alive, "one signal ends it at once")
            started = time.monotonic()
            text = scene.running.stop(number).must(*ENDED[number], about="the second signal").text
            expect(time.monotonic() - started < 5, "the second signal does not end it at once")
            expect("stopping 1 transfer; the next run sends what was not sent" in text, f"it says {text!r}")
            expect("3 wait" in text.splitlines()[-1], f"it ends with {text!r}")
            scene.ends_well()

    every({number.name: number for number in (signal.SIGINT, signal.SIGTERM)}, judge)


def on_a_terminal(bench):
    """60 columns show how many of all captures and bytes were sent and how long it takes; no line is longer."""
    rig, bundles = bench.rig(), [bench.big(), *bench.bundles(2)]
    with Scripted(Shelf()) as server:
        rig.dest("web", "put", "--url", server.url + "/{sha256}", "--concurrency", "1")
        rig.push(*bundles)
        main, terminal = os.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        run = subprocess.Popen(rig.argv("run", "--until-empty", "--bwlimit", "4MB"), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=terminal, env=rig.env | {"TERM": "xterm"},
                               cwd=rig.out)
        os.close(terminal)
        shown, end = b"", time.monotonic() + PATIENCE
        while time.monotonic() < end and select.select([main], [], [], 5)[0]:
            try:
                shown += os.read(main, 65536)
            except OSError:  # nobody has the terminal any more
                break
        os.close(main)
        expect(run.wait(PATIENCE) == 0, f"run ends with {run.returncode}: {shown[-300:]!r}")
    drawn = [line for line in re.sub(rb"\x1b\[[0-9]*[A-Za-z]", b"", shown).decode().replace("\r", "").split("\n")
             if line and not line.startswith("capqueue:")]
    expect(all(len(line) < 60 for line in drawn), f"lines are too long: {[x for x in drawn if len(x) > 59][:2]}")
    totals = [line for line in drawn if re.match(r"[0-2] of 3 sent  \d+(\.\d)? [kM]B of 8\.\d MB .*(left|starting)$", line)]
    expect(len(totals) > 3, f"it draws {drawn[:6]}")
    expect(any(re.search(r"\[#+-+\]", line) for line in drawn), f"no bar in {drawn[:6]}")


FAMILY = [
    ("a line for each new state, and one at the end", lines),
    ("when a failed capture is tried again", next_try),
    ("signals are answered at once", asked_to_end),
    ("the lines on a terminal of 60 columns", on_a_terminal),
]
