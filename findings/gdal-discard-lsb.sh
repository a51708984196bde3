#!/bin/sh
# A float depth map whose holes are the largest float (FLT_MAX, or its negative), written by rasterio 1.4.4
#   (GDAL 3.10.3) as a GeoTIFF with DISCARD_LSB, which rounds the last bits so that it compresses better.
# Expected: such a hole becomes infinity, is rounded down, or is left as it is.
# Seen: it becomes the number next to the file's no-data value. With no-data 0 that is 1.4e-45: not
#   no-data, and a surface at the lens. With -1 it is -0.9999999. Without a no-data value it is
#   -9998.999, a number that nobody wrote. Plus and minus get the same. With no-data NaN it is NaN, and
#   with FLT_MAX itself it stays; then minus becomes plus. Only numbers that round up to infinity do
#   this: with 20 bits 3.4e38 too, with 1 bit none. NaN and infinity stay. tifffile reads the same.
# Output (8 bits):
#   none: -9998.999 -9998.999 | 0: 1.401e-45 1.401e-45 | -1: -0.9999999 -0.9999999 | nan: nan nan
#   FLT_MAX: 3.403e+38 3.403e+38
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q rasterio==1.4.4 tifffile==2026.3.3 imagecodecs==2026.3.6 numpy==2.4.6
cd "$T"
"$T/v/bin/python" -W ignore - <<'P'
import sys
import numpy as np, rasterio, tifffile

largest = np.finfo(np.float32).max
base = np.random.default_rng(1).random((48, 64), dtype=np.float32) * 5 + 0.3
base[0, :4] = largest, -largest, np.nan, np.inf
wrong = [] if rasterio.__gdal_version__ == "3.10.3" else [f"GDAL {rasterio.__gdal_version__}"]
def through(nodata, bits=8):
    with rasterio.open("d.tif", "w", driver="GTiff", width=64, height=48, count=1, dtype="float32", nodata=nodata,
                       compress="deflate", predictor=3, discard_lsb=bits) as d:
        d.write(base, 1)
    with rasterio.open("d.tif") as d:
        a = d.read(1)
    if not np.array_equal(a, tifffile.imread("d.tif"), equal_nan=True):
        wrong.append("tifffile reads something else")
    if not (np.isnan(a[0, 2]) and np.isposinf(a[0, 3]) and np.abs(a[1:] - base[1:]).max() < 0.001):
        wrong.append("the rest has changed")
    return a[0, :2]
def after(x):
    return np.nextafter(np.float32(x), np.float32(np.inf))
for nodata, want in ((None, after(-9999)), (0, after(0)), (-1, after(-1)), (np.nan, np.float32(np.nan)),
                     (largest, largest)):
    got = through(nodata)
    print(f"no-data {nodata}: plus {got[0]:.7g}, minus {got[1]:.7g}")
    if not np.array_equal(got, [want, want], equal_nan=True):
        wrong.append(f"no-data {nodata}: {got}, was {want}")
got = through(0, 1)
print(f"1 bit, no-data 0: plus {got[0]:.7g}, minus {got[1]:.7g}")
if not np.allclose(got, base[0, :2]):
    wrong.append(f"1 bit: {got}")
if wrong:
    print("changed: " + "; ".join(wrong))
    sys.exit(1)
P
echo "as described"
