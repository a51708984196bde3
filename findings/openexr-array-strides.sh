#!/bin/sh
# OpenEXR 3.5.3 (Python) writing a channel from a NumPy view that is not contiguous.
# Expected: a crop, a transposed map or a column-major array is written as NumPy shows it, or refused.
# Seen: the writer takes the view's address and shape and ignores its strides. A crop is filled
#   from the wide map's memory, row after row: only its first row is right. A transposed square map is
#   written untransposed. There is no error, and the file is valid. numpy.ascontiguousarray() first
#   gives the right file. Arrays of float64 or big-endian are refused, so the check of the input
#   looks complete. The views here stay inside their own map's memory.
# Output:
#   crop: 1 of 32 rows right | transposed: equals the map before | column-major: equals its transpose
#   copied crop: 32 of 32 rows right
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q OpenEXR==3.5.3 numpy==2.4.6
cd "$T"
"$T/v/bin/python" - <<'P'
import sys
import numpy as np, OpenEXR

depth = np.random.default_rng(1).random((64, 64), dtype=np.float32) * 5 + 0.3
def through(a):
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    OpenEXR.File(header, {"Z": a}).write("d.exr")
    return OpenEXR.File("d.exr", separate_channels=True).channels()["Z"].pixels
crop = depth[:32, :32]
rows = int((through(crop) == crop).all(axis=1).sum())
copied = int((through(np.ascontiguousarray(crop)) == crop).all(axis=1).sum())
transposed = np.array_equal(through(depth.T), depth)
columns = np.array_equal(through(np.asfortranarray(depth)), depth.T)
flat = np.array_equal(through(crop).ravel(), depth.ravel()[:32 * 32])
print(f"crop: {rows} of 32 rows right; it is the map's first 1024 numbers: {flat}")
print(f"copied crop: {copied} of 32 rows right")
print(f"transposed map equals the map before: {transposed}")
print(f"column-major map equals its transpose: {columns}")
try:
    through(depth.astype(">f4"))
    refused = False
except Exception as e:
    refused = True
    print(f"big-endian: {e}")
if (rows, copied, transposed, columns, flat, refused) != (1, 32, True, True, True, True):
    print("changed: a view is written differently now")
    sys.exit(1)
P
echo "as described"
