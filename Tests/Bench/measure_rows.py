"""The database of capqueue alone: claims, against a program that does the same work."""
import sys

from Bench import bench
from Bench import queues
from Bench.bench import Side
from Bench.measure_one import pair
from Bench.measure_queue import MILLION
from Bench.results import Row
from Kit.outcomes import Failed


def claims(rig):
    """Each side has a copy of the same queue, and claims the same deliveries in the same order."""
    rows, count, percentiles = rig.scaled(MILLION, 2000), rig.scaled(2000, 20), {}
    ours, theirs = queues.make(rig, "ours", rows), queues.make(rig, "theirs", rows)

    def pace(name, *command):
        """Makes a side that runs a program and returns its seconds for one row; collects the 99th percentiles."""
        def run(_):
            told = rig.told(*command, count)
            if told["count"] != count:
                raise Failed(f"{name}: {told['count']} of {count} rows")
            percentiles.setdefault(name, []).append(told["p99_ms"])
            return told["seconds"] / count
        return run

    sides = {"capqueue-bench": pace("capqueue-bench", rig.beside("capqueue-bench"), ours),
             "Python": pace("Python", sys.executable, bench.PEERS / "claims.py", theirs / "queue.sqlite")}
    sides = rig.alternate(sides, runs=9)
    done = [queues.totals(queue / "queue.sqlite") for queue in (ours, theirs)]
    if done[0] != done[1]:
        raise Failed(f"the sides did not do the same: {done}")
    rig.remove("ours", "theirs")
    row = pair(f"claim and complete at {rows:,} rows / bare SQLite, two commits at FULL", sides, 1.3, 1.1)
    row.detail += "; 99th percentile " + ", ".join(
        f"{name} {Side.of([each / 1000 for each in values])}" for name, values in percentiles.items())
    return [row]


def whole(rig):
    """Commands that read or change every capture, and `wait`, whose timeout holds however many there are."""
    rows, found = rig.scaled(100_000, 2000), []
    # `wait` ends with 15 when its time is over, or with 14, since some captures have failed.
    queue, either = queues.make(rig, "queue", rows), ["sh", "-c", '"$@"; case $? in 0|14|15) ;; *) exit 1 ;; esac', "sh"]
    for must, words in ((2, ["list"]), (1.5, ["wait", "--all", "--timeout", "1s"]), (4, ["hold", "--all"])):
        seconds = rig.timed(*either, rig.beside("capqueue"), *words, "--queue", queue)
        found.append(Row(f"{' '.join(words)}, {rows:,} rows", seconds, must, must * 0.75, unit="s"))
    rig.remove("queue")
    return found


MEASURES = [("queue whole", whole), ("queue claims", claims)]
