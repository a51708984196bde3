"""capqueue without a network: storing bundles, its database alone, and commands on queues of many rows."""
import sys

from Bench import bench, queues
from Bench.bench import PEERS
from Bench.results import Row
from Kit.outcomes import Failed, expect

MILLION = 1_000_000


def push_many(rig):
    """Both sides write to the same disk; what a side wrote before is deleted and synced before its turn."""
    count, capqueue = rig.scaled(500, 4), rig.beside("capqueue")
    bundles, spool, copies = rig.bundles(count), rig.folder / "queue/spool", rig.folder / "copies"

    def ours(_):
        rig.run("rm", "-rf", "queue")
        rig.run(capqueue, "init", "--queue", "queue")
        return rig.timed(capqueue, "push", "--queue", "queue", *bundles)

    def theirs(_):
        rig.run("rm", "-rf", "copies")
        copies.mkdir()
        return rig.timed(sys.executable, PEERS / "store.py", "copies", *bundles)

    title = f"push {count} in one call / Python script that copies, hashes and syncs"
    rows = rig.compare({"capqueue": ours, "Python": theirs}, 4, (title, 0.65, 0.55), hashes=True, warmup=0,
                       sha=bench.size(bundles), disk=bench.size(bundles))
    rig.run(capqueue, "check", "--read-data", "--queue", "queue")
    held = len(list(spool.glob("??/*.bundle"))), len(list(copies.iterdir()))
    expect(held == (count, count), f"{held} of {count} bundles were stored")
    return rows


def told(rig, count, *command):
    """Makes a side that runs a program `count` times in one process, and returns its seconds for one time."""
    def run(_):
        answer = rig.told(*command, count)
        expect(answer["count"] == count, f"{answer['count']} of {count} rows")
        return answer["seconds"] / count
    return run


def rows_one_by_one(rig):
    count, capqueue_bench = rig.scaled(1000, 20), rig.beside("capqueue-bench")

    def anew(side):
        def run(turn):
            rig.run("rm", "-rf", "rows", "persist")
            return side(turn)
        return run

    return rig.compare({
        "capqueue-bench": anew(told(rig, count, capqueue_bench, "rows", "rows")),
        "persist-queue": anew(told(rig, count, sys.executable, PEERS / "rows.py", "persist")),
    }, 7, ("a durable row, one a commit / persist-queue", 1.50, 1.20), syncs=1)


def claims(rig):
    """Each side has a copy of the same queue, and claims the same deliveries in the same order."""
    rows, count, turns = rig.scaled(MILLION, 2000), rig.scaled(2000, 20), 5
    ours, theirs = queues.make(rig, rows, "ours"), queues.make(rig, rows, "theirs")
    found = rig.compare({
        "capqueue-bench": told(rig, count // turns, rig.beside("capqueue-bench"), "claims", ours),
        "SQLite": told(rig, count // turns, sys.executable, PEERS / "claims.py", theirs / "queue.sqlite"),
    }, turns, (f"claim and complete, {count:,} of {rows:,} rows / bare SQLite, two commits at FULL", 1.20, 1.05), syncs=2)
    done = [queues.totals(queue) for queue in (ours, theirs)]
    expect(done[0] == done[1], f"the sides did not do the same: {done}")
    return found


def reading(rig):
    many, few, found = rig.scaled(MILLION, 2000), rig.scaled(1000, 100), []
    large, small = queues.make(rig, many, "many"), queues.make(rig, few, "few")
    for words, must, aim in ((["status"], 1.20, 1.05), (["list", "--limit", "50"], 1.50, 1.15)):
        found += rig.compare({
            f"{rows:,}": rig.program(rig.beside("capqueue"), *words, "--queue", queue, runs=20)
            for rows, queue in ((many, large), (few, small))}, 7, (f"{' '.join(words)}, {many:,} rows / {few:,}", must, aim),
            starts=1)
    return found


def push_one(rig):
    """Each turn pushes one more bundle into both queues, so that neither must be copied again."""
    runs, many = rig.scaled(20, 1), rig.scaled(MILLION, 2000)
    bundles, folders = rig.bundles(rig.scaled(21, 2)), {many: "many", 1: "empty"}
    sides = {f"{rows:,}": lambda turn, queue=queues.make(rig, rows, name): rig.timed(
        rig.beside("capqueue"), "push", "--queue", queue, bundles[turn]) for rows, name in folders.items()}
    return rig.compare(sides, runs, (f"push one of 1.6 MB, queue of {many:,} / empty queue", 1.20, 1.10),
                       sha=bench.size(bundles[:1]), cores=1, disk=bench.size(bundles[:1]))


def memory(rig):
    many, capqueue = rig.scaled(MILLION, 2000), rig.beside("capqueue")
    queue, (bundle,), rows = queues.make(rig, many, "many"), rig.bundles(1), []
    aged = queues.write_aged(queue)
    for title, words in (("push of one bundle", ["push", bundle]), ("list of all", ["list"]),
                         ("list --json of all", ["list", "--json"]), (f"prune of {len(aged):,}", ["prune"])):
        title = f"peak memory of {title}, {many:,} rows"
        try:
            rows.append(Row(title, rig.peak_memory(capqueue, *words, "--queue", queue), 40, 24, unit="MiB"))
        except Failed as reason:
            rows.append(Row(title, None, 40, 24, unit="MiB", detail=str(reason)))
    if left := sum(file.exists() for file in aged):
        rows.append(Row(f"prune, {many:,} rows", None, detail=f"{left} of {len(aged)} bundles are still there"))
    return rows


def whole(rig):
    """Commands that read or change every capture, and `wait`, whose timeout holds however many there are."""
    rows, found = rig.scaled(100_000, 2000), []
    # `wait` ends with 15 when its time is over, or with 14, since some captures have failed.
    queue, either = queues.make(rig, rows, "queue"), ["sh", "-c", '"$@"; case $? in 0|14|15) ;; *) exit 1 ;; esac', "sh"]
    for must, words in ((2, ["list"]), (1.5, ["wait", "--all", "--timeout", "1s"]), (4, ["hold", "--all"])):
        seconds = rig.timed(*either, rig.beside("capqueue"), *words, "--queue", queue)
        found.append(Row(f"{' '.join(words)}, {rows:,} rows", seconds, must, must * 0.75, unit="s"))
    return found


MEASURES = [("queue push many", push_many), ("queue rows", rows_one_by_one), ("queue claims", claims),
            ("queue reading", reading), ("queue push one", push_one), ("queue whole", whole), ("queue memory", memory)]
