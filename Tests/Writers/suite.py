"""Depth maps that the libraries of others write: every sample of the bundle is compared bit by bit with the array that
went in. `.ci/environment Writers` makes the Python that runs it."""
import contextlib

from Writers.bench import Bench

PROGRAMS = ("capbundle",)


@contextlib.contextmanager
def bench(options, folder):
    yield Bench(options.capbundle, folder)
