"""Several bundles: their order and numbers, removing them, the sample, and large bundles in pieces."""
import gzip
import os
import shutil
import struct

from Kit.outcomes import ROOT, expect
from VerifyPage.choices import own_bundle, table, withholding
from VerifyPage.samples import FORGERIES, KEY, RAW, SAMPLE, changed_raw, opened

# Counts the values of all progress bars, and lets each look at the clock end a piece of work, so that the count depends on
# the work and not on the machine.
WATCH = """
    const setter = Object.getOwnPropertyDescriptor(HTMLProgressElement.prototype, 'value').set;
    let now = 0;
    window.seen = [];
    performance.now = () => now += 100;
    Object.defineProperty(HTMLProgressElement.prototype, 'value', {
        set(value) {
            seen.push([this.ariaLabel, value]);
            setter.call(this, value);
            if (arguments.length && window.cancels) [...document.querySelectorAll('button')].find(b => b.textContent === 'Cancel')?.click();
        }, get() { return 0; }, configurable: true,
    });
    """


def sound_bundles(page):
    """Five bundles with different content that are sound: of the sample's device and of another one."""
    return [SAMPLE, own_bundle(page), *withholding(page)]


def status(page):
    return page.ask("return document.getElementById('status').textContent")


def press(page, words):
    page.ask("[...document.querySelectorAll('button')].find(b => b.textContent.trim().startsWith(arguments[0])).click()", words)


def shows_the_worst_first(page):
    files = [*sound_bundles(page), *FORGERIES]
    opened(page, *files)
    verdicts = [row[1] for row in table(page)]
    order = ["ALTERED", "sound, but the device is unknown", "verified"]
    expect(verdicts == sorted(verdicts, key=order.index) and verdicts[0] == order[0], f"the order is {verdicts}")
    shown = page.ask("return document.querySelector('.verdict').textContent")
    expect("ALTERED" in shown, f"the first bundle is {shown}")
    for words in (*order, "bundles"):
        count = page.ask(
            "const tile = [...document.querySelectorAll('.tiles button')].find(b => b.textContent.endsWith(arguments[0]));"
            "tile.click(); return +tile.querySelector('strong').textContent", words)
        rows = [row[1] for row in table(page)]
        wanted = verdicts if words == "bundles" else [words] * verdicts.count(words)
        expect(rows == wanted and len(rows) == count, f"the tile {words} has {count}, and shows {rows}")
        pressed = page.ask("return document.activeElement.matches('.tiles [aria-pressed=true]')")
        expect(pressed, f"the tile {words} loses the focus")
        shown = page.ask("return document.querySelector('.verdict').textContent")
        expect(words in shown or words == "bundles", f"the tile {words} shows a bundle that is {shown}")


def counts_content_once_and_removes(page):
    copy = page.folder / "copy.bundle"
    shutil.copy(SAMPLE, copy)
    opened(page, SAMPLE, *FORGERIES[:2], copy)
    expect(len(table(page)) == 3, f"the page lists {table(page)}")
    expect("copy.bundle (the same as desk-lamp.bundle)" in status(page), f"the page says {status(page)!r}")
    page.choose(copy)
    expect(len(table(page)) == 3 and "0 bundles were read" in status(page), f"the page says {status(page)!r}")
    page.ask("document.querySelector(\".card [aria-label^='remove']\").click()")
    expect([row[0] for row in table(page)] == [FORGERIES[1].name, SAMPLE.name], f"the page lists {table(page)}")
    expect(page.ask("return document.activeElement.id") == "shown", "the focus is lost")
    press(page, "Remove all")
    expect(not page.ask("return document.getElementById('results').children.length"), "results are left")
    page.choose(SAMPLE)
    expect("verified, signed by device (software)" in status(page), "a removed bundle cannot be given again")


def words_fit_all_rows(page):
    """After each drop, words and numbers are about all rows of the table, and say what was new."""
    foreign, *others = sound_bundles(page)[1:4]
    page.open()
    page.choose(KEY, input="trust-files")
    page.ask("window.said = []; new MutationObserver(() => said.push(document.getElementById('status').textContent))"
             ".observe(document.getElementById('status'), {childList: true})")
    drops = {(SAMPLE,): "verified, signed by device (software). 1 bundle was read.",
             (foreign,): "1 of 2 bundles are verified. 1 more bundle was read.",
             tuple(others): "1 of 4 bundles are verified. 2 more bundles were read."}
    for files, words in drops.items():
        page.choose(*files)
        expect(status(page) == words, f"after {len(files)} more the page says {status(page)!r}")
    expect(len(table(page)) == 4, f"the page lists {table(page)}")
    begun = [words for words in page.ask("return said") if words.startswith("Verifying")]
    wanted = [f"Verifying {SAMPLE.name}…", f"Verifying {foreign.name}…",
              *(f"Verifying {place} of 2 more: {file.name}…" for place, file in enumerate(others, 1))]
    expect(begun == wanted, f"while it reads, the page says {begun}")


