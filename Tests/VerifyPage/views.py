"""How the page takes files, and how it looks by eye and by screen reader."""
import base64
import datetime
import itertools

import vector
from Kit.browser import SCHEMES, WIDTHS
from Kit.outcomes import IS_LONG, expect
from VerifyPage.choices import withholding
from VerifyPage.samples import FORGERIES, KEY, SAMPLE, opened
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys


def shows_the_verdict_first(page):
    opened(page)
    page.pictures_shown()
    order = page.ask(
        "return [...document.querySelectorAll('.verdict, .pictures, .facts, #limits, .entries')].map(e => e.className || e.id)")
    expect(order == ["verdict", "pictures", "facts", "limits", "scroll entries"], f"the order is {order}")
    for words in ("latitude 12.345678, longitude -45.678901", "Synthetic LiDAR camera", "2026-03-14T14:09:26.535Z",
                  "the scene: a signature shows which key signed", "matched"):
        expect(words in page.text(), f"the page lacks {words!r}")


def takes_dropped_files(page):
    drop = """
        const [target, name, text] = arguments, transfer = new DataTransfer();
        transfer.items.add(new File([Uint8Array.from(atob(text), c => c.charCodeAt(0))], name));
        document.querySelector(target).dispatchEvent(new DragEvent('drop', {dataTransfer: transfer, bubbles: true}));
        """
    page.open()
    page.ask(drop, "#trust h2", "device.pem", base64.b64encode(KEY.read_bytes()).decode())
    page.wait("return document.querySelectorAll('#devices li').length > 0", "does not list the device")
    page.ask(drop, "footer", "dropped.bundle", base64.b64encode(SAMPLE.read_bytes()).decode())
    page.wait("return document.querySelector('.verdict') !== null", "gives no verdict")
    expect("verified, signed by device (software)" in page.text(), "the bundle is not verified")


def takes_the_rule_for_withheld_entries_by_keyboard(page):
    opened(page, withholding(page)[1])
    page.choose(page.key(), input="trust-files")
    expect("[policy.withheld]" in page.text(), "withheld entries are accepted at first")
    page.ask("document.getElementById('trust-files').focus()")
    for _ in range(20):
        ActionChains(page.browser.driver).send_keys(Keys.TAB).perform()
        if page.ask("return document.activeElement.id === 'withheld'"):
            break
    box = page.browser.driver.switch_to.active_element
    expect(box.get_attribute("id") == "withheld", "Tab does not reach the checkbox")
    expect(box.accessible_name == "Accept bundles with withheld entries", f"its name is {box.accessible_name!r}")
    expect(page.ask("return getComputedStyle(document.activeElement).outlineStyle") == "solid", "its focus is not visible")
    height = page.ask("return document.activeElement.labels[0].getBoundingClientRect().height")
    expect(height >= 24, f"its label is {height} pixels high")
    for verdict in ("verified, signed by device", "not acceptable, signed by device"):
        ActionChains(page.browser.driver).send_keys(Keys.SPACE).perform()
        page.wait(f"return document.getElementById('status').textContent.startsWith({verdict!r})", "does not announce it")
        expect(verdict in page.ask("return document.querySelector('.verdict').innerText"), f"the card does not say {verdict}")
        expect(page.ask("return document.activeElement.id") == "withheld", "the checkbox loses the focus")


def sends_large_entries_to_capbundle(page):
    """The vector with a photo of 8 GiB, whose missing bytes are a hole in the file."""
    giant = next(one for one in vector.load()[0] if one.name == "container_truncated_giant")
    path = page.folder / "giant.bundle"
    path.write_bytes(giant.data)
    with path.open("r+b") as file:
        file.truncate(9 * 2**30)
    opened(page, path)
    expect("use capbundle verify" in page.text() and "not readable" in page.text(), "the page judges a photo of 8 GiB")
    said = page.ask("return document.getElementById('status').textContent")
    expect(said == "not readable. 0 bundles were read, 1 could not be read.", f"the page says {said!r}")


def shown_whole(page, *files, **how):
    """The page with these files, and the pictures of one that is sound."""
    opened(page, *files, **how)
    if len(files) > 1:
        page.ask("[...document.querySelectorAll('.list button')].at(-1).click()")
    page.pictures_shown()


