"""Signals, readers that go away, and output streams that are full or closed."""
import array
import fcntl
import functools
import os
import pathlib
import signal
import subprocess
import termios
import time

from Kit.outcomes import Failed, IS_LONG, PATIENCE, expect, long
from Kit.invariants import clean, gives, holds, only_strays, pushes, words_for_people
from Kit.queues import few
from Kit.sending import wait_until
from QueueFaults.many_processes import locked
from Faults.standard_streams import closed

ENDS = {signal.SIGTERM: (143, -signal.SIGTERM), signal.SIGINT: (130, -signal.SIGINT),
        signal.SIGHUP: (129, -signal.SIGHUP)}


def filled(bench):
    rig = bench.rig()
    rig.push(*bench.stock[:2])
    return rig


def stopped(tool, number, about):
    """Ends the tool with a signal, and checks that it does not linger; returns its output."""
    tool.send_signal(number)
    try:
        out, err = tool.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        tool.kill()
        tool.communicate()
        raise Failed(f"{about}: survives {number.name}") from None
    expect(tool.returncode in ENDS[number], f"{about}: {number.name} gives {tool.returncode}: {err[:200]!r}")
    expect(len(err.splitlines()) <= 2, f"{about}: a storm of messages: {err[:300]!r}")
    return out


def in_a_pipe(number, bench):
    """The signal arrives when half of a bundle has come through a pipe."""
    rig = filled(bench)
    bundle = bench.stock[5]
    tool = rig.begin("push", "-", stdin=subprocess.PIPE)
    tool.stdin.write(bundle.data[:3000])
    tool.stdin.flush()
    wait_for_pipe(tool)
    out = stopped(tool, number, "push -")
    expect(not out, f"prints {out!r}")
    clean(rig, "after the signal")
    pushes(rig, bundle)
    gives(rig, bench.stock[0], bundle)


def wait_for_pipe(tool):
    """Waits until the tool has read from the pipe what was written, so that the signal meets it at work."""
    def is_read():
        left = array.array("i", [0])
        fcntl.ioctl(tool.stdin.fileno(), termios.FIONREAD, left)
        return not left[0]

    wait_until(is_read, "the tool to read its standard input")


def waiting_for_the_lock(number, bench):
    """A signal ends the wait of a batch for the lock; the batch leaves nothing but stray files."""
    rig = filled(bench)
    new = bench.stock[3:6]
    with locked(rig.queue / "queue.lock"):
        tool = rig.begin("push", *(bundle.path for bundle in new))
        wait_for_lock(tool)
        out = stopped(tool, number, "push that waits")
    expect(not out, f"prints {out!r}")
    only_strays(rig)
    pushes(rig, *new)
    expect(len(clean(rig)) == 5, "not one of each")


def wait_for_lock(tool):
    """Waits until the process has opened the lock's file, and a moment longer for its other preparations."""
    def is_open():
        try:
            place = pathlib.Path(f"/proc/{tool.pid}/fd")
            return any(os.readlink(place / number).endswith("queue.lock") for number in os.listdir(place))
        except OSError:
            return tool.poll() is not None

    wait_until(is_open, "the tool to open the lock")
    time.sleep(0.1)


def in_a_batch(number, bench):
    """Whenever the signal arrives, every printed capture is stored, and every other one is missing or whole."""
    chance = bench.chance(f"batch {number}")
    rig = filled(bench)
    known = {bundle.id: bundle for bundle in bench.stock}
    new = bench.stock[2:40 if IS_LONG else 10]
    for _ in range(8 if IS_LONG else 2):
        tool = rig.begin("push", *(bundle.path for bundle in new))
        try:
            tool.wait(chance.random() * 0.06)
        except subprocess.TimeoutExpired:
            tool.send_signal(number)
        out, err = tool.communicate(timeout=PATIENCE)
        expect(tool.returncode in (0, *ENDS[number]), f"exit {tool.returncode}: {err[:200]!r}")
        holds(rig, *(known[name] for name in out.decode().split()), about="printed before the signal")
        only_strays(rig)
    pushes(rig, *new)
    expect(len(clean(rig)) == 2 + len(new), "not one of each")


def without_a_reader(rig, ignored, *words):
    """Runs a command whose standard output is a pipe without a reader, with SIGPIPE ignored or not."""
    reader, writer = os.pipe()
    os.close(reader)
    before = functools.partial(signal.signal, signal.SIGPIPE, signal.SIG_IGN if ignored else signal.SIG_DFL)
    result = rig.run(*words, stdout=writer, restore_signals=False, preexec_fn=before)
    os.close(writer)
    result.must(74, *(() if ignored else (-signal.SIGPIPE, 141)), about=f"{words[0]}, ignored: {ignored}")
    words_for_people(result, lines=2, about=words[0])


