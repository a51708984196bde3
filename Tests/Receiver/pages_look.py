"""The receiver's pages in headless Chromium, with honest and hostile captures.

RECEIVER_PICTURES names a folder in which pictures of all pages are kept, for people to look at. The top 925 pixels of
verified-800-light.png are Samples/Receiver/page.png, the picture in README.
"""
import contextlib
import os
import pathlib

from Kit.browser import Browser
from Kit.outcomes import expect
from Receiver.operators import LIST_OPTIONS, Operator
from Receiver.pages import upload
from Receiver.support import RAW, receiving
from ReportPages import judgements
from ReportPages.shown_captures import turned

HOSTILE = [
    "\"><img src=x onerror=alert(1)><script>document.title='owned'</script>", "</main></style><style>*{display:none}</style>",
    "' onmouseover='alert(2)' x='", "<!-- ]]> &lt;b&gt;", "\u202eolleh\u2066\u2069\u200b\u0007\u0085", "a" * 256,
    "Z" + "\u0351" * 120, "\u05d0\u05d1\u05d2 (photo)", "javascript:alert(3)",
]


class Shown:
    """Pages by name, in the form that the judgements of Tests/ReportPages expect."""

    def __init__(self, browser):
        self.browser, self.pages = browser, {}

    def path(self, name):
        return self.pages[name]


@contextlib.contextmanager
def browsing():
    with Browser() as browser:
        yield Shown(browser)


def keep(shown):
    folder = os.environ.get("RECEIVER_PICTURES")
    if folder:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        for name, url in shown.pages.items():
            shown.browser.keep_pictures(url, pathlib.Path(folder) / name)


def judge(shown, name):
    """The judgements of Tests/ReportPages that fit any page."""
    for function in (judgements.fits_every_width, judgements.is_dark_where_wanted, judgements.prints_whole,
                     judgements.is_readable_for_a_screen_reader):
        function(shown.browser, shown, name)
    browser = shown.browser
    for scheme in ("light", "dark"):
        messages = browser.open(shown.path(name), 390, scheme)
        expect(not messages, f"{name}: the console says {messages[:2]}")
    images = browser.ask_async(
        "const done = arguments[0], images = [...document.images]; Promise.all(images.map(i => { i.loading = 'eager';"
        " return i.decode().then(() => 1, () => 0); })).then(done)")
    expect(all(images), f"{name}: a picture cannot be decoded")
    # With forced colours the colours of the verdict are gone, and its box and sign remain.
    browser.command("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
    border = browser.ask(
        "const box = document.querySelector('.verdict, .badge'); return box ? getComputedStyle(box).borderTopWidth : '2px'")
    expect(border == "2px", f"{name}: the verdict has no border in forced colours: {border}")


def looks_right(tools):
    rig, lost = tools.rig("camera-4"), tools.rig("lost-phone")
    with browsing() as shown, receiving(tools, *LIST_OPTIONS) as receiver:
        operator = Operator(receiver)
        names = [("verified", rig, {}), ("revoked", lost, {}), ("upright", rig, {"photo": turned(RAW / "photo.jpg")})]
        for name, device, files in names:
            capture, _ = upload(receiver, device, f"look-{name}", **files)
            shown.pages[name] = f"{receiver.url}/verify/{capture}"
        receiver.command("revoke", receiver.device(lost))
        capture, _ = upload(receiver, rig, "look-withheld", redact="location.json")
        shown.pages["withheld"] = f"{receiver.url}/verify/{capture}"
        marked, _ = upload(receiver, rig, "look-marked", options=("--withholdable", "photo.jpg"))
        shown.pages["marked"] = f"{receiver.url}/verify/{marked}"
        shown.pages["list"] = f"{operator.address.scheme}://{operator.address.netloc}/"
        shown.pages["operators"] = f"{shown.pages['list']}verify/{marked}"
        shown.browser.driver.get(f"{shown.pages['list']}?{operator.address.query}")
        expect("token" not in shown.browser.driver.current_url, "the token stays in the address")
        for name in shown.pages:
            judge(shown, name)
        size = "const i = document.querySelector('img'); return [i.naturalWidth < i.naturalHeight, i.width < i.height]"
        shown.browser.open(shown.path("upright"))
        expect(shown.browser.ask(size) == [True, True], "the turned photo is not upright")
        keep(shown)


def shows_hostile_text_as_text(tools):
    rig = tools.rig("hostile")
    with browsing() as shown, receiving(tools, *LIST_OPTIONS) as receiver:
        operator = Operator(receiver)
        for number, text in enumerate(HOSTILE):
            capture, _ = upload(
                receiver, rig, f"hostile-{number}", lambda metadata, text=text: metadata.update(device_model=text))
            shown.pages[f"hostile-{number}"] = f"{receiver.url}/verify/{capture}"
        broken = bytearray((RAW / "photo.jpg").read_bytes())
        # The frame header says 99 bits for each sample.
        broken[broken.index(b"\xff\xc0\x00\x11\x08") + 4] = 99
        capture, _ = upload(receiver, rig, "hostile-photo", photo=bytes(broken))
        shown.pages["broken-photo"] = f"{receiver.url}/verify/{capture}"
        for name, url in shown.pages.items():
            messages = shown.browser.open(url, 390)
            expect(not messages, f"{name}: the console says {messages[:2]}")
            expect(shown.browser.driver.title.startswith("Verified on arrival, unchanged since: capture "), f"{name}: {shown.browser.driver.title!r}")
            live = shown.browser.ask(
                "return document.querySelectorAll('script,iframe,object,embed,form,base').length + [...document."
                "querySelectorAll('*')].filter(e => [...e.attributes].some(a => a.name.startsWith('on') || a.name === 'style'"
                ")).length")
            expect(live == 0, f"{name}: {live} elements could act")
            expect(shown.browser.ask("return document.documentElement.scrollWidth") <= 390, f"{name}: the page is wider")
            said = shown.browser.ask("return document.body.innerText")
            expect("Check it yourself" in said, f"{name}: the page ends early")
        expect("A picture is missing, because" in said, "the page does not say that the photo is broken")
        expect(shown.browser.ask("return document.images.length") == 1, "the depth map is not shown")
        shown.browser.driver.get(f"{operator.address.geturl()}")
        expect(shown.browser.driver.title == "Received captures", "the list is not shown")
        keep(shown)


TESTS = [
    ("pages fit 390 to 1400 pixels, dark, print, forced colours; axe finds nothing", looks_right),
    ("hostile texts and photos are shown as text", shows_hostile_text_as_text),
]
