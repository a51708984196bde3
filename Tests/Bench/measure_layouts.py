"""Measures packing an export with many frames in one call, against a Python script that does the same."""
import gzip
import json
import sys
import tarfile

import numpy as np
from PIL import Image

from Bench import bench
from Bench import captures
from Bench.measure_one import pair
from Kit.outcomes import Failed

FOCAL, CENTRE = 790.0, (480.0, 360.0)


def write_scan(folder, count):
    """Makes an export of 3D Scanner App in which each frame has a photo; the same count gives the same bytes."""
    folder.mkdir()
    (folder / "info.json").write_text(json.dumps({"appVersionString": "1.9.5", "numImages": count}))
    for number in range(count):
        random, name = np.random.default_rng(number), f"{number:05}"
        captures.write_photo(folder / f"frame_{name}.jpg", random, captures.PHOTO_BYTES)
        depth = np.nan_to_num(captures.depth(random))
        Image.fromarray(np.round(depth.astype(float) * 1000).astype(np.uint16)).save(folder / f"depth_{name}.png")
        confidence = (2 * (depth > 0) - (depth > 2)).clip(0, 2).astype(np.uint8)
        Image.fromarray(confidence).save(folder / f"conf_{name}.png")
        cosine, sine = np.cos(number / 50), np.sin(number / 50)
        pose = [cosine, 0, sine, number / 100, 0, 1, 0, 1.5, -sine, 0, cosine, -0.25, 0, 0, 0, 1]
        frame = {"time": 402896.5 + number / 5, "frame_index": number, "cameraPoseARFrame": pose,
                 "intrinsics": [FOCAL, 0, CENTRE[0], 0, FOCAL, CENTRE[1], 0, 0, 1], "exposureDuration": 0.0164,
                 "projectionMatrix": [1.508, 0, -0.0068, 0, 0, 2.0106, -0.0386, 0, 0, 0, -1, -0.001, 0, 0, -1, 0]}
        if number % 10 == 0:
            frame |= {"hasGPS": True, "gpsTime": 1773497366.5 + number / 5, "latitude": 12.345678,
                      "longitude": -45.678901, "altitude": 3.5, "horizontalAccuracy": 4.0, "verticalAccuracy": 6.0}
        (folder / f"frame_{name}.json").write_text(json.dumps(frame))


def same_floats(rig, name):
    """Checks that both sides made the same depth map of a frame, since a peer that does less would be fast."""
    floats = []
    for ending in ("bundle", "tar"):
        with tarfile.open(rig.folder / f"scanned/{name}.{ending}") as archive:
            floats.append(gzip.decompress(archive.extractfile("depth.f32.gz").read()))
    if floats[0] != floats[1]:
        raise Failed(f"{name}: the two sides made other floats")


def pack(rig):
    count = rig.scaled(100, 3)
    write_scan(rig.folder / "scan", count)
    sides = rig.hyperfine({
        "capbundle pack": [rig.binary, "pack", "scan", "--out-dir", "scanned"],
        "Python": [sys.executable, bench.PEERS / "pack_scan.py", rig.key, rig.folder / "scan", rig.folder / "scanned"],
    }, runs=10, prepare="rm -rf scanned && mkdir scanned && cat scan/* >/dev/null && sync")
    # The script ran last and left its files.
    rig.capbundle("pack", "scan", "--out-dir", "scanned")
    for number in (0, count - 1):
        same_floats(rig, f"scan-{number:05}")
    rig.remove("scan", "scanned")
    return [pair(f"pack {count} frames of an app's export in one call / a Python script", sides, 1 / 4, 1 / 6)]


MEASURES = [("pack an export", pack)]
