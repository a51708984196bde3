"""Each line of Spec/queue-alarms.md: the real tool meets the cause, the clocks move, and what the line says turns red in time,
and not before."""
import contextlib

from Kit.sending import SendingBench

PROGRAMS = ("capqueue", "capbundle")
LANES = 3


@contextlib.contextmanager
def bench(options, folder):
    yield SendingBench(options.capqueue, options.capbundle, folder, options.seed)
