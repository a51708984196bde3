"""Measures a page about many captures, against verifying them and making small photos with djpeg."""
import numpy as np
from PIL import Image, ImageFilter

from Bench.measure_one import pair
from Bench.results import Row
from Kit.outcomes import Failed

WIDTH, HEIGHT = 4032, 3024  # 12 megapixels
KINDS = 4
LARGEST_PAGE = 30_000_000  # for a thousand captures


def write_photo(path, seed):
    """Makes a photo that decodes, with edges, surfaces and noise as a camera sees them."""
    random = np.random.default_rng(seed)
    coarse = Image.fromarray(random.integers(0, 256, (24, 32, 3), dtype=np.uint8)).resize((WIDTH, HEIGHT), Image.BICUBIC)
    pixels = np.asarray(coarse).astype(np.int16)
    for _ in range(60):
        top, left = random.integers(0, HEIGHT - 200), random.integers(0, WIDTH - 200)
        pixels[top:top + random.integers(50, 900), left:left + random.integers(50, 900)] += random.integers(-80, 80, 3)
    grain = random.normal(0, 6, (HEIGHT, WIDTH, 1)).astype(np.int16)
    picture = Image.fromarray((pixels + grain).clip(0, 255).astype(np.uint8)).filter(ImageFilter.GaussianBlur(0.7))
    picture.save(path, quality=90)


def report(rig):
    count = rig.scaled(200, 4)
    for kind in range(KINDS):
        write_photo(rig.folder / f"photo{kind}.jpg", kind)
    raws = rig.raws("seen", count, photo_bytes=50_000)
    for index, raw in enumerate(raws):
        (raw / "photo.jpg").write_bytes((rig.folder / f"photo{index % KINDS}.jpg").read_bytes())
    rig.pack_all(raws, "reported")
    peer = ('"$0" verify --quiet reported/* || exit; '
            "ls seen | xargs -P 2 -I @ djpeg -scale 1/8 -outfile seen/@/small.ppm seen/@/photo.jpg")
    sides = rig.hyperfine({
        "capbundle report": [rig.binary, "report", *(f"reported/{index:04}" for index in range(count)), "-o", "page.html"],
        "verify, djpeg": ["sh", "-c", peer, rig.binary],
    }, runs=8, prepare="rm -f page.html; cat reported/* seen/*/photo.jpg >/dev/null")
    # The page was removed before the other side ran.
    rig.capbundle("report", "reported", "-o", "page.html")
    page = (rig.folder / "page.html").read_bytes()
    if page.count(b"<img") != 2 * count:
        raise Failed(f"{page.count(b'<img')} pictures in the page, expected {2 * count}")
    rig.remove("seen", "reported", "page.html")
    title = f"report on {count} captures with 12 megapixels / verify and djpeg -scale 1/8"
    return [pair(title, sides, 1.5, 1.2),
            Row("bytes of the page for a thousand of them / 30 MB", len(page) / count * 1000 / LARGEST_PAGE, 1, 0.9)]


MEASURES = [("a page about many captures", report)]
