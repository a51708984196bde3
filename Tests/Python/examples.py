"""The examples and the README of the package."""
import multiprocessing
import os
import pickle
import re
import struct

import capbundle
from dataset import Captures
from Kit.outcomes import ROOT, expect

from Python.suite import CAMERA, MATRIX, PACKAGE

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


def dataset(place):
    """What DataLoader asks of a map-style dataset, also from another process, which gets it pickled."""
    captures = Captures(place.archive, place.trust)
    expect(len(captures) == 3, f"{len(captures)} captures")
    whole = [captures[index] for index in range(len(captures))]
    ids = [capbundle.open(place.archive / name).id for name in place.names]
    expect([one["id"] for one in whole] == ids, f"{whole}")
    whole[0]["depth"] *= 2  # as a transform does
    expect(pickle.loads(pickle.dumps(captures))[1]["photo"] == whole[1]["photo"], "a copy gives another photo")
    try:
        captures[3]
    except IndexError:
        pass
    else:
        raise AssertionError("there is a fourth capture")
    os.environ["PYTHONPATH"] = place.rig.env["PYTHONPATH"]  # a spawned process begins without our modules
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.map(captures.__getitem__, range(3))
    expect([(one["id"], one["depth"].tolist()) for one in found[1:]] == [(one["id"], one["depth"].tolist()) for one in whole[1:]],
           "another process gives something else")
    (place.folder / "strange").mkdir()
    (place.folder / "strange/x.bundle").write_bytes((ROOT / "Samples/tampered/photo.bundle").read_bytes())
    try:
        Captures(place.folder / "strange", place.trust)[0]
    except ValueError as error:
        expect("altered" in str(error), f"{error}")
    else:
        raise AssertionError("gives out an altered capture")


def point_cloud(place):
    """The points in the PLY file are those that a loop over the samples computes."""
    cloud = place.folder / "cloud.ply"
    program = PACKAGE / "examples/point_cloud.py"
    place.python(program, place.posed, place.trust, cloud).must(0)
    head, _, data = cloud.read_bytes().partition(b"end_header\n")
    lines = head.decode().splitlines()
    expect(lines == ["ply", "format binary_little_endian 1.0", "element vertex 12", *(f"property float {axis}" for axis in "xyz")],
           f"the header is {lines}")
    found = list(struct.iter_unpack("<3f", data))
    expected = []
    for row in range(3):
        for column in range(4):
            z = 1 + (4 * row + column) / 8
            x = ((column + 0.5) * 4 - CAMERA["cx"]) / CAMERA["fx"] * z
            y = ((row + 0.5) * 16 / 3 - CAMERA["cy"]) / CAMERA["fy"] * z
            point = (x, -y, -z, 1)
            expected.append([sum(MATRIX[4 * axis + k] * point[k] for k in range(4)) for axis in range(3)])
    far = max(abs(a - b) for one, two in zip(found, expected) for a, b in zip(one, two))
    expect(len(found) == 12 and far < 1e-5, f"{len(found)} points, {far} m away")
    place.python(program, place.archive / "a.bundle", place.trust, cloud).must(1).naming("verified, camera: None")
    place.python(program, ROOT / "Samples/tampered/photo.bundle", place.trust, cloud).must(1).naming("altered")


def readme(place):
    """The Python sessions of the README print what it shows."""
    trusted = place.folder / "page/trusted"
    trusted.parent.mkdir()
    place.rig.run("trust", "add", "desk-lamp", ROOT / "Samples/desk-lamp/device.pem", "--trust", trusted).must(0)
    (trusted.parent / "Samples").symlink_to(ROOT / "Samples")
    session = "\n".join(BLOCK.findall((PACKAGE / "README.md").read_text()))
    (trusted.parent / "session.txt").write_text(session)
    expect(session.count(">>> ") >= 6, "the README has no session")
    done = place.python("-m", "doctest", "-o", "ELLIPSIS", "session.txt", cwd=trusted.parent)
    done.must(0, about=done.out.decode()[:800])


TESTS = [("a dataset for DataLoader", dataset), ("a point cloud", point_cloud), ("the sessions of the README", readme)]
