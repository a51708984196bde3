"""Photo, depth map and scene, as the page draws them."""
import json
import math
import struct

from Kit.outcomes import IS_LONG, expect
from ReportPages.shown_captures import turned
from VerifyPage.samples import HEIGHT, RAW, SAMPLE, WIDTH, broken_photo, changed_raw, opened
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys


def colours_the_depth_map(page):
    opened(page)
    page.pictures_shown()
    samples = struct.unpack(f"<{WIDTH * HEIGHT}f", (RAW / "depth.f32").read_bytes())
    measured = sorted(one for one in samples if math.isfinite(one) and one > 0)
    near, far = (measured[math.ceil(share * len(measured)) - 1] for share in (0.02, 0.98))
    values = page.ask("const c = document.querySelector('.depth');"
                      "return [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]")
    shown = list(zip(*[iter(values)] * 4))  # red, green, blue, alpha
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
    expect(f"2 % are nearer than {near:.2f} m, 2 % farther than {far:.2f} m" in page.text(), "the percentiles are not named")
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


# Keeps the picture of the scene as the first one, and gives the share of it that points cover.
KEEP = """
    const c = document.querySelector('.cloud');
    window.first = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
    return first.filter((value, place) => place % 4 === 3 && value === 255).length / first.length * 4;
    """
# Gives the share of the pixels of the scene that differ from the first picture, after it was drawn.
DIFFERS = """
    const done = arguments[0], c = document.querySelector('.cloud'), first = window.first;
    requestAnimationFrame(() => requestAnimationFrame(() => {
        const now = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let count = 0;
        for (let at = 0; at < now.length; at += 4) count += [0, 1, 2, 3].some(n => now[at + n] !== first[at + n]);
        done(count / now.length * 4);
    }));
    """


def turns_the_scene(page):
    opened(page)
    page.pictures_shown()
    samples = struct.unpack(f"<{WIDTH * HEIGHT}f", (RAW / "depth.f32").read_bytes())
    count = sum(math.isfinite(one) and one > 0 for one in samples)
    expect(f"{count} points" in page.text(), f"the page does not show {count} points")
    covered = page.ask(KEEP)
    expect(covered > 0.5, f"the points cover {covered:.0%}")
    canvas = page.browser.driver.find_element("css selector", ".cloud")

    def changed():
        return page.browser.ask_async(DIFFERS)

    for keys in (Keys.ARROW_LEFT, Keys.ARROW_UP, "+", "-"):
        canvas.send_keys(keys * 4)
        expect(changed() > 0.2, f"{keys!r} changes {changed():.0%} of the picture")
        canvas.send_keys("0")
        expect(changed() == 0, "0 does not reset the view")
    ActionChains(page.browser.driver).drag_and_drop_by_offset(canvas, 80, 20).perform()
    moved = changed()
    expect(moved > 0.2, f"dragging changes {moved:.0%} of the picture")
    page.browser.ask_async("setTimeout(arguments[0], 300)")
    expect(changed() == moved, "the scene moves although nobody turns it")
    page.ask("[...document.querySelectorAll('.controls button')].find(b => b.textContent === 'reset').click()")
    expect(changed() == 0, "the button does not reset the view")


# The middle of the bright points of the scene.
BRIGHT = """
    const done = arguments[0], c = document.querySelector('.cloud');
    requestAnimationFrame(() => requestAnimationFrame(() => {
        const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height);
        let [count, x, y] = [0, 0, 0];
        for (let at = 0; at < data.length; at += 4) {
            if (data[at] < 240 || data[at + 3] < 255) continue;
            count += 1; x += at / 4 % c.width; y += Math.floor(at / 4 / c.width);
        }
        done([x / count, y / count]);
    }));
    """


