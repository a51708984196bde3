"""Samples/c2pa: photos with C2PA manifests, judged by the readers of two others. `.ci/environment C2PA` makes the
Python that runs it."""
import contextlib

from C2PA.bench import Bench

PROGRAMS = ("capbundle",)


@contextlib.contextmanager
def bench(options, folder):
    yield Bench(options.capbundle, folder)
