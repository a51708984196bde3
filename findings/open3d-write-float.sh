#!/bin/sh
# Open3D 0.20.0, a depth map of 32-bit floats in metres, written as PNG by io.write_image.
# Expected: an error or False, since PNG has no floats; or a conversion to 16-bit millimetres.
# Seen: it returns True and writes an 8-bit grey picture of the right size, whose bytes are the memory of
#   the first quarter of the floats: 0.25 and 0.5 become 0 0 128 62 0 0 0 63. Three quarters of the depth map are lost,
#   and read_image gives the bytes back as a picture without a word. t.io.write_image returns False and warns, and writes
#   nothing; a map of 16-bit integers is right with both.
# Output:
#   io f4: True uint8 first quarter of the memory | t.io f4: False, no file | io u2: True same | t.io u2: True same
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q open3d-cpu==0.20.0 numpy==2.4.6
cd "$T"
"$T/v/bin/python" -W ignore - <<'P'
import os, sys
import numpy as np, open3d as o3d

o3d.utility.set_verbosity_level(o3d.utility.VerbosityLevel.Error)
metres = (np.arange(48, dtype=np.float32) / 4 + 0.25).reshape(6, 8)

def seen(name, kind):
    a = metres if kind == "f4" else (metres * 1000).astype(np.uint16)
    if os.path.exists("d.png"):
        os.remove("d.png")
    if name == "io":
        done = o3d.io.write_image("d.png", o3d.geometry.Image(a))
    else:
        done = o3d.t.io.write_image("d.png", o3d.t.geometry.Image(np.ascontiguousarray(a[:, :, None])))
    if not os.path.exists("d.png"):
        return f"{done}, no file"
    back = np.asarray(o3d.io.read_image("d.png"))
    if back.dtype == a.dtype and np.array_equal(back, a):
        return f"{done} same"
    if back.dtype == np.uint8 and back.shape == a.shape and back.tobytes() == a.tobytes()[:back.size]:
        return f"{done} uint8 first quarter of the memory"
    return f"{done} {back.dtype} {back.ravel()[:8].tolist()}"

want = {("io", "f4"): "True uint8 first quarter of the memory", ("t.io", "f4"): "False, no file",
        ("io", "u2"): "True same", ("t.io", "u2"): "True same"}
changed = 0
for key, expected in want.items():
    got = seen(*key)
    print(*key, got)
    changed += got != expected
sys.exit(f"changed: {changed}" if changed else 0)
P
echo "as described"
