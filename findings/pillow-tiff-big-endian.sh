#!/bin/sh
# Pillow 13.0.0 and a compressed big-endian TIFF of floats (tifffile 2026.3.3).
# Expected: byte order is settled in the file's first two bytes, so every reader gives the same numbers.
# Seen: the plain file is right. With Deflate or LZW, with or without predictor 3, Pillow opens the
#   file as mode F without a warning and swaps each value's bytes once more: 2.6659 becomes -2.1e10.
#   Signed 16- and 32-bit integers suffer the same: 266 becomes 2561. Unsigned 16-bit is right.
#   tifffile reads all of them correctly. Pillow 10.4 did the same. GDAL writes such files
#   with ENDIANNESS=BIG and COMPRESS=DEFLATE, libtiff's tools with tiffcp -B -c zip.
# Output:
#   f4 none right | f4 zlib swapped | f4 lzw swapped | f4 zlib+predictor3 swapped
#   i2 none right | i2 zlib swapped | i4 none right | i4 zlib swapped | u2 zlib right
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q pillow==13.0.0 tifffile==2026.3.3 imagecodecs==2026.3.6 numpy==2.4.6
cd "$T"
"$T/v/bin/python" - <<'P'
import sys
import numpy as np, tifffile
from PIL import Image

depth = np.random.default_rng(1).random((48, 64), dtype=np.float32) * 5 + 0.3
expected = {
    ("f4", None, None): "right", ("f4", "zlib", None): "swapped", ("f4", "lzw", None): "swapped",
    ("f4", "zlib", 3): "swapped",
    ("i2", None, None): "right", ("i2", "zlib", None): "swapped",
    ("i4", None, None): "right", ("i4", "zlib", None): "swapped",
    ("u2", "zlib", None): "right",
}
wrong = []
for (kind, compression, predictor), want in expected.items():
    a = depth if kind == "f4" else (depth * 100).astype(kind)
    tifffile.imwrite("d.tif", a, byteorder=">", compression=compression, predictor=predictor)
    if not np.array_equal(tifffile.imread("d.tif"), a):
        wrong.append(f"tifffile misreads {kind} {compression}")
    with Image.open("d.tif") as im:
        got = np.asarray(im)
    if np.array_equal(got, a):
        state = "right"
    elif np.array_equal(got.astype(kind).byteswap().astype(kind), a):
        state = "swapped"
    else:
        state = "other"
    name = f"{kind} {compression or 'none'}" + ("+predictor3" if predictor else "")
    print(name, state, got.ravel()[0], "for", a.ravel()[0])
    if state != want:
        wrong.append(f"{name}: {state}, was {want}")
if wrong:
    print("changed: " + "; ".join(wrong))
    sys.exit(1)
P
echo "as described"
