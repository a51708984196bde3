"""Plays random commands and random kills on a real capqueue, and compares it with a model of its contents.

Tests/run.py RandomCommands CAPQUEUE CAPBUNDLE [--sequences N] [--seed N] [--length N] [--repeatable]

Each sequence has its own number, which is the seed of all its random choices: `--seed NUMBER --sequences 1` plays a
failed sequence again. The machine decides when a kill after some time strikes; a kill at a system call strikes at the
same call again, and with --repeatable, as in CI, there are no others. Exit code 0 means that no sequence failed.
"""
import argparse
import concurrent.futures
import functools
import os
import pathlib
import random
import tempfile
import time

from RandomCommands.habits import Bench
from Kit.outcomes import Failed
from RandomCommands.sequence import play, steps

SEQUENCES, LENGTH = 1000, 12


def options():
    parser = argparse.ArgumentParser(description="A randomised model test of a capqueue binary.")
    parser.add_argument("capqueue", type=pathlib.Path)
    parser.add_argument("capbundle", type=pathlib.Path, help="makes the bundles")
    parser.add_argument("--sequences", type=int, default=SEQUENCES, metavar="N", help=f"how many; default {SEQUENCES}")
    parser.add_argument("--seed", type=int, metavar="N", help="the number of the first sequence; default: random")
    parser.add_argument("--repeatable", action="store_true", help="kill only at system calls, not after some time")
    parser.add_argument("--length", type=int, default=LENGTH, metavar="N", help=f"most commands; default {LENGTH}")
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1), metavar="N", help="sequences at a time")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="keeps the queues of failed sequences there")
    return parser.parse_args()


def share(bench):
    """Prepares a worker process. `bench` comes with the fork: as an argument it could fill the pipe of the pool, and
    with a full pipe Python hangs if a worker is killed."""
    one.bench = bench


def one(seed, length):
    return play(seed, steps(seed, length), one.bench, one.bench.folder / f"sequence-{seed}")


def play_all(wanted, first, bench):
    """Plays the sequences, a few at a time; returns how many failed, and the counts of all commands."""
    counts, failed = {}, 0
    # This pool raises an error if one of its processes is killed; multiprocessing.Pool would wait for ever.
    with concurrent.futures.ProcessPoolExecutor(wanted.jobs, initializer=share, initargs=(bench,)) as workers:
        todo = functools.partial(one, length=wanted.length)
        for played in workers.map(todo, range(first, first + wanted.sequences), chunksize=4):
            for name, count in played.counts.items():
                counts[name] = counts.get(name, 0) + count
            if played.problem:
                failed += 1
                print(f"FAIL RandomCommands: sequence {played.seed}: {played.problem}")
                print("\n".join(f"     {line}" for line in played.transcript), flush=True)
    return failed, counts


def main():
    wanted = options()
    first = random.SystemRandom().randrange(10 ** 9) if wanted.seed is None else wanted.seed
    print(f"seed {first}: {wanted.sequences} sequences of up to {wanted.length} commands", flush=True)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="capqueue-model-", ignore_cleanup_errors=True) as folder:
        folder = wanted.keep or pathlib.Path(folder)
        folder.mkdir(exist_ok=True)
        try:
            bench = Bench(wanted.capqueue.resolve(), wanted.capbundle.resolve(), folder.resolve(), bool(wanted.keep),
                          wanted.repeatable)
        except Failed as reason:
            print(f"FAIL the bundles are made: {reason}\n0 passed, 1 failed")
            return 1
        failed, counts = play_all(wanted, first, bench)
    numbers = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    print(f"{wanted.sequences - failed} passed, {failed} failed; {numbers}; {time.monotonic() - start:.0f} s")
    return 1 if failed or not wanted.sequences else 0
