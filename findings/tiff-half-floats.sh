#!/bin/sh
# A depth map of half floats (Float16) in a TIFF file, written by tifffile 2026.3.3, read by SimpleITK 2.5.7 (ITK), VTK
#   9.7.2, PyAV 18.1.0 (FFmpeg 8.1.2), pyvips 3.2.0 (libvips 8.18.7), rasterio 1.4.4, OpenImageIO 3.2.2.0, OpenCV 5.0.0.
# Expected: a reader gives the numbers, or refuses samples of 16 bits whose SampleFormat is 3 (floating point).
# Seen: SimpleITK, VTK and FFmpeg take the bits of each number as a whole number, and do not fail: 0.5 m becomes 14336,
#   a hole (NaN) 32256, infinity 31744. The order of depths stays, so a picture of it looks plausible. Asked for
#   sitkFloat32, SimpleITK gives 14336.0. In a file with a predictor FFmpeg gives 2104 for 0.5.
#   libvips knows half floats but makes NaN infinity: a hole is the farthest point. Float32 is right in all but FFmpeg,
#   with which it was not tried. rasterio and OpenImageIO give the numbers, NaN among them; OpenCV refuses the file.
# Output (0.5, 2, NaN, infinity):
#   simpleitk: 14336 16384 32256 31744 | vtk: 14336 16384 32256 31744 | ffmpeg: 14336 16384 32256 31744
#   libvips: 0.5 2 inf inf | rasterio: 0.5 2 nan inf | openimageio: 0.5 2 nan inf | opencv: refused
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q tifffile==2026.3.3 imagecodecs==2026.3.6 simpleitk==2.5.7 vtk==9.7.2 av==18.1.0 \
  pyvips==3.2.0 pyvips-binary==8.18.7 rasterio==1.4.4 OpenImageIO==3.2.2.0 opencv-python-headless==5.0.0.93 numpy==2.4.6
cd "$T"
OPENCV_LOG_LEVEL=OFF "$T/v/bin/python" -W ignore - 2>said <<'P' || { cat said; exit 1; }
import sys
import av, cv2, numpy as np, OpenImageIO as oiio, pyvips, rasterio, SimpleITK as sitk, tifffile, vtk
from vtk.util.numpy_support import vtk_to_numpy

depth = np.array([[0.5, 2, np.nan, np.inf]], np.float32)
def with_vtk(name):
    reader = vtk.vtkTIFFReader()
    reader.SetFileName(name)
    reader.Update()
    return vtk_to_numpy(reader.GetOutput().GetPointData().GetScalars())
def with_ffmpeg(name):
    with av.open(name) as file:
        return next(file.decode(video=0)).to_ndarray()
def with_rasterio(name):
    with rasterio.open(name) as d:
        return d.read(1)
def with_openimageio(name):
    file = oiio.ImageInput.open(name)
    return file.read_image(file.spec().format)
bits = [14336, 16384, 32256, 31744]
numbers = depth[0].tolist()
wrong = []
def check(kind, reader, read, want, **more):
    name = f"{kind}{len(more)}.tif"
    tifffile.imwrite(name, depth.astype(kind), **more)
    a = read(name)
    got = None if a is None else np.ravel(a).tolist()
    said = "refused" if got is None else " ".join(f"{x:g}" for x in got)
    print(f"{kind} {reader} {more or str()}: {said}", flush=True)
    if got != want if want is None else not np.array_equal(got, want, equal_nan=True):
        wrong.append(f"{kind} {reader}: {got}, was {want}")
packed = {"compression": "zlib", "predictor": True}
for reader, read, half in (
        ("simpleitk", lambda f: sitk.GetArrayFromImage(sitk.ReadImage(f)), bits), ("vtk", with_vtk, bits),
        ("libvips", lambda f: pyvips.Image.new_from_file(f).numpy(), [0.5, 2, np.inf, np.inf]),
        ("rasterio", with_rasterio, numbers), ("openimageio", with_openimageio, numbers),
        ("opencv", lambda f: cv2.imread(f, cv2.IMREAD_UNCHANGED), None)):
    check("float16", reader, read, half)
    check("float16", reader, read, half, **packed)
    check("float32", reader, read, numbers)
check("float16", "ffmpeg", with_ffmpeg, bits)
check("float16", "simpleitk, sitkFloat32", lambda f: sitk.GetArrayFromImage(sitk.ReadImage(f, sitk.sitkFloat32)), bits)
check("float16", "ffmpeg", lambda f: with_ffmpeg(f)[0, :1], [2104], **packed)
if wrong:
    print("changed: " + "; ".join(wrong))
    sys.exit(1)
P
[ ! -s said ] || { echo "changed: a reader says:"; cat said; exit 1; }
echo "as described"
