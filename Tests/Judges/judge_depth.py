"""gzip and numpy: the depth map is readable without our tools, and its floats are the camera's, bit for bit."""
import gzip
import json

import numpy as np

from bench import SAMPLE, expect


def gzip_tests_it(bench):
    path = bench.write("depth.f32.gz", bench.pack().entries["depth.f32.gz"])
    said = bench.run("gzip", "-t", path)
    expect(not said.stderr, "gzip -t has something to say")


def numpy_reads_it(bench):
    bundle = bench.pack()
    size = json.loads(bundle.manifest)["depth"]
    floats = np.frombuffer(gzip.decompress(bundle.entries["depth.f32.gz"]), "<f4")
    depth = floats.reshape(size["height"], size["width"])
    raw = np.frombuffer((SAMPLE / "depth.f32").read_bytes(), "<f4").reshape(size["height"], size["width"])
    # Compare as integers, because NaN equals nothing, and a missing pixel must keep its bits too.
    expect(np.array_equal(depth.view("<u4"), raw.view("<u4")), "a float differs from raw/depth.f32")
    expect(np.isnan(depth).any() and (depth == 0).any(), "the sample has no missing pixels: it tests too little")


JUDGES = [
    ("gzip -t accepts depth.f32.gz", gzip_tests_it),
    ("numpy reads the floats of raw/depth.f32, bit for bit", numpy_reads_it),
]
