"""Many processes use one queue: no command fails or mentions a lock, and nothing is lost or doubled."""
import contextlib
import fcntl
import os
import subprocess
import threading
import time

from checks import Failed, PATIENCE, expect
from invariants import clean, gives, holds, words_for_people
from queues import ids
from wrong_clocks import faked


class Crowd:
    """Threads that run the tool again and again; the first problem of each is recorded."""

    def __init__(self):
        self.problems, self.threads = [], []

    def add(self, function, *arguments):
        def guarded():
            try:
                function(*arguments)
            except Failed as reason:
                self.problems.append(str(reason))

        self.threads.append(threading.Thread(target=guarded))

    def run(self):
        for thread in self.threads:
            thread.start()
        self.wait()

    def wait(self):
        for thread in self.threads:
            thread.join()
        expect(not self.problems, f"{len(self.problems)} fail: {'; '.join(self.problems[:3])}")


def quiet(result, about):
    """Checks that the command succeeded and did not mention databases or locks."""
    result.must(0, about=about)
    words_for_people(result, about=about)
    for word in ("busy", "locked", "database"):
        expect(word not in result.text.lower(), f"{about}: speaks of {word}: {result.text[:200]!r}")
    return result


def same_capture(bench):
    """Four processes push one capture at once, ten times: each prints the id, and one copy is stored."""
    rig = bench.rig()
    for number, bundle in enumerate(bench.stock[:10]):
        tools = [subprocess.Popen(rig.argv("push", bundle.path), env=rig.env, cwd=rig.out, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) for _ in range(4)]
        for tool in tools:
            out, err = tool.communicate(timeout=PATIENCE)
            expect(tool.returncode == 0, f"exit {tool.returncode}: {err[:200]!r}")
            expect(out.decode().split() == [bundle.id], f"prints {out!r}")
        if number == 0:
            clean(rig, "after the four pushes that made the queue")
    rows = clean(rig)
    expect(len(rows) == 10, f"{len(rows)} captures instead of 10")
    gives(rig, bench.stock[0], bench.stock[9])


def same_capture_moved(bench):
    """Two pushes with --move of two files of the same capture remove both files, and one copy is stored."""
    rig = bench.rig()
    for bundle in bench.stock[:6]:
        paths = [rig.out / "one.bundle", rig.out / "two.bundle"]
        for path in paths:
            path.write_bytes(bundle.data)
        crowd = Crowd()
        for path in paths:
            crowd.add(lambda path=path: quiet(rig.run("push", "--move", path), "push --move"))
        crowd.run()
        expect(not list(rig.out.iterdir()), f"--move leaves {os.listdir(rig.out)}")
        gives(rig, bundle)
    expect(len(clean(rig)) == 6, "not one of each")


def same_file_moved(bench):
    """Two pushes with --move of the same file: one of them may be too late, and nothing is lost."""
    rig = bench.rig()
    for bundle in bench.stock[:6]:
        path = rig.out / "x.bundle"
        path.write_bytes(bundle.data)
        crowd = Crowd()
        for _ in range(2):
            crowd.add(lambda: rig.run("push", "--move", path).must(0, 66, about="push --move"))
        crowd.run()
        gives(rig, bundle)
    expect(len(clean(rig)) == 6, "not one of each")


def eight_and_two(bench):
    """Eight processes push six bundles each, one by one, while another prunes and another lists."""
    rig = bench.rig()
    old = bench.stock[48:56]
    rig.push(*old)
    rig.uploaded(*old[:6], days=8)
    done, printed = threading.Event(), []
    pruned = []

    def pusher(number):
        for bundle in bench.stock[number * 6:number * 6 + 6]:
            printed.extend(ids(quiet(rig.run("push", bundle.path), "push")))

    def pruner():
        while not done.is_set():
            pruned.extend(ids(quiet(rig.run("prune"), "prune")))
            quiet(rig.run("check"), "check")

    def lister():
        while not done.is_set():
            known = set(printed)
            listed = {line.split()[0].decode() for line in quiet(rig.run("list", "--json"), "list").out.splitlines()}
            expect(listed or not known, "list shows nothing")
            quiet(rig.run("status"), "status")

    pushing, beside = Crowd(), Crowd()
    for number in range(8):
        pushing.add(pusher, number)
    beside.add(pruner)
    beside.add(lister)
    for thread in beside.threads:
        thread.start()
    try:
        pushing.run()
    finally:
        done.set()
        beside.wait()
    expect(sorted(printed) == sorted(bundle.id for bundle in bench.stock[:48]), f"{len(printed)} ids of 48 are printed")
    rows = clean(rig)
    holds(rig, *bench.stock[:48], *old[6:], rows=rows)
    expect(sorted(pruned) == sorted(bundle.id for bundle in old[:6]), f"pruned {len(pruned)} of 6")
    gives(rig, bench.stock[0], bench.stock[47])


def storms(bench):
    """Four processes hold, release, cancel and retry the same captures: no command fails, and histories agree."""
    rig = bench.rig()
    rig.push(*bench.stock[:6])
    crowd = Crowd()

    def storm(*commands):
        for _ in range(5):
            for command in commands:
                words_for_people(rig.run(command, "--all").must(0, about=f"{command} --all"), about=command)

    crowd.add(storm, "hold", "release")
    crowd.add(storm, "cancel", "retry")
    crowd.add(storm, "release", "hold")
    crowd.add(storm, "retry", "cancel")
    crowd.run()
    rows = clean(rig)
    holds(rig, *bench.stock[:6], rows=rows)
    for bundle in bench.stock[:6]:
        moves = rig.query("SELECT from_state, to_state FROM transitions JOIN deliveries ON deliveries.id = delivery "
                          "JOIN captures ON captures.seq = capture WHERE captures.id = ? ORDER BY transitions.id",
                          bundle.id)
        ends = [move[1] for move in moves]
        starts = [move[0] for move in moves[1:]]
        expect(starts == ends[:-1], f"the history of {bundle.id} has a gap: {moves}")
        expect(ends[-1] == rows[bundle.id]["state"], f"is {rows[bundle.id]['state']}, the history ends with {ends[-1]}")


