"""PNG by OpenCV, Pillow, pypng, imageio and GDAL."""
import cv2
import imageio.v3 as imageio
import numpy as np
import png
import rasterio
from PIL import Image

from Writers.bench import MILLIMETRES, metres

MM = ("--depth-unit", "mm")


def plain(bench):
    for write in (lambda path: cv2.imwrite(path, MILLIMETRES), lambda path: Image.fromarray(MILLIMETRES).save(path),
                  lambda path: imageio.imwrite(path, MILLIMETRES)):
        bench.gives("depth.png", write, metres(MILLIMETRES), said="its integers are read as millimetres")
        bench.gives("depth.png", write, metres(MILLIMETRES, 5000), "--depth-scale", "0.0002")
        bench.refused("depth.png", write, "--depth-scale 0.0002", "--depth-scale", "5000")
        bench.refused("depth.png", write, "--depth-scale 0.001", "--depth-scale", "1000")


def pypng(bits, values, **options):
    def write(path):
        with open(path, "wb") as file:
            png.Writer(48, 64, greyscale=True, bitdepth=bits, **options).write(file, values.tolist())
    return write


def significant_bits(bench):
    for bits in (9, 10, 12, 13, 14, 15):
        codes = MILLIMETRES % (2**bits - 1)
        bench.gives("depth.png", pypng(bits, codes), metres(codes), *MM, said=f"{bits} of its 16 bits")
        codes = codes | (codes == 0) * np.uint16(2**bits - 1)
        bench.gives("depth.png", pypng(bits, codes), metres(codes), *MM, "--depth-invalid", "zero")
    for bits in (5, 7):
        codes = MILLIMETRES % (2**bits - 1)
        bench.gives("depth.png", pypng(bits, codes), codes.astype("f4"), "--depth-unit", "m")


def transparent(bench):
    def gdal(path):
        with rasterio.open(path, "w", driver="PNG", height=64, width=48, count=1, dtype="uint16", nodata=9999) as made:
            made.write(np.where(MILLIMETRES > 0, MILLIMETRES, 9999).astype("u2"), 1)
    bench.gives("depth.png", gdal, metres(MILLIMETRES), *MM, said="its tRNS makes transparent")
    holes = MILLIMETRES > 0
    filled = np.where(holes, MILLIMETRES, 7777).astype("u2")
    alpha = holes * np.uint16(65535)
    bench.gives("depth.png", pypng(16, np.dstack([filled, alpha]).reshape(64, -1), alpha=True), metres(MILLIMETRES), *MM,
                said="its alpha channel makes transparent")
    bench.gives("depth.png", lambda path: cv2.imwrite(path, np.dstack([filled] * 3 + [alpha])), metres(MILLIMETRES), *MM)


def equal_channels(bench):
    bench.gives("depth.png", lambda path: cv2.imwrite(path, np.dstack([MILLIMETRES] * 3)), metres(MILLIMETRES))
    differs = np.dstack([MILLIMETRES] * 3)
    differs[3, 3, 1] += 1
    bench.refused("depth.png", lambda path: cv2.imwrite(path, differs), "16-bit RGB")


def turned(bench):
    exif = Image.Exif()
    exif[0x112] = 6
    bench.gives("depth.png", lambda path: Image.fromarray(MILLIMETRES).save(path, exif=exif), metres(MILLIMETRES), *MM,
                said="has the orientation 6 in its eXIf, but the photo has 1")


TESTS = [("16 bits by three libraries, and the unit", plain),
         ("the significant bits that pypng writes", significant_bits),
         ("transparent samples are missing, by GDAL, pypng and OpenCV", transparent),
         ("equal colours count as one channel", equal_channels),
         ("an orientation of its own is named", turned)]
