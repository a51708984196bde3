"""Makes raw captures and exports of real sizes from a seed: each has its own photo, depth map and time."""
import datetime
import json
import pathlib
import zipfile

import numpy as np
from PIL import Image, ImageFilter

SAMPLE = pathlib.Path(__file__).resolve().parents[2] / "Samples/desk-lamp/raw"
WIDTH, HEIGHT = 256, 192
PHOTO_BYTES, SMALL_PHOTO_BYTES = 1_400_000, 46_000
LARGE = (4032, 3024)  # 12 megapixels
PIECE = 1 << 24
FOCAL, CENTRE = 790.0, (480.0, 360.0)
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


def write_scan(folder, count):
    """Makes an export of 3D Scanner App in which each frame has a photo; the same count gives the same bytes."""
    folder.mkdir()
    (folder / "info.json").write_text(json.dumps({"appVersionString": "1.9.5", "numImages": count}))
    for number in range(count):
        random, name = np.random.default_rng(number), f"{number:05}"
        write_photo(folder / f"frame_{name}.jpg", random, PHOTO_BYTES)
        metres = np.nan_to_num(depth(random))
        Image.fromarray(np.round(metres.astype(float) * 1000).astype(np.uint16)).save(folder / f"depth_{name}.png")
        confidence = (2 * (metres > 0) - (metres > 2)).clip(0, 2).astype(np.uint8)
        Image.fromarray(confidence).save(folder / f"conf_{name}.png")
        (folder / f"frame_{name}.json").write_text(json.dumps(facts_of_frame(number, number % 10 == 0)))


def facts_of_frame(number, has_position):
    """Returns what 3D Scanner App writes of a frame."""
    cosine, sine = np.cos(number / 50), np.sin(number / 50)
    pose = [cosine, 0, sine, number / 100, 0, 1, 0, 1.5, -sine, 0, cosine, -0.25, 0, 0, 0, 1]
    frame = {"time": 402896.5 + number / 5, "frame_index": number, "cameraPoseARFrame": pose,
             "intrinsics": [FOCAL, 0, CENTRE[0], 0, FOCAL, CENTRE[1], 0, 0, 1], "exposureDuration": 0.0164,
             "projectionMatrix": [1.508, 0, -0.0068, 0, 0, 2.0106, -0.0386, 0, 0, 0, -1, -0.001, 0, 0, -1, 0]}
    if has_position:
        frame |= {"hasGPS": True, "gpsTime": 1773497366.5 + number / 5, "latitude": 12.345678,
                  "longitude": -45.678901, "altitude": 3.5, "horizontalAccuracy": 4.0, "verticalAccuracy": 6.0}
    return frame


def write_long_scan(folder, count):
    """Makes a zip with an export of 3D Scanner App: each frame has its own facts and a position, and all have the same small
    pictures. Returns the file."""
    photo, zipped = folder / "small.jpg", folder / "scan.zip"
    write_photo(photo, np.random.default_rng(0), 3000)
    for name, sample in (("depth", np.uint16(1500)), ("conf", np.uint8(2))):
        Image.fromarray(np.full((12, 16), sample)).save(folder / f"{name}.png")
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("info.json", json.dumps({"appVersionString": "1.9.5", "numImages": count}))
        for number in range(count):
            archive.write(photo, f"frame_{number:05}.jpg")
            for name in ("depth", "conf"):
                archive.write(folder / f"{name}.png", f"{name}_{number:05}.png")
            archive.writestr(f"frame_{number:05}.json", json.dumps(facts_of_frame(number, has_position=True)))
    return zipped


def write_large_photo(path, seed):
    """Makes a photo that decodes, with edges, surfaces and noise as a camera sees them."""
    random, (width, height) = np.random.default_rng(seed), LARGE
    coarse = Image.fromarray(random.integers(0, 256, (24, 32, 3), dtype=np.uint8)).resize(LARGE, Image.BICUBIC)
    pixels = np.asarray(coarse).astype(np.int16)
    for _ in range(60):
        top, left = random.integers(0, height - 200), random.integers(0, width - 200)
        pixels[top:top + random.integers(50, 900), left:left + random.integers(50, 900)] += random.integers(-80, 80, 3)
    grain = random.normal(0, 6, (height, width, 1)).astype(np.int16)
    picture = Image.fromarray((pixels + grain).clip(0, 255).astype(np.uint8)).filter(ImageFilter.GaussianBlur(0.7))
    picture.save(path, quality=90)
