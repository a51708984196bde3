#!/bin/sh
# A PFM depth map whose third line is -2.5 (little-endian, a scale of 2.5), with its rows from the bottom to the
#   top as PFM has them: OpenCV 5.0.0, netpbm 11.01, OpenImageIO 3.2.2 and Pillow 13.0.0.
# Expected: all multiply by the scale, or all leave the samples as they stand; the rows are the same in each.
# Seen: three answers. OpenCV and netpbm divide by the scale, OpenImageIO multiplies by it, Pillow leaves
#   the samples and tells the scale in info. A sample of 0.5 is 0.2, 1.25 or 0.5, without a warning.
#   Apart from that OpenImageIO has the rows upside down, unless open() is given a configuration: an empty
#   ImageSpec() is enough. So ImageInput.open(name) and ImageBuf(name) in a program are wrong while
#   oiiotool is right with the same file. It writes right files, so it does not read back its own.
# Output (top left sample 0.5, bottom left 0.1):
#   opencv: 0.2 0.04 | netpbm: 0.2 0.04 | pillow: 0.5 0.1, scale 2.5
#   openimageio: 0.25 1.25 | with ImageSpec(): 1.25 0.25 | ImageBuf: 0.25 1.25 | oiiotool: 1.25 0.25
set -eu
N=2:11.01.00-2
[ "$(dpkg-query -Wf '${Version}' netpbm 2>/dev/null)" = $N ] ||
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends netpbm=$N >/dev/null
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q opencv-python-headless==5.0.0.93 OpenImageIO==3.2.2.0 pillow==13.0.0 numpy==2.4.6
cd "$T"
export PATH="$T/v/bin:$PATH"
python - <<'P'
import subprocess, sys
import cv2, numpy as np, OpenImageIO as oiio
from PIL import Image

depth = np.array([[0.5, 0.4], [0.3, 0.6], [0.1, 0.2]], np.float32)
with open("d.pfm", "wb") as f:
    f.write(b"Pf\n2 3\n-2.5\n" + depth[::-1].astype("<f4").tobytes())
def netpbm():
    said = subprocess.run(["pfmtopam", "-maxval", "65535", "d.pfm"], capture_output=True, check=True).stdout
    return np.frombuffer(said[-12:], ">u2").reshape(3, 2) / 65535
def pillow():
    with Image.open("d.pfm") as im:
        print("pillow: scale", im.info["scale"])
        return np.asarray(im)
def openimageio(*config):
    file = oiio.ImageInput.open("d.pfm", *config)
    a = file.read_image()
    file.close()
    return a
def oiiotool():
    subprocess.run(["oiiotool", "d.pfm", "-o", "d.tif"], check=True)
    return cv2.imread("d.tif", cv2.IMREAD_UNCHANGED)
wrong = []
for name, read, want in (
        ("opencv", lambda: cv2.imread("d.pfm", cv2.IMREAD_UNCHANGED), depth / 2.5),
        ("netpbm", netpbm, depth / 2.5),
        ("pillow", pillow, depth),
        ("openimageio", openimageio, depth[::-1] * 2.5),
        ("openimageio, ImageSpec()", lambda: openimageio(oiio.ImageSpec()), depth * 2.5),
        ("openimageio, ImageBuf", lambda: oiio.ImageBuf("d.pfm").get_pixels(oiio.FLOAT), depth[::-1] * 2.5),
        ("oiiotool", oiiotool, depth * 2.5)):
    a = np.asarray(read()).reshape(3, 2)
    print(f"{name}: {a[0, 0]:.4g} {a[2, 0]:.4g}")
    if not np.allclose(a, want, atol=1e-4):
        wrong.append(f"{name}: {a.tolist()}, was {want.tolist()}")
out = oiio.ImageOutput.create("e.pfm")
out.open("e.pfm", oiio.ImageSpec(2, 3, 1, "float"))
out.write_image(depth.reshape(3, 2, 1))
out.close()
with Image.open("e.pfm") as im:
    if not np.array_equal(np.asarray(im), depth):
        wrong.append("OpenImageIO writes something else")
if wrong:
    print("changed: " + "; ".join(wrong))
    sys.exit(1)
P
echo "as described"
