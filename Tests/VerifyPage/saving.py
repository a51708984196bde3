"""What the page gives out, and what it keeps."""
import csv
import tarfile

from Kit.outcomes import expect
from VerifyPage.samples import FORGERIES, KEY, SAMPLE, changed_raw, opened, point_of


def saves_what_is_inside(page):
    target = page.folder / "saved"
    target.mkdir()
    page.browser.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(target))
    opened(page)
    page.pictures_shown()
    with tarfile.open(SAMPLE) as archive:
        entries = {name: archive.extractfile(name).read() for name in archive.getnames()[3:]}
    for name, data in entries.items():
        page.ask("document.querySelector(`button[aria-label='save ${arguments[0]}']`).click()", name)
        saved(page, target / name)
        expect((target / name).read_bytes() == data, f"{name} was saved with other bytes")


def saved(page, path):
    """Waits for a file that the browser saves. Chromium takes its name with an empty file, and replaces it at the end."""
    page.browser.driver.implicitly_wait(0)
    for _ in range(600):
        if path.exists() and path.stat().st_size:
            return
        page.browser.ask_async("setTimeout(arguments[0], 50)")
    expect(False, f"{path.name} was not saved")


def saves_a_table_like_report(page):
    target = page.folder / "tables"
    target.mkdir()
    page.browser.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(target))
    formula = page.bundle("formula.bundle", changed_raw(page, "formula", {"device_model": '=HYPERLINK("x"),\u202e'}))
    cut = page.folder / "cut off.bundle"
    cut.write_bytes(SAMPLE.read_bytes()[:5000])
    files = [SAMPLE, *FORGERIES, formula, cut]
    opened(page, *files)
    page.ask("[...document.querySelectorAll('button')].find(b => b.textContent.includes('CSV')).click()")
    saved(page, target / "bundles.csv")
    trust = page.folder / "sample.trust"
    trust.write_text(f"device p256 {point_of(KEY)}\n")
    page.capbundle("report", "--trust", trust, "--csv", "report.csv", "-o", "report.html", *files, codes=(2,))
    ours, theirs = (list(csv.reader(path.open(newline=""))) for path in (target / "bundles.csv", page.folder / "report.csv"))
    theirs = [[row[0].rpartition("/")[2], *row[1:]] for row in theirs]
    expect(ours == theirs, f"{[pair for pair in zip(ours, theirs) if pair[0] != pair[1]][:1]}")


def gives_nothing_of_a_damaged_bundle(page):
    for path in FORGERIES:
        opened(page, path)
        damaged = path.stem != "key"
        if not damaged:
            page.pictures_shown()
        found = page.ask("return document.querySelectorAll('.pictures *, button[aria-label^=save]').length")
        expect((found == 0) == damaged, f"{path.name} has {found} pictures and buttons")


def compares_again_before_it_saves(page):
    path = page.folder / "replaced.bundle"
    path.write_bytes(SAMPLE.read_bytes())
    opened(page, path)
    page.pictures_shown()
    path.write_bytes(FORGERIES[0].read_bytes())
    page.ask("document.querySelector(\"button[aria-label='save depth.f32.gz']\").click()")
    page.wait("return document.querySelector(\"button[aria-label='save depth.f32.gz']\").textContent !== 'save'", "saves")
    said = page.ask("return document.querySelector(\"button[aria-label='save depth.f32.gz']\").textContent")
    expect("changed" in said, f"the button says {said!r}")


TESTS = [
    ("saved entries have the signed bytes", saves_what_is_inside),
    ("the table for spreadsheets equals that of capbundle report", saves_a_table_like_report),
    ("a damaged bundle shows and gives nothing", gives_nothing_of_a_damaged_bundle),
    ("a file that was changed after the verdict is not saved", compares_again_before_it_saves),
]
