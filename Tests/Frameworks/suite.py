"""Samples/receivers: each receiver behind the framework that it is for, and capqueue as the sender. `.ci/environment
Frameworks` makes the Python that runs it; php-cgi, node and nginx are those of the machine, and their versions are
printed."""
import contextlib

from Frameworks.bench import Bench

PROGRAMS = ("capqueue", "capbundle")


@contextlib.contextmanager
def bench(options, folder):
    made = Bench(options.capqueue, options.capbundle, folder, options.seed)
    with contextlib.ExitStack() as stack:
        made.start(stack)
        yield made
