"""How long the page takes for a large bundle, compared with capbundle."""
import os
import pathlib
import resource
import shutil

from Kit.outcomes import expect, long
from VerifyPage.samples import RAW

ROUNDS = 5


def photo(page):
    """100 MB in the photo, which is not compressed."""
    raw = page.folder / "large photo"
    shutil.copytree(RAW, raw)
    with (raw / "photo.jpg").open("ab") as file:
        file.write(os.urandom(100_000_000))
    is_as_fast(page, page.bundle("large photo.bundle", raw))


def floats(page):
    """100 MB of floats that can be compressed a little."""
    raw = page.folder / "large depth"
    shutil.copytree(RAW, raw)
    width, height = 5000, 5000
    metadata = (raw / "metadata.json").read_text().replace('"height": 192', f'"height": {height}')
    metadata = metadata.replace('"width": 256', f'"width": {width}')
    expect(str(width) in metadata and str(height) in metadata, "metadata.json of the sample has another form")
    (raw / "metadata.json").write_text(metadata)
    # Floats from 1 to 2 m whose two lower bytes are random.
    noise = bytearray(4 * width * 100)
    noise[0::4], noise[1::4] = os.urandom(width * 100), os.urandom(width * 100)
    noise[2::4], noise[3::4] = bytes([0xA0]) * (width * 100), bytes([0x3F]) * (width * 100)
    with (raw / "depth.f32").open("wb") as file:
        for index in range(height // 100):
            file.write(noise[index:] + noise[:index])
    is_as_fast(page, page.bundle("large depth.bundle", raw))


def is_as_fast(page, bundle):
    """The page takes at most 3 times as long as `capbundle verify`, and a second.

    Both are measured as processor time, which does not depend on what else this machine does.
    """
    page.open()
    page.ask("document.body.append(Object.assign(document.createElement('input'), {type: 'file', id: 'measured'}))")
    page.browser.choose("measured", [bundle])
    tool, browser = [], []
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        page.capbundle("verify", "--quiet", bundle, codes=(3,))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        tool.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        started = processor_time(page.browser.processes())
        verdict = page.browser.ask_async(
            "const done = arguments[0], file = document.getElementById('measured').files[0];"
            "verifyBundle(file, new Uint8Array(0), {allowsWithheld: false, required: []}).then(report => done(report.verdict))")
        browser.append(processor_time(page.browser.processes()) - started)
        expect(verdict == "unknown-device", f"the verdict is {verdict}")
    said = f"the page {min(browser):.2f} s, capbundle {min(tool):.2f} s"
    print(f"     {pathlib.Path(bundle).name}: {said}")
    expect(min(browser) <= 3 * min(tool) + 1, said)


def processor_time(processes):
    """Seconds of processor time that these processes used so far."""
    ticks = 0
    for process in processes:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


TESTS = [
    ("100 MB of a photo in at most 3 times the time of capbundle and a second", long(photo)),
    ("100 MB of floats in at most 3 times the time of capbundle and a second", long(floats)),
]
