"""Nothing leaves the page, and hostile content is only text."""
import re
import subprocess
import sys

from Kit.outcomes import IS_LONG, ROOT, expect
from ReportPages.shown_captures import hostile_texts
from VerifyPage.samples import broken_photo, changed_raw
from VerifyPage.page import HTML

# What could send data, leave the page or run text as code. A content security policy stops neither navigation nor WebRTC.
FORBIDDEN = (
    "fetch", "XMLHttpRequest", "WebSocket", "WebTransport", "EventSource", "sendBeacon", "RTCPeerConnection", "location",
    "open", "navigate", "eval", "Function", "innerHTML", "outerHTML", "insertAdjacentHTML", "write", "writeln", "importScripts",
    "Worker", "SharedWorker", "serviceWorker", "localStorage", "sessionStorage", "indexedDB", "cookie", "postMessage",
    "setHTMLUnsafe", "parseFromString", "createContextualFragment", "history", "src", "href", "action", "ping", "srcdoc",
)
# A use of a property of this name, or of a global of this name as a function or constructor.
USES = re.compile(r"(?:(?<=\.)|(?<=new )|\b(?=\w+\())(" + "|".join(FORBIDDEN) + r")\b")
LEAVING = re.compile(r"\blocation\s*=(?!=)|\blocation\.(?!json)")
IMPORTING = re.compile(r"\bimport\s*\(")
# The two places that set such a property: a photo and a download, both with a blob: URL.
ALLOWED = {("pictures.js", "image.src = url;"), ("content.js", "link.href = URL.createObjectURL("),
           ("content.js", "URL.revokeObjectURL(link.href)")}
NAMES = ["\"><svg onload=alert(5)>.bundle", "'><img src=x onerror=alert(6)>.bundle", "&amp;.bundle", "\u202egnp.bundle"]


def equals_its_modules(page):
    script = ROOT / "Spec/Browser/build.py"
    process = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    expect(process.returncode == 0, process.stderr.strip())
    expect(HTML.stat().st_size <= 150_000, f"{HTML.stat().st_size} bytes")


def has_no_code_that_sends(page):
    found = []
    for path in sorted((ROOT / "Spec/Browser").glob("*/*.js")):
        for line in path.read_text().splitlines():
            code = line.strip()
            if code.startswith(("//", "*", "/**")) or any(path.name == name and part in code for name, part in ALLOWED):
                continue
            if any(pattern.search(re.sub(r'"[^"]*"', '""', code)) for pattern in (USES, LEAVING, IMPORTING)):
                found.append(f"{path.name}: {code}")
    expect(not found, f"{found[:5]}")
    for bait in ("fetch(x)", "window.location = x", "window.open(x)", "new RTCPeerConnection()", "a.innerHTML = x", "eval(x)",
                 "navigator.sendBeacon(x)", "new Function(x)", "location.assign(x)", "location = x", "self.fetch", "import ('x')"):
        expect(any(pattern.search(bait) for pattern in (USES, LEAVING, IMPORTING)), f"the search does not find {bait!r}")


def allows_nothing(page):
    page.open()
    before = len(page.listener.requests)
    policy = page.ask("return document.querySelector('meta[http-equiv]').content")
    for part in ("default-src 'none'", "script-src 'sha256-", "style-src 'sha256-", "img-src blob:", "form-action 'none'",
                 "base-uri 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"):
        expect(part in policy, f"the policy lacks {part}")
    # The policy does not bind a script of the driver itself, but it binds what runs later.
    refused = page.browser.ask_async("""
        const [done] = arguments;
        const acts = [() => { document.body.innerHTML = '<b>x</b>' }, () => eval('1'), () => new Function('1'),
                      () => trustedTypes.createPolicy('x', {})];
        const refuses = act => { try { act(); return false } catch { return true } };
        setTimeout(() => done(acts.map(refuses)), 0);
        """)
    expect(refused == [True] * 4, f"which ways to make code or markup from text are refused: {refused}")
    page.browser.reach_out(page.listener.url)
    expect(len(page.listener.requests) == before, f"requests arrived: {page.listener.requests[before:]}")


def shows_hostile_content_as_text(page):
    """Texts and names that try to become markup, to reach a server, or to reverse the text of the page."""
    before = len(page.listener.requests)
    files = []
    texts = hostile_texts(page.listener.url)
    for number, text in enumerate(texts if IS_LONG else texts[:4]):
        bundle = page.bundle(f"{number}.bundle", changed_raw(page, f"hostile {number}", {"device_model": text}))
        name = NAMES[number] if number < len(NAMES) else bundle.name
        files.append(bundle.rename(page.folder / name))
    bad = page.folder / "<img src=x onerror=alert(7)>"
    bad.write_bytes(files[0].read_bytes().replace(b"photo.jpg", b"<i>me</i>", 3))
    page.open()
    page.choose(page.key(), input="trust-files")
    page.choose(*files, bad)
    for index in range(len(files) + 1):
        page.ask("document.querySelectorAll('tbody th button')[arguments[0]].click()", index)
        page.pictures_shown(3 if index > 0 else 0)  # the damaged one is the first
        live = page.ask(
            "return [...document.querySelectorAll('main *')].filter(e => ['SCRIPT', 'IFRAME', 'OBJECT', 'STYLE', 'FORM']"
            ".includes(e.tagName) || [...e.attributes].some(a => a.name.startsWith('on'))"
            " || (e.tagName === 'IMG' && !e.src.startsWith('blob:'))).length")
        expect(live == 0, f"file {index}: {live} elements could act")
        raw = page.ask("return /[\\u202a-\\u202e\\u2066-\\u2069\\u200b\\u0007\\u001b\\u0085]/.test(document.body.textContent)")
        expect(not raw, f"file {index}: a control character is shown as it is")
    expect(page.browser.alert() is None, f"an alert says {page.browser.alert()}")
    expect(page.browser.driver.title == "Verify capture bundles", f"the title is {page.browser.driver.title!r}")
    expect(len(page.listener.requests) == before, f"requests arrived: {page.listener.requests[before:]}")
    messages = [entry["message"] for entry in page.browser.driver.get_log("browser")]
    expect(not messages, f"the console says: {messages[:2]}")


def shows_a_broken_photo_as_words(page):
    page.open()
    page.choose(page.bundle("broken photo.bundle", changed_raw(page, "broken photo", {}, broken_photo())))
    page.pictures_shown(2)
    expect("The browser cannot decode the photo" in page.text(), "the page does not say that the photo is broken")
    expect("sound, but the device is unknown" in page.text(), "another verdict")


TESTS = [
    ("the page equals its modules, and has at most 150 kB", equals_its_modules),
    ("no code of the page sends, navigates, or runs text", has_no_code_that_sends),
    ("the policy of the page stops requests, and code and markup from text", allows_nothing),
    ("hostile texts and names are shown as text", shows_hostile_content_as_text),
    ("a photo that cannot be decoded does not stop the page", shows_a_broken_photo_as_words),
]
