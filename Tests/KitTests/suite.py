"""The tests of the tests: an early end is reported, a skip is no pass, and messages of strace are not the tool's output."""
import contextlib

PROGRAMS = ()


@contextlib.contextmanager
def bench(_, folder):
    yield folder