def reader_goes_away(bench):
    """`list | head -1` ends by SIGPIPE, or with 74 and one message if that signal is ignored. A push that cannot print
    its id fails, and the same push again prints it."""
    rig = filled(bench)
    name = bench.stock[0].id
    for words in few([["list"], ["get", name, "-o", "-"], ["list", "--json"], ["show", name], ["history", name],
                      ["status"], ["export", "--manifest", "-"], ["--help"]], 2):
        for ignored in (False, True):
            without_a_reader(rig, ignored, *words)
    done = subprocess.run(["sh", "-c", '"$@" | head -n 1', "sh", *rig.argv("list", "--json")], env=rig.env, cwd=rig.out,
                          capture_output=True, timeout=PATIENCE, check=False)
    expect(len(done.stdout.splitlines()) == 1 and not done.stderr, f"list | head -1: {done.stderr[:200]!r}")
    for ignored, bundle in ((False, bench.stock[5]), (True, bench.stock[6])):
        without_a_reader(rig, ignored, "push", bundle.path)
        again(rig, bundle)


def again(rig, *bundles):
    only_strays(rig)
    pushes(rig, *bundles)
    holds(rig, *bundles, rows=clean(rig))


def full(bench):
    """A push fails if the disk behind its standard output is full; with --move the bundle is still in one place."""
    rig = filled(bench)
    name = bench.stock[0].id
    for words in [["push", bench.stock[6].path], ["push", bench.stock[7].path, bench.stock[8].path], *few(
            [["list"], ["get", name, "-o", "-"], ["status", "--prometheus"], ["hold", name], ["list", "--json"],
             ["show", name], ["show", name, "--json"], ["history", name], ["status"], ["status", "--json"],
             ["check", "--json"], ["export", "--manifest", "-"], ["config"], ["--help"], ["--version"]], 4)]:
        with open("/dev/full", "wb") as sink:
            result = rig.run(*words, stdout=sink).must(74, about=" ".join(map(str, words)))
        words_for_people(result, lines=3).naming("standard output", " ".join(map(str, words)))
    again(rig, *bench.stock[6:9])
    rig.to_folder()
    with open("/dev/full", "wb") as sink:
        rig.run("run", stdout=sink).must(74, about="run")
    path = rig.out / "x.bundle"
    path.write_bytes(bench.stock[9].data)
    with open("/dev/full", "wb") as sink:
        rig.run("push", "--move", path, stdout=sink).must(74, about="push --move")
    if path.exists():
        expect(path.read_bytes() == bench.stock[9].data, "the source has changed")
    else:
        holds(rig, bench.stock[9])


def closed_stream(number, bench):
    """The first opened file gets the number of the closed stream; output must not be written into it."""
    rig = filled(bench)
    name, new = bench.stock[0].id, bench.stock[6]
    for words in [["push", new.path], ["push", bench.stock[7].path, bench.stock[8].path], *few(
            [["get", name, "-o", "-"], ["hold", name], ["release", name], ["list"], ["show", name], ["status"],
             ["check"], ["prune"]], 2)]:
        about = f"{words[0]} without {('stdin', 'stdout', 'stderr')[number]}"
        result = closed(rig, number, *words)
        result.must(*((74,) if number == 1 and words[0] == "push" else (0, 74)), about=about)
    holds(rig, *bench.stock[:2], about="after the last command")
    again(rig, *bench.stock[6:9])


def full_standard_error(bench):
    """Notes and warnings that cannot be printed do not stop the work."""
    rig = filled(bench)
    with open("/dev/full", "wb") as sink:
        rig.run("push", bench.stock[0].path, stderr=sink).must(0, about="push of a stored capture")
        rig.run("push", "--warn-at", "1", bench.stock[7].path, stderr=sink).must(0, about="push over the mark")
        rig.run("push", rig.out / "nothing", stderr=sink).must(66, about="push of nothing")
    clean(rig)


@long
def other_signals(bench):
    for number in (signal.SIGINT, signal.SIGHUP):
        for test in (in_a_pipe, waiting_for_the_lock, in_a_batch):
            test(number, bench)


TESTS = [
    ("SIGTERM while a bundle comes from a pipe: nothing stays", functools.partial(in_a_pipe, signal.SIGTERM)),
    ("SIGTERM while a push waits for its turn", functools.partial(waiting_for_the_lock, signal.SIGTERM)),
    ("SIGTERM in a batch: what was printed is held", functools.partial(in_a_batch, signal.SIGTERM)),
    ("SIGINT and SIGHUP at the same moments", other_signals),
    ("a reader that goes away: a quiet end", reader_goes_away),
    ("standard output is full: 74, and a second push prints the id", full),
    ("closed standard input", functools.partial(closed_stream, 0)),
    ("closed standard output: nothing is printed into a file", functools.partial(closed_stream, 1)),
    ("closed standard error: no message is written into a file", functools.partial(closed_stream, 2)),
    ("full standard error does not stop the work", full_standard_error),
]
