"""The pages of `make docs`, as files, and in headless Chromium behind a server of static files."""
import contextlib

from Kit.browser import Browser

PROGRAMS = ()


@contextlib.contextmanager
def bench(options, folder):
    with Browser() as browser:
        yield browser
