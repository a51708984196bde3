"""Compares a built capbundle with the tools that people would use without it.

usage: Tests/run.py Bench CAPBUNDLE [--only WORD] [--short]   (with the Python of `.ci/environment Bench`)

capqueue must be beside it; capqueue-bench and the receiver have builds of their own. Every figure is a ratio of two sides
that took turns on the same captures, which are made from a seed. The table states for each row the median of the ratios of
all turns, the lowest and the highest of them, the median without the CPU's SHA instructions where a side hashes, and a
limit as a share of our time: how long the work that nobody can leave out takes (hashing, inflating and reading the same
bytes on this CPU, the start of a process; the same number of fdatasync on this disk; the same bytes over loopback). From
a share of 0.87 on, at most 15 % can still be gained, whatever the peer does. Only the ratio on the CPU as it is has limits.

The program prints the table, writes .build/bench.txt and .build/bench.json, and exits with 0 if everything was measured and
no limit on memory was missed; a limit on time that this machine misses is a row that says so. A measure that fails is a row
too, and the others go on; one that needs root is left out for other users. --short tries the scripts with few runs and small
captures and checks no limits. requirements.txt lists what it needs; `make bench` installs that.
"""
import argparse
import importlib
import os
import pathlib
import sys
import tempfile
import time

from Bench import results
from Bench.bench import Bench
from Kit.outcomes import ROOT, Failed, Skipped

FAMILIES = ["measure_bundles", "measure_queue", "measure_send", "measure_line", "measure_receive", "measure_page",
            "measure_python"]
CORES = 2  # the limits are for this many cores
ROOM, BUSY = 16 << 30, 0.5


def main():
    parser = argparse.ArgumentParser(description="Benches of capbundle and capqueue.")
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="WORD", help="measures that have this word in their name")
    parser.add_argument("--short", action="store_true", help="only try the scripts, without limits and results")
    options = parser.parse_args()
    if not options.binary.is_file():
        parser.error(f"no such file: {options.binary}")
    os.sync()  # a build's files must not be written to the disk during the measures
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    families = [importlib.import_module(f"Bench.{family}") for family in FAMILIES]
    measures = [one for family in families for one in family.MEASURES if options.only in one[0]]
    if not measures:
        parser.error(f"no measure has {options.only} in its name")
    rows, seconds = [], {}
    with tempfile.TemporaryDirectory(prefix="capbundle-bench-") as folder:
        folder = pathlib.Path(folder).resolve()
        if not options.short and results.room(folder) < ROOM:
            sys.exit(f"bench: {folder} has less than {ROOM >> 30} GiB free; set TMPDIR to a folder on a disk with more")
        facts = results.machine(options.binary, folder)
        if facts["file system"] in ("tmpfs", "ramfs"):
            sys.exit(f"bench: {folder} is in memory, where a sync costs nothing; set TMPDIR to a folder on a disk")
        if facts["load before"] > BUSY and not options.short:
            print(f"bench: the machine is busy (load {facts['load before']}): the sides do not run at the same moment, so "
                  "the ratios may be wrong", file=sys.stderr)
        rig = Bench(options.binary, folder, options.short)
        for name, measure in measures:
            print(f"bench: {name}", end="", file=sys.stderr, flush=True)
            begin = time.monotonic()
            try:
                with rig.measure():
                    rows += measure(rig)
            except Skipped as reason:
                print(f", left out: {reason}", end="", file=sys.stderr)
            except Exception as reason:  # whatever it is, the other rows are not lost
                rows.append(results.Row(name, None, detail=str(reason) if isinstance(reason, Failed) else repr(reason)))
            except KeyboardInterrupt:
                rows.append(results.Row(name, None, detail="interrupted, and so are all measures after it"))
                break
            seconds[name] = time.monotonic() - begin
            print(f", {seconds[name]:.0f} s", file=sys.stderr, flush=True)
    print(results.text(facts, rows, seconds, not options.short))
    failed = sum(row.failed if not options.short else row.value is None for row in rows)
    if not options.short and not options.only:
        results.store(ROOT / ".build", facts, rows, seconds)
    print(f"{len(rows) - failed} passed, {failed} failed")
    return 1 if failed else 0
