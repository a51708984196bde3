"""Other judges of time stamps beside ours: pyHanko, rfc3161-client, and `openssl ts` of OpenSSL 3.0 and 3.5, over a
table of stamps, stamps of certomancer and those of real authorities. `.ci/environment StampJudges` makes the Python that
runs it."""
import contextlib

from Kit.rigs import Bench as Rigs
from StampJudges.judges import Bench

PROGRAMS = ("capbundle",)


@contextlib.contextmanager
def bench(options, folder):
    with contextlib.ExitStack() as ending:
        yield Bench(Rigs(options.capbundle, folder), ending)
