"""Samples/Receiver with phones, operators, two receivers behind nginx, and hostile clients: real programs on loopback."""
import contextlib

from Receiver.support import Tools

PROGRAMS = ("capbundle", "capqueue", "receiver")


@contextlib.contextmanager
def bench(options, folder):
    yield Tools(options.capbundle, options.capqueue, options.receiver, folder)
