"""What every page has to be, as Chromium sees it."""
import csv
import functools

from Kit.browser import SCHEMES, WIDTHS
from Kit.outcomes import IS_LONG, expect
from ReportPages.shown_captures import TITLES
from VerifyPage.choices import WORDS


def is_quiet_and_inert(browser, captures, name):
    before = len(captures.listener.requests)
    messages = browser.open(captures.path(name))
    expect(not messages, f"the console says: {messages[:2]}")
    expect(browser.alert() is None, f"an alert says {browser.alert()}")
    expect(browser.driver.title == TITLES[name], f"the title is {browser.driver.title!r}")
    live = browser.ask(
        "return [...document.querySelectorAll('script,iframe,object,embed,form,base,audio,video')].length"
        " + [...document.querySelectorAll('*')].filter(e => [...e.attributes].some("
        "a => a.name.startsWith('on') || a.name === 'style' || a.value.trim().startsWith('javascript:'))).length")
    expect(live == 0, f"{live} elements could act")
    outside = browser.ask(
        "return [...document.querySelectorAll('img,link,use,a')].map(e => e.getAttribute('src') || e.getAttribute('href'))"
        ".filter(v => !v.startsWith('data:') && !v.startsWith('#'))")
    expect(not outside, f"the page names {outside[:2]}")
    expect(len(captures.listener.requests) == before, "a request reached the server")


def allows_nothing_from_outside(browser, captures, name):
    """The policy of the page itself stops what a mistake of ours would let in."""
    before = len(captures.listener.requests)
    browser.open(captures.path(name))
    browser.reach_out(captures.listener.url)
    expect(len(captures.listener.requests) == before, f"requests arrived: {captures.listener.requests[before:]}")
    expect(browser.driver.title == TITLES[name], "a script ran")
    colour = browser.ask("return getComputedStyle(document.getElementById('styled')).color")
    expect(colour != "rgb(1, 2, 3)", "a style of another origin applies")
    # The style of the page itself does apply: its hash is right.
    expect(browser.ask("return getComputedStyle(document.querySelector('.cards')).display") == "flex", "no style")


def fits_every_width(browser, captures, name):
    for width in WIDTHS if IS_LONG else WIDTHS[:1]:
        browser.open(captures.path(name), width)
        found = browser.ask("return document.documentElement.scrollWidth")
        expect(found <= width, f"at {width} pixels the page is {found} wide")
        wide = browser.ask(
            "return [...document.querySelectorAll('.card, h1, .tiles li')].filter("
            "e => e.getBoundingClientRect().right > innerWidth + 1 || e.scrollWidth > e.clientWidth + 1).length")
        expect(wide == 0, f"at {width} pixels {wide} cards are cut off")
    browser.open(captures.path(name), 1600)
    beyond = browser.ask(
        "return [...document.querySelectorAll('.scroll th[scope=col]')].filter(e => ['Findings', 'Why'].includes(e.textContent)"
        " && e.getBoundingClientRect().right > e.closest('.scroll').getBoundingClientRect().right).length")
    expect(beyond == 0, "what is wrong with a capture is beyond the edge of the table at 1600 pixels")


def shows_whole_pictures(browser, captures, name):
    browser.open(captures.path(name))
    cards = browser.ask("return document.querySelectorAll('article.card').length")
    expect(cards == captures.cards[name], f"{cards} cards, expected {captures.cards[name]}")
    images = browser.driver.execute_async_script(
        """
        const done = arguments[0], images = [...document.images];
        Promise.all(images.map(i => i.decode().catch(() => 0))).then(() => done(images.map(i =>
            [i.naturalWidth, i.naturalHeight, +i.getAttribute('width'), +i.getAttribute('height'), i.alt])));
        """)
    expect(images, "there are no pictures")
    for natural_width, natural_height, width, height, words in images:
        expect((natural_width, natural_height) == (width, height), f"{width}x{height} is not so: {words}")
        # The photos of the vectors have 16 x 16 pixels.
        expect(width > 100 or name == "chains", f"a picture is {width} wide: {words}")
        expect(len(words) > 10, "a picture without words")
    if name == "bundles":
        upright = [image for image in images if image[3] > image[2]]
        expect(len(upright) == 2, f"{len(upright)} upright pictures, expected photo and depth map of the turned capture")
        damaged = browser.ask(
            "return [...document.querySelectorAll('article')].filter(a => a.querySelector('.badge.bad')"
            " && a.querySelector('img')).length")
        expect(damaged == 0, "a damaged bundle has a picture")


def shows_the_worst_first(browser, captures, name):
    """The order of the table, the links of the counts to its rows, and of the rows to the cards."""
    browser.open(captures.path(name))
    rows = browser.ask(
        "return [...document.querySelectorAll('section[aria-labelledby=table] tbody tr')].map(r => ["
        "r.cells[1].textContent.trim(), document.querySelector(r.querySelector('a')?.getAttribute('href') ?? 'body')"
        ".querySelector('.badge')].flatMap(e => e.className ? [e.textContent.trim(), e.classList[1]] : [e]))")
    expect(len(rows) == captures.cards[name] and all(row == card for row, card, _ in rows), f"rows and their cards: {rows}")
    tones = [tone for *_, tone in rows]
    expect(tones == sorted(tones, key=["bad", "doubtful", "neutral", "good"].index), f"the order is {tones}")
    first = browser.ask("return document.querySelector('main section h2').id")
    expect(first == ("table" if name != "queue" else "decisions"), f"the first section is {first}")
    if name == "queue":
        return
    words, order = [row for row, *_ in rows], list(WORDS.values())
    expect(words == sorted(words, key=order.index), f"the order is {words}")
    tiles = browser.ask(
        "return [...document.querySelectorAll('.tiles a')].map(a => [+a.querySelector('strong').textContent,"
        " a.querySelector('.badge')?.textContent.trim(),"
        " document.querySelector(a.getAttribute('href')).cells?.[1].textContent.trim()])")
    expect(tiles[1:] == [[words.count(word), word, word] for word in sorted(set(words), key=order.index)], f"tiles: {tiles}")
    if name == "bundles":
        first = browser.ask("return [...document.querySelectorAll('article')].find(a => a.textContent.includes('replaced after'))"
                            ".querySelector('.findings li').textContent")
        expect(first.startswith("replaced after signing: "), f"the first finding is {first!r}")
        amber = browser.ask("return [...document.querySelectorAll('.doubtful')].filter(e => e.textContent.includes('withheld')).length")
        expect(amber >= 4, f"{amber} words about withheld entries are amber")


