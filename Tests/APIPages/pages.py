"""What `make docs` leaves in .build/docs: every page, links that lead somewhere, and no path of this machine."""
import contextlib
import functools
import http.server
import json
import pathlib
import subprocess
import threading
import time

from Kit.outcomes import PATIENCE, ROOT, expect, long

DOCS = ROOT / ".build/docs"
MAKING = 1800  # in seconds, with a build
TITLES = {name.lower(): name for name in ("CaptureBundle", "CaptureDevice", "CaptureImport", "CapturePages", "CaptureQueue")}
TITLES |= {"guides/servers": "Servers: receive captures", "guides/apps": "Apps and rigs: seal and send captures"}
TITLES |= {"capturequeue/uploadqueue": "UploadQueue", "queuemodel/pushoptions": "PushOptions"}


def make(*words):
    done = subprocess.run(["make", "docs", *words], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=MAKING)
    expect(done.returncode == 0, f"make docs: exit {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")


class Server:
    """Serves the pages below a base path, and keeps the addresses that it did not find."""

    def __init__(self, base):
        self.base, self.missing = base, []
        missing = self.missing

        class Handler(http.server.SimpleHTTPRequestHandler):
            def translate_path(self, path):
                inside = path.removeprefix(base) if path.startswith(f"{base}/") else "/outside"
                return super().translate_path(inside)

            def send_error(self, code, *words):
                if not base or self.path != "/favicon.ico":  # a browser asks for it while it leaves a page
                    missing.append(f"{self.path}: {code}")
                super().send_error(code, *words)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=DOCS))

    @contextlib.contextmanager
    def serving(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{self.server.server_address[1]}{self.base}"
        finally:
            self.server.shutdown()


def shows(browser, base):
    """Each page shows its heading, and everything that it asks for is there."""
    server = Server(base)
    with server.serving() as url:
        browser.open(f"{url}/")
        heading(browser, "Capture bundles")
        for name, title in TITLES.items():
            browser.open(f"{url}/documentation/{name}/", width=1400)
            heading(browser, title)
    expect(not server.missing, f"not found: {server.missing}")


def heading(browser, title):
    """Waits until the page, which a script fills, has its heading."""
    end = time.monotonic() + PATIENCE
    while (shown := browser.ask("return document.querySelector('h1')?.innerText")) != title:
        expect(time.monotonic() < end, f"the heading is {shown!r}, expected {title!r}")
        time.sleep(0.1)


@long
def below_a_path(browser):
    make("BASE=/captures")
    shows(browser, "/captures")


@long
def at_the_root(browser):
    make()
    shows(browser, "")


def addresses(value):
    """Yields the addresses of the pages to which a page links, and the names to which it cannot link. Swift's own protocols have
    no pages here."""
    if isinstance(value, dict):
        if value.get("type") == "unresolvable" and not value["title"].startswith("Swift."):
            yield f"/unresolvable: {value['title']}"
        if str(value.get("url", "")).startswith("/documentation"):
            yield value["url"].partition("#")[0]
        value = list(value.values())
    for part in value if isinstance(value, list) else ():
        yield from addresses(part)


@long
def links(_):
    found = {}
    for page in sorted((DOCS / "data").rglob("*.json")):
        for address in addresses(json.loads(page.read_text())):
            found.setdefault(address, page.relative_to(DOCS / "data"))
    lost = {address: page for address, page in found.items()
            if not (DOCS / address.lstrip("/") / "index.html").is_file() or not (DOCS / f"data{address}.json").is_file()}
    expect(len(found) > 1000, f"only {len(found)} pages are linked")
    expect(not lost, f"{len(lost)} links lead nowhere, such as {list(lost.items())[:3]}")


@long
def no_paths(_):
    words = [str(ROOT).encode(), str(pathlib.Path.home()).encode() + b"/", b"file:///"]
    found = [f"{page.relative_to(DOCS)}: {word.decode()}" for page in DOCS.rglob("*") if page.suffix in (".json", ".html")
             for word in words if word in page.read_bytes()]
    expect(not found, f"{len(found)} files name a path of this machine, such as {found[:3]}")


# In this order: the last two look at the pages that the second one makes.
TESTS = [
    ("below a path, pages show their headings in Chromium", below_a_path),
    ("at the root, pages show their headings in Chromium", at_the_root),
    ("each link leads to a page", links),
    ("no path of this machine is in a page", no_paths),
]
