"""The files of `make install`, in a folder of their own, as mandoc, man, bash, zsh, fish and systemd-analyze see them."""
import contextlib

from Installed.installed import Place

PROGRAMS = ("capbundle", "capqueue")


@contextlib.contextmanager
def bench(options, folder):
    yield Place({"capbundle": options.capbundle, "capqueue": options.capqueue}, folder)
