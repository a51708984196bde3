#!/usr/bin/env python3
"""Draws way.svg, the way of a capture, beside itself: Samples/way/draw.py

README.md shows it. The letters are large, because a phone shows the drawing at half its size. It has a background of its own,
because a page can be dark while the viewer asks for light pictures.
"""
import html
import pathlib
import sys

BOX, TALL, GAP, ROWS, MARGIN = 196, 132, 46, 92, 20
WIDTH = 2 * MARGIN + 3 * BOX + 2 * GAP
HEIGHT = 2 * MARGIN + 2 * TALL + ROWS
STEPS = {  # column, row, what the box shows
    "camera": (0, 0, ["photo, depth map,", "time, position"]),
    "pack": (1, 0, ["capbundle signs", "one file"]),
    "queue": (2, 0, ["capqueue keeps it", "until it arrived"]),
    "server": (2, 1, ["HTTP, S3, a URL,", "a mounted disk"]),
    "verify": (1, 1, ["by capbundle,", "browser, openssl"]),
    "verdict": (0, 1, ["unchanged? from", "which device?"]),
}
ARROWS = [("camera", "pack"), ("pack", "queue"), ("queue", "server"), ("server", "verify"), ("verify", "verdict")]
STYLE = """
    .page { fill: #ffffff }
    .box { fill: #eef4fb; stroke: #2f6db0; stroke-width: 2 }
    .tool { fill: #d5e6f8 }
    .arrow { stroke: #44505c; stroke-width: 3; fill: none }
    .tip { fill: #44505c }
    .key { stroke-dasharray: 7 6 }
    text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", Arial, sans-serif; text-anchor: middle; fill: #1b2530 }
    .name { font-size: 28px; font-weight: 600 }
    .what { font-size: 19px }
    @media (prefers-color-scheme: dark) {
      .page { fill: #0d1117 }
      .box { fill: #16202c; stroke: #6aa7e8 }
      .tool { fill: #1f3550 }
      .arrow { stroke: #aab6c3 }
      .tip { fill: #aab6c3 }
      text { fill: #e8eef5 }
    }
"""


def corner(name):
    column, row, _ = STEPS[name]
    return MARGIN + column * (BOX + GAP), MARGIN + row * (TALL + ROWS)


def box(name):
    x, y = corner(name)
    lines = [f'<rect class="box{" tool" if name in ("pack", "queue", "verify") else ""}" x="{x}" y="{y}" width="{BOX}" '
             f'height="{TALL}" rx="12"/>',
             f'<text class="name" x="{x + BOX // 2}" y="{y + 42}">{name}</text>']
    for number, line in enumerate(STEPS[name][2]):
        lines.append(f'<text class="what" x="{x + BOX // 2}" y="{y + 78 + 28 * number}">{html.escape(line)}</text>')
    return lines


def arrow(start, end):
    """A line from the edge of one box to that of the next, with a tip."""
    (x, y), (to_x, to_y) = corner(start), corner(end)
    if x == to_x:
        middle, top = x + BOX // 2, y + TALL + 6
        tip = to_y - 6
        return [f'<path class="arrow" d="M{middle} {top}V{tip - 12}"/>',
                f'<path class="tip" d="M{middle} {tip}l-9 -15h18z"/>']
    middle, sign = y + TALL // 2, 1 if to_x > x else -1
    begin, tip = (x + BOX + 5, to_x - 5) if sign > 0 else (x - 5, to_x + BOX + 5)
    return [f'<path class="arrow" d="M{begin} {middle}H{tip - 12 * sign}"/>',
            f'<path class="tip" d="M{tip} {middle}l{-15 * sign} -9v18z"/>']


def public_key():
    """The dashed line: the public key goes from the device to those who verify, by another way than the bundle."""
    x, y = corner("pack")
    middle, top, bottom = x + BOX // 2, y + TALL + 6, corner("verify")[1] - 6
    return [f'<path class="arrow key" d="M{middle} {top}V{bottom - 12}"/>',
            f'<path class="tip" d="M{middle} {bottom}l-9 -15h18z"/>',
            f'<text class="what" x="{middle - 82}" y="{(top + bottom) // 2 + 6}">the public key</text>']


def drawing():
    words = ("A camera gives photo, depth map, time and position. capbundle signs them in one file. capqueue keeps the file until a "
             "server has it. Whoever has the device's public key verifies it later, and gets a verdict.")
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
             'aria-labelledby="title words">',
             '<title id="title">The way of a capture</title>', f'<desc id="words">{html.escape(words)}</desc>',
             f"<style>{STYLE}</style>", f'<rect class="page" width="{WIDTH}" height="{HEIGHT}" rx="14"/>']
    for name in STEPS:
        lines += box(name)
    for start, end in ARROWS:
        lines += arrow(start, end)
    return "\n".join([*lines, *public_key(), "</svg>"]) + "\n"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit("usage: Samples/way/draw.py")
    (pathlib.Path(__file__).resolve().parent / "way.svg").write_text(drawing())
