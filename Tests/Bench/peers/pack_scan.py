#!/usr/bin/env python3
"""Packs an export of 3D Scanner App in Python, as `capbundle pack` does, with the code that a user would write.

usage: pack_scan.py KEY EXPORT FOLDER   writes FOLDER/<export name>-<frame>.tar for each frame with a photo

It reads depth with Pillow, converts it with numpy, compresses with zlib, hashes with hashlib, signs with cryptography,
and syncs each file. It does not check the photo or the depth map, has no counter, and ignores the position.
"""
import datetime
import hashlib
import io
import json
import os
import pathlib
import sys
import tarfile
import zlib

import numpy as np
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from PIL import Image


def gzipped(data):
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def metadata(frame, offset, app, photo, depth):
    k = frame["intrinsics"]
    with Image.open(photo) as picture:
        width, height = picture.size
    time = datetime.datetime.fromtimestamp(frame["time"] + offset, datetime.timezone.utc)
    return json.dumps({
        "camera_intrinsics": {"fx": k[0], "fy": k[4], "cx": k[2], "cy": k[5], "width": width, "height": height},
        "camera_pose": {"matrix": frame["cameraPoseARFrame"]}, "captured_at": time.isoformat(timespec="milliseconds"),
        "depth_map_dimensions": {"height": depth.shape[0], "width": depth.shape[1]}, "device_model": f"unknown ({app})"},
        sort_keys=True, separators=(",", ":")).encode()


def write(path, entries):
    """Writes a tar archive, synced, under its name only when it is complete."""
    partial = path.with_suffix(".partial")
    with open(partial, "wb") as file:
        with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, data in entries.items():
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
        file.flush()
        os.fsync(file.fileno())
    os.rename(partial, path)


def pack(key, export, folder):
    frames = {path: json.loads(path.read_text()) for path in sorted(export.glob("frame_*.json"))}
    offset = max(frame["gpsTime"] - frame["time"] for frame in frames.values() if frame.get("hasGPS"))
    app = f"3D Scanner App {json.loads((export / 'info.json').read_text())['appVersionString']}"
    for path, frame in frames.items():
        name, photo = path.stem.removeprefix("frame_"), path.with_suffix(".jpg")
        if not photo.exists():
            continue
        depth = np.asarray(Image.open(export / f"depth_{name}.png"))
        floats = (depth.astype(np.float64) / 1000).astype("<f4").tobytes()
        entries = {"confidence.png": (export / f"conf_{name}.png").read_bytes(), "depth.f32.gz": gzipped(floats),
                   "metadata.json": metadata(frame, offset, app, photo, depth), "photo.jpg": photo.read_bytes()}
        manifest = json.dumps({
            "depth": {"sha256": hashlib.sha256(floats).hexdigest()},
            "entries": [{"path": entry, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
                        for entry, data in entries.items()]}).encode()
        signature = key.sign(manifest, ec.ECDSA(hashes.SHA256()))
        write(folder / f"{export.name}-{name}.tar", {"manifest.json": manifest, "signature": signature} | entries)
    directory = os.open(folder, os.O_RDONLY)
    os.fsync(directory)


if __name__ == "__main__":
    key_file, raw, target = map(pathlib.Path, sys.argv[1:])
    pack(serialization.load_pem_private_key(key_file.read_bytes(), None), raw, target)
