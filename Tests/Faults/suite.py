"""capbundle with crashes, full disks, many processes and odd files: the kernel causes the faults."""
import contextlib

from Kit.rigs import Bench

PROGRAMS = ("capbundle",)


@contextlib.contextmanager
def bench(options, folder):
    yield Bench(options.capbundle, folder)
