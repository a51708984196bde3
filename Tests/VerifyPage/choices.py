"""What the user chooses: the devices that are trusted, and whether withheld entries are accepted."""
import contextlib
import itertools

from Kit.outcomes import IS_LONG, expect
from VerifyPage.samples import FORGERIES, KEY, RAW, SAMPLE, point_of

# The words of the page for each verdict, in the order of its table.
WORDS = {
    "unreadable": "not readable", "malformed": "MALFORMED", "altered": "ALTERED", "unknown-device": "sound, but the device is unknown",
    "unacceptable": "not acceptable", "withheld": "verified, entries withheld", "verified": "verified",
}


def written(page, name, text):
    """A file in a folder of the tests."""
    path = page.folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def own_bundle(page):
    """A bundle of another device than that of the sample."""
    path = page.folder / "choices own.bundle"
    return path if path.exists() else page.bundle(path.name, RAW)


def withholding(page):
    """Three bundles of the same capture: whole, without its photo, without photo and place."""
    whole, one, two = (page.folder / f"choices {name}.bundle" for name in ("whole", "one", "two"))
    if not whole.exists():
        page.bundle(whole.name, RAW, "--withholdable", "photo.jpg,location.json")
        page.capbundle("redact", whole, "--withhold", "photo.jpg", "-o", one)
        page.capbundle("redact", whole, "--withhold", "photo.jpg,location.json", "-o", two)
    return [whole, one, two]


def trust_of(page):
    """A trust file for the device of these tests."""
    own_bundle(page)
    return written(page, "choices/own.trust", f"rig p256 {point_of(page.key())}\n")


def listed(page):
    """The names of the trust files and keys that the page lists."""
    return page.ask("return [...document.querySelectorAll('#devices > li > strong')].map(e => e.textContent)")


def table(page):
    """File, verdict and codes of all bundles, as the page shows them."""
    return page.ask(
        "return [...document.querySelectorAll('tbody tr')].filter(r => r.cells.length === 6)"
        ".map(r => [0, 1, 5].map(i => r.cells[i].textContent.trim()))")


def expected(page, files, *words):
    """The same, as capbundle says."""
    said = page.reports(*files, words=words)
    rows = []
    for path in files:
        report = said[str(path)]
        is_whole = all(entry["status"] != "withheld" for entry in report["entries"])
        verdict = report["verdict"] if is_whole or report["verdict"] != "verified" else "withheld"
        rows.append([path.name, WORDS[verdict], ", ".join(one["code"] for one in report["faults"]) or "none"])
    return sorted(rows, key=lambda row: list(WORDS.values()).index(row[1]))


@contextlib.contextmanager
def shows(page, words):
    """Waits until the page shows what it did not show before."""
    yield
    page.wait(f"return document.querySelector('main').innerText.includes({words!r})", f"does not say {words!r}")


def keeps_keys_whose_files_have_the_same_name(page):
    own = own_bundle(page)
    files = [written(page, "a/device.key.pub", KEY.read_text()), written(page, "b/device.key.pub", page.key().read_text())]
    for together in (True, False):
        page.open()
        for group in ([files] if together else [[file] for file in files]):
            page.choose(*group, input="trust-files")
        page.choose(SAMPLE, own)
        expect(listed(page) == ["device.key.pub", "device.key.pub (2)"], f"the page lists {listed(page)}")
        devices = page.ask("return [...document.querySelectorAll('#devices bdi')].map(e => e.textContent)")
        expect(len(set(devices)) == 4, f"names occur twice: {devices}")
        shown = [row[1] for row in table(page)]
        expect(shown == ["verified", "verified"], f"the verdicts are {shown}")
    page.ask("document.querySelector(\"[aria-label='remove device.key.pub']\").click()")
    page.wait("return document.querySelectorAll('#devices > li').length === 1", "lists the removed key")
    expect(listed(page) == ["device.key.pub (2)"], f"after removing the first the page lists {listed(page)}")
    page.wait("return document.querySelector('tbody tr').innerText.includes('trust.unknown')", "trusts the removed key")
    shown = [row[1] for row in table(page)]
    expect(shown == [WORDS["unknown-device"], "verified"], f"after removing the first the verdicts are {shown}")