def offers_a_sample(page):
    page.open()
    press(page, "No bundle at hand?")
    page.wait("return document.getElementById('status').textContent.endsWith('read.')", "reads the sample")
    rows = [row[:2] for row in table(page)]
    expect(rows == [["sample with one changed byte.bundle", "ALTERED"], ["sample.bundle", "verified"]], f"the page lists {rows}")
    page.ask("document.querySelectorAll('tbody th button')[1].click()")
    page.pictures_shown()
    page.choose(SAMPLE)
    listed = page.ask("return document.querySelectorAll('.card, #devices > li').length")
    expect(listed == 1 and "sound, but the device is unknown" in status(page), "the sample or its device stays")
    bundle = page.folder / "embedded.bundle"
    bundle.write_bytes(gzip.decompress((ROOT / "Spec/Browser/sample/bundle.gz").read_bytes()))
    expect(page.reports(bundle)[str(bundle)]["verdict"] == "unknown-device", "capbundle does not find the sample sound")


def works_in_pieces(page):
    """A large photo and a large depth map, and the same cancelled."""
    size = {"width": 1024, "height": 1024}
    raw = changed_raw(page, "pieces", {"depth_map_dimensions": size}, (RAW / "photo.jpg").read_bytes() + os.urandom(68_000_000))
    (raw / "depth.f32").write_bytes(b"".join(struct.pack("<f", 1 + place / 2 ** 10) * 2 ** 10 for place in range(2 ** 10)))
    bundle = page.bundle("pieces.bundle", raw)
    page.open()
    page.choose(page.key(), input="trust-files")
    page.ask(WATCH)
    page.choose(bundle)
    expect("verified" in status(page), f"the page says {status(page)!r}")
    page.pictures_shown()
    values = page.ask("return seen.filter(([bar]) => bar.startsWith('Bundles')).map(([, value]) => value)")
    steps = [after - before for before, after in zip(values, values[1:])]
    expect(values == sorted(values) and values[-1] > 0.9, f"the progress is {values[-5:]}")
    # The photo is read at once, which blocks nothing.
    expect(len(values) > 20 and sorted(steps)[-2] < 0.1, f"{len(values)} pieces, the largest steps are {sorted(steps)[-3:]}")
    pictures = page.ask("return seen.filter(([bar]) => bar.startsWith('Pictures')).length")
    expect(pictures > 20, f"the pictures are made in {pictures} pieces")
    page.open()
    page.ask(WATCH + "window.cancels = true")
    page.browser.choose("bundle-files", [bundle, SAMPLE])
    page.wait("return document.getElementById('status').textContent.endsWith('read.')", "ends")
    expect(status(page) == "Cancelled: 2 of 2 were not read. 0 bundles were read.", f"the page says {status(page)!r}")
    page.ask("window.cancels = false")
    page.choose(SAMPLE)
    expect(page.ask("return document.querySelectorAll('.verdict').length") == 1, "after that it reads nothing")


def marks_withheld_entries(page):
    """A verified bundle without all its entries is amber: its verdict, its tile, its row, its entries."""
    page.open()
    page.choose(KEY, page.key(), input="trust-files")
    page.ask("document.getElementById('withheld').click()")
    page.choose(SAMPLE, withholding(page)[1])
    found = page.ask("return ['.tiles', 'tbody tr', '.verdict', '.facts', '.entries'].map("
                     "s => document.querySelector(s).querySelector('.doubtful')?.textContent.trim())")
    expect(found[:2] == ["verified, entries withheld"] * 2, f"tile and row say {found[:2]}")
    expect(found[2].startswith("verified, signed by ") and found[2].endswith(", withheld: photo.jpg"), f"the verdict is {found[2]}")
    expect(found[3:] == ["withheld", "withheld"], f"facts and entries say {found[3:]}")


TESTS = [
    ("the worst are first, and each number shows its bundles", shows_the_worst_first),
    ("a file that is given twice counts once, and bundles can be removed", counts_content_once_and_removes),
    ("words and numbers are about all bundles in the list", words_fit_all_rows),
    ("the sample inside the page, which leaves with its device when the user gives a file", offers_a_sample),
    ("large bundles in pieces, with progress, until the user cancels", works_in_pieces),
    ("withheld entries are amber everywhere, also where they are accepted", marks_withheld_entries),
]
