"""capqueue as a tool: storing and listing bundles, and whether these become slower with a million rows."""
import sys

from Bench import bench
from Bench import queues
from Bench.measure_one import pair
from Bench.results import Row
from Kit.outcomes import Failed

MILLION = 1_000_000


def push_many(rig):
    """Both sides write to the same disk in turns; the other side's files are deleted and synced before a turn."""
    count, capqueue = rig.scaled(500, 4), rig.beside("capqueue")
    bundles = rig.pack_all(rig.raws("raws", count), "bundles")

    def ours(_):
        rig.remove("queue")
        rig.run(capqueue, "init", "--queue", "queue")
        return rig.timed(capqueue, "push", "--queue", "queue", *bundles)

    def theirs(_):
        rig.run("rm", "-rf", "copies")
        (rig.folder / "copies").mkdir()
        return rig.timed(sys.executable, bench.PEERS / "store.py", "copies", *bundles)

    sides = rig.alternate({"capqueue push": ours, "Python script": theirs}, runs=7)
    rig.run(capqueue, "check", "--read-data", "--queue", "queue")
    held = len(list((rig.folder / "queue/spool").glob("??/*.bundle")))
    if (held, len(list((rig.folder / "copies").iterdir()))) != (count, count):
        raise Failed(f"{held} of {count} bundles are in the spool")
    rig.remove("bundles", "queue", "copies")
    return [pair(f"push {count} in one call / Python script that hashes, copies, syncs and renames them", sides, 0.8, 0.6)]


def push_one(rig):
    """Each turn pushes one more bundle into both queues, so that neither must be copied again."""
    runs, warmup, capqueue = 60, 3, rig.beside("capqueue")
    bundles = rig.pack_all(rig.raws("raws", rig.scaled(runs + warmup, 1)), "bundles")
    many = rig.scaled(MILLION, 2000)
    queues.make(rig, "many", many)
    queues.make(rig, "empty", 1)
    sides = rig.alternate({f"{name}, {rows:,} rows": lambda turn, name=name: rig.timed(
        capqueue, "push", "--queue", name, bundles[turn]) for name, rows in (("many", many), ("empty", 0))}, runs, warmup)
    rig.remove("bundles", "many", "empty")
    return [pair(f"push one of 1.6 MB, queue of {many:,} / empty queue", sides, 1.2, 1.1)]


def reading(rig):
    many, few = rig.scaled(MILLION, 2000), rig.scaled(1000, 100)
    for rows in (many, few):
        queues.make(rig, f"rows{rows}", rows)
    rows = []
    for title, words in (("status", ["status"]), ("list --limit 50", ["list", "--limit", "50"])):
        sides = rig.hyperfine({f"{count:,} rows": [rig.beside("capqueue"), *words, "--queue", f"rows{count}"]
                               for count in (many, few)}, runs=100, warmup=5)
        rows.append(pair(f"{title}, {many:,} rows / {few:,}", sides, 1.5, 1.15))
    rig.remove(f"rows{many}", f"rows{few}")
    return rows


def memory(rig):
    many, capqueue = rig.scaled(MILLION, 2000), rig.beside("capqueue")
    queue = queues.make(rig, "many", many)
    aged = queues.spool_files(queue / "queue.sqlite")
    queues.write_spool(queue / "spool", aged)
    bundle, = rig.pack_all(rig.raws("raws", 1), "bundles")
    rows = []
    for title, words in (("push of one bundle", ["push", bundle]), ("list of all", ["list"]),
                         ("list --json of all", ["list", "--json"]), (f"prune of {len(aged):,}", ["prune"])):
        title = f"peak memory of {title}, {many:,} rows"
        try:
            rows.append(Row(title, rig.peak_memory([capqueue, *words, "--queue", queue]), 40, 24, unit="MiB"))
        except Failed as reason:
            rows.append(Row(title, None, 40, 24, unit="MiB", detail=str(reason)))
    if left := sum((queue / f"spool/{name}.bundle").exists() for name in aged):
        rows.append(Row(f"prune, {many:,} rows", None, detail=f"{left} of {len(aged)} bundles are still there"))
    rig.remove("bundles", "many")
    return rows


MEASURES = [("queue push many", push_many), ("queue push one", push_one), ("queue reading", reading),
            ("queue memory", memory)]
