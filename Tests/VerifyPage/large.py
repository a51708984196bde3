"""Bundles of 100 MB. How long the page takes for them is a row of the bench."""
import os
import shutil

from Kit.outcomes import expect, long
from VerifyPage.samples import RAW

# The page's verdict on the chosen file.
ASK = ("const done = arguments[0], file = document.getElementById('measured').files[0];"
       "verifyBundle(file, new Uint8Array(0), {allowsWithheld: false, required: []}).then(report => done(report.verdict))")


def photo(page):
    says(page, page.bundle("large photo.bundle", large_photo(page.folder)))


def floats(page):
    says(page, page.bundle("large depth.bundle", large_depth(page.folder)))


def says(page, bundle):
    """The page says what capbundle says."""
    page.capbundle("verify", "--quiet", bundle, codes=(3,))
    choose(page, bundle)
    verdict = page.browser.ask_async(ASK)
    expect(verdict == "unknown-device", f"the verdict is {verdict}")


def choose(page, bundle):
    """Opens the page, adds a file input, and chooses the bundle in it."""
    page.open()
    page.ask("document.body.append(Object.assign(document.createElement('input'), {type: 'file', id: 'measured'}))")
    page.browser.choose("measured", [bundle])


def large_photo(folder):
    """100 MB in the photo, which is not compressed."""
    raw = folder / "large photo"
    shutil.copytree(RAW, raw)
    with (raw / "photo.jpg").open("ab") as file:
        file.write(os.urandom(100_000_000))
    return raw


def large_depth(folder):
    """100 MB of floats that can be compressed a little."""
    raw = folder / "large depth"
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
    return raw


TESTS = [
    ("100 MB of a photo have the verdict of capbundle", long(photo)),
    ("100 MB of floats have the verdict of capbundle", long(floats)),
]
