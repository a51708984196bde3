"""The Debian packages of `make deb`: alone, and installed, used, upgraded and purged in systems that are booted."""
import contextlib

from Packages.bench import Bench

PROGRAMS = ()
LANES = 2


@contextlib.contextmanager
def bench(_, folder):
    yield Bench(folder)