def counts_all_lines_together(page):
    """The verdicts are those of capbundle with one trust file that has the lines of both."""
    own_bundle(page)
    point = point_of(KEY)
    lines = {
        "revoked": f"rig revoked p256 {point}\n", "plain": f"rig p256 {point}\n",
        "ended": f"old valid-before=2026-01-01 p256 {point}\n", "other": f"own p256 {point_of(page.key())}\n",
    }
    pairs = list(itertools.permutations(lines, 2))
    for first, second in pairs if IS_LONG else pairs[:4]:
        files = [written(page, f"{name}/trusted_devices", lines[name]) for name in (first, second)]
        whole = written(page, "choices/whole.trust", lines[first] + lines[second])
        page.open()
        for file in files:
            page.choose(file, input="trust-files")
        page.choose(SAMPLE, FORGERIES[0])
        expect(listed(page) == ["trusted_devices", "trusted_devices (2)"], f"{first}, {second}: lists {listed(page)}")
        wanted = expected(page, [SAMPLE, FORGERIES[0]], "--trust", whole)
        expect(table(page) == wanted, f"{first}, {second}: {table(page)}, not {wanted}")


def keeps_a_damaged_trust_file(page):
    """After a damaged trust file, a good one with the same name is listed too, and the damage is still shown."""
    page.open()
    page.choose(SAMPLE)
    page.choose(written(page, "a/trusted_devices", "# devices\nrig p256 AAAA\n"), input="trust-files")
    page.wait("return document.querySelector('[role=alert]') !== null", "does not refuse the trust file")
    expect("line 2: the key is not base64" in page.text(), "the page does not say what is wrong")
    page.choose(written(page, "b/trusted_devices", f"rig p256 {point_of(KEY)}\n"), input="trust-files")
    expect(listed(page) == ["trusted_devices", "trusted_devices (2)"], f"the page lists {listed(page)}")
    expect(not page.ask("return document.querySelector('.verdict')"), "the page gives a verdict")
    with shows(page, "verified, signed by rig (software)"):
        page.ask("document.querySelector(\"[aria-label='remove trusted_devices']\").click()")


def keeps_every_pasted_key(page):
    own = own_bundle(page)
    page.open()
    page.choose(SAMPLE, own)
    for text in (KEY.read_text(), f"studio valid-after=2026-01-01 p256 {point_of(page.key())}", KEY.read_text()):
        page.ask("document.querySelector('details').open = true; document.getElementById('key').value = arguments[0];"
                 "document.getElementById('status').textContent = ''; document.getElementById('use').click()", text)
        page.wait("return document.getElementById('status').textContent !== ''", "says nothing of the pasted key")
    expect(listed(page) == ["pasted", "pasted (2)"], f"the page lists {listed(page)}")
    shown = [row[1] for row in table(page)]
    expect(shown == ["verified", "verified"], f"the verdicts are {shown}")


def skips_identical_files(page):
    page.open()
    page.choose(SAMPLE)
    page.choose(written(page, "a/device.key.pub", KEY.read_text()), input="trust-files")
    for name in ("b/device.key.pub", "b/other.pem"):
        page.choose(written(page, name, KEY.read_text()), input="trust-files")
        expect(listed(page) == ["device.key.pub"], f"{name}: the page lists {listed(page)}")
        said = page.ask("return document.getElementById('status').textContent")
        expect("already in the list as device.key.pub" in said, f"{name}: the page says {said!r}")
    # A name that looks like a numbered one is not given to a second file.
    page.choose(written(page, "a/device.key.pub (2)", f"one p256 {point_of(KEY)}\n"), input="trust-files")
    page.choose(written(page, "b/device.key.pub", f"two p256 {point_of(KEY)}\n"), input="trust-files")
    names = ["device.key.pub", "device.key.pub (2)", "device.key.pub (3)"]
    expect(listed(page) == names, f"the page lists {listed(page)}")