def turns_with_the_hand(page):
    """A near square in front of a wall, coloured by depth: it moves to where it is dragged, or to where an arrow points."""
    raw = changed_raw(page, "square", {}, broken_photo())
    near = [[96 <= x < 160 and 72 <= y < 120 for x in range(WIDTH)] for y in range(HEIGHT)]
    (raw / "depth.f32").write_bytes(b"".join(struct.pack("<f", 1.5 if one else 2) for row in near for one in row))
    opened(page, page.bundle("square.bundle", raw))
    page.pictures_shown(2)
    canvas = page.browser.driver.find_element("css selector", ".cloud")
    start = page.browser.ask_async(BRIGHT)
    expect(abs(start[0] - 320) > 5 and abs(start[1] - 240) > 2, f"the scene begins unturned: {start}")
    for across, down, keys in ((60, 0, Keys.ARROW_RIGHT), (-60, 0, Keys.ARROW_LEFT), (0, 60, Keys.ARROW_DOWN), (0, -60, Keys.ARROW_UP)):
        for way in ("drag", "keys"):
            canvas.send_keys("0")
            if way == "drag":
                ActionChains(page.browser.driver).drag_and_drop_by_offset(canvas, across, down).perform()
            else:
                canvas.send_keys(keys * 4)
            moved = [after - before for before, after in zip(start, page.browser.ask_async(BRIGHT))]
            wanted, other = (moved[0] * across, moved[1]) if across else (moved[1] * down, moved[0])
            expect(wanted > 60 and abs(other) < 12, f"{way} {across}, {down} moves the square by {moved}")


def shows_all_points(page):
    raw = changed_raw(page, "dense", {})
    (raw / "depth.f32").write_bytes(struct.pack("<f", 1.5) * (WIDTH * HEIGHT))
    opened(page, page.bundle("dense.bundle", raw))
    page.pictures_shown()
    expect(f"{WIDTH * HEIGHT} points" in page.text(), "not all points are shown")


def looks_like_the_photo(page):
    """Turned back, the scene looks like the photo, also if EXIF turns or mirrors the photo; so does the depth map."""
    samples = struct.unpack(f"<{WIDTH * HEIGHT}f", (RAW / "depth.f32").read_bytes())
    for orientation in range(1, 9) if IS_LONG else (2, 6):
        name = f"orientation {orientation}"
        raw = changed_raw(page, name, {}, turned(RAW / "photo.jpg", orientation))
        opened(page, page.bundle(f"{name}.bundle", raw))
        page.pictures_shown()
        high = page.ask("return ['img', '.depth', '.cloud'].map(s => document.querySelector(`.pictures ${s}`))"
                        ".map(e => (e.naturalHeight ?? e.height) > (e.naturalWidth ?? e.width))")
        expect(high == [orientation >= 5] * 3, f"orientation {orientation}: photo, depth map and scene are high: {high}")
        if orientation == 6:
            page.ask("document.querySelector('.depth').focus()")
            told = page.ask("return document.querySelector('.reading').textContent")
            # Turned clockwise, column x and row y of the picture are row HEIGHT - 1 - x and column y of the stored map.
            x, y = HEIGHT // 2, WIDTH // 2
            expect(told.startswith(f"{samples[(HEIGHT - 1 - x) * WIDTH + y]:.3f} m"), f"the middle is {told!r}")
        page.browser.driver.find_element("css selector", ".cloud").send_keys(Keys.ARROW_LEFT * 3 + Keys.ARROW_UP)
        straight, mirrored, upside_down = page.browser.ask_async("""
            const done = arguments[0];
            requestAnimationFrame(() => requestAnimationFrame(() => {
            const cloud = document.querySelector('.cloud'), photo = document.querySelector('.photo img');
            const { width, height } = cloud;
            const seen = cloud.getContext('2d').getImageData(0, 0, width, height).data;
            done([[1, 1], [-1, 1], [1, -1]].map(([across, down]) => {
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
            }));
            }));
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


TESTS = [
    ("depth in colours with a scale", colours_the_depth_map),
    ("metres under the cursor and the pointer", tells_metres_by_keyboard_and_pointer),
    ("the scene turns by keyboard and mouse, and stands still otherwise", turns_the_scene),
    ("all points of a full depth map", shows_all_points),
    ("the scene begins a little turned, and turns with the hand", turns_with_the_hand),
    ("photo, depth map and scene are upright as EXIF says, and the scene looks like the photo", looks_like_the_photo),
    ("the lens of metadata.json is used", uses_the_lens_of_the_metadata),
]
