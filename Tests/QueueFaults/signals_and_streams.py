"""Signals, readers that go away, and output streams that are full or closed."""
import array
import fcntl
import functools
import os
import signal
import subprocess
import termios
import time

from checks import Failed, PATIENCE, expect
from invariants import clean, gives, holds, only_strays, pushes, words_for_people
from many_processes import locked
from standard_streams import closed

ENDS = {signal.SIGTERM: (143, -signal.SIGTERM), signal.SIGINT: (130, -signal.SIGINT),
        signal.SIGHUP: (129, -signal.SIGHUP)}


def filled(bench, count=3):
    rig = bench.rig()
    rig.push(*bench.stock[:count])
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


def start(rig, *words):
    return subprocess.Popen(rig.argv(*words), env=rig.env, cwd=rig.out, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def in_a_pipe(number, bench):
    """The signal arrives when half of a bundle has come through a pipe."""
    rig = filled(bench)
    bundle = bench.stock[5]
    tool = start(rig, "push", "-")
    tool.stdin.write(bundle.data[:3000])
    tool.stdin.flush()
    expect(wait_for_pipe(tool), "the tool does not read its standard input")
    out = stopped(tool, number, "push -")
    expect(not out, f"prints {out!r}")
    rig.run("check").must(0, about="check")
    clean(rig, "after the signal")
    pushes(rig, bundle)
    gives(rig, *bench.stock[:3], bundle)


def wait_for_pipe(tool):
    """Waits until the tool has read from the pipe what was written, so that the signal meets it at work."""
    for _ in range(500):
        left = array.array("i", [0])
        fcntl.ioctl(tool.stdin.fileno(), termios.FIONREAD, left)
        if not left[0]:
            return True
        time.sleep(0.01)
    return False


def waiting_for_the_lock(number, bench):
    """A signal ends the wait of a batch for the lock; the batch leaves nothing but stray files."""
    rig = filled(bench)
    new = bench.stock[3:9]
    with locked(rig.queue / "queue.lock"):
        tool = start(rig, "push", *(bundle.path for bundle in new))
        tool.stdin.close()
        tool.stdin = None
        expect(wait_for_lock(tool), "the tool does not wait for the lock")
        out = stopped(tool, number, "push that waits")
    expect(not out, f"prints {out!r}")
    only_strays(rig)
    pushes(rig, *new)
    rows = clean(rig)
    expect(len(rows) == 9, f"{len(rows)} captures instead of 9")


def wait_for_lock(tool):
    """Waits until the process has opened the lock's file, and a moment longer for its other preparations."""
    for _ in range(500):
        if tool.poll() is not None:
            return False
        try:
            names = [os.readlink(f"/proc/{tool.pid}/fd/{name}") for name in os.listdir(f"/proc/{tool.pid}/fd")]
        except OSError:
            names = []
        if any(name.endswith("queue.lock") for name in names):
            time.sleep(0.1)
            return True
        time.sleep(0.01)
    return False


def in_a_batch(number, bench):
    """Whenever the signal arrives, every printed capture is stored, and every other one is missing or whole."""
    chance = bench.chance(f"batch {number}")
    rig = filled(bench)
    known = {bundle.id: bundle for bundle in bench.stock}
    new = bench.stock[3:40]
    for _ in range(8):
        tool = start(rig, "push", *(bundle.path for bundle in new))
        tool.stdin.close()
        tool.stdin = None
        try:
            tool.wait(chance.random() * 0.06)
        except subprocess.TimeoutExpired:
            tool.send_signal(number)
        out, err = tool.communicate(timeout=PATIENCE)
        expect(tool.returncode in (0, *ENDS[number]), f"exit {tool.returncode}: {err[:200]!r}")
        holds(rig, *(known[name] for name in out.decode().split()), about="printed before the signal")
        only_strays(rig)
    pushes(rig, *new)
    expect(len(clean(rig)) == 40, "not one of each")


def reader_goes_away(bench):
    """`list | head -1` ends by SIGPIPE, or with 74 and one message if that signal is ignored, and leaves no trace."""
    rig = filled(bench, 60)
    name = bench.stock[0].id
    for words in (["list"], ["list", "--json"], ["show", name], ["get", name, "-o", "-"], ["history", name],
                  ["status"], ["export", "--manifest", "-"], ["--help"]):
        for ignored in (False, True):
            reader, writer = os.pipe()
            os.close(reader)
            before = functools.partial(signal.signal, signal.SIGPIPE, signal.SIG_IGN if ignored else signal.SIG_DFL)
            result = rig.run(*words, stdout=writer, restore_signals=False, preexec_fn=before)
            os.close(writer)
            result.must(74, *(() if ignored else (-signal.SIGPIPE, 141)), about=f"{words[0]}, ignored: {ignored}")
            words_for_people(result, lines=2, about=words[0])
    done = subprocess.run(["sh", "-c", '"$@" | head -n 1', "sh", *rig.argv("list", "--json")], env=rig.env, cwd=rig.out,
                          capture_output=True, timeout=PATIENCE, check=False)
    expect(len(done.stdout.splitlines()) == 1 and not done.stderr, f"list | head -1: {done.stderr[:200]!r}")
    clean(rig)


def push_without_a_reader(bench):
    """If the id cannot be printed, the push fails, and the same push again prints it."""
    rig = filled(bench)
    for ignored, bundle in ((False, bench.stock[4]), (True, bench.stock[5])):
        reader, writer = os.pipe()
        os.close(reader)
        before = functools.partial(signal.signal, signal.SIGPIPE, signal.SIG_IGN if ignored else signal.SIG_DFL)
        result = rig.run("push", bundle.path, stdout=writer, restore_signals=False, preexec_fn=before)
        os.close(writer)
        result.must(74, *(() if ignored else (-signal.SIGPIPE, 141)), about="push without a reader")
        again(rig, bundle)


def again(rig, *bundles):
    only_strays(rig)
    pushes(rig, *bundles)
    rows = clean(rig)
    holds(rig, *bundles, rows=rows)


def full(bench):
    """A push fails if the disk behind its standard output is full."""
    rig = filled(bench)
    name = bench.stock[0].id
    for words in (["list"], ["list", "--json"], ["show", name], ["show", name, "--json"], ["get", name, "-o", "-"],
                  ["history", name], ["status"], ["status", "--json"], ["status", "--prometheus"], ["check", "--json"],
                  ["export", "--manifest", "-"], ["config"], ["--help"], ["--version"], ["hold", name],
                  ["push", bench.stock[6].path], ["push", bench.stock[7].path, bench.stock[8].path]):
        with open("/dev/full", "wb") as sink:
            result = rig.run(*words, stdout=sink).must(74, about=" ".join(map(str, words)))
        words_for_people(result, lines=3).naming("standard output", " ".join(map(str, words)))
    again(rig, *bench.stock[6:9])


def full_and_moved(bench):
    """If --move cannot print the id, the bundle is still in at least one of the two places."""
    rig = filled(bench)
    bundle = bench.stock[6]
    path = rig.out / "x.bundle"
    path.write_bytes(bundle.data)
    with open("/dev/full", "wb") as sink:
        rig.run("push", "--move", path, stdout=sink).must(74, about="push --move")
    if path.exists():
        expect(path.read_bytes() == bundle.data, "the source has changed")
    else:
        holds(rig, bundle)
    again(rig, bundle)


def closed_stream(number, bench):
    """The first opened file gets the number of the closed stream; output must not be written into it."""
    rig = filled(bench)
    name, new = bench.stock[0].id, bench.stock[6]
    for words in (["list"], ["show", name], ["status"], ["check"], ["get", name, "-o", "-"], ["hold", name],
                  ["release", name], ["prune"], ["push", new.path], ["push", bench.stock[7].path, bench.stock[8].path]):
        about = f"{words[0]} without {('stdin', 'stdout', 'stderr')[number]}"
        result = closed(rig, number, *words)
        result.must(*((74,) if number == 1 and words[0] == "push" else (0, 74)), about=about)
        only_strays(rig, about)
        holds(rig, *bench.stock[:3], about=about)
    again(rig, *bench.stock[6:9])


def full_standard_error(bench):
    """Notes and warnings that cannot be printed do not stop the work."""
    rig = filled(bench)
    with open("/dev/full", "wb") as sink:
        rig.run("push", bench.stock[0].path, stderr=sink).must(0, about="push of a stored capture")
        rig.run("push", "--warn-at", "1", bench.stock[7].path, stderr=sink).must(0, about="push over the mark")
        rig.run("push", rig.out / "nothing", stderr=sink).must(66, about="push of nothing")
    clean(rig)


TESTS = [(f"{number.name} while a bundle comes from a pipe: nothing stays", functools.partial(in_a_pipe, number))
         for number in ENDS]
TESTS += [(f"{number.name} while a push waits for its turn", functools.partial(waiting_for_the_lock, number))
          for number in (signal.SIGTERM, signal.SIGINT)]
TESTS += [(f"{number.name} in a batch: what was printed is held", functools.partial(in_a_batch, number))
          for number in (signal.SIGTERM, signal.SIGINT)]
TESTS += [
    ("a reader that goes away: a quiet end", reader_goes_away),
    ("push without a reader: it fails, and a second push prints the id", push_without_a_reader),
    ("standard output is full: 74, and a second push prints the id", full),
    ("standard output is full at push --move: the bundle is not lost", full_and_moved),
    ("closed standard input", functools.partial(closed_stream, 0)),
    ("closed standard output: nothing is printed into a file", functools.partial(closed_stream, 1)),
    ("closed standard error: no message is written into a file", functools.partial(closed_stream, 2)),
    ("full standard error does not stop the work", full_standard_error),
]