def is_dark_where_wanted(browser, captures, name):
    brightness = {}
    for scheme in SCHEMES:
        browser.open(captures.path(name), scheme=scheme)
        colours = browser.ask(
            "return ['backgroundColor', 'color'].map(n => getComputedStyle(document.body)[n].match(/\\d+/g).map(Number))")
        brightness[scheme] = [sum(colour[:3]) / 3 for colour in colours]
    expect(brightness["light"][0] > 200 > 80 > brightness["light"][1], f"light is {brightness['light']}")
    expect(brightness["dark"][0] < 60 < 200 < brightness["dark"][1], f"dark is {brightness['dark']}")


def prints_whole(browser, captures, name):
    browser.open(captures.path(name), media="print")
    clipped = browser.ask(
        "return [...document.querySelectorAll('.card, .scroll')].filter(e => e.scrollHeight > e.clientHeight + 2"
        " && getComputedStyle(e).overflowY !== 'visible').length")
    expect(clipped == 0, f"{clipped} boxes are clipped on paper")
    bars = browser.ask("return [...document.querySelectorAll('.bar rect:not(.bad)')].map(e => getComputedStyle(e).fill)")
    expect("rgb(0, 0, 0)" not in bars, f"on paper the bars of a day are {bars[:3]}")
    browser.open(captures.path(name))
    pdf = browser.pdf()
    expect(pdf.startswith(b"%PDF-") and len(pdf) > 10_000, f"{len(pdf)} bytes of PDF")


def is_readable_for_a_screen_reader(browser, captures, name):
    browser.open(captures.path(name))
    levels = browser.ask("return [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])")
    expect(levels[0] == 1 and levels.count(1) == 1, f"the headings begin {levels[:3]}")
    expect(not browser.skipped_levels(), f"a level is skipped: {levels}")
    for place in ("header", "main", "footer"):
        expect(browser.ask("return document.querySelectorAll(arguments[0]).length", place) == 1, f"no single {place}")
    lost = browser.ask(
        "return [...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.getAttribute('href').slice(1))"
        ".filter(id => !document.getElementById(id))")
    expect(not lost, f"links lead nowhere: {lost[:3]}")
    tables = browser.ask(
        "return [...document.querySelectorAll('table')].every(t => t.caption && [...t.querySelectorAll('th')]"
        ".every(h => h.scope)) && [...document.querySelectorAll('time')].every(t => t.dateTime)")
    expect(tables, "a table without caption or scope, or a time without a date")
    for scheme in SCHEMES if IS_LONG else SCHEMES[1:]:
        browser.open(captures.path(name), scheme=scheme)
        found = browser.violations()
        expect(not found, f"axe, {scheme}: {found}")


def stays_small(browser, captures, name):
    size = captures.path(name).stat().st_size
    expect(size <= 30_000 * captures.cards[name] + 30_000, f"{size} bytes for {captures.cards[name]} captures")


def has_a_table_without_formulas(browser, captures, name):
    path = captures.path(name).with_suffix(".csv")
    raw = path.read_bytes()
    expect(raw.endswith(b"\r\n") and raw.count(b"\n") == captures.cards[name] + 1, "not a line for each capture")
    rows = list(csv.reader(path.open(newline="", encoding="utf-8")))
    expect(all(len(row) == len(rows[0]) for row in rows), "the rows have different lengths")
    for cell in (cell for row in rows[1:] for cell in row if cell[:1] in tuple("=+-@")):
        expect(cell.lstrip("-").replace(".", "", 1).isdigit(), f"a cell begins with {cell[:20]!r}")


JUDGEMENTS = [
    ("logs nothing, runs no script, sends no request", is_quiet_and_inert),
    ("its policy stops scripts, styles and requests", allows_nothing_from_outside),
    ("fits narrow and wide windows", fits_every_width),
    ("shows whole pictures, upright, and none of damaged bundles", shows_whole_pictures),
    ("has the worst first in its table, to which the counts link", shows_the_worst_first),
    ("is dark if the user prefers dark pages", is_dark_where_wanted),
    ("is printed completely", prints_whole),
    ("headings, landmarks, tables, links; axe finds nothing", is_readable_for_a_screen_reader),
    ("has at most 30 kB for each capture", stays_small),
    ("its table has a line for each capture and no formula", has_a_table_without_formulas),
]


def judged(name, judgement, bench):
    judgement(bench.browser, bench.captures, name)


TESTS = [(f"{name}: {title}", functools.partial(judged, name, judgement)) for name in TITLES
         for title, judgement in JUDGEMENTS if name != "queue" or judgement != has_a_table_without_formulas]
