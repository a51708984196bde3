#!/bin/sh
# astropy 8.0.2 writes a float depth map into a tile-compressed FITS image with quantize_level=0, which turns
#   the rounding of floats off. fitsio 1.4.2 (CFITSIO 4.6.0) reads it, too. Seen on x86-64.
# Expected: every value is kept, as with GZIP, or the write is refused. Rice and HCOMPRESS store only integers:
#   CFITSIO refuses this combination. astropy's manual does not mention level 0.
# Seen: with RICE_1, the default, and with HCOMPRESS_1 the decimals are cut off without an error: 2.9 m
#   becomes 2, all below 1 m becomes 0. With RICE_1, NaN (a hole) and infinity become -2147483648. With
#   HCOMPRESS_1 a border of holes becomes 0; with one hole inside, the image cannot be read again. NumPy
#   warns about a cast, but only if there are holes. fitsio reads the integers as the bits of
#   floats: 2.9 is 2.8e-45. Level -0.001 is right: it rounds to 1 mm and keeps NaN.
# Output, the same for float32 and float64:
#   RICE_1 0: astropy cut, hole -2147483648.0 | fitsio bits, hole -0.0
#   HCOMPRESS_1 0: astropy cut, border 0.0 | fitsio bits, border 0.0 | one hole inside: both error
#   RICE_1 -0.001: both rounded, hole nan | GZIP_1 0, GZIP_2 0: both exact, hole nan
#   fitsio refuses to write RICE_1 with level 0
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q astropy==8.0.2 fitsio==1.4.2 numpy==2.4.6
cd "$T"
"$T/v/bin/python" -W ignore - <<'P'
import sys
import fitsio, numpy as np
from astropy.io import fits

base = np.random.default_rng(1).random((48, 64), dtype=np.float32) * 5 + 0.3
base[0, 0] = 2.9
def state(read, a):
    try:
        b = read()
    except Exception:
        return "error"
    fine = np.isfinite(a)
    whole = np.trunc(a[fine])
    if np.array_equal(b[fine], a[fine]):
        value = "exact"
    elif np.array_equal(b[fine], whole):
        value = "cut"
    elif np.array_equal(b[fine], whole.astype("i4").view("f4")):
        value = "bits"
    else:
        value = "rounded" if np.abs(b[fine] - a[fine]).max() < 0.000501 else "other"
    return value + "".join(f", hole {v}" for v in sorted({str(float(v)) for v in b[~fine]}))
def case(kind, hole, method, level):
    a = base.astype(kind)
    if hole == "border":
        a[:2] = a[-2:] = a[:, :2] = np.nan
    elif hole != "none":
        a[5, 5] = float(hole)
    fits.CompImageHDU(a, compression_type=method, quantize_level=level).writeto("d.fits", overwrite=True)
    return state(lambda: fits.getdata("d.fits", 1), a), state(lambda: fitsio.read("d.fits", ext=1), a)
expected = (
    ("none", "RICE_1", 0, "cut", "bits"),
    ("nan", "RICE_1", 0, "cut, hole -2147483648.0", "bits, hole -0.0"),
    ("border", "RICE_1", 0, "cut, hole -2147483648.0", "bits, hole -0.0"),
    ("inf", "RICE_1", 0, "cut, hole -2147483648.0", "bits, hole -0.0"),
    ("none", "HCOMPRESS_1", 0, "cut", "bits"),
    ("nan", "HCOMPRESS_1", 0, "error", "error"),
    ("border", "HCOMPRESS_1", 0, "cut, hole 0.0", "bits, hole 0.0"),
    ("nan", "RICE_1", -0.001, "rounded, hole nan", "rounded, hole nan"),
    ("nan", "HCOMPRESS_1", -0.001, "rounded, hole nan", "rounded, hole nan"),
    ("nan", "GZIP_1", 0, "exact, hole nan", "exact, hole nan"),
    ("nan", "GZIP_2", 0, "exact, hole nan", "exact, hole nan"))
wrong = []
for kind in ("f4", "f8"):
    for hole, method, level, *want in expected:
        got = case(kind, hole, method, level)
        name = f"{kind} {method} {level}, hole {hole}"
        print(f"{name}: astropy {got[0]} | fitsio {got[1]}")
        if got != tuple(want):
            wrong.append(name)
fits.CompImageHDU(base, quantize_level=0).writeto("d.fits", overwrite=True)
print("default method, 2.9 m:", fits.getdata("d.fits", 1)[0, 0], fitsio.read("d.fits", ext=1)[0, 0])
if fits.getdata("d.fits", 1)[0, 0] != 2:
    wrong.append("default method")
try:
    fitsio.write("e.fits", base, compress="RICE_1", qlevel=0)
    wrong.append("fitsio writes it")
except OSError as e:
    print("fitsio refuses:", "must use GZIP" in str(e))
if wrong:
    print("changed: " + "; ".join(wrong))
    sys.exit(1)
P
echo "as described"
