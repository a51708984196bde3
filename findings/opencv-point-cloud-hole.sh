#!/bin/sh
# OpenCV 5.0.0, loadPointCloud of a point cloud with one hole (NaN), as from a depth map: PLY and OBJ files, by
#   plyfile 1.1.5 or by savePointCloud. Seen on x86-64.
# Expected: the hole stays NaN, as it does in a binary PLY; or an error.
# Seen: from a text PLY the NaN is read as 0, and all later points are lost: their number is right, but their
#   coordinates are wrong (0 here), without an error or a warning. Infinity, and a NaN in a normal, do the
#   same. savePointCloud writes nan itself, in PLY and in OBJ, and has no binary form, so OpenCV does not
#   get its own cloud back. From OBJ the hole becomes 0, and the other points are right. plyfile reads each PLY right.
# Output, 20 points of which the sixth has a hole in z:
#   plyfile, binary:     5 of 5 before, hole nan, 14 of 14 after
#   plyfile, text:       5 of 5 before, hole 0, 0 of 14 after
#   savePointCloud, ply: 5 of 5 before, hole 0, 0 of 14 after
#   savePointCloud, obj: 5 of 5 before, hole 0, 14 of 14 after      a NaN in a normal: 6 of 6 points, 0 of 14 after
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q opencv-python-headless==5.0.0.93 plyfile==1.1.5 numpy==2.4.6
cd "$T"
OPENCV_LOG_LEVEL=ERROR "$T/v/bin/python" - <<'P'
import sys
import cv2, numpy as np, plyfile

HOLE = 5
cloud = np.random.default_rng(1).integers(1, 64, (20, 3)).astype(np.float32) / 8  # exact in few digits

def with_plyfile(name, points, text, normals=None):
    names = ["x", "y", "z"] + (["nx", "ny", "nz"] if normals is not None else [])
    rows = points if normals is None else np.hstack([points, normals])
    table = np.array([tuple(r) for r in rows], [(n, "f4") for n in names])
    plyfile.PlyData([plyfile.PlyElement.describe(table, "vertex")], text=text).write(name)
    back = plyfile.PlyData.read(name)["vertex"]
    if not all(np.array_equal(back[n], table[n], equal_nan=True) for n in names):
        sys.exit("changed: plyfile does not give the file back")

def state(name, points):
    b = cv2.loadPointCloud(name)[0].reshape(-1, 3)
    if b.shape != points.shape:
        return f"{len(b)} points"
    right = (b == points).all(axis=1)
    return f"{right[:HOLE].sum()} of 5 before, hole {b[HOLE, 2]:g}, {right[HOLE + 1:].sum()} of 14 after"

got = {}
for value in (np.nan, np.inf):
    points = cloud.copy()
    points[HOLE, 2] = value
    for text in (False, True):
        with_plyfile("p.ply", points, text)
        got["plyfile, " + ("text" if text else "binary") + f", {value}"] = state("p.ply", points)
    for ending in ("ply", "obj"):
        cv2.savePointCloud("s." + ending, points.reshape(-1, 1, 3))
        got[f"savePointCloud, {ending}, {value}"] = state("s." + ending, points)
normals = np.tile(np.float32([0, 0, 1]), (20, 1))
normals[HOLE] = np.nan
with_plyfile("n.ply", cloud, True, normals)
right = (cv2.loadPointCloud("n.ply")[0].reshape(-1, 3) == cloud).all(axis=1)
got["normal nan, text"] = f"{right[:HOLE + 1].sum()} of 6 points, {right[HOLE + 1:].sum()} of 14 after"

lost, line = "5 of 5 before, hole 0, 0 of 14 after", "5 of 5 before, hole 0, 14 of 14 after"
want = {f"{name}, {value}": result for value in ("nan", "inf") for name, result in (
    ("plyfile, binary", f"5 of 5 before, hole {value}, 14 of 14 after"), ("plyfile, text", lost),
    ("savePointCloud, ply", lost), ("savePointCloud, obj", line))}
want["normal nan, text"] = "6 of 6 points, 0 of 14 after"
wrong = [name for name in want if got[name] != want[name]]
for name in want:
    print(f"{name}: {got[name]}", flush=True)
if wrong:
    sys.exit("changed: " + "; ".join(wrong))
P
echo "as described"
