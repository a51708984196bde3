"""TIFF by tifffile, GDAL (rasterio), OpenCV and Pillow."""
import cv2
import numpy as np
import rasterio
import tifffile
from PIL import Image

from Writers.bench import METRES, MILLIMETRES, metres

MM = ("--depth-unit", "mm")


def gdal(array, **options):
    def write(path):
        with rasterio.open(path, "w", driver="GTiff", height=64, width=48, count=1, dtype=array.dtype, **options) as made:
            made.write(array, 1)
    return write


def with_tifffile(array, **options):
    return lambda path: tifffile.imwrite(path, array, **options)


def types(bench):
    for options in ({}, {"compression": "deflate"}, {"tile": (16, 16)}, {"byteorder": ">"}):
        for kind in ("f8", "f4", "f2"):
            floats = METRES.astype(kind)
            bench.gives("depth.tif", with_tifffile(floats, **options), floats.astype("f4"))
        for kind in ("u2", "u4", "i2", "i4"):
            codes = MILLIMETRES.astype(kind)
            bench.gives("depth.tif", with_tifffile(codes, **options), metres(codes), *MM)
    # tifffile needs another library for the predictor of floats.
    for options in ({}, {"tiled": True, "blockxsize": 16, "blockysize": 16}, {"ENDIANNESS": "BIG"}):
        for array, predictor in ((METRES.astype("f8"), 3), (METRES, 3), (MILLIMETRES, 2), (MILLIMETRES.astype("i4"), 2)):
            for compression in ("deflate", "lzw"):
                write = gdal(array, compress=compression, predictor=predictor, **options)
                floats = array.astype("f4") if predictor == 3 else metres(array)
                bench.gives("depth.tif", write, floats, "--depth-unit", "m" if predictor == 3 else "mm")
    holes = np.where(METRES == 0, np.float32(np.nan), METRES)
    bench.gives("depth.tif", with_tifffile(holes), holes)
    bench.gives("depth.tif", lambda path: Image.fromarray(METRES).save(path), METRES)
    large = MILLIMETRES.astype("u4") * 40000
    bench.gives("depth.tif", with_tifffile(large), metres(large, 4e7), "--depth-scale", "0.000000025")
    negative = MILLIMETRES.astype("i2")
    negative[5, 5] = -1
    bench.refused("depth.tif", with_tifffile(negative), "has negative samples", *MM)


def highest(bench):
    codes = MILLIMETRES.astype("i2")
    codes[0, 0] = 32767
    bench.gives("depth.tif", with_tifffile(codes), metres(codes), *MM)
    bench.gives("depth.tif", with_tifffile(codes), metres(np.where(codes == 32767, 0, codes)), *MM, "--depth-invalid",
                "zero-or-max", said="samples of 32767")


def equal_channels(bench):
    holes = np.where(METRES == 0, np.float32(np.nan), METRES)
    for floats in (METRES, holes):
        three = np.dstack([floats] * 3)
        bench.gives("depth.tif", with_tifffile(three, photometric="rgb"), floats)
        bench.gives("depth.tif", with_tifffile(np.stack([floats] * 3), photometric="rgb", planarconfig="separate"), floats)
        bench.gives("depth.tif", with_tifffile(np.stack([floats] * 3), photometric="rgb", planarconfig="separate", tile=(16, 16)), floats)
        bench.gives("depth.tif", lambda path: cv2.imwrite(path, three), floats)
        alpha = np.dstack([three, floats * 0 + 1])
        alpha[3, 3, 3] = 0
        bench.gives("depth.tif", with_tifffile(alpha, photometric="rgb", extrasamples=["unassalpha"]), floats,
                    said="left aside" if floats is METRES else "")
    differs = np.dstack([METRES] * 3)
    differs[7, 7, 2] += 1
    bench.refused("depth.tif", with_tifffile(differs, photometric="rgb"), "expected one, or equal ones")


def left_out_parts(bench):
    holes = MILLIMETRES.copy()
    holes[16:48] = 0
    for options in ({"blockysize": 16}, {"tiled": True, "blockxsize": 16, "blockysize": 16},
                    {"blockysize": 16, "compress": "deflate"}, {"blockysize": 16, "compress": "lzw"}):
        bench.gives("depth.tif", gdal(holes, sparse_ok=True, **options), metres(holes), *MM, said="parts that the file leaves out")
        floats = np.where(holes > 0, METRES, 0).astype("f4")
        bench.gives("depth.tif", gdal(floats, sparse_ok=True, **options), floats, said="parts that the file leaves out")
    whole = METRES * 0
    bench.gives("depth.tif", gdal(whole, sparse_ok=True), whole, said="3072 samples in parts that the file leaves out")


def no_data(bench):
    for kind, number in (("f4", 10000), ("f4", -9999), ("f4", -3.4028234663852886e38), ("f8", 1e20), ("f4", 0.1)):
        floats = np.where(METRES > 0, METRES.astype(kind), number).astype(kind)
        bench.gives("depth.tif", gdal(floats, nodata=number), METRES, said="its GDAL_NODATA")
    for kind, number in (("u2", 9999), ("u4", 4294967295), ("i2", 32767), ("i2", -9999)):
        codes = np.where(MILLIMETRES > 0, MILLIMETRES.astype("i8"), number).astype(kind)
        bench.gives("depth.tif", gdal(codes, nodata=number), metres(MILLIMETRES), *MM, said="its GDAL_NODATA")
    bench.gives("depth.tif", gdal(METRES, nodata=float("nan")), METRES)
    bench.gives("depth.tif", gdal(METRES, nodata=0), METRES)


TESTS = [("all types of samples, by tifffile and Pillow", types),
         ("the highest of 15 bits is a distance unless the user says otherwise", highest),
         ("several channels that are equal count as one", equal_channels),
         ("strips and tiles that GDAL leaves out are missing", left_out_parts),
         ("GDAL's number for missing samples", no_data)]
