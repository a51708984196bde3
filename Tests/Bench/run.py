"""Compares a built capbundle with the tools that people would use without it.

usage: Tests/run.py Bench CAPBUNDLE [--only WORD] [--short]   (with the Python of `.ci/environment Bench`)

capqueue and capqueue-bench must be beside it. Every figure is a ratio of two sides that ran together (in hyperfine, or
in turns) on the same captures, which are made from a seed. The program prints a table, writes .build/bench.txt and
.build/bench.json, and exits with 0 only if no limit was missed. --short tries the scripts with few runs and small
captures and checks no limits. requirements.txt lists what it needs; `make bench` installs that.
"""
import argparse
import importlib
import os
import pathlib
import sys
import tempfile

from Bench import results
from Bench.bench import Bench
from Kit.outcomes import ROOT, Failed

FAMILIES = ["measure_one", "measure_many", "measure_queue", "measure_rows", "measure_send"]
CORES = 2  # the limits are for this many cores
ROOM, BUSY = 10 << 30, 0.5


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
    measures = [one for family in FAMILIES for one in importlib.import_module(f"Bench.{family}").MEASURES if options.only in one[0]]
    if not measures:
        parser.error(f"no measure has {options.only} in its name")
    rows = []
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
            print(f"bench: {name}", file=sys.stderr, flush=True)
            try:
                rows += measure(rig)
            except Failed as reason:
                rows.append(results.Row(name, None, detail=str(reason)))
    print(f"{results.described(facts)}\n\n{results.table(rows, not options.short)}\n\n{results.details(rows)}")
    missed = sum(row.missed if not options.short else row.value is None for row in rows)
    if options.short:
        print(f"{len(rows) - missed} passed, {missed} failed")
    elif not options.only:
        results.store(ROOT / ".build", facts, rows)
    return 1 if missed else 0
