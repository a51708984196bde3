"""Captures of all kinds, honest and hostile, and the pages about them."""
import json
import shutil
import struct

from Kit.outcomes import ROOT, expect
from Kit.rigs import Home

SAMPLES = ROOT / "Samples"
SAMPLE = SAMPLES / "desk-lamp/raw"
TITLES = {"chains": "Two devices", "bundles": "Rig 4", "hostile": "</title><script>alert(1)</script>", "queue": "Queue & <b>more</b>"}


NAMES = [
    "\"><svg onload=alert(5)>.bundle", "'><img src=x onerror=alert(6)>.bundle", "-rf.bundle", "&amp;.bundle",
    "new\nline.bundle", "\u202egnp.bundle", "x" * 240 + ".bundle",
]


def hostile_texts(url):
    """Texts that try to become markup, to reach a server, or to reverse the text of a page."""
    return [
        f"\"><img src={url}/picture onerror=alert(1)><script>alert(2);document.title='owned'</script>",
        f"</bdi></dl></article><style>@import '{url}/style'</style><iframe src='{url}/frame'></iframe>",
        "\u202eolleh\u2066\u2069 \u200b\u0007\u001b[31m\u0085", "'\" onmouseover=alert(3) x='",
        "<!--", "]]>", "&lt;script&gt;", "a" * 256, "Z" + "\u0351" * 120, "\u05d0\u05d1\u05d2 (photo)",
        f"=HYPERLINK(\"{url}\")", f"javascript:alert(4)//{url}",
    ]


class Captures(Home):
    def __init__(self, capbundle, capqueue, folder, listener):
        super().__init__(folder / "home")
        self._capbundle, self._capqueue, self._folder, self.listener = capbundle, capqueue, self.home, listener
        self.cards = {}
        self._run(capbundle, "key", "new")
        self._run(capbundle, "trust", "add", "rig-4", self.home / ".local/share/capbundle/device.key.pub")
        self._honest()
        self._chains()
        self._hostile()
        self._queue()
        self.pages = list(self.cards)

    def path(self, page):
        return self._folder / f"{page}.html"

    def _run(self, tool, *words, codes=(0,)):
        return self.call(tool, *words).must(*codes, about=f"{tool.name} {words[0]}").out.decode()

    def _pack(self, bundle, changes=None, photo=None):
        raw = self._folder / "raw"
        shutil.rmtree(raw, ignore_errors=True)
        shutil.copytree(SAMPLE, raw)
        metadata = json.loads((raw / "metadata.json").read_text())
        (raw / "metadata.json").write_text(json.dumps(metadata | (changes or {})))
        if photo:
            (raw / "photo.jpg").write_bytes(photo)
        self._run(self._capbundle, "pack", raw, "-o", bundle)

    def _report(self, page, *words):
        self._run(
            self._capbundle, "report", *words, "-o", self.path(page), "--title", TITLES[page], "--csv",
            self._folder / f"{page}.csv", codes=(0, 1, 2, 3, 4))

    def _honest(self):
        """Bundles of several days and with every verdict."""
        folder = self._folder / "honest"
        folder.mkdir()
        for day in range(1, 6):
            self._pack(folder / f"day {day}.bundle", {"captured_at": f"2026-03-{day:02}T08:00:00.000Z"})
        self._pack(folder / "turned.bundle", {"captured_at": "2026-03-05T09:30:00.000Z"}, turned(SAMPLE / "photo.jpg"))
        for path in (SAMPLES / "tampered").glob("*.bundle"):
            shutil.copy(path, folder)
        self._run(self._capbundle, "redact", folder / "day 2.bundle", "--withhold", "location.json", "-o", folder / "withheld.bundle")
        whole = (folder / "day 1.bundle").read_bytes()
        (folder / "cut off.bundle").write_bytes(whole[:5000])
        (folder / "notes.txt").write_text("not a bundle")
        self._report("bundles", folder, "--allow-withheld")
        self.cards["bundles"] = len(list(folder.glob("*.bundle")))

    def _chains(self):
        """Links of several devices, with gaps, forks and wrong orders: the side files of the vectors."""
        folder = self._folder / "chains"
        folder.mkdir()
        for path in (ROOT / "Spec/Vectors/side").glob("chain_*"):
            shutil.copy(path, folder / f"{path.name}.bundle")
        self._report("chains", folder)
        self.cards["chains"] = len(list(folder.iterdir()))

    def _hostile(self):
        """Bundles with hostile texts, and hostile names of files."""
        folder = self._folder / "hostile"
        folder.mkdir()
        texts = hostile_texts(self.listener.url)
        for number, text in enumerate(texts):
            name = NAMES[number] if number < len(NAMES) else f"{number}.bundle"
            self._pack(folder / name, {"device_model": text})
        photo = (SAMPLE / "photo.jpg").read_bytes()
        self._pack(folder / "broken photo.bundle", photo=photo[:2000] + bytes(2000) + b"\xff\xd9")
        self._report("hostile", folder)
        self.cards["hostile"] = len(texts) + 1

    def _queue(self):
        """A queue with captures that wait, were uploaded, are held, and failed."""
        queue = ("--queue", self._folder / "queue")
        target = self._folder / "target"
        target.mkdir()
        honest, hostile = self._folder / "honest", self._folder / "hostile"
        self._run(self._capqueue, "init", *queue)
        self._run(self._capqueue, "push", *sorted(honest.glob("day*.bundle"))[:2], "--session", "morning", *queue)
        self._run(self._capqueue, "dest", "add", "shelf", "--kind", "folder", "--path", target, *queue)
        self._run(self._capqueue, "run", "--once", *queue)
        self._run(self._capqueue, "dest", "add", "office", "--kind", "put", "--url", "http://127.0.0.1:9/{sha256}", *queue)
        held = self._run(self._capqueue, "push", honest / "turned.bundle", "--dest", "office", *queue).split()
        self._run(self._capqueue, "hold", *held, *queue)
        others = sorted(hostile.glob("*.bundle"))[:4]
        self._run(self._capqueue, "push", *(f"./hostile/{path.name}" for path in others), "--dest", "office", *queue)
        self._run(self._capqueue, "run", "--once", *queue, codes=(15,))
        self._run(self._capqueue, "report", "-o", self.path("queue"), "--title", TITLES["queue"], *queue)
        self.cards["queue"] = 3 + len(others)
        text = self.path("queue").read_text()
        expect(f"capqueue release {' '.join(map(str, queue))} --dest office" in text, "the page does not name the next command")


def turned(path, orientation=6):
    """The photo with an EXIF orientation; 6 turns it by a quarter."""
    jpeg = path.read_bytes()
    tiff = b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 0x0112, 3, 1, orientation, 0, 0)
    exif = b"Exif\0\0" + tiff
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + jpeg[2:]
