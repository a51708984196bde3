"""What the page shows of a bundle, and how it is used by mouse, keyboard and screen reader."""
import base64
import csv
import importlib.resources
import json
import math
import shutil
import struct
import tarfile

import vector
from browser import SCHEMES, WIDTHS
from captures import turned
from outcomes import expect, Skipped
from page import SAMPLES
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

SAMPLE = SAMPLES / "desk-lamp/desk-lamp.bundle"
KEY = SAMPLES / "desk-lamp/device.pem"
RAW = SAMPLES / "desk-lamp/raw"
FORGERIES = sorted((SAMPLES / "tampered").glob("*.bundle"))
WIDTH, HEIGHT = 256, 192


def opened(page, *files, **how):
    """The page with the key of the sample and these files."""
    page.open(**how)
    page.choose(KEY, input="trust-files")
    page.choose(*(files or (SAMPLE,)))


def shows_the_verdict_first(page):
    opened(page)
    page.pictures_shown()
    order = page.ask(
        "return [...document.querySelectorAll('.verdict, .pictures, .facts, #limits, .entries')].map(e => e.className || e.id)")
    expect(order == ["verdict", "pictures", "facts", "limits", "scroll entries"], f"the order is {order}")
    for words in ("latitude 12.345678, longitude -45.678901", "Synthetic LiDAR camera", "2026-03-14T14:09:26.535Z",
                  "the scene: a signature shows which key signed", "matched"):
        expect(words in page.text(), f"the page lacks {words!r}")


def pixels(page, selector):
    """The colours of a canvas: a list of (red, green, blue, alpha)."""
    values = page.ask(
        "const c = document.querySelector(arguments[0]);"
        "return [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]", selector)
    return list(zip(*[iter(values)] * 4))


def colours_the_depth_map(page):
    opened(page)
    page.pictures_shown()
    samples = struct.unpack(f"<{WIDTH * HEIGHT}f", (RAW / "depth.f32").read_bytes())
    measured = sorted(one for one in samples if math.isfinite(one) and one > 0)
    near, far = (measured[math.ceil(share * len(measured)) - 1] for share in (0.02, 0.98))
    shown = pixels(page, ".depth")
    expect(len(shown) == len(samples), f"{len(shown)} pixels")
    for sample, colour in zip(samples, shown):
        if not math.isfinite(sample) or sample <= 0:
            expect(colour == (80, 80, 80, 255), f"{sample} is {colour}")
        elif sample <= near:
            expect(colour == (254, 232, 56, 255), f"{sample} is {colour}")
        elif sample >= far:
            expect(colour == (0, 34, 78, 255), f"{sample} is {colour}")
    labels = page.ask("return [...document.querySelectorAll('.scale span')].map(e => e.textContent)")
    expect(labels == [f"{near:.2f} m", f"{far:.2f} m"], f"the scale says {labels}")
    said = json.loads(page.capbundle("depth", "--json", SAMPLE))["depth_statistics"]
    expect(abs(said["p02_m"] - near) < 1e-6 and abs(said["p98_m"] - far) < 1e-6, "capbundle has other percentiles")


