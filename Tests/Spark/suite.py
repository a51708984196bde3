"""The samples for large archives: Spark and GNU parallel. `.ci/environment Spark` makes the Python that runs them."""
import contextlib

from Spark.samples import Archive

PROGRAMS = ("capbundle",)


@contextlib.contextmanager
def bench(options, folder):
    yield Archive(options.capbundle, folder)
