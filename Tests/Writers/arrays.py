"""Arrays of NumPy, raw dumps and portable float maps by OpenCV."""
import cv2
import numpy as np

from Writers.bench import METRES, MILLIMETRES, metres

MM = ("--depth-unit", "mm")


def numpy_arrays(bench):
    for kind in ("<f4", ">f4", "<f8", "<f2"):
        floats = METRES.astype(kind)
        for shape in ((64, 48), (64, 48, 1), (1, 64, 48)):
            bench.gives("depth.npy", lambda path: np.save(path, floats.reshape(shape)), floats.astype("f4"))
    for kind in ("u2", "i2", "i4", "u4", ">i4"):
        codes = MILLIMETRES.astype(kind)
        bench.gives("depth.npy", lambda path: np.save(path, codes), metres(codes), *MM)
    negative = MILLIMETRES.astype("i4")
    negative[2, 2] = -5
    bench.refused("depth.npy", lambda path: np.save(path, negative), "has negative samples", *MM)


def dumps(bench):
    write = MILLIMETRES.astype("<u2").tofile
    bench.gives("depth.raw", write, metres(MILLIMETRES), *MM, "--depth-size", "48x64")
    bench.gives("depth.bin", write, metres(MILLIMETRES), "--depth-scale", "0.001", "--depth-size", "48x64")
    bench.refused("depth.raw", write, "has 6144 bytes", "--depth-size", "48x64")
    bench.gives("depth.raw", METRES.tofile, METRES, "--depth-size", "48x64")


def float_maps(bench):
    bench.gives("depth.pfm", lambda path: cv2.imwrite(path, METRES), METRES)

    def doubled(path):
        with open(path, "wb") as file:
            file.write(b"Pf\n48 64\n-2.0\n" + METRES[::-1].tobytes())
    bench.refused("depth.pfm", doubled, "with the scale factor 2,")
    bench.gives("depth.pfm", doubled, METRES, "--depth-scale", "1")
    bench.gives("depth.pfm", doubled, metres(METRES, 2), "--depth-scale", "0.5")


def scales(bench):
    write = MILLIMETRES.astype("<u2").tofile
    scaled = (MILLIMETRES.astype("f8") * 9.999999747378752e-05).astype("f4")
    bench.gives("depth.raw", write, scaled, "--depth-scale", "9.999999747378752e-05", "--depth-size", "48x64")


TESTS = [("arrays of all types and shapes", numpy_arrays), ("raw dumps of 16-bit integers", dumps),
         ("portable float maps", float_maps), ("a scale with an exponent", scales)]
