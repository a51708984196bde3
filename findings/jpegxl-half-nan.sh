#!/bin/sh
# Lossless JPEG XL of a Float16 depth map with holes (NaN), by imagecodecs 2026.3.6 (libjxl), also
#   as a TIFF by tifffile 2026.3.3.
# Expected: lossless gives each number back, and a NaN at least as some NaN; float32 does so bit for bit.
# Seen: for float16 every NaN comes back as +infinity, without an error. All other values,
#   infinities and minus zero included, are exact. "No measurement" has become "infinitely far",
#   and isnan() finds no hole any more. float32 of the same map keeps its NaN, so a test with
#   float32 does not show it.
# Output:
#   float32: 0 differ, 2 NaN | float16: 2 differ, 0 NaN, read inf | float16 in TIFF: 2 differ, read inf
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q imagecodecs==2026.3.6 tifffile==2026.3.3 numpy==2.4.6
cd "$T"
"$T/v/bin/python" - <<'P'
import sys
import imagecodecs, numpy as np, tifffile

depth = np.add.outer(np.linspace(0.3, 5, 64), np.linspace(0, 1, 64)).astype(np.float32)
depth[3, 3] = depth[30, 40] = np.nan
depth[10, 10], depth[11, 11], depth[20, 20] = np.inf, -np.inf, -0.0
def compare(name, a, b):
    bits = f"u{a.itemsize}"
    at = np.argwhere(a.view(bits) != b.view(bits))
    print(f"{name}: {len(at)} differ, {int(np.isnan(b).sum())} NaN, holes read as {b[3, 3]} and {b[30, 40]}")
    return len(at), int(np.isnan(b).sum()), bool(np.isposinf(b[3, 3]) and np.isposinf(b[30, 40]))
def direct(a):
    return imagecodecs.jpegxl_decode(imagecodecs.jpegxl_encode(a, lossless=True))
half = depth.astype(np.float16)
got = [compare("float32", depth, direct(depth)), compare("float16", half, direct(half))]
tifffile.imwrite("d.tif", half, compression="jpegxl")
got.append(compare("float16 in TIFF", half, tifffile.imread("d.tif")))
if got != [(0, 2, False), (2, 0, True), (2, 0, True)]:
    print(f"changed: {got}")
    sys.exit(1)
P
echo "as described"