def fits_every_width(page):
    for files in ((SAMPLE,), (SAMPLE, *FORGERIES)):
        for width in WIDTHS if IS_LONG else WIDTHS[:1]:
            shown_whole(page, *files, width=width)
            found = page.ask("return document.documentElement.scrollWidth")
            expect(found <= width, f"at {width} pixels the page is {found} wide")
            cut = page.ask(
                "return [...document.querySelectorAll('.card, .zone, h1, h2, .tiles li, figure, .badge')].filter("
                "e => e.getBoundingClientRect().right > 1 + ("
                "e.closest('.list') ? e.closest('.list').getBoundingClientRect().right : innerWidth)).length")
            expect(cut == 0, f"at {width} pixels {cut} boxes are cut off")


def is_accessible(page):
    for scheme in SCHEMES if IS_LONG else SCHEMES[1:]:
        for files in ((), (SAMPLE,), (SAMPLE, *FORGERIES)):
            page.open(scheme=scheme)
            if files:
                shown_whole(page, *files, scheme=scheme)
            found = page.browser.violations()
            expect(not found, f"axe, {scheme}, {len(files)} files: {found}")
    levels = page.browser.skipped_levels()
    expect(not levels, f"a level is skipped: {levels}")


def adapts_to_dark_paper_and_forced_colours(page):
    brightness = {}
    for scheme in SCHEMES:
        opened(page, scheme=scheme)
        colour = page.ask("return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        brightness[scheme] = sum(colour[:3]) / 3
    expect(brightness["light"] > 200 and brightness["dark"] < 60, f"the page is {brightness}")
    opened(page, media="print")
    page.pictures_shown()
    shown = page.ask("return ['.zones', '.controls', 'th.save', 'td.save', '.verdict'].map("
                     "s => getComputedStyle(document.querySelector(s)).display)")
    expect(shown[:4] == ["none"] * 4 and shown[4] != "none", f"on paper: {shown}")
    today = datetime.datetime.now(datetime.timezone.utc).date()
    days = [f"Checked on {day} " for day in (today, today - datetime.timedelta(1))]
    expect(any(day in page.text() for day in days), "the date of the check is not on paper")
    expect(page.browser.pdf().startswith(b"%PDF-"), "no PDF")
    page.open()
    page.browser.command("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
    page.choose(SAMPLE)
    border = page.ask("return getComputedStyle(document.querySelector('.badge')).borderTopWidth")
    expect(border == "1px", f"with forced colours a badge has a border of {border}")
    moving = page.ask("return document.getAnimations().length")
    expect(moving == 0, f"{moving} animations")


def keep_pictures(page, folder):
    """Keeps pictures of the page for people to look at."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = {"one": ((SAMPLE,), 3), "forgery": (FORGERIES[:1], 0), "several": ((SAMPLE, *FORGERIES), 0)}
    for width, scheme in itertools.product(WIDTHS, SCHEMES):
        for name, (files, count) in shown.items():
            opened(page, *files, width=width, scheme=scheme)
            page.pictures_shown(count)
            page.browser.keep_picture(folder / f"{name}-{width}-{scheme}.png", width)
        opened(page, withholding(page)[1], width=width, scheme=scheme)
        page.choose(page.key(), KEY, input="trust-files")
        page.browser.keep_picture(folder / f"withheld-{width}-{scheme}.png", width)
        page.ask("document.getElementById('withheld').click()")
        page.wait("return document.querySelector('.verdict').innerText.startsWith('verified')", "refuses the bundle")
        page.browser.keep_picture(folder / f"accepted-{width}-{scheme}.png", width)


TESTS = [
    ("verdict first, then pictures, facts, limits, entries", shows_the_verdict_first),
    ("dropped files are taken", takes_dropped_files),
    ("the rule for withheld entries by keyboard", takes_the_rule_for_withheld_entries_by_keyboard),
    ("an entry above 1 GiB is left to capbundle", sends_large_entries_to_capbundle),
    ("fits narrow and wide windows", fits_every_width),
    ("axe finds nothing, and no heading level is skipped", is_accessible),
    ("dark, paper, forced colours, no motion", adapts_to_dark_paper_and_forced_colours),
]
