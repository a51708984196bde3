"""Reads the exports of Samples/layouts without our tools, and computes what each frame must become in a bundle.

Depth maps are read with numpy, Pillow, OpenEXR, gzip and zlib. Cameras, poses and times are computed from the files of
the app by other formulas than those of our tools.
"""
import dataclasses
import datetime
import gzip
import json
import pathlib
import zlib

import numpy as np
import OpenEXR
from PIL import Image

FIRST = datetime.datetime(2026, 3, 14, 14, 9, 26, 535000, datetime.timezone.utc)
SECOND = datetime.timedelta(seconds=1)
MODEL = "Synthetic LiDAR camera"


@dataclasses.dataclass
class Frame:
    """A frame with a photo; paths are those of the files in the export."""
    name: str | None
    photo: pathlib.Path
    depth: pathlib.Path | None
    scale: float = 1.0
    encoding: str = ""
    confidence: pathlib.Path | None = None
    time: datetime.datetime = FIRST
    model: str = MODEL
    camera: tuple | None = None  # fx, fy, cx, cy, width, height
    pose: np.ndarray | None = None
    position: dict | None = None
    carried: tuple = ()

    def metres(self):
        return metres(read(self.depth), self.scale)


def metres(samples, scale):
    """Float32 metres: an integer is divided, in Float64, by the number of units in a metre."""
    if samples.dtype.kind == "f" and scale == 1:
        return samples.astype("<f4")
    return (samples.astype(np.float64) / round(1 / scale)).astype("<f4")


def read(path):
    """The samples of a depth map, top row first, as its file has them."""
    data, ending = path.read_bytes(), path.suffix
    if ending in (".pgm", ".png", ".tif", ".tiff"):
        return np.asarray(Image.open(path))
    if ending == ".npy":
        return np.load(path)
    if ending == ".pfm":
        kind, size, scale, rows = data.split(b"\n", 3)
        assert kind == b"Pf"
        width, height = map(int, size.split())
        return np.frombuffer(rows, "<f4" if float(scale) < 0 else ">f4").reshape(height, width)[::-1]
    if ending == ".exr":
        with OpenEXR.File(str(path)) as file:
            return next(iter(file.channels().values())).pixels
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    elif len(data) != 4 * 256 * 192:
        data = zlib.decompress(data) if data[0] == 0x78 else zlib.decompress(data, -15)
    return np.frombuffer(data, "<f4").reshape(192, 256)


def turn(quaternion):
    """The matrix that turns each axis v into q v q*, with the product of quaternions written out."""
    def times(a, b):
        (x, y, z, w), (p, q, r, s) = a, b
        return np.array([w * p + x * s + y * r - z * q, w * q - x * r + y * s + z * p, w * r + x * q - y * p + z * s,
                         w * s - x * p - y * q - z * r])
    q = np.array(quaternion) / np.linalg.norm(quaternion)
    back = q * [-1, -1, -1, 1]
    return np.array([times(times(q, [*axis, 0]), back)[:3] for axis in np.eye(3)]).T


def scanner_app(raw):
    frames = {path: json.loads(path.read_text()) for path in sorted(raw.glob("frame_*.json"))}
    fixes = [(one["gpsTime"] - one["time"]) for one in frames.values() if one.get("hasGPS")]
    version = json.loads((raw / "info.json").read_text())["appVersionString"]
    for path, one in frames.items():
        name = path.stem.removeprefix("frame_")
        if not path.with_suffix(".jpg").exists():
            continue
        k = np.reshape(one["intrinsics"], (3, 3))
        with Image.open(path.with_suffix(".jpg")) as photo:
            size = photo.size
        position = {"latitude": one["latitude"], "longitude": one["longitude"], "altitude": one["altitude"],
                    "accuracy": one["horizontalAccuracy"]} if one.get("hasGPS") else None
        yield Frame(name, path.with_suffix(".jpg"), raw / f"depth_{name}.png", 0.001, "png-u16",
                    raw / f"conf_{name}.png",
                    datetime.datetime.fromtimestamp(one["time"] + max(fixes), datetime.timezone.utc),
                    f"unknown (3D Scanner App {version})", (k[0, 0], k[1, 1], k[0, 2], k[1, 2], *size),
                    np.array(one["cameraPoseARFrame"]), position, (path, raw / "info.json"))


