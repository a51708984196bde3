#!/bin/sh
# pycolmap 4.2.1 (COLMAP), a reconstruction, written as text and as binary, of photos with a space in their name, as
#   "front 1.png" or "cam 1/0001.png".
# Expected: both forms come back with the same names, or the text form refuses such a name.
# Seen: write_text writes the whole name, but read_text ends it at the first space, without an error or a warning.
#   "front 1.png" and "front 2.png" are both "front" then: a model may hold one name twice, and
#   find_image_with_name gives the later of the two. All photos of the folders "cam 1" and "cam 2" are "cam". A
#   space at the start is dropped. Written as binary after that, the names are cut for good.
#   Each pose keeps its number and is right. A program that finds photos by name pairs them with the wrong
#   pose, or with none. The name is the last value of its line, so nothing needs the cut.
# Output (number and name; the pose of an image is x = its number):
#   binary: 1 'front 1.png', 2 'front 2.png', 3 'cam 1/0001.png', 4 'cam 2/0001.png', 5 ' a.png', 6 'plain.png'
#   text and again: 1 'front', 2 'front', 3 'cam', 4 'cam', 5 'a.png', 6 'plain.png'       "front" is at x = 2
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q pycolmap==4.2.1 numpy==2.4.6
cd "$T"
mkdir text binary again
"$T/v/bin/python" - 2>said <<'P' || { cat said; exit 1; }
import sys
import numpy as np, pycolmap

names = {1: "front 1.png", 2: "front 2.png", 3: "cam 1/0001.png", 4: "cam 2/0001.png", 5: " a.png", 6: "plain.png"}
cut = {1: "front", 2: "front", 3: "cam", 4: "cam", 5: "a.png", 6: "plain.png"}
model = pycolmap.Reconstruction()
model.add_camera_with_trivial_rig(
    pycolmap.Camera(model="PINHOLE", width=640, height=480, params=[500, 500, 320, 240], camera_id=1))
for number, name in names.items():
    model.add_image_with_trivial_frame(pycolmap.Image(name=name, camera_id=1, image_id=number),
                                       pycolmap.Rigid3d(pycolmap.Rotation3d(), np.array([number, 0, 0.0])))
model.write_text("text")
model.write_binary("binary")
pycolmap.Reconstruction("text").write_binary("again")
wrong = []
lines = open("text/images.txt").read().splitlines()
if not all(any(line.endswith(" 1 " + name) for line in lines) for name in names.values()):
    wrong.append("the text file has other names")
for kind, want in (("binary", names), ("text", cut), ("again", cut)):
    model = pycolmap.Reconstruction(kind)
    got = {number: image.name for number, image in sorted(model.images.items())}
    print(f"{kind}: " + ", ".join(f"{number} {name!r}" for number, name in got.items()), flush=True)
    if got != want:
        wrong.append(f"{kind}: {got}")
    if any(image.cam_from_world().translation[0] != number for number, image in model.images.items()):
        wrong.append(f"{kind}: the poses have changed")
found = pycolmap.Reconstruction("text").find_image_with_name("front")
print(f"'front' is at x = {found.cam_from_world().translation[0]:g}")
if found.image_id != 2 or pycolmap.Reconstruction("text").find_image_with_name("front 1.png"):
    wrong.append(f"found: {found}")
if wrong:
    print("changed: " + "; ".join(wrong))
    sys.exit(1)
P
[ ! -s said ] || { echo "changed: it says:"; cat said; exit 1; }
echo "as described"
