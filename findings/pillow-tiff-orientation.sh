#!/bin/sh
# Pillow 13.0.0 and an uncompressed 8- or 16-bit TIFF whose Orientation tag turns the picture
#   (5 to 8), against the same pixels with Deflate (tifffile 2026.3.3).
# Expected: Pillow either ignores the tag or turns the picture; compression changes nothing.
# Seen: with Deflate, a 24x16 map of Orientation 6 comes back turned to 16x24, and float32 too.
#   Uncompressed, Pillow exchanges width and height before it cuts the raw bytes into rows. The rows
#   have the wrong length, the picture is then turned once more to 24x16, and every number is out of
#   place. There is no error. Orientation 3 is right, and Pillow 10.4.0 was right for all of these.
#   OpenCV 5.0.0 has a third answer with IMREAD_UNCHANGED: it obeys tags 2 to 4 and refuses
#   5 to 8 (None). tifffile ignores the tag.
# Output:
#   uint16 raw 6: (16, 24) scrambled | uint16 zlib 6: (24, 16) turned | float32 raw 6: (24, 16) turned
#   uint8 raw 6: (16, 24) scrambled | uint16 raw 3: (16, 24) turned | opencv 3: turned | opencv 6: None
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q pillow==13.0.0 tifffile==2026.3.3 imagecodecs==2026.3.6 numpy==2.4.6 \
  opencv-python-headless==5.0.0.93
cd "$T"
"$T/v/bin/python" - 2>/dev/null <<'P'
import sys
import cv2, numpy as np, tifffile
from PIL import Image

base = np.arange(16 * 24).reshape(16, 24) % 200
def write(kind, compression, tag):
    a = base.astype(kind)
    tifffile.imwrite("d.tif", a, photometric="minisblack", compression=compression,
                     extratags=[(274, 3, 1, tag, True)])
    return np.rot90(a, -1) if tag == 6 else a[::-1, ::-1]
wrong = []
def check(name, got, turned, want):
    if got is None:
        state = "None"
    else:
        state = "turned" if np.array_equal(got, turned) else "scrambled"
        if np.array_equal(got, base):
            state = "as stored"
        print(f"{name}: {got.shape} {state}")
    if got is None:
        print(f"{name}: None")
    if state != want:
        wrong.append(f"{name} {state}, was {want}")
for kind, compression, tag, want in (
        ("uint16", None, 6, "scrambled"), ("uint16", "zlib", 6, "turned"),
        ("float32", None, 6, "turned"), ("uint8", None, 6, "scrambled"), ("uint16", None, 3, "turned")):
    turned = write(kind, compression, tag)
    with Image.open("d.tif") as im:
        im.load()
        check(f"pillow {kind} {compression or 'raw'} {tag}", np.asarray(im), turned, want)
    if not np.array_equal(tifffile.imread("d.tif"), base):
        wrong.append("tifffile no longer ignores the tag")
for tag, want in ((3, "turned"), (6, "None")):
    turned = write("float32", None, tag)
    check(f"opencv float32 raw {tag}", cv2.imread("d.tif", cv2.IMREAD_UNCHANGED), turned, want)
if wrong:
    print("changed: " + "; ".join(wrong))
    sys.exit(1)
P
echo "as described"
