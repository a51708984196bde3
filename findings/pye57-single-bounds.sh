#!/bin/sh
# pye57 0.4.19, a point cloud of doubles written as E57 by write_scan_raw, read by pye57 and by e57 0.2.3 (a reader in
#   Rust), which also shows the file's XML.
# Expected: doubles stay doubles, for E57 has both; cartesianBounds is a box that holds the points.
# Seen: doubles become precision="single", which pye57 cannot change. At a north of 5400 km a point moves by up to
#   25 cm (5400000.123 becomes 5400000.0), and a step of 10 cm is lost. pye57 reads the points as Float64 again, so
#   nothing shows it. Near zero the error is below 1e-7 m.
#   With a pose that turns the scan, pye57 turns two corners of the box only: after half or a quarter of a turn about
#   the upright axis xMinimum is above xMaximum, so no point is in the box; after an eighth they are equal. The E57
#   standard wants the box in the scan's own system. Both readers place the points alike.
# Output (north 5400000.123 5400000.223; a cube of 2 m turned by 0, 45, 90 and 180 degrees, x of its box):
#   pye57: float64 5400000.0 5400000.0 | e57: 5400000.0 5400000.0 | XML: precision="single"
#   0: 0 .. 2    45: 0 .. 0    90: 0 .. -2    180: 0 .. -2
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q pye57==0.4.19 e57==0.2.3 numpy==2.4.6
cd "$T"
"$T/v/bin/python" -W ignore - <<'P'
import itertools, math, re, sys
import e57, numpy as np, pye57

def write(name, xyz, **pose):
    f = pye57.E57(name, mode="w")
    f.write_scan_raw(dict(zip(("cartesianX", "cartesianY", "cartesianZ"), xyz.T.copy())), **pose)
    f.close()
def with_pye57(name):
    scan = pye57.E57(name).read_scan(0, ignore_missing_fields=True)
    return np.column_stack([scan["cartesianX"], scan["cartesianY"], scan["cartesianZ"]])
def with_e57(name):
    return np.asarray(e57.read_points(name).points)
wrong = []
north = np.array([[500000.123, 5400000.123, 1], [500000.123, 5400000.223, 1]])
write("map.e57", north)
precision = re.search('<cartesianY [^>]*(precision="[a-z]+")', e57.raw_xml("map.e57"))[1]
print("XML:", precision)
if precision != 'precision="single"':
    wrong.append(precision)
for name, read in (("pye57", with_pye57), ("e57", with_e57)):
    a = read("map.e57")
    print(f"{name}: {a.dtype}", *a[:, 1])
    if a[:, 1].tolist() != [5400000.0, 5400000.0] or a.dtype != np.float64:
        wrong.append(f"{name}: {a.tolist()}")
write("near.e57", north - north[0])
if np.abs(with_pye57("near.e57") - (north - north[0])).max() > 1e-7:
    wrong.append("near zero is not right")
cube = np.array(list(itertools.product((0, 2.0), repeat=3)))
for degrees, want in ((0, (0, 2)), (45, (0, 0)), (90, (0, -2)), (180, (0, -2))):
    half = math.radians(degrees) / 2
    write("cube.e57", cube, rotation=np.array([math.cos(half), 0, 0, math.sin(half)]), translation=np.zeros(3))
    box = [float(re.search(f"<x{k}[^>]*?(?:/>|>([^<]*)<)", e57.raw_xml("cube.e57"))[1] or 0)
           for k in ("Minimum", "Maximum")]
    placed = with_pye57("cube.e57")
    print(f"{degrees}: the file's box {box[0]:.3g} .. {box[1]:.3g}, the points in the room "
          f"{placed[:, 0].min():.2f} .. {placed[:, 0].max():.2f}, in the scan 0 .. 2")
    if not np.allclose(box, want, atol=1e-6) or not np.allclose(placed, with_e57("cube.e57"), atol=1e-5):
        wrong.append(f"{degrees}: {box}, was {want}")
if wrong:
    print("changed: " + "; ".join(wrong))
    sys.exit(1)
P
echo "as described"
