#!/usr/bin/env python3
"""Draws picture.jpg, the picture in README.md: the photo, the depth map in colour, and the verdict on the bundle.

usage: Samples/desk-lamp/picture.py CAPBUNDLE

Everything in the picture comes from desk-lamp.bundle through `capbundle extract` and `capbundle verify`.
Needs numpy and Pillow 10.1 or newer.
"""
import io
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image, ImageDraw, ImageFont

HERE = pathlib.Path(__file__).resolve().parent
BUNDLE = HERE / "desk-lamp.bundle"
SIZE, GAP, SCALE_WIDTH, TEXT_HEIGHT = (480, 360), 12, 66, 114
INK, PAPER, QUIET, GOOD = (230, 230, 235), (24, 26, 32), (150, 155, 165), (110, 205, 140)
MISSING = (70, 72, 80)
LINES_SHOWN = 5
# The colours from near to far. Their brightness falls evenly, so the order is still visible in a grey print.
COLOURS = np.array([(253, 231, 120), (244, 160, 80), (214, 90, 95), (140, 50, 130), (62, 28, 110), (20, 14, 48)], float)


def colours(share):
    """Returns the colours (n x 3) of shares from 0 (nearest) to 1 (farthest)."""
    place = np.clip(share, 0, 1) * (len(COLOURS) - 1)
    before = np.minimum(place.astype(int), len(COLOURS) - 2)
    part = (place - before)[..., None]
    return (COLOURS[before] * (1 - part) + COLOURS[before + 1] * part).astype(np.uint8)


def depth_picture(depth, near, far):
    measured = np.isfinite(depth) & (depth > 0)
    share = (np.where(measured, depth, near) - near) / (far - near)
    pixels = np.where(measured[..., None], colours(share), np.uint8(MISSING))
    return Image.fromarray(pixels.astype(np.uint8)).resize(SIZE, Image.Resampling.NEAREST)


def draw_scale(draw, font, left, near, far):
    for y in range(SIZE[1]):
        draw.line([(left, GAP + y), (left + 14, GAP + y)], fill=tuple(int(c) for c in colours(np.array(y / SIZE[1]))))
    for step in range(5):
        y = GAP + step * (SIZE[1] - 14) / 4
        draw.text((left + 20, y), f"{near + (far - near) * step / 4:.2f} m", fill=QUIET, font=font)


def picture(photo, depth, verdict):
    width = 2 * SIZE[0] + 4 * GAP + SCALE_WIDTH
    image = Image.new("RGB", (width, SIZE[1] + 2 * GAP + TEXT_HEIGHT), PAPER)
    draw = ImageDraw.Draw(image)
    small, large = ImageFont.load_default(12), ImageFont.load_default(15)
    image.paste(photo.resize(SIZE, Image.Resampling.LANCZOS), (GAP, GAP))
    known = depth[np.isfinite(depth) & (depth > 0)]
    near, far = float(known.min()), float(known.max())
    image.paste(depth_picture(depth, near, far), (2 * GAP + SIZE[0], GAP))
    draw_scale(draw, small, 3 * GAP + 2 * SIZE[0], near, far)
    y = SIZE[1] + 2 * GAP
    draw.text((2 * GAP + SIZE[0], y), "depth in metres; grey was not measured", fill=QUIET, font=small)
    draw.text((GAP, y), verdict[0], fill=GOOD, font=large)
    y += 4
    for line in verdict[1:LINES_SHOWN]:
        y += 20
        name, _, value = line.strip().partition("  ")
        draw.text((GAP, y), name, fill=QUIET, font=small)
        draw.text((GAP + 80, y), value.strip(), fill=INK, font=small)
    return image


def main(tool):
    def capbundle(*arguments):
        return subprocess.run([tool, *map(str, arguments)], stdout=subprocess.PIPE, check=True).stdout

    with tempfile.TemporaryDirectory() as folder:
        trust = pathlib.Path(folder) / "trust"
        capbundle("trust", "add", "desk-lamp", HERE / "device.pem", "--trust", trust)
        verdict = capbundle("verify", BUNDLE, "--trust", trust).decode().splitlines()
        capbundle("extract", BUNDLE, "-o", pathlib.Path(folder) / "out", "--floats")
        floats = np.fromfile(pathlib.Path(folder) / "out" / "depth.f32", "<f4")
    verdict[0] = "desk-lamp.bundle" + verdict[0].removeprefix(str(BUNDLE))
    photo = Image.open(io.BytesIO(capbundle("extract", BUNDLE, "photo.jpg")))
    picture(photo, floats.reshape(192, 256), verdict).save(HERE / "picture.jpg", quality=88, optimize=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: picture.py CAPBUNDLE")
    main(str(pathlib.Path(sys.argv[1]).resolve()))
