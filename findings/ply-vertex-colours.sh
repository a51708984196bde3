#!/bin/sh
# A point cloud in PLY whose colours are uchar, ushort or float (0 to 1): plyfile 1.1.5, trimesh 5.2.0, meshio 5.3.5
#   and Open3D 0.20.0 with its two readers (io, and t.io for tensors).
# Expected: the number as it stands, or as a share of the type's range; else an error.
# Seen: only plyfile is right for all. meshio reads uchar as signed: 255 is -1, 200 is -56, and it does not
#   know ushort (KeyError). trimesh makes ushort 8 bits by dropping the high byte: 51200 is 0, 51201 is
#   1, so smooth colours become stripes. Open3D's io divides each type by 255: ushort gives 200.8 where 1
#   is the brightest, float 0.8 gives 0.003, which is black. Its t.io keeps float, and leaves out ushort
#   with a warning. Positions are right in each.
# Output (red of two points; uchar 200 and 255, ushort 51200 and 51201, float 0.8 and 1.0):
#   plyfile: 200 255 | 51200 51201 | 0.8 1.0      meshio: -56 -1 | KeyError | 0.8 1.0
#   trimesh: 200 255 | 0 1 | 204 255              open3d io: 0.7843 1.0 | 200.8 200.8 | 0.0031 0.0039
#   open3d t.io: 200 255 | none | 0.8 1.0
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q plyfile==1.1.5 trimesh==5.2.0 meshio==5.3.5 open3d-cpu==0.20.0 numpy==2.4.6
cd "$T"
"$T/v/bin/python" -W ignore - <<'P'
import struct, sys
import meshio, numpy as np, open3d as o3d, plyfile, trimesh

KINDS = {"uchar": ("B", 200, 255), "ushort": ("H", 51200, 51201), "float": ("f", 0.8, 1.0)}
def write(kind):
    letter, *reds = KINDS[kind]
    lines = ["ply", "format binary_little_endian 1.0", "element vertex 2"]
    lines += [f"property float {n}" for n in "xyz"] + [f"property {kind} {n}" for n in ("red", "green", "blue")]
    with open("p.ply", "wb") as f:
        f.write("\n".join([*lines, "end_header", ""]).encode())
        for n, red in enumerate(reds):
            f.write(struct.pack("<3f3" + letter, n, 2, 3, red, red, red))
def with_plyfile():
    v = plyfile.PlyData.read("p.ply")["vertex"]
    return v["x"], v["red"]
def with_trimesh():
    c = trimesh.load("p.ply")
    return c.vertices[:, 0], c.colors[:, 0]
def with_meshio():
    m = meshio.read("p.ply")
    return m.points[:, 0], m.point_data["red"]
def with_open3d():
    c = o3d.io.read_point_cloud("p.ply")
    return np.asarray(c.points)[:, 0], np.asarray(c.colors)[:, 0]
def with_tensors():
    c = o3d.t.io.read_point_cloud("p.ply")
    return c.point.positions.numpy()[:, 0], c.point.colors.numpy()[:, 0] if "colors" in c.point else None
want = {
    ("plyfile", with_plyfile): ("200 255", "51200 51201", "0.8 1"),
    ("meshio", with_meshio): ("-56 -1", "KeyError", "0.8 1"),
    ("trimesh", with_trimesh): ("200 255", "0 1", "204 255"),
    ("open3d io", with_open3d): ("0.7843 1", "200.8 200.8", "0.003137 0.003922"),
    ("open3d t.io", with_tensors): ("200 255", "none", "0.8 1"),
}
wrong = []
for (name, read), states in want.items():
    for kind, state in zip(KINDS, states):
        write(kind)
        try:
            x, red = read()
        except KeyError:
            got = "KeyError"
        else:
            got = "none" if red is None else " ".join(f"{r:.4g}" if r < 1000 else str(r) for r in red)
            if list(x) != [0, 1]:
                wrong.append(f"{name} has other positions")
        print(f"{name} {kind}: {got}", flush=True)
        if got != state:
            wrong.append(f"{name} {kind}: {got}, was {state}")
if wrong:
    print("changed: " + "; ".join(wrong))
    sys.exit(1)
P
echo "as described"
