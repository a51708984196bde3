#!/bin/sh
# A TIFF of float depth with NaN, compressed with LERC at its lossless setting: written by tifffile
#   2026.3.3 (imagecodecs 2026.3.6, LERC 4.0.0), read by tifffile and by rasterio 1.4.4 (GDAL).
# Expected: both readers give the same numbers, NaN included.
# Seen: the writer stores the NaN pixels as invalid in LERC's own mask. GDAL applies the mask and
#   gives NaN. tifffile, which wrote the file, drops the mask and gives 0.0 there. All
#   other values are equal bit for bit. The same file thus has holes in one reader and surfaces that
#   touch the lens in the other. imagecodecs.lerc_decode(data, masks=True) shows the mask.
# Output:
#   tifffile: 2 holes read as 0.0 and 0.0, rest equal: True
#   rasterio: 2 holes read as nan and nan, rest equal: True
#   lerc_decode mask: 2 invalid
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q imagecodecs==2026.3.6 tifffile==2026.3.3 rasterio==1.4.4 numpy==2.4.6
cd "$T"
"$T/v/bin/python" -W ignore - <<'P'
import sys
import imagecodecs, numpy as np, rasterio, tifffile

depth = np.random.default_rng(1).random((48, 64), dtype=np.float32) * 5 + 0.3
depth[3, 3] = depth[30, 40] = np.nan
tifffile.imwrite("d.tif", depth, compression="lerc")
hole = np.isnan(depth)
with rasterio.open("d.tif") as d:
    other = d.read(1)
got = []
for name, b in (("tifffile", tifffile.imread("d.tif")), ("rasterio", other)):
    equal = np.array_equal(b[~hole], depth[~hole])
    print(f"{name}: 2 holes read as {b[3, 3]} and {b[30, 40]}, rest equal: {equal}")
    got.append((equal, bool(np.isnan(b[hole]).all()), bool((b[hole] == 0).all())))
_, mask = imagecodecs.lerc_decode(imagecodecs.lerc_encode(depth), masks=True)
invalid = int((np.asarray(mask) == 0).sum())
print(f"lerc_decode mask: {invalid} invalid")
if got != [(True, False, True), (True, True, False)] or invalid != 2:
    print(f"changed: {got}, {invalid}")
    sys.exit(1)
P
echo "as described"