def record3d(raw):
    scan = json.loads((raw / "metadata.json").read_text())
    k = np.reshape(scan["K"], (3, 3), order="F")
    numbers = sorted(int(path.stem) for path in (raw / "rgb").glob("*.jpg"))
    for number in numbers:
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = turn(scan["poses"][number][:4]), scan["poses"][number][4:]
        yield Frame(str(number), raw / f"rgb/{number}.jpg", raw / f"depth/{number}.exr", 1, "exr-f16", None,
                    FIRST + SECOND * (scan["frameTimestamps"][number] - scan["frameTimestamps"][numbers[0]]),
                    "unknown (Record3D)", (k[0, 0], k[1, 1], k[0, 2], k[1, 2], scan["w"], scan["h"]), pose.ravel(),
                    carried=(raw / "metadata.json",))


def polycam(raw):
    times = sorted(int(path.stem) for path in (raw / "keyframes/images").iterdir())
    for time in times:
        camera = raw / f"keyframes/cameras/{time}.json"
        one = json.loads(camera.read_text())
        rows = [[one[f"t_{row}{column}"] for column in range(4)] for row in range(3)]
        yield Frame(str(time), raw / f"keyframes/images/{time}.jpg", raw / f"keyframes/depth/{time}.png", 0.001,
                    "png-u16", raw / f"keyframes/confidence/{time}.png", FIRST + SECOND * ((time - times[0]) / 1e6),
                    "unknown (Polycam)",
                    tuple(one[name] for name in ("fx", "fy", "cx", "cy", "width", "height")),
                    np.array(rows + [[0, 0, 0, 1]]).ravel(), carried=(camera, raw / "mesh_info.json"))


def nerfstudio(raw):
    scan = json.loads((raw / "transforms.json").read_text())
    for one in scan["frames"]:
        yield Frame(pathlib.Path(one["file_path"]).stem, raw / one["file_path"], raw / one["depth_file_path"], 0.001,
                    "png-u16", None, FIRST, MODEL, tuple(scan[name] for name in ("fl_x", "fl_y", "cx", "cy", "w", "h")),
                    np.ravel(one["transform_matrix"]), carried=(raw / "transforms.json",))


def place(raw):
    return json.loads((raw / "metadata.json").read_text())["location"]


def generic(raw):
    for number in ("000000", "000001"):
        yield Frame(number, raw / f"frame-{number}.color.jpg", raw / f"frame-{number}.depth.png", 0.001, "png-u16",
                    position=place(raw))


def realitycam(raw):
    yield Frame(None, raw / "capture.jpg", raw / "depth.gz", 1, "float32-le+deflate", position=place(raw))


ENCODINGS = {"f32": "float32-le", "bin-gzip": "float32-le+gzip", "gz": "float32-le+gzip", "zlib": "float32-le+zlib",
             "deflate": "float32-le+deflate", "npy-f4-big": "npy-f4", "pfm-big": "pfm", "png-u16-scale": "png-u16",
             "tiff-f32-big": "tiff-f32", "tiff-f32-deflated": "tiff-f32"}


def encoding(raw, options):
    """A raw folder of our own layout with one depth file."""
    [depth] = raw.glob("depth.*")
    name = raw.name.removeprefix("encoding-")
    said = dict(zip(options[::2], options[1::2]))
    scale = {"--depth-unit mm": 0.001}.get(" ".join(options)) or float(said.get("--depth-scale", "0")) or (
        0.001 if name == "png-u16" else 1)
    yield Frame(None, raw / "photo.jpg", depth, scale, ENCODINGS.get(name, name), position=place(raw))


def portrait(path):
    """The third picture is the disparity; its XMP says the values of the codes 0 and 255."""
    with Image.open(path) as photo:
        photo.seek(2)
        codes = np.asarray(photo)
    least, most = (float(path.read_bytes().rpartition(f"<apdi:Float{which}Value>".encode())[2].partition(b"<")[0])
                   for which in ("Min", "Max"))
    return from_disparity(codes, least, most)


def difference(one, other):
    """Returns the mean difference of two pictures, in levels from 0 to 255."""
    with Image.open(one) as first, Image.open(other) as second:
        return float(np.abs(np.asarray(first.convert("RGB"), int) - np.asarray(second.convert("RGB"), int)).mean())


def from_disparity(codes, least, most):
    """Float32 metres of 8-bit codes; the difference of the limits is computed in Float64."""
    value = codes.astype("f4") / np.float32(255) * np.float32(most - least) + np.float32(least)
    with np.errstate(divide="ignore"):
        return np.where(value > 0, np.float32(1) / value, np.float32(0)).astype("<f4")
