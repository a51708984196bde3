"""Samples/verify.html in headless Chromium, or in Firefox ESR. Its verdicts must be those of capbundle."""
import contextlib

from Kit.browser import Browser, Listener
from Kit.outcomes import ROOT
from VerifyPage.firefox import Firefox
from VerifyPage.page import Page
from VerifyPage.views import keep_pictures

PROGRAMS = ("capbundle",)
FLAGS = {"firefox": "use Firefox, for the families verdicts and choices",
         "pictures": "keep pictures of the page in each width, light and dark, in .build/pictures"}


@contextlib.contextmanager
def bench(options, folder):
    with Listener() as listener, (Firefox if options.firefox else Browser)() as browser:
        page = Page(browser, options.capbundle, folder, listener)
        yield page
        if options.pictures:
            keep_pictures(page, ROOT / ".build/pictures")
