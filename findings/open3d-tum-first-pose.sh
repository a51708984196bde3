#!/bin/sh
# Open3D 0.20.0, camera poses written by io.write_pinhole_camera_trajectory as .txt, the TUM format (time, place,
#   quaternion), and read by Open3D, evo 1.38.1 and NumPy 2.4.6.
# Expected: as many poses as were written.
# Seen: no reader finds the first pose, and none warns. The comment at the top of the file has no line end, so the
#   first pose is part of it. A program that pairs poses and photos by their order then has each
#   photo at the place of the next one. A trajectory of one pose comes back with none, and neither call reports
#   anything. The formats .json and .log keep all poses; from .log, as from .txt, the focal length comes back
#   as 525 pixels, whatever was written.
# Output (three poses at x = 1, 2, 3; focal length 700):
#   first line: # TUM trajectory, format: <t> <x> <y> <z> <qx> <qy> <qz> <qw>0 1.000000 0.000000 ...
#   txt: open3d x = 2 3, f = 525 | evo x = 2 3 | numpy x = 2 3     one pose: open3d none
#   log: open3d x = 1 2 3, f = 525                                 json: open3d x = 1 2 3, f = 700
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q open3d-cpu==0.20.0 evo==1.38.1 numpy==2.4.6
cd "$T"
HOME=$T "$T/v/bin/python" -W ignore - <<'P'
import sys
import numpy as np, open3d as o3d
from evo.tools import file_interface

def write(name, places):
    parameters = []
    for x in places:
        p = o3d.camera.PinholeCameraParameters()
        p.intrinsic = o3d.camera.PinholeCameraIntrinsic(640, 480, 700, 700, 320, 240)
        pose = np.eye(4)
        pose[0, 3] = x
        p.extrinsic = np.linalg.inv(pose)
        parameters.append(p)
    t = o3d.camera.PinholeCameraTrajectory()
    t.parameters = parameters
    if not o3d.io.write_pinhole_camera_trajectory(name, t):
        sys.exit(f"changed: {name} is not written")
def line(places):
    return " ".join(f"{x:g}" for x in places) or "none"
def with_open3d(name):
    found = o3d.io.read_pinhole_camera_trajectory(name).parameters
    x = line(np.linalg.inv(p.extrinsic)[0, 3] for p in found)
    return x + (f", f = {found[0].intrinsic.get_focal_length()[0]:g}" if found else "")

got = {}
for ending in ("txt", "log", "json"):
    write("t." + ending, (1, 2, 3))
    got[ending, "open3d"] = with_open3d("t." + ending)
print("first line: " + open("t.txt").readline().strip())
got["txt", "evo"] = line(file_interface.read_tum_trajectory_file("t.txt").positions_xyz[:, 0])
got["txt", "numpy"] = line(np.loadtxt("t.txt", ndmin=2)[:, 1])
write("one.txt", (1,))
got["one pose", "open3d"] = with_open3d("one.txt")
want = {("txt", "open3d"): "2 3, f = 525", ("txt", "evo"): "2 3", ("txt", "numpy"): "2 3",
        ("one pose", "open3d"): "none", ("log", "open3d"): "1 2 3, f = 525",
        ("json", "open3d"): "1 2 3, f = 700"}
changed = 0
for key, expected in want.items():
    print(*key, "x =", got[key], flush=True)
    changed += got[key] != expected
sys.exit(f"changed: {changed}" if changed else 0)
P
echo "as described"
