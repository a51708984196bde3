"""capbundle with time stamps: of `openssl ts`, and of an authority that answers anything."""
import contextlib

from Kit.rigs import Bench
from Stamps.authority import Authorities

PROGRAMS = ("capbundle",)


@contextlib.contextmanager
def bench(options, folder):
    bench = Bench(options.capbundle, folder)
    bench.authorities = Authorities(folder / "authorities")
    yield bench
