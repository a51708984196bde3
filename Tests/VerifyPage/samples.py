"""The samples that the tests give to the page, and bundles made from them."""
import base64
import json
import shutil

from Kit.outcomes import expect
from VerifyPage.page import SAMPLES

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


def changed_raw(page, name, changes, photo=None):
    raw = page.folder / name
    shutil.copytree(RAW, raw)
    metadata = json.loads((raw / "metadata.json").read_text()) | changes
    (raw / "metadata.json").write_text(json.dumps(metadata))
    if photo:
        (raw / "photo.jpg").write_bytes(photo)
    return raw


def broken_photo():
    """The photo with a frame header that no browser decodes: 99 bits for each sample."""
    photo = (RAW / "photo.jpg").read_bytes()
    broken = photo.replace(b"\xff\xc0\x00\x11\x08", b"\xff\xc0\x00\x11\x63")
    expect(broken != photo, "the sample has no frame header of this form")
    return broken


def point_of(pem):
    """The point of a public key in PEM, in base64: the last 65 bytes of the DER."""
    body = "".join(line for line in pem.read_text().splitlines() if "-----" not in line)
    return base64.b64encode(base64.b64decode(body)[-65:]).decode()
