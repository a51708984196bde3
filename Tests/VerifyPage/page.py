"""The page in a browser, and the files that are given to it."""
import base64
import json
import pathlib
import time

from Kit.outcomes import PATIENCE, ROOT, expect
from Kit.rigs import Home

SAMPLES = ROOT / "Samples"
HTML = SAMPLES / "verify.html"


class Page(Home):
    def __init__(self, browser, capbundle, folder, listener):
        super().__init__(folder / "home")
        self.browser, self.listener, self.folder, self._capbundle = browser, listener, self.home, capbundle

    def capbundle(self, *words, codes=(0,)):
        """Runs capbundle in the folder of the tests, and returns what it prints."""
        return self.call(self._capbundle, *words).must(*codes, about=f"capbundle {words[0]}").out.decode()

    def reports(self, *files, words=()):
        """The reports of `capbundle verify --json`: file -> report."""
        said = self.capbundle("verify", "--json", *words, *files, codes=(0, 1, 2, 3, 4, 66))
        return {report["file"]: report for report in map(json.loads, said.splitlines())}

    def bundle(self, name, raw, *words):
        """Packs a raw folder with a key of these tests, and returns the path of the bundle."""
        if not self.key().exists():
            self.capbundle("key", "new")
        self.capbundle("pack", raw, "-o", f"./{name}", *words)
        return self.folder / name

    def key(self):
        return self.folder / ".local/share/capbundle/device.key.pub"

    def open(self, **how):
        messages = self.browser.open(HTML, **how)
        expect(not messages, f"the console says: {messages[:2]}")

    def ask(self, script, *arguments):
        return self.browser.ask(script, *arguments)

    def text(self):
        return self.ask("return document.body.innerText")

    def choose(self, *files, input="bundle-files"):
        """Gives files to the page, and waits until it has read them."""
        self.ask("document.getElementById('status').textContent = ''")
        self.browser.choose(input, files)
        if input == "bundle-files":
            self.wait("return document.getElementById('status').textContent.endsWith('read.')", "reads the bundles")
        else:
            self.wait("return document.getElementById('trust-files').files.length === 0", "reads the trust file")

    def wait(self, condition, words):
        end = time.monotonic() + PATIENCE
        while not self.ask(condition):
            expect(time.monotonic() < end, f"after {PATIENCE} seconds the page still {words}")
            time.sleep(0.02)

    def pictures_shown(self, count=3):
        """Waits until the pictures of the chosen bundle are there."""
        self.wait(f"return document.querySelectorAll('.pictures figure').length >= {count}", "shows no pictures")

    def verify(self, vectors):
        """What the verifier of the page says of vectors: reports as `capbundle verify --json` writes them."""
        data = [
            {"bytes": base64.b64encode(one.data).decode(), "trust": base64.b64encode(one.trust_file).decode(),
             "words": one.arguments}
            for one in vectors
        ]
        return self.browser.ask_async((pathlib.Path(__file__).parent / "verify.js").read_text(), data)
