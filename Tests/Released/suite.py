"""What each release wrote is read by today's tools with the results that were recorded then (Spec/stability.md).

Tests/Data has a folder for each minor version. Tests/Released/make.py makes one with the tools of that version, before its
release; it is never changed afterwards.
"""
import contextlib

from Released.data import Tools

PROGRAMS = ("capbundle", "capqueue")


@contextlib.contextmanager
def bench(options, folder):
    yield Tools({"capbundle": options.capbundle, "capqueue": options.capqueue}, folder)
