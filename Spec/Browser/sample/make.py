#!/usr/bin/env python3
"""Makes the sample inside verify.html from Samples/desk-lamp, smaller, with a temporary key: make.py CAPBUNDLE

It needs numpy and Pillow. bundle.gz is the bundle, and device.point the public key of its device.
"""
import base64
import gzip
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

FOLDER = pathlib.Path(__file__).resolve().parent
RAW = FOLDER.parents[2] / "Samples/desk-lamp/raw"
PHOTO, DEPTH = (320, 240), (64, 48)


def main(tool):
    depth = np.frombuffer((RAW / "depth.f32").read_bytes(), "<f4").reshape(192, 256)[1::4, 1::4]
    metadata = (RAW / "metadata.json").read_text().replace('"width": 256, "height": 192', '"width": 64, "height": 48')
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        Image.open(RAW / "photo.jpg").resize(PHOTO, Image.LANCZOS).save(work / "photo.jpg", quality=60, optimize=True)
        (work / "depth.f32").write_bytes((np.round(depth * 512) / 512).astype("<f4").tobytes())
        (work / "metadata.json").write_text(metadata)
        key, bundle = work / "device.key", work / "sample.bundle"
        for words in (["key", "new", "--key", key], ["pack", work, "-o", bundle, "--key", key]):
            subprocess.run([tool, *words], check=True, stdout=subprocess.DEVNULL)
        der = subprocess.run([tool, "key", "public", "--key", key], check=True, capture_output=True, text=True).stdout
        body = "".join(line for line in der.splitlines() if "-----" not in line)
        (FOLDER / "device.point").write_bytes(base64.b64decode(body)[-65:])
        (FOLDER / "bundle.gz").write_bytes(gzip.compress(bundle.read_bytes(), 9, mtime=0))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: make.py CAPBUNDLE")
    main(pathlib.Path(sys.argv[1]).resolve())
