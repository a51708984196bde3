"""capqueue with kills, full and broken disks, crowds, and damaged files: the real binary runs, and the kernel causes
the faults. Random choices (which page is damaged, which of several similar calls fails) depend on the seed."""
import contextlib

from Kit.queues import QueueBench

PROGRAMS = ("capqueue", "capbundle")
FLAGS = {"every": "meet every system call, which takes a quarter of an hour"}


@contextlib.contextmanager
def bench(options, folder):
    yield QueueBench(options.capqueue, options.capbundle, folder, options.seed, options.every)