def keeps_files_dropped_at_the_same_time(page):
    """The second drop comes before the page has read the first one."""
    page.open()
    page.choose(SAMPLE)
    page.ask("""
        for (const text of arguments[0]) {
            const transfer = new DataTransfer();
            transfer.items.add(new File([text], 'trusted_devices'));
            document.querySelector('#trust h2').dispatchEvent(new DragEvent('drop', {dataTransfer: transfer, bubbles: true}));
        }
        """, [f"rig revoked p256 {point_of(KEY)}\n", f"rig p256 {point_of(KEY)}\n"])
    page.wait("return document.querySelectorAll('#devices > li').length === 2", "does not list both files")
    expect(listed(page) == ["trusted_devices", "trusted_devices (2)"], f"the page lists {listed(page)}")
    expect("the key of rig is revoked [trust.revoked]" in page.text(), "the revocation is lost")


def says_that_it_checked_no_time_stamp(page):
    """A time stamp could only help where each revocation of the key has a time."""
    words = "no time stamp was checked [trust.revoked]"
    lines = {"timed": f"rig revoked=2100-01-01 p256 {point_of(KEY)}\n", "plain": f"rig revoked p256 {point_of(KEY)}\n"}
    page.open()
    for name, is_said in (("timed", True), ("plain", False)):
        page.choose(written(page, f"stamps/{name}", lines[name]), input="trust-files")
        page.choose(SAMPLE)
        expect("[trust.revoked]" in page.text(), f"{name}: the key is not revoked")
        expect((words in page.text()) == is_said, f"{name}: the page says{' not' if is_said else ''} {words!r}")
        expect("no time stamp proves it: this page checks none" in page.text(), "the page does not say what it checks")


def accepts_withheld_entries_when_asked(page):
    """For bundles that are withheld, whole, forged or unknown: what `verify` says without and with --allow-withheld."""
    trust = trust_of(page)
    files = [*withholding(page), SAMPLE, *FORGERIES]
    page.open()
    page.choose(trust, input="trust-files")
    page.choose(*files)
    box = "document.getElementById('withheld')"
    expect(page.ask(f"return {box}?.checked") is False, "the checkbox is missing, or it is on at first")
    without = expected(page, files, "--trust", trust)
    allowed = expected(page, files, "--trust", trust, "--allow-withheld")
    expect(without != allowed, "the bundles do not show the difference")
    for wanted in (without, allowed, without, allowed):
        expect(table(page) == wanted, f"{[pair for pair in zip(table(page), wanted) if pair[0] != pair[1]][:2]}")
        before = page.ask(f"const before = {box}.checked; document.getElementById('status').textContent = '';"
                          f"{box}.click(); return before")
        page.wait("return document.getElementById('status').textContent !== ''", "judges nothing again")
        expect(before == (wanted == allowed), f"the checkbox was {before}")
    page.ask(f"{box}.click()")
    page.ask("[...document.querySelectorAll('button')].find(b => b.textContent === 'Remove all').click()")
    page.choose(files[1])
    said = page.ask("return document.querySelector('.verdict').textContent")
    expect("verified" in said, "a bundle that is given later is judged by another rule")


def says_what_was_withheld(page):
    trust = trust_of(page)
    for path, names in zip(withholding(page)[1:], ("photo.jpg", "location.json, photo.jpg")):
        page.open()
        page.choose(trust, input="trust-files")
        page.choose(path)
        expect("not acceptable, signed by rig (software)" in page.text(), "withheld entries are accepted")
        expect("check “Accept bundles with withheld entries”" in page.text(), "the page does not say how to accept it")
        with shows(page, "verified, signed by rig (software)"):
            page.ask("document.getElementById('withheld').click()")
        said = f"Withheld entries, which you chose to accept: {names}"
        expect(said in page.text(), f"{path.name}: the page does not say what is missing")
        expect("check “Accept" not in page.text(), "the page still says how to accept the bundle")


TESTS = [
    ("keys whose files have the same name are all kept", keeps_keys_whose_files_have_the_same_name),
    ("trust files of the same name count together, as one file does for capbundle", counts_all_lines_together),
    ("a damaged trust file stays until the user removes it", keeps_a_damaged_trust_file),
    ("every pasted key is kept", keeps_every_pasted_key),
    ("a file with the same content is skipped, and the page says so", skips_identical_files),
    ("trust files that are dropped at the same time are all kept", keeps_files_dropped_at_the_same_time),
    ("a time stamp that could help is not checked, and the page says so", says_that_it_checked_no_time_stamp),
    ("withheld entries are accepted as with --allow-withheld", accepts_withheld_entries_when_asked),
    ("the card says which entries were withheld", says_what_was_withheld),
]
