#!/bin/sh
# A depth map in a TIFF file whose samples lie in tiles, as in a cloud-optimised GeoTIFF, or in strips: written by
#   rasterio 1.4.4 (GDAL 3.10.3), read by VTK 9.7.2, PyAV 18.1.0 (FFmpeg 8.1.2) and OpenImageIO 3.2.2.0.
# Expected: tiles make no difference, or the file is refused.
# Seen: with strips all are right. With tiles, where nothing is reported:
#   VTK is right with 8 bits only. Of 16 or 32 bits it takes a half or a quarter of each row of a tile, puts rows
#     in the wrong place, and does not set the rest.
#   FFmpeg gives a frame of zeros: a depth map that is one hole. It logs no warning.
#   OpenImageIO is wrong with Float64 only: it reads each tile into a buffer that it never copies out.
#   Compression changes nothing. tifffile and OpenCV read all of the files right.
# Output (share of right samples in strips / in tiles; - was not tried; wrong means below 0.9 for the script):
#   uint8:   vtk 1 / 1              ffmpeg 1 / 0      openimageio 1 / 1
#   uint16:  vtk 1 / 0.53 or less   ffmpeg 1 / 0      openimageio 1 / 1
#   float32: vtk 1 / 0.03           ffmpeg -          openimageio 1 / 1
#   float64: vtk -                  ffmpeg -          openimageio 1 / 0
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q rasterio==1.4.4 vtk==9.7.2 av==18.1.0 OpenImageIO==3.2.2.0 tifffile==2026.3.3 \
  imagecodecs==2026.3.6 opencv-python-headless==5.0.0.93 numpy==2.4.6
cd "$T"
"$T/v/bin/python" -W ignore - <<'P'
import sys
import av, cv2, numpy as np, OpenImageIO as oiio, rasterio, tifffile, vtk
from vtk.util.numpy_support import vtk_to_numpy

SIZE, TILES = 128, {"tiled": True, "blockxsize": 32, "blockysize": 32}
wrong = []
def with_vtk(name):
    reader = vtk.vtkTIFFReader()
    reader.SetFileName(name)
    reader.Update()
    if reader.GetErrorCode():
        wrong.append(f"{name}: VTK reports an error")
    return vtk_to_numpy(reader.GetOutput().GetPointData().GetScalars()).reshape(SIZE, SIZE)
def with_ffmpeg(name):
    with av.logging.Capture() as log, av.open(name) as file:
        a = next(file.decode(video=0)).to_ndarray()
    wrong.extend(f"{name}: {line}" for line in log if line[0] <= av.logging.WARNING)
    return a
def with_openimageio(name):
    file = oiio.ImageInput.open(name)
    a = file.read_image(file.spec().format)[..., 0]
    if file.has_error:
        wrong.append(f"{name}: {file.geterror()}")
    return a
def with_opencv(name):
    return cv2.imread(name, cv2.IMREAD_UNCHANGED)

rng = np.random.default_rng(1)
av.logging.set_level(av.logging.WARNING)
for kind, readers, bad in (("uint8", (with_vtk, with_ffmpeg), (with_ffmpeg,)),
                           ("uint16", (with_vtk, with_ffmpeg), (with_vtk, with_ffmpeg)),
                           ("float32", (with_vtk,), (with_vtk,)), ("float64", (), (with_openimageio,))):
    for name, more in (("strips", {}), ("tiles", TILES), ("packed", TILES | {"compress": "deflate"})):
        depth = rng.integers(1, 250, (SIZE, SIZE)).astype(kind)
        with rasterio.open(name, "w", driver="GTiff", width=SIZE, height=SIZE, count=1, dtype=kind, **more) as d:
            d.write(depth, 1)
        said = []
        for read in (*readers, with_openimageio, with_opencv, tifffile.imread):
            a = read(name)
            share = float((a == depth).mean())
            said.append(f"{read.__name__} {share:.2g}")
            fine = share < 0.9 if read in bad and name != "strips" else share == 1
            if not fine or (read is with_ffmpeg and name != "strips" and a.any()):
                wrong.append(f"{kind} {name} {said[-1]}")
        print(f"{kind} {name}: " + ", ".join(said), flush=True)
if wrong:
    print("changed: " + "; ".join(wrong))
    sys.exit(1)
P
echo "as described"
