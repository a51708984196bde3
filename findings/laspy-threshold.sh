#!/bin/sh
# laspy 2.7.0, points chosen by las.z < 1.204 in a LAS file, which stores coordinates as whole steps of a scale.
# Expected: the comparison is that of the coordinates, as for a NumPy array.
# Seen: the limit is first rounded to a whole step. With a scale of 0.01, 1.204 is taken as 1.20: a point at 1.20
#   counts as equal to 1.204, not below it. 1.196 is taken as 1.20 too, so the point is not above 1.196. Even
#   np.float32(1.2), which is above 1.2 by a hair, is one of these limits. A score that is kept as uint8 with a
#   scale of 0.1: the point with score 1.0 is not above 0.96.
#   Only a Python or NumPy number is rounded. A limit in a list, in np.array(1.204), given to np.less or to the command
#   "laspy filter" is not. pylas 0.4.3, the reader before laspy 2, compares z like NumPy.
# Output (z 1.19, 1.20, 1.21; score 0.8, 0.9, 1.0; z is shown):
#   las.z < 1.204: 1.19      np.less: 1.19 1.2        in an array: 1.19 1.2    laspy filter: 1.19 1.2
#   las.z >= 1.204: 1.2 1.21 np.greater_equal: 1.21   in an array: 1.21        laspy filter: 1.21
#   las.z > 1.196: 1.21      np.greater: 1.2 1.21     in an array: 1.2 1.21    laspy filter: 1.2 1.21
#   las.z == 1.204: 1.2      np.equal: none           in an array: none        laspy filter: none
#   las.score > 0.96: none   np.greater: 1.21         in an array: 1.21        laspy filter: 1.21
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q "laspy[cli]==2.7.0" pylas==0.4.3 numpy==2.4.6
cd "$T"
PATH="$T/v/bin:$PATH" HOME=$T python - <<'P'
import operator, subprocess, sys
import laspy, numpy as np, pylas

header = laspy.LasHeader(point_format=3, version="1.4")
header.scales = [0.01, 0.01, 0.01]
header.add_extra_dim(laspy.ExtraBytesParams("score", "uint8", scales=np.array([0.1]), offsets=np.array([0.0])))
las = laspy.LasData(header)
las.xyz = np.array([[0, 0, 1.19], [0, 0, 1.20], [0, 0, 1.21]])
las.score = [0.8, 0.9, 1.0]
las.write("d.las")
las, old = laspy.read("d.las"), pylas.read("d.las")
def line(points):
    return " ".join(f"{z:.4g}" for z in points) or "none"
wrong = []
for name, sign, limit, rounded, right in (
        ("z", "<", 1.204, "1.19", "1.19 1.2"), ("z", ">=", 1.204, "1.2 1.21", "1.21"),
        ("z", ">", 1.196, "1.21", "1.2 1.21"), ("z", "==", 1.204, "1.2", "none"),
        ("z", "<", np.float32(1.2), "1.19", "1.19 1.2"), ("score", ">", 0.96, "none", "1.21")):
    op, ufunc = {"<": (operator.lt, np.less), ">=": (operator.ge, np.greater_equal),
                 ">": (operator.gt, np.greater), "==": (operator.eq, np.equal)}[sign]
    values = getattr(las, name)
    got = {f"las.{name} {sign} {limit}": line(las.points[op(values, limit)].z)}
    got[ufunc.__name__] = line(las.points[ufunc(values, limit)].z)
    got["in an array"] = line(las.points[op(values, np.array(limit))].z)
    got["in a list"] = line(las.points[op(values, [limit] * 3)].z)
    expression = f"{name} {sign} {limit!r}" if isinstance(limit, float) else f"{name} {sign} {float(limit)!r}"
    subprocess.run(["laspy", "filter", "d.las", "f.las", expression], stdout=subprocess.DEVNULL, check=True)
    got["laspy filter"] = line(laspy.read("f.las").z)
    if name == "z":
        got["pylas"] = line(old.z[op(old.z, limit)])
    print(" | ".join(f"{k}: {v}" for k, v in got.items()), flush=True)
    for k, v in got.items():
        want = rounded if k.startswith("las.") else right
        if v != want:
            wrong.append(f"{k}: {v}, was {want}")
if wrong:
    print("changed: " + "; ".join(wrong))
    sys.exit(1)
P
echo "as described"
