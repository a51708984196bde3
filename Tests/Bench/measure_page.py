"""Samples/verify.html in headless Chromium, beside `capbundle verify`, on bundles of 100 MB."""
import os
import pathlib
import resource

from Kit.browser import Browser
from Kit.outcomes import expect
from VerifyPage import large
from VerifyPage.page import Page


def verify(rig):
    """Both sides are processor time, because a browser does its work in several processes."""
    if rig.short:
        return []
    rows = []
    with Browser() as browser:
        page = Page(browser, rig.binary, rig.folder, None)
        for what, raw in ("a photo", large.large_photo), ("floats", large.large_depth):
            bundle = page.bundle(f"{what}.bundle", raw(rig.folder))
            large.choose(page, bundle)
            rows += rig.compare({
                "page": lambda _: of_browser(browser),
                "capbundle": lambda _: of_command(rig, "verify", "--quiet", bundle),
            }, 5, (f"the page verifies 100 MB of {what} / capbundle verify", None, None), sha=bundle.stat().st_size, cores=1)
    return rows


def of_command(rig, *words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    rig.capbundle(*words, code=3)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def of_browser(browser):
    started = processor_time(browser.processes())
    verdict = browser.ask_async(large.ASK)
    expect(verdict == "unknown-device", f"the verdict is {verdict}")
    return processor_time(browser.processes()) - started


def processor_time(processes):
    """Seconds of processor time that these processes used so far."""
    ticks = 0
    for process in processes:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


MEASURES = [("page", verify)]
