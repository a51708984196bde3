#!/bin/sh
# OpenEXR 3.5.3 (Python), DWAA and DWAB compression of one depth channel with holes.
# Expected: either the compression is lossy for every channel, or what it does depends on the type. A NaN
#   or an infinity stays what it is, or spoils its block of 8x8 visibly.
# Seen: the channel's name decides. Z, D, depth, A and even y are exact to the bit. Y, R, G, B and any layer
#   that ends so (depth.Y, disparity.R) are lossy by some hundredths. There NaN becomes 0.00001, a
#   valid-looking depth at the lens, and its neighbours stay good. Infinity becomes 64704 when the
#   channel is float, but about 0 when it is half: the two ends of the range. 70000 and 100000 as
#   float also become 64704.
# Output:
#   Z float32 exact | Z float16 exact | depth.Z float32 exact | y float32 exact
#   Y and depth.Y float32: error 0.034, NaN 0.00001, inf 64704, 70000 64704
#   Y and depth.Y float16: error 0.035, NaN 0.00001, inf -0.00000
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q OpenEXR==3.5.3 numpy==2.4.6
cd "$T"
"$T/v/bin/python" -W ignore - <<'P'
import sys
import numpy as np, OpenEXR

depth = np.add.outer(np.linspace(0.3, 5, 64), np.linspace(0, 1, 64)).astype(np.float32)
depth[3, 3], depth[20, 20], depth[40, 40] = np.nan, np.inf, 70000
plain = np.isfinite(depth) & (depth < 100)
wrong = []
for name in ("Z", "depth.Z", "y", "Y", "depth.Y", "disparity.R"):
    for kind in (np.float32, np.float16):
        for method in ("DWAA", "DWAB"):
            a = depth.astype(kind)
            header = {"compression": getattr(OpenEXR, method + "_COMPRESSION"), "type": OpenEXR.scanlineimage}
            OpenEXR.File(header, {name: a}).write("d.exr")
            b = OpenEXR.File("d.exr", separate_channels=True).channels()[name].pixels
            case = f"{name} {kind.__name__} {method}"
            if b.tobytes() == a.tobytes():
                print(case, "exact")
                if name not in ("Z", "depth.Z", "y"):
                    wrong.append(case)
                continue
            error = float(np.abs(a[plain].astype(float) - b[plain]).max())
            print(f"{case}: error {error:.3f}, NaN {b[3, 3]:.5f}, inf {b[20, 20]:.5f}, 70000 {b[40, 40]:.5f}")
            far = b[20, 20] == 64704 and b[40, 40] == 64704 if kind is np.float32 else abs(b[20, 20]) < 0.001
            if name in ("Z", "depth.Z", "y") or not (0.01 < error < 0.1 and abs(b[3, 3]) < 0.001 and far):
                wrong.append(case)
if wrong:
    print("changed: " + ", ".join(wrong))
    sys.exit(1)
P
echo "as described"
