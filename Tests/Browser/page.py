"""The page in a browser, and the files that are given to it."""
import base64
import json
import os
import pathlib
import subprocess
import time

from outcomes import Failed, expect

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "Samples"
HTML = SAMPLES / "verify.html"
PATIENCE = 120


class Page:
    def __init__(self, browser, capbundle, folder, listener, pictures):
        self.browser, self.listener, self.pictures = browser, listener, pictures
        self.folder = folder
        self._capbundle = capbundle
        self._environment = {
            "HOME": str(folder), "XDG_DATA_HOME": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "config"),
            "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8",
        }

    def capbundle(self, *words, codes=(0,)):
        """Runs capbundle in the folder of the tests, and returns what it prints."""
        process = subprocess.run(
            [self._capbundle, *map(str, words)], cwd=self.folder, env=self._environment, capture_output=True, text=True,
            timeout=600)
        if process.returncode not in codes:
            raise Failed(f"capbundle {words[0]}: exit {process.returncode}: {process.stderr.strip()}")
        return process.stdout

    def reports(self, *files, words=()):
        """The reports of `capbundle verify --json`: file -> report."""
        said = self.capbundle("verify", "--json", *words, *files, codes=(0, 1, 2, 3, 4, 66))
        return {report["file"]: report for report in map(json.loads, said.splitlines())}

    def bundle(self, name, raw, *words):
        """Packs a raw folder with a key of these tests, and returns the path of the bundle."""
        if not (self.folder / "data").exists():
            self.capbundle("key", "new")
        self.capbundle("pack", raw, "-o", f"./{name}", *words)
        return self.folder / name

    def key(self):
        return self.folder / "data/capbundle/device.key.pub"

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
