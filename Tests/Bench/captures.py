"""Makes raw captures of real sizes from a seed: each has its own photo, depth map and time."""
import datetime
import json
import pathlib

import numpy as np

SAMPLE = pathlib.Path(__file__).resolve().parents[2] / "Samples/desk-lamp/raw"
WIDTH, HEIGHT = 256, 192
PHOTO_BYTES, SMALL_PHOTO_BYTES = 1_400_000, 46_000
PIECE = 1 << 24
NO_MARKER = bytes(range(255)) + b"\x7f"  # 0xff begins a marker, so scan data must not contain it alone
START = datetime.datetime(2026, 3, 14, 14, 9, 26, tzinfo=datetime.timezone.utc)


def header(photo):
    """Returns the bytes of a JPEG up to the data of its first scan."""
    position = 2
    while True:
        marker, length = photo[position + 1], int.from_bytes(photo[position + 2:position + 4], "big")
        position += 2 + length
        if marker == 0xda:
            return photo[:position]


def write_photo(path, random, size):
    """Makes a photo from the sample's header and incompressible scan data, since real photos do not compress either."""
    head = header((SAMPLE / "photo.jpg").read_bytes())
    with open(path, "wb") as file:
        file.write(head)
        left = size - len(head) - 2
        while left > 0:
            file.write(random.bytes(min(left, PIECE)).translate(NO_MARKER))
            left -= PIECE
        file.write(b"\xff\xd9")


def depth(random):
    """Makes a depth map of the sample's surfaces at other places and distances.

    Its noise grows with the distance, in steps of a quarter of a millimetre: gzip compresses such a map to about a
    third, as it does with real LiDAR maps.
    """
    floats = np.fromfile(SAMPLE / "depth.f32", "<f4").reshape(HEIGHT, WIDTH)
    floats = np.roll(floats, random.integers(1, (HEIGHT, WIDTH)), (0, 1)) * (1 + random.random())
    noise = random.standard_normal(floats.shape, np.float32)
    return (np.round((floats + 0.001 * noise * floats * floats) * 4096) / 4096).astype("<f4")


def write_raw(folder, seed, photo_bytes=PHOTO_BYTES, with_depth=True):
    """Makes a raw folder; the same seed and sizes give the same bytes."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    random = np.random.default_rng(seed)
    write_photo(folder / "photo.jpg", random, photo_bytes)
    if with_depth:
        depth(random).tofile(folder / "depth.f32")
    metadata = {
        "captured_at": (START + datetime.timedelta(milliseconds=seed)).isoformat(timespec="milliseconds"),
        "device_model": "Synthetic LiDAR camera",
        "depth_map_dimensions": {"width": WIDTH, "height": HEIGHT},
        "location": {"latitude": 12.345678, "longitude": -45.678901, "altitude": 3.5, "accuracy": 4.0},
    }
    (folder / "metadata.json").write_text(json.dumps(metadata))
    return folder
