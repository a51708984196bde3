"""Compares `capbundle depth` with a second implementation of the RealityCam analysis, and its pictures with published
colours. Uses numpy, matplotlib, Pillow and pyte."""
import base64
import io
import json
import math
import re

import numpy as np
from matplotlib import colormaps
from PIL import Image

from Judges.bench import IS_LONG, SAMPLE, expect
from Kit.terminals import played
from realitycam.depth import analysed, samples_of

SEED, MAPS = 13, 60 if IS_LONG else 12


def analyse(depth):
    """The server's analysis of a depth map (height x width, f4); numpy adds what the checker leaves out."""
    found = analysed(samples_of(depth.tobytes()), depth.shape[1], depth.shape[0])
    with np.errstate(invalid="ignore"):
        used = depth[np.isfinite(depth) & (depth >= np.float32(0.1)) & (depth <= np.float32(20))].astype("f8")
    if not used.size:
        return {"verdict": found.status, "samples": 0, "failed": [], "screen": False}
    share = float(np.mean(np.abs(used - np.sort(used)[used.size // 2]) < 0.05))
    passes = {"standard-deviation": found.deviation > 0.5, "layers": found.layers >= 3,
              "edge-coherence": found.coherence > 0.3, "screen": not found.is_screen}
    failed = [name for name, holds in passes.items() if not holds]
    return {"verdict": found.status, "samples": int(used.size), "failed": failed, "screen": found.is_screen,
            "standard_deviation_m": float(used.std()), "layers": found.layers, "edge_coherence": found.coherence,
            "mean_m": float(used.mean()), "range_m": float(used.max() - used.min()), "near_median_share": share}


def differences(ours, theirs):
    """Returns the members in which two analyses differ. The last digits of a number may differ."""
    return [name for name in set(ours) | set(theirs) if not (
        math.isclose(ours.get(name, math.nan), theirs.get(name, math.nan), rel_tol=1e-9, abs_tol=1e-12)
        if isinstance(theirs.get(name), float) else ours.get(name) == theirs.get(name))]


def write_raw(bench, name, depth):
    """Writes a raw capture with the photo of the sample and another depth map."""
    raw = bench.scratch(name)
    (raw / "photo.jpg").write_bytes((SAMPLE / "photo.jpg").read_bytes())
    (raw / "depth.f32").write_bytes(depth.astype("<f4").tobytes())
    metadata = {"captured_at": "2026-03-14T15:09:26+01:00", "device_model": "judge",
                "depth_map_dimensions": {"width": depth.shape[1], "height": depth.shape[0]}}
    (raw / "metadata.json").write_text(json.dumps(metadata))
    return raw


def judged(bench, depth, about):
    """Returns the verdict of capbundle on a depth map, after comparing it with the second implementation."""
    raw = write_raw(bench, "look", depth)
    said = json.loads(bench.capbundle("depth", raw, "--json").out)["realitycam"]
    wrong = differences(said, analyse(depth.astype("<f4")))
    expect(not wrong, f"{about}: other {', '.join(sorted(wrong))}")
    return said["verdict"]


def analyses(bench):
    sample = np.frombuffer((SAMPLE / "depth.f32").read_bytes(), "<f4").reshape(192, 256)
    random, verdicts = np.random.default_rng(SEED), [judged(bench, sample, "the sample")]
    for number in range(MAPS):
        height, width = (int(side) for side in random.integers(1, 70, 2))
        near, spread = random.uniform(0.05, 3), random.choice([0.05, 0.2, 1, 4, 25])
        depth = near + spread * random.random((height, width))
        if number % 3 == 0:
            # A few walls, each with a little noise.
            depth = near + spread * random.integers(0, 6, (height, 1)) / 5 + 0.01 * random.random((height, width))
        if number % 4 == 1:
            depth[random.random(depth.shape) < 0.2] = random.choice([np.nan, 0, np.inf, -1, 0.1, 20.0])
        verdicts.append(judged(bench, depth, f"map {number}"))
    expect(set(verdicts) == {"pass", "fail"}, f"the maps only give {set(verdicts)}: they test too little")
    expect(judged(bench, np.full((192, 256), 0.4), "a flat map") == "fail", "a flat map at 0.4 m passes")
    for value in (0, np.nan, 0.05, 30):
        said = judged(bench, np.full((4, 5), value), f"a map of {value}")
        expect(said == "unavailable", f"a map of {value} is {said}")


# The colours of capbundle lie on lines between every eighth published one.
COLOUR_ERROR = {"cividis": 6, "turbo": 2}
# The edge around a picture that is alone, in pixels.
MARGIN = 12


def picture(bench, raw, *options):
    """Returns the pixels (height x width x 3) that `capbundle depth --image -` writes into a pipe."""
    data = bench.capbundle("depth", raw, "--image", "-", *options).out
    expect(data.startswith(b"\x89PNG\r\n\x1a\n"), "no PNG in the pipe")
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def colours(bench):
    depth = np.linspace(1, 3, 1000).reshape(20, 50)
    depth[7, 9] = np.nan
    raw = write_raw(bench, "ramp", depth)
    floats = np.sort(depth[np.isfinite(depth)].astype("f4"))
    near, far = (float(floats[math.ceil(share * floats.size) - 1]) for share in (0.02, 0.98))
    share = np.clip((far - depth.astype("f4").astype("f8")) / (far - near), 0, 1)
    for name, limit in COLOUR_ERROR.items():
        pixels = picture(bench, raw, "--colours", name)
        side = 16
        shown = pixels[MARGIN:MARGIN + 20 * side:side, MARGIN:MARGIN + 50 * side:side]
        for place in (0, side - 1):
            again = pixels[MARGIN + place:MARGIN + 20 * side:side, MARGIN + place:MARGIN + 50 * side:side]
            expect(np.array_equal(again, shown), f"{name}: a sample is not a square of {side} pixels")
        expect(len(set(shown[7, 9])) == 1, f"{name}: what was not measured is not grey")
        table = np.round(np.array([colormaps[name](index)[:3] for index in range(256)]) * 255)
        known = np.isfinite(depth)
        error = np.abs(table[np.round(share[known] * 255).astype(int)] - shown[known]).max()
        expect(error <= limit, f"{name}: a colour differs by {error} from the published one")


def turned_photo(bench, orientation):
    """A raw capture whose photo and depth have a bright corner, the left top one as stored."""
    values = np.full((24, 32), 3.0)
    values[:8, :8] = 1
    raw = write_raw(bench, f"turned{orientation}", values)
    photo = Image.fromarray(np.where(np.kron(values, np.ones((8, 8)))[..., None] < 2, 255, 0).astype("u1").repeat(3, 2))
    exif = Image.Exif()
    exif[0x0112] = orientation
    photo.save(raw / "photo.jpg", quality=95, exif=exif)
    return raw


def upright(bench):
    """Photo and depth lie next to each other, and the bright corner is where Pillow turns it to."""
    for orientation in range(1, 9) if IS_LONG else (6,):
        raw = turned_photo(bench, orientation)
        pixels = picture(bench, raw, "--beside")
        stored = np.zeros((3, 4))
        stored[0, 0] = 1
        exif = Image.Exif()
        exif[0x0112] = orientation
        shown = Image.fromarray((stored * 255).astype("u1"))
        methods = {2: "FLIP_LEFT_RIGHT", 3: "ROTATE_180", 4: "FLIP_TOP_BOTTOM", 5: "TRANSPOSE", 6: "ROTATE_270",
                   7: "TRANSVERSE", 8: "ROTATE_90"}
        if orientation in methods:
            shown = shown.transpose(Image.Transpose[methods[orientation]])
        corner = np.unravel_index(np.argmax(np.asarray(shown)), shown.size[::-1])
        height, width = (384, 512) if orientation < 5 else (512, 384)
        margin = (pixels.shape[0] - height) // 2
        for name, left in (("photo", margin), ("depth map", 2 * margin + width)):
            y = margin + (40 if corner[0] == 0 else height - 40)
            x = left + (40 if corner[1] == 0 else width - 40)
            dark = pixels[margin + height // 2, left + width // 2].sum()
            expect(pixels[y, x].sum() > dark + 200, f"orientation {orientation}: the {name} is not upright")


def half_blocks(bench):
    bundle = bench.pack().path
    for environment, colour in (({"COLORTERM": "truecolor"}, rb"38;2;\d+;\d+;\d+;48;2;"), ({}, rb"38;5;\d+;48;5;")):
        for columns in (40, 80, 200) if IS_LONG else (80,):
            code, shown, _, _ = played(bench, "show", "--picture", bundle, environment=environment, columns=columns)
            lines = shown.decode().split("\r\n")
            expect(code == 0 and re.search(colour, shown), f"{environment}: exit {code}, or no half blocks")
            blocks = [line for line in lines if "\u2580" in line]
            width = max(len(re.sub("\x1b\\[[0-9;]*m", "", line)) for line in blocks)
            expect(min(columns, 160) * 0.8 < width <= columns, f"{columns} columns: the picture has {width}")
            expect(all(line.endswith("\x1b[0m") for line in blocks), "the colour goes on after a line")
            expect("depth from 0.74 m (bright) to 1.84 m (dark); grey was not measured" in lines, "no caption")


def kitty(bench):
    bundle = bench.pack().path
    known = ({"KITTY_WINDOW_ID": "1"}, {"TERM": "xterm-kitty"}, {"TERM_PROGRAM": "WezTerm"})
    for environment in known if IS_LONG else known[:1]:
        code, shown, _, _ = played(bench, "show", "--picture", bundle, environment=environment)
        parts = re.findall(rb"\x1b_G([^;]*);([A-Za-z0-9+/=]*)\x1b\\", shown)
        expect(code == 0 and parts and parts[0][0].startswith(b"a=T,f=100,q=2,c=80,m="), f"{environment}: no picture")
        expect(all(len(data) <= 4096 for _, data in parts), "a part is longer than the protocol allows")
        expect([b"m=1" in keys for keys, _ in parts] == [True] * (len(parts) - 1) + [False], "a part is not the last")
        data = base64.b64decode(b"".join(data for _, data in parts))
        expect(data == bench.capbundle("depth", bundle, "--beside", "--image", "-").out, "another picture")
    _, shown, _, _ = played(bench, "show", "--picture", bundle, environment={"KITTY_WINDOW_ID": "1", "TMUX": "x"})
    expect(b"\x1b_G" not in shown and "\u2580".encode() in shown, "kitty's protocol in a multiplexer")


def no_picture(bench):
    bundle = bench.pack().path
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        code, shown, _, _ = played(bench, "show", "--picture", bundle, environment=environment)
        expect(code == 0 and b"\x1b" not in shown and b"no picture" in shown, f"{environment}: {shown[-100:]!r}")
    bench.refused(64, "show", "--picture", bundle).naming("depth FILE --beside --image")
    bad = bench.write("bad-look.bundle", bench.pack().spoilt("photo.jpg", 999))
    code, shown, _, _ = played(bench, "show", "--picture", bad, environment={"COLORTERM": "truecolor"})
    expect(code == 1 and "\u2580".encode() not in shown, f"a broken bundle: exit {code}, or a picture")


TESTS = [
    ("a second implementation analyses the sample, random and flat depth maps as capbundle depth does", analyses),
    ("matplotlib's cividis and turbo are the colours of capbundle depth --image", colours),
    ("Pillow turns photo and depth by their orientation as capbundle depth --beside does", upright),
    ("a terminal: show --picture fits its width with half blocks", half_blocks),
    ("a terminal: show --picture sends kitty the PNG of depth --beside", kitty),
    ("a terminal: show --picture draws nothing with NO_COLOR, into a pipe, or of a broken bundle", no_picture),
]