@contextlib.contextmanager
def locked(path):
    with open(path, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def waits_for_its_turn(bench):
    """While another process has the writers' lock, writers wait and readers do not."""
    rig = bench.rig()
    rig.push(bench.stock[0])
    with locked(rig.queue / "queue.lock"):
        tools = [subprocess.Popen(rig.argv("push", bundle.path), env=rig.env, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) for bundle in bench.stock[1:4]]
        tools.append(subprocess.Popen(rig.argv("hold", bench.stock[0].id), env=rig.env, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE))
        for words in (["list"], ["show", bench.stock[0].id], ["get", bench.stock[0].id, "-o", "-"], ["status"]):
            rig.run(*words).must(0, about=f"{words[0]} beside a writer")
        time.sleep(0.3)
        early = [tool for tool in tools if tool.poll() is not None]
        for tool in early:
            tool.communicate()
    expect(not early, f"{len(early)} of 4 writers do not wait")
    for tool in tools:
        out, err = tool.communicate(timeout=PATIENCE)
        expect(tool.returncode == 0 and b"busy" not in err, f"after the wait: exit {tool.returncode}: {err[:200]!r}")
        expect(len(out.split()) == 1, f"a writer that waited prints {out!r}")
    holds(rig, *bench.stock[:4])
    clean(rig)


def another_writer_in_sqlite(bench):
    """If another program has a transaction open without the lock, commands wait for that, too."""
    rig = bench.rig()
    rig.push(bench.stock[0])
    with rig.database() as database:
        database.execute("BEGIN IMMEDIATE")
        tool = subprocess.Popen(rig.argv("push", bench.stock[1].path), env=rig.env, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
        rig.run("list").must(0, about="list beside a transaction")
        time.sleep(0.3)
        database.execute("ROLLBACK")
    out, err = tool.communicate(timeout=PATIENCE)
    expect(tool.returncode == 0, f"exit {tool.returncode}: {err[:200]!r}")
    expect(out.decode().split() == [bench.stock[1].id], f"prints {out!r}")
    clean(rig)


def one_run(bench):
    """A second run exits with 10 and sends nothing while the first one runs."""
    rig = bench.rig()
    rig.push(bench.stock[0])
    (rig.out / "disk").mkdir()
    rig.run("dest", "add", "disk", "--kind", "folder", "--path", rig.out / "disk").must(0, about="dest add")
    path = rig.queue / "run.lock"
    path.touch(0o600)
    with locked(path):
        result = rig.run("run").must(10, about="run beside a run")
        words_for_people(result)
        expect(not list((rig.out / "disk").glob("*.bundle")), "a run without the lock sends")
        rig.push(bench.stock[1])
    rig.run("run").must(0, about="run")
    expect(len(list((rig.out / "disk").glob("*.bundle"))) == 2, "run does not send what waits")


def turn_that_never_comes(bench):
    """A writer that gets no lock within 60 s exits with 10 and a message; the test uses a fast clock if it can."""
    rig = bench.rig()
    rig.push(bench.stock[0])
    with locked(rig.queue / "queue.lock"):
        with faked(rig, "+0 x200", "-f"):
            result = rig.run("push", bench.stock[1].path)
    result.must(10, about="push without a turn")
    expect("queue" in words_for_people(result).text, f"says {result.text!r}")
    rig.push(bench.stock[1])
    clean(rig)


def kills_in_a_crowd(bench):
    """Four processes push one by one, every second push is killed soon, and each printed capture is stored."""
    rig = bench.rig()
    rig.push(bench.stock[40])
    chance = bench.chance("crowd")
    delays = [[chance.random() * 0.04 for _ in range(8)] for _ in range(4)]
    printed = []

    def pusher(number):
        for delay, bundle in zip(delays[number], bench.stock[number * 8:number * 8 + 8]):
            with subprocess.Popen(rig.argv("push", bundle.path), env=rig.env, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as tool:
                if number % 2:
                    time.sleep(delay)
                    tool.kill()
                out, err = tool.communicate(timeout=PATIENCE)
            expect(tool.returncode in ((0, -9) if number % 2 else (0,)), f"exit {tool.returncode}: {err[:200]!r}")
            printed.extend(out.decode().split())

    crowd = Crowd()
    for number in range(4):
        crowd.add(pusher, number)
    crowd.run()
    known = {bundle.id: bundle for bundle in bench.stock}
    holds(rig, *(known[name] for name in printed))
    rig.run("check", "--repair").must(0, 15, about="check --repair")
    clean(rig, "after check --repair")
    rig.push(*bench.stock[:32])
    expect(len(clean(rig)) == 33, "not one of each")


TESTS = [
    ("four pushes of the same capture at once: one copy, and all print its id", same_capture),
    ("two push --move of copies at once: both files are removed, one copy is stored", same_capture_moved),
    ("two push --move of one file at once: it is not lost", same_file_moved),
    ("eight push while one prunes and one lists: all ids, no errors", eight_and_two),
    ("four processes change the same states: the history has no gap", storms),
    ("pushes are killed beside others: each printed capture is stored", kills_in_a_crowd),
    ("a writer waits for its turn, a reader does not", waits_for_its_turn),
    ("a foreign transaction is waited for", another_writer_in_sqlite),
    ("a second run beside a run: 10", one_run),
    ("a turn that never comes: 10", turn_that_never_comes),
]
