#!/usr/bin/env python3
"""Makes a small export in each layout and a capture in each encoding that `capbundle pack` takes (Spec/raw-captures.md).

    make.py FOLDER          make all below FOLDER, and FOLDER/samples.json, which says how each is packed
    make.py FOLDER WORD     only those with this word in their name

All captures show the desk lamp of Samples/desk-lamp. Needs numpy and, for the portrait photos, Pillow and heif-enc
(pip install -r Tests/Judges/requirements.txt; Debian: libheif-examples).
"""
import hashlib
import json
import pathlib
import shutil
import sys
import tarfile
import zipfile

import numpy as np

import writers

RAW = pathlib.Path(__file__).resolve().parent.parent / "desk-lamp/raw"
PHOTO, METADATA = (RAW / "photo.jpg").read_bytes(), (RAW / "metadata.json").read_text()
DEPTH = np.fromfile(RAW / "depth.f32", "<f4").reshape(192, 256)
FX, FY, CX, CY, WIDTH, HEIGHT = 790.25, 789.75, 480.5, 359.5, 960, 720
DATED = ["--captured-at", "2026-03-14T15:09:26.535+01:00"]
MODEL = ["--device-model", "Synthetic LiDAR camera"]


def photo(number):
    """Returns the photo with a comment, so that each frame has a different photo."""
    comment = f"frame {number}".encode()
    return PHOTO[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + PHOTO[2:]


def depth(number):
    """Returns the depth map, moved sideways by the number of the frame."""
    return np.roll(DEPTH, number, 1)


def millimetres(number):
    return np.round(np.nan_to_num(depth(number)).astype(float) * 1000).astype(np.uint16)


def confidence(number, values=(0, 1, 2)):
    """Returns a confidence map: high where the depth was measured, low where it was not."""
    found = depth(number)
    return np.where(np.isfinite(found), np.where(found > 0, values[2], values[1]), values[0]).astype(np.uint8)


def quaternion(number):
    """Returns a rotation about a tilted axis, x, y, z, w. Its angle grows with the number of the frame."""
    axis = np.array([0.36, 0.48, 0.8]) * np.sin(0.1 + 0.05 * number)
    return [*axis.tolist(), float(np.cos(0.1 + 0.05 * number))]


def pose(number):
    """Returns a camera-to-world matrix, 4 x 4: the rotation, by Rodrigues' formula, and a position."""
    angle = 2 * (0.1 + 0.05 * number)
    x, y, z = 0.36, 0.48, 0.8
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    matrix = np.eye(4)
    matrix[:3, :3] += np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    matrix[:3, 3] = place(number)
    return matrix


def place(number):
    return [0.25 + number / 8, -0.5, 1.75]


def text(value):
    return json.dumps(value, indent=1)


# Each function returns the files of an export: a path and its bytes or text.

def scanner_app():
    files = {"info.json": text({"appVersionString": "1.9.5", "numImages": 2, "title": "Desk lamp"})}
    for number in range(5):
        frame = {"frame_index": number, "time": 402896.5 + number / 8, "cameraPoseARFrame": pose(number).ravel().tolist(),
                 "intrinsics": [FX, 0, CX, 0, FY, CY, 0, 0, 1]}
        if number in (1, 3):  # each fix is older than its frame, and the first one is the oldest
            frame |= {"hasGPS": True, "gpsTime": 1773497366.5 + number / 8 - (0.5 if number == 1 else 0.0),
                      "latitude": 12.345678, "longitude": -45.678901, "altitude": 3.5, "horizontalAccuracy": 4.0,
                      "verticalAccuracy": 6.0}
        files[f"frame_{number:05}.json"] = text(frame)
        files[f"depth_{number:05}.png"] = writers.png(millimetres(number))
        files[f"conf_{number:05}.png"] = writers.png(confidence(number))
        if number % 3 == 0:
            files[f"frame_{number:05}.jpg"] = photo(number)
    return files


def record3d():
    numbers = range(6)
    files = {"metadata.json": text({
        "w": WIDTH, "h": HEIGHT, "dw": 256, "dh": 192, "fps": 30, "K": [FX, 0, 0, 0, FY, 0, CX, CY, 1],
        "poses": [quaternion(n) + place(n) for n in numbers], "frameTimestamps": [n / 32 for n in numbers],
        "initPose": [0, 0, 0, 1, 0, 0, 0], "cameraType": 1})}
    for number in (0, 2, 5):
        files[f"rgb/{number}.jpg"] = photo(number)
        files[f"depth/{number}.exr"] = writers.exr(depth(number).astype(np.float16), "R", zipped=True)
    return files


def polycam():
    files = {"mesh_info.json": text({"alignmentTransform": np.eye(4).ravel().tolist()})}
    for number in range(2):
        name = 1442008525605 + 250000 * number
        camera = {f"t_{row}{column}": float(pose(number)[row, column]) for row in range(3) for column in range(4)}
        camera |= {"fx": FX, "fy": FY, "cx": CX, "cy": CY, "width": WIDTH, "height": HEIGHT, "blur_score": 90.5}
        files[f"keyframes/cameras/{name}.json"] = text(camera)
        files[f"keyframes/images/{name}.jpg"] = photo(number)
        files[f"keyframes/depth/{name}.png"] = writers.png(millimetres(number))
        files[f"keyframes/confidence/{name}.png"] = writers.png(confidence(number, (0, 127, 255)))
    return files


def nerfstudio():
    frames, files = [], {}
    for number in (1, 2):
        frames.append({"file_path": f"./images/frame_{number:05}.jpg", "depth_file_path": f"depths/frame_{number:05}.png",
                       "transform_matrix": pose(number).tolist()})
        files[f"images/frame_{number:05}.jpg"] = photo(number)
        files[f"depths/frame_{number:05}.png"] = writers.png(millimetres(number))
    files["transforms.json"] = text({"camera_model": "OPENCV", "fl_x": FX, "fl_y": FY, "cx": CX, "cy": CY, "w": WIDTH,
                                     "h": HEIGHT, "frames": frames})
    return files


def realitycam():
    metadata = json.loads(METADATA) | {"photo_hash": hashlib.sha256(PHOTO).hexdigest()}
    return {"capture.jpg": PHOTO, "depth.gz": writers.compressed(DEPTH, "deflate"), "metadata.json": text(metadata)}


def generic():
    files = {"metadata.json": METADATA}
    for number in range(2):
        files[f"frame-{number:06}.color.jpg"] = photo(number)
        files[f"frame-{number:06}.depth.png"] = writers.png(millimetres(number))
    return files


def ours(name, data):
    return lambda: {"photo.jpg": PHOTO, "metadata.json": METADATA, name: data()}


def samples():
    """Yields the name, the options of pack, and the function that makes the files."""
    yield "3d-scanner-app", [], scanner_app
    yield "record3d", DATED, record3d
    yield "polycam", DATED, polycam
    yield "nerfstudio", [*DATED, "--same-time", *MODEL, "--depth-unit", "mm"], nerfstudio
    yield "realitycam", [], realitycam
    yield "generic", ["--photo", "frame-*.color.jpg", "--depth", "frame-*.depth.png", "--depth-scale", "0.001",
                      "--same-time"], generic
    metres, integers, half = DEPTH, millimetres(0), DEPTH.astype(np.float16)
    scaled = ["--depth-unit", "mm"]
    for name, options, file, data in [
        ("f32", [], "depth.f32", lambda: DEPTH.tobytes()),
        ("bin-gzip", [], "depth.bin", lambda: writers.compressed(metres, "gzip")),
        ("gz", [], "depth.gz", lambda: writers.compressed(metres, "gzip")),
        ("zlib", [], "depth.zlib", lambda: writers.compressed(metres, "zlib")),
        ("deflate", [], "depth.deflate", lambda: writers.compressed(metres, "deflate")),
        ("npy-f2", [], "depth.npy", lambda: writers.npy(half)),
        ("npy-f4", [], "depth.npy", lambda: writers.npy(metres)),
        ("npy-f4-big", [], "depth.npy", lambda: writers.npy(metres.astype(">f4"))),
        ("npy-f8", [], "depth.npy", lambda: writers.npy(metres.astype("<f8"))),
        ("npy-u2", scaled, "depth.npy", lambda: writers.npy(integers)),
        ("npy-u1", ["--depth-scale", "0.02"], "depth.npy", lambda: writers.npy((integers // 20).clip(0, 255).astype("u1"))),
        ("pfm", [], "depth.pfm", lambda: writers.pfm(metres)),
        ("pfm-big", [], "depth.pfm", lambda: writers.pfm(metres, ">")),
        ("pgm-u16", scaled, "depth.pgm", lambda: b"P5 256 192 65535\n" + integers.astype(">u2").tobytes()),
        ("png-u16", [], "depth.png", lambda: writers.png(integers)),
        ("png-u16-scale", ["--depth-scale", "0.0001"], "depth.png", lambda: writers.png(integers * np.uint16(10))),
        ("png-u8", ["--depth-scale", "0.02"], "depth.png", lambda: writers.png((integers // 20).clip(0, 255).astype("u1"))),
        ("tiff-f32", [], "depth.tiff", lambda: writers.tiff(metres)),
        ("tiff-f32-big", [], "depth.tif", lambda: writers.tiff(metres, ">")),
        ("tiff-f32-deflated", [], "depth.tif", lambda: writers.tiff(metres, deflated=True)),
        ("tiff-u16", scaled, "depth.tiff", lambda: writers.tiff(integers)),
        ("exr-f16", [], "depth.exr", lambda: writers.exr(half, "Z", zipped=True)),
        ("exr-f32", [], "depth.exr", lambda: writers.exr(metres, "Y", zipped=False)),
    ]:
        yield f"encoding-{name}", options, ours(file, data)


def main(folder, word=""):
    folder = pathlib.Path(folder)
    listed = []
    for name, options, files in samples():
        if word not in name:
            continue
        for path, data in files().items():
            target = folder / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data.encode() if isinstance(data, str) else data)
        listed.append({"raw": name, "options": options})
    for form in ("zip", "tar", "tar.gz"):
        name = f"3d-scanner-app.{form}"
        if word in name and (folder / "3d-scanner-app").is_dir():
            archive(folder / "3d-scanner-app", folder / name)
            listed.append({"raw": name, "options": []})
    folder.mkdir(parents=True, exist_ok=True)
    if word in "portrait.jpg":
        from portrait import portrait
        (folder / "portrait.jpg").write_bytes(portrait(PHOTO, DEPTH))
        listed.append({"raw": "portrait.jpg", "options": []})
    if word in "portrait.heic" and not shutil.which("heif-enc"):
        print("make.py: portrait.heic needs heif-enc (Debian: libheif-examples)", file=sys.stderr)
    elif word in "portrait.heic":
        from heic import portrait_heic
        (folder / "portrait.heic").write_bytes(portrait_heic(PHOTO, DEPTH))
        listed.append({"raw": "portrait.heic", "options": ["--convert-photo"]})
    (folder / "samples.json").write_text(text(listed) + "\n")


def archive(source, target):
    """Packs a folder as a zip, a tar or a tar.gz archive whose only top-level entry is that folder."""
    paths = sorted(source.rglob("*"))
    if target.suffix == ".zip":
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
            for path in paths:
                file.write(path, path.relative_to(source.parent))
    else:
        with tarfile.open(target, "w:gz" if target.suffix == ".gz" else "w") as file:
            for path in paths:
                file.add(path, str(path.relative_to(source.parent)), recursive=False)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: make.py FOLDER [WORD]")
    main(*sys.argv[1:])
