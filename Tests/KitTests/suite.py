"""The tests of the tests: failures, early ends and skips do not count as passed, and a run leaves no process behind."""
import contextlib

PROGRAMS = ()


@contextlib.contextmanager
def bench(_, folder):
    yield folder