def tells_metres_by_keyboard_and_pointer(page):
    opened(page)
    page.pictures_shown()
    samples = struct.unpack(f"<{WIDTH * HEIGHT}f", (RAW / "depth.f32").read_bytes())
    canvas = page.browser.driver.find_element("css selector", ".depth")
    page.ask("document.querySelector('.depth').focus()")
    canvas.send_keys(Keys.ARROW_RIGHT * 3 + Keys.ARROW_DOWN * 40)
    x, y = WIDTH // 2 + 3, HEIGHT // 2 + 40

    def told():
        return page.ask("return document.querySelector('.reading').textContent")

    def words(x, y):
        return f"{samples[y * WIDTH + x]:.3f} m at column {x + 1}, row {y + 1}"

    expect(told() == words(x, y), f"the page says {told()!r}, not {words(x, y)!r}")
    live = page.ask("return document.querySelector('.reading').getAttribute('aria-live')")
    expect(live == "polite", "the distance is not announced")
    width, height = canvas.size["width"], canvas.size["height"]
    ActionChains(page.browser.driver).move_to_element_with_offset(canvas, -width // 4, height // 4).perform()
    column, row = (int(word.strip(",")) - 1 for word in told().split() if word.strip(",").isdigit())
    expect(abs(column - WIDTH // 4) <= 2 and abs(row - HEIGHT * 3 // 4) <= 2, f"the pointer is at {column}, {row}")
    expect(told() == words(column, row), f"the page says {told()!r}")
    gap = next(index for index, one in enumerate(samples) if not one > 0)
    canvas.send_keys((Keys.ARROW_LEFT * WIDTH + Keys.ARROW_UP * HEIGHT) + Keys.ARROW_RIGHT * (gap % WIDTH)
                     + Keys.ARROW_DOWN * (gap // WIDTH))
    expect(told().startswith("not measured at"), f"for a gap the page says {told()!r}")


def turns_the_scene(page):
    opened(page)
    page.pictures_shown()
    samples = struct.unpack(f"<{WIDTH * HEIGHT}f", (RAW / "depth.f32").read_bytes())
    count = sum(math.isfinite(one) and one > 0 for one in samples)
    expect(f"{count} points" in page.text(), f"the page does not show {count} points")
    first = pixels(page, ".cloud")
    covered = sum(pixel[3] == 255 for pixel in first) / len(first)
    expect(covered > 0.5, f"the points cover {covered:.0%}")
    canvas = page.browser.driver.find_element("css selector", ".cloud")

    def after(act, words):
        act()
        page.browser.ask_async("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        drawn = pixels(page, ".cloud")
        changed = sum(one != other for one, other in zip(first, drawn)) / len(first)
        expect(changed > 0.2, f"{words} changes {changed:.0%} of the picture")
        return drawn

    for keys in (Keys.ARROW_LEFT, Keys.ARROW_UP, "+", "-"):
        after(lambda: canvas.send_keys(keys * 4), repr(keys))
        canvas.send_keys("0")
        page.browser.ask_async("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        expect(pixels(page, ".cloud") == first, "0 does not reset the view")
    moved = after(
        lambda: ActionChains(page.browser.driver).drag_and_drop_by_offset(canvas, 80, 20).perform(), "dragging")
    page.browser.ask_async("setTimeout(arguments[0], 300)")
    expect(pixels(page, ".cloud") == moved, "the scene moves although nobody turns it")
    page.ask("[...document.querySelectorAll('.controls button')].find(b => b.textContent === 'reset').click()")
    page.browser.ask_async("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    expect(pixels(page, ".cloud") == first, "the button does not reset the view")


def shows_all_points(page):
    raw = changed_raw(page, "dense", {})
    (raw / "depth.f32").write_bytes(struct.pack("<f", 1.5) * (WIDTH * HEIGHT))
    opened(page, page.bundle("dense.bundle", raw))
    page.pictures_shown()
    expect(f"{WIDTH * HEIGHT} points" in page.text(), "not all points are shown")


def changed_raw(page, name, changes, photo=None):
    raw = page.folder / name
    shutil.copytree(RAW, raw)
    metadata = json.loads((raw / "metadata.json").read_text()) | changes
    (raw / "metadata.json").write_text(json.dumps(metadata))
    if photo:
        (raw / "photo.jpg").write_bytes(photo)
    return raw


def is_upright(page):
    raw = changed_raw(page, "turned", {}, turned(RAW / "photo.jpg"))
    opened(page, page.bundle("turned.bundle", raw))
    page.pictures_shown()
    sides = page.ask(
        "return ['img', '.depth', '.cloud'].map(s => document.querySelector(`.pictures ${s}`))"
        ".map(e => [e.naturalWidth ?? e.width, e.naturalHeight ?? e.height])")
    expect(all(height > width for width, height in sides), f"the sizes are {sides}")
    samples = struct.unpack(f"<{WIDTH * HEIGHT}f", (RAW / "depth.f32").read_bytes())
    page.ask("document.querySelector('.depth').focus()")
    told = page.ask("return document.querySelector('.reading').textContent")
    # Turned clockwise, column x and row y of the picture are row HEIGHT - 1 - x and column y of the stored depth map.
    x, y = HEIGHT // 2, WIDTH // 2
    expect(told.startswith(f"{samples[(HEIGHT - 1 - x) * WIDTH + y]:.3f} m"), f"the middle is {told!r}")


def looks_like_the_photo_at_first(page):
    """Before it is turned, the scene looks like the photo, also if EXIF turns or mirrors the photo."""
    for orientation in range(1, 9):
        name = f"orientation {orientation}"
        raw = changed_raw(page, name, {}, turned(RAW / "photo.jpg", orientation))
        opened(page, page.bundle(f"{name}.bundle", raw))
        page.pictures_shown()
        is_high = page.ask("const photo = document.querySelector('.photo img'); return photo.naturalHeight > photo.naturalWidth")
        expect(is_high == (orientation >= 5), f"orientation {orientation}: the photo is not upright")
        straight, mirrored, upside_down = page.ask("""
            const cloud = document.querySelector('.cloud'), photo = document.querySelector('.photo img');
            const { width, height } = cloud;
            const seen = cloud.getContext('2d').getImageData(0, 0, width, height).data;
            return [[1, 1], [-1, 1], [1, -1]].map(([across, down]) => {
                const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
                context.translate(across < 0 ? width : 0, down < 0 ? height : 0);
                context.scale(across, down);
                context.drawImage(photo, 0, 0, width, height);
                const real = context.getImageData(0, 0, width, height).data;
                let difference = 0, count = 0;
                for (let place = 0; place < seen.length; place += 4) {
                    if (seen[place + 3] === 0) continue;
                    count += 1;
                    difference += Math.abs(seen[place] - real[place]);
                }
                return difference / count;
            });
            """)
        expect(straight < 12, f"orientation {orientation}: the scene differs from the photo by {straight:.1f} of 255")
        expect(straight * 2 < min(mirrored, upside_down), f"orientation {orientation}: {straight}, {mirrored}, {upside_down}")


def uses_the_lens_of_the_metadata(page):
    opened(page)
    page.pictures_shown()
    expect("The lens is assumed" in page.text(), "the page does not say that it assumes a lens")
    lens = {"fx": 790, "fy": 790, "cx": 480, "cy": 360, "width": 960, "height": 720}
    opened(page, page.bundle("lens.bundle", changed_raw(page, "lens", {"camera_intrinsics": lens})))
    page.pictures_shown()
    expect("The lens is assumed" not in page.text(), "the page assumes a lens although metadata.json has one")


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
    """Waits for a file that the browser saves. Chromium renames it when it is complete."""
    page.browser.driver.implicitly_wait(0)
    for _ in range(600):
        if path.exists():
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


def point_of(pem):
    """The point of a public key in PEM, in base64: the last 65 bytes of the DER."""
    body = "".join(line for line in pem.read_text().splitlines() if "-----" not in line)
    return base64.b64encode(base64.b64decode(body)[-65:]).decode()


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


def takes_a_pasted_key(page):
    for text in (KEY.read_text(), f"studio valid-after=2026-01-01 p256 {point_of(KEY)}"):
        page.open()
        page.choose(SAMPLE)
        page.ask("document.querySelector('details').open = true; document.getElementById('key').value = arguments[0];"
                 "document.getElementById('use').click()", text)
        page.wait("return document.querySelector('.verdict .good') !== null", "does not trust the key")


def sends_large_entries_to_capbundle(page):
    """The vector with a photo of 8 GiB, whose missing bytes are a hole in the file."""
    giant = next(one for one in vector.load()[0] if one.name == "container_truncated_giant")
    path = page.folder / "giant.bundle"
    path.write_bytes(giant.data)
    with path.open("r+b") as file:
        file.truncate(9 * 2**30)
    opened(page, path)
    expect("use capbundle verify" in page.text() and "not readable" in page.text(), "the page judges a photo of 8 GiB")


def fits_every_width(page):
    for files in ((SAMPLE,), (SAMPLE, *FORGERIES)):
        for width in WIDTHS:
            opened(page, *files, width=width)
            page.pictures_shown(2)
            found = page.ask("return document.documentElement.scrollWidth")
            expect(found <= width, f"at {width} pixels the page is {found} wide")
            cut = page.ask(
                "return [...document.querySelectorAll('.card, .zone, h1, h2, .tiles li, figure, .badge')].filter("
                "e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.scroll')).length")
            expect(cut == 0, f"at {width} pixels {cut} boxes are cut off")


def is_accessible(page):
    source = (importlib.resources.files("axe_core_python") / "axe.min.js").read_text()
    for scheme in SCHEMES:
        for files in ((), (SAMPLE,), (SAMPLE, *FORGERIES)):
            page.open(scheme=scheme)
            if files:
                opened(page, *files, scheme=scheme)
                page.pictures_shown(3)
            page.ask(source)
            found = page.browser.ask_async(
                "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then(r => done(r.violations.map("
                "v => v.id + ': ' + v.nodes.length + ' ' + v.nodes[0].html.slice(0, 120))))")
            expect(not found, f"axe, {scheme}, {len(files)} files: {found}")
    levels = page.ask("return [...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1])")
    expect(all(after <= before + 1 for before, after in zip(levels, levels[1:])), f"a level is skipped: {levels}")


def adapts_to_dark_paper_and_forced_colours(page):
    brightness = {}
    for scheme in SCHEMES:
        opened(page, scheme=scheme)
        colour = page.ask("return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        brightness[scheme] = sum(colour[:3]) / 3
    expect(brightness["light"] > 200 and brightness["dark"] < 60, f"the page is {brightness}")
    opened(page, media="print")
    page.pictures_shown()
    shown = page.ask("return ['.zones', '.controls', '.verdict'].map(s => getComputedStyle(document.querySelector(s)).display)")
    expect(shown[:2] == ["none", "none"] and shown[2] != "none", f"on paper: {shown}")
    expect(page.browser.pdf().startswith(b"%PDF-"), "no PDF")
    page.open()
    page.browser.command("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
    page.choose(SAMPLE)
    border = page.ask("return getComputedStyle(document.querySelector('.badge')).borderTopWidth")
    expect(border == "1px", f"with forced colours a badge has a border of {border}")
    moving = page.ask("return document.getAnimations().length")
    expect(moving == 0, f"{moving} animations")


def looks_as_kept(page):
    """Keeps pictures of the page for people to look at."""
    if page.pictures is None:
        raise Skipped("--pictures was not given")
    page.pictures.mkdir(parents=True, exist_ok=True)
    for name, files in (("one", (SAMPLE,)), ("forgery", FORGERIES[:1]), ("several", (SAMPLE, *FORGERIES))):
        for width in WIDTHS:
            for scheme in SCHEMES:
                opened(page, *files, width=width, scheme=scheme)
                page.pictures_shown(0 if name == "forgery" else 3 if name == "one" else 2)
                page.browser.keep_picture(page.pictures / f"{name}-{width}-{scheme}.png", width)


TESTS = [
    ("verdict first, then pictures, facts, limits, entries", shows_the_verdict_first),
    ("depth in colours with a scale", colours_the_depth_map),
    ("metres under the cursor and the pointer", tells_metres_by_keyboard_and_pointer),
    ("the scene turns by keyboard and mouse, and stands still otherwise", turns_the_scene),
    ("all points of a full depth map", shows_all_points),
    ("a photo that EXIF turns is upright, with its depth map", is_upright),
    ("the scene looks like the photo until it is turned", looks_like_the_photo_at_first),
    ("the lens of metadata.json is used", uses_the_lens_of_the_metadata),
    ("saved entries have the signed bytes", saves_what_is_inside),
    ("the table for spreadsheets equals that of capbundle report", saves_a_table_like_report),
    ("a damaged bundle shows and gives nothing", gives_nothing_of_a_damaged_bundle),
    ("a file that was changed after the verdict is not saved", compares_again_before_it_saves),
    ("dropped files are taken", takes_dropped_files),
    ("a pasted key is taken", takes_a_pasted_key),
    ("an entry above 1 GiB is left to capbundle", sends_large_entries_to_capbundle),
    ("fits 390, 800 and 1400 pixels", fits_every_width),
    ("axe finds nothing, and no heading level is skipped", is_accessible),
    ("dark, paper, forced colours, no motion", adapts_to_dark_paper_and_forced_colours),
    ("pictures are kept", looks_as_kept),
]
