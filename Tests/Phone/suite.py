"""Samples/Phone writes bundles and bodies as an app does, and capbundle and the second implementation judge them."""
import contextlib

from Phone.bench import Bench

PROGRAMS = ("capbundle", "phone")


@contextlib.contextmanager
def bench(options, folder):
    yield Bench(options.capbundle, options.phone, folder)
