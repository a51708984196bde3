"""Many processes use one queue: no command fails or mentions a lock, and nothing is lost or doubled."""
import concurrent.futures
import contextlib
import fcntl
import functools
import json
import os
import pathlib
import tarfile
import threading
import time

from Kit.outcomes import IS_LONG, PATIENCE, ROOT, expect
from Kit.invariants import clean, gives, holds, words_for_people
from Kit.queues import few, ids
from Kit.sending import wait_until as until
from QueueFaults.wrong_clocks import faked


def at_once(*functions):
    """Runs functions in threads, and fails if one of them fails."""
    with concurrent.futures.ThreadPoolExecutor(len(functions)) as pool:
        for done in [pool.submit(function) for function in functions]:
            done.result()


def quiet(result, about):
    """Checks that the command succeeded and did not mention databases or locks."""
    result.must(0, about=about)
    words_for_people(result, about=about)
    for word in ("busy", "locked", "database"):
        expect(word not in result.text.lower(), f"{about}: speaks of {word}: {result.text[:200]!r}")
    return result


def ended(tool, *codes):
    """Waits for a tool that was begun, and returns the ids that it prints."""
    out, err = tool.communicate(timeout=PATIENCE)
    expect(tool.returncode in codes and b"busy" not in err, f"exit {tool.returncode}: {err[:200]!r}")
    return out.decode().split()


def same_capture(bench):
    """Four processes push one capture at once, into no queue and then again: each prints the id of one copy."""
    rig = bench.rig()
    chosen = few(bench.stock[:10], 2)
    for bundle in chosen:
        for tool in [rig.begin("push", bundle.path) for _ in range(4)]:
            expect(ended(tool, 0) == [bundle.id], "a push prints something else")
    expect(len(clean(rig)) == len(chosen), "not one of each")
    gives(rig, chosen[0], chosen[-1])


def same_capture_moved(bench):
    """Two pushes with --move of one capture remove both files, or the one that both name, and one copy is stored."""
    rig = bench.rig()
    chosen = few(bench.stock[:6], 2)
    for bundle in chosen:
        for names, codes in ((("one.bundle", "two.bundle"), (0,)), (("one.bundle",) * 2, (0, 66))):
            for name in names:
                (rig.out / name).write_bytes(bundle.data)
            for tool in [rig.begin("push", "--move", name) for name in names]:
                ended(tool, *codes)
            expect(not list(rig.out.iterdir()), f"--move leaves {os.listdir(rig.out)}")
            gives(rig, bundle)
    expect(len(clean(rig)) == len(chosen), "not one of each")


def eight_and_three(bench):
    """Eight processes push one by one, while another prunes, another lists, and pushes of another are killed."""
    rig, chance = bench.rig(), bench.chance("crowd")
    each = 5 if IS_LONG else 1
    new, lost, old = bench.stock[:8 * each], bench.stock[40:40 + 2 * each], bench.stock[52:56]
    rig.push(*old)
    rig.uploaded(*old[:3], days=8)
    done, printed, pruned = threading.Event(), [], []

    def pusher(number):
        for bundle in new[number * each:number * each + each]:
            printed.extend(ids(quiet(rig.run("push", bundle.path), "push")))

    def pushers():
        try:
            at_once(*(functools.partial(pusher, number) for number in range(8)))
        finally:
            done.set()

    def killer():
        for bundle in lost:
            tool = rig.begin("push", bundle.path)
            time.sleep(chance.random() * 0.1)
            tool.kill()
            printed.extend(ended(tool, 0, -9))

    def pruner():
        while not done.is_set():
            pruned.extend(ids(quiet(rig.run("prune"), "prune")))

    def lister():
        while not done.is_set():
            known = set(printed)
            quiet(rig.run("status"), "status")
            listed = {json.loads(line)["id"] for line in quiet(rig.run("list", "--json"), "list").out.splitlines()}
            expect(known <= listed, f"list lacks {known - listed}")

    at_once(pushers, killer, pruner, lister)
    expect(set(printed) >= {bundle.id for bundle in new}, f"{len(printed)} ids of {len(new)} are printed")
    known = {bundle.id: bundle for bundle in bench.stock}
    holds(rig, *old[3:], *(known[name] for name in printed))
    pruned.extend(rig.prune())
    expect(sorted(pruned) == sorted(bundle.id for bundle in old[:3]), f"pruned {len(pruned)} of 3")
    rig.run("check", "--repair").must(0, 15, about="check --repair")
    rig.push(*lost)
    holds(rig, *new, *lost, *old[3:], rows=clean(rig))


