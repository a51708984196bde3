"""The pages of `capbundle report` and of the queue in headless Chromium, which axe-core judges too."""
import contextlib
import types

from Kit.browser import Browser, Listener
from Kit.outcomes import ROOT
from ReportPages.shown_captures import Captures

PROGRAMS = ("capqueue", "capbundle")
FLAGS = {"pictures": "keep a picture of each page in each width, light and dark, in .build/pictures"}


@contextlib.contextmanager
def bench(options, folder):
    with Listener() as listener, Browser() as browser:
        captures = Captures(options.capbundle, options.capqueue, folder, listener)
        yield types.SimpleNamespace(browser=browser, captures=captures)
        for name in captures.pages if options.pictures else ():
            target = ROOT / ".build/pictures"
            target.mkdir(parents=True, exist_ok=True)
            browser.keep_pictures(captures.path(name), target / name)
