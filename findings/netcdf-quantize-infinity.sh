#!/bin/sh
# Lossy rounding of a depth map before compression: quantize_mode of netCDF4 1.7.5.1.post1 (netCDF-C 4.10.1), and the
#   same methods in imagecodecs 2026.3.6. NaN is a hole, infinity is the sky.
# Expected: three ways to round the same bits treat NaN and infinity alike: both stay what they are.
# Seen: netCDF-C keeps every NaN, and infinity with BitRound. BitGroom makes every second infinity NaN,
#   by its place in the array, so the sky becomes a pattern. GranularBitRound makes infinity -0.0 and
#   minus infinity 0.0: the sky is at the lens. The numbers are wrong in the file, so each reader gets
#   them. No call warns. imagecodecs does the same, and its granularbr also turns NaN into -0.0.
# Output, for NaN and five infinities in a row, the last two negative:
#   netcdf BitRound: nan inf inf inf -inf -inf | BitGroom: nan nan inf nan -inf nan
#   netcdf GranularBitRound: nan -0.0 -0.0 -0.0 0.0 0.0
#   imagecodecs bitround: nan inf inf inf -inf -inf | bitgroom: nan nan inf nan -inf nan
#   imagecodecs granularbr: -0.0 -0.0 -0.0 -0.0 0.0 0.0
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q netCDF4==1.7.5.1.post1 imagecodecs==2026.3.6 numpy==2.4.6
cd "$T"
"$T/v/bin/python" -W ignore - <<'P'
import sys
import imagecodecs, netCDF4, numpy as np

depth = np.linspace(0.3, 5, 64, dtype=np.float32).reshape(8, 8)
depth[0, :6] = np.array([np.nan, np.inf, np.inf, np.inf, -np.inf, -np.inf])
def netcdf(mode, digits):
    with netCDF4.Dataset("d.nc", "w") as d:
        d.createDimension("y", 8)
        d.createDimension("x", 8)
        z = d.createVariable("z", "f4", ("y", "x"), compression="zlib", quantize_mode=mode, significant_digits=digits)
        z[:] = depth
    with netCDF4.Dataset("d.nc") as d:
        d.set_auto_mask(False)
        return d["z"][:]
def codec(mode, digits):
    return imagecodecs.quantize_encode(depth.copy(), mode, digits)
kept, pattern = "nan inf inf inf -inf -inf", "nan nan inf nan -inf nan"
methods = {
    "netcdf BitRound": (netcdf("BitRound", 10), kept),
    "netcdf BitGroom": (netcdf("BitGroom", 3), pattern),
    "netcdf GranularBitRound": (netcdf("GranularBitRound", 3), "nan -0.0 -0.0 -0.0 0.0 0.0"),
    "imagecodecs bitround": (codec("bitround", 10), kept),
    "imagecodecs bitgroom": (codec("bitgroom", 3), pattern),
    "imagecodecs granularbr": (codec("granularbr", 3), "-0.0 -0.0 -0.0 -0.0 0.0 0.0"),
}
wrong = [] if netCDF4.__netcdf4libversion__ == "4.10.1" else ["netCDF-C " + netCDF4.__netcdf4libversion__]
for name, (a, want) in methods.items():
    got = " ".join(str(x) for x in a[0, :6].tolist())
    error = float(np.abs(a[1:] - depth[1:]).max())
    print(f"{name}: {got}, error of the rest {error:.4f}")
    if got != want or not 0 < error < 0.02:
        wrong.append(f"{name}: {got}, was {want}")
if wrong:
    print("changed: " + "; ".join(wrong))
    sys.exit(1)
P
echo "as described"