def storms(bench):
    """Four processes hold, release, cancel and retry the same captures: no command fails, and histories agree."""
    rig = bench.rig()
    known = bench.stock[:3]
    rig.push(*known)

    def storm(*commands):
        for _ in range(5 if IS_LONG else 2):
            for command in commands:
                words_for_people(rig.run(command, "--all").must(0, about=f"{command} --all"), about=command)

    at_once(*(functools.partial(storm, *commands) for commands in (("hold", "release"), ("cancel", "retry"),
                                                                   ("release", "hold"), ("retry", "cancel"))))
    rows = clean(rig)
    holds(rig, *known, rows=rows)
    for bundle in known:
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
        tools = [rig.begin("push", bench.stock[1].path), rig.begin("push", bench.stock[2].path),
                 rig.begin("hold", bench.stock[0].id)]
        for words in (["list"], ["show", bench.stock[0].id], ["get", bench.stock[0].id, "-o", "-"], ["status"]):
            rig.run(*words).must(0, about=f"{words[0]} beside a writer")
        time.sleep(0.3)
        early = [tool for tool in tools if tool.poll() is not None]
        expect(not early, f"{len(early)} of 3 writers do not wait")
    for tool in tools:
        expect(len(ended(tool, 0)) == 1, "a writer that waited prints something else than its id")
    holds(rig, *bench.stock[:3], rows=clean(rig))


def another_writer_in_sqlite(bench):
    """If another program has a transaction open without the lock, commands wait for that, too."""
    rig = bench.rig()
    rig.push(bench.stock[0])
    with rig.database() as database:
        database.execute("BEGIN IMMEDIATE")
        tool = rig.begin("push", bench.stock[1].path)
        rig.run("list").must(0, about="list beside a transaction")
        time.sleep(0.3)
        database.execute("ROLLBACK")
    expect(ended(tool, 0) == [bench.stock[1].id], "the push prints something else")
    clean(rig)


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


def opened(tool, name):
    """Whether a tool has a file of this name open."""
    expect(tool.poll() is None, f"has ended with {tool.returncode}")
    found = []
    for link in pathlib.Path(f"/proc/{tool.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
            found.append(link.readlink().name)
    return name in found


def salvage_beside_a_run(bench):
    """Salvage waits for the run without the writers' lock, so pushes go on meanwhile."""
    rig = bench.rig()
    rig.push(bench.stock[0])
    (rig.queue / "run.lock").touch(0o600)
    with locked(rig.queue / "run.lock"):
        tool = rig.begin("salvage", "--force")
        until(lambda: opened(tool, "run.lock"), "salvage waits for the run")
        rig.push(bench.stock[1])
        expect(tool.poll() is None, "salvage did not wait for the run")
    ended(tool, 0)
    holds(rig, *bench.stock[:2], rows=clean(rig))


def migrated_beside_a_writer(bench):
    """A migration takes the run's lock before it waits for the writers'."""
    rig = bench.rig()
    with tarfile.open(ROOT / "Tests/Data/1.0/queue.tar.gz") as archive:
        archive.extractall(rig.out, filter="tar")
    queue, = (path.parent for path in rig.out.rglob("queue.sqlite"))
    for name in ("run.lock", "queue.lock"):
        (queue / name).touch(0o600)
    with locked(queue / "queue.lock"):
        tools = [rig.begin("list", "--queue", queue) for _ in range(2)]
        until(lambda: any(opened(tool, "run.lock") for tool in tools), "a migration has the run's lock")
    for tool in tools:
        ended(tool, 0)


TESTS = [
    ("four pushes of the same capture at once: one copy, and all print its id", same_capture),
    ("two push --move of copies or of one file at once: files are removed, one copy is stored", same_capture_moved),
    ("eight push while one prunes, one lists and pushes are killed: all ids, no errors", eight_and_three),
    ("four processes change the same states: the history has no gap", storms),
    ("a writer waits for its turn, a reader does not", waits_for_its_turn),
    ("a foreign transaction is waited for", another_writer_in_sqlite),
    ("a turn that never comes: 10", turn_that_never_comes),
    ("salvage waits for a run: others go on", salvage_beside_a_run),
    ("a migration waits for a writer", migrated_beside_a_writer),
]
