"""Compares `capbundle depth` with a second implementation of the RealityCam analysis, and its pictures with the published
colours. Uses numpy, matplotlib, Pillow and pyte."""
import base64
import io
import json
import math
import re

import numpy as np
from matplotlib import colormaps
from PIL import Image

from bench import SAMPLE, expect
from judge_captures import captures
from terminals import Terminal

SEED = 13


def read_raw(raw):
    size = json.loads((raw / "metadata.json").read_bytes())["depth_map_dimensions"]
    return np.frombuffer((raw / "depth.f32").read_bytes(), "<f4").reshape(size["height"], size["width"])


def peaks(used):
    """Counts the peaks of the smoothed histogram."""
    least, most = used.min(), used.max()
    if most <= least:
        return 0
    bins = np.minimum(np.floor((used - least) / ((most - least) / 50)), 49).astype(int)
    histogram = np.bincount(bins, minlength=50)
    padded = np.concatenate([histogram[:1], histogram, histogram[-1:]])
    smooth = (padded[:-2] + padded[1:-1] + padded[2:]) / 3
    walls = np.concatenate([[-1], smooth, [-1]])
    return int(np.sum((smooth > walls[:-2]) & (smooth > walls[2:]) & (smooth > 0.05 * smooth.max())))


def coherence(depth, valid):
    if min(depth.shape) < 3:
        return 0.0
    wide = depth.astype("f8")
    counts = np.isfinite(wide) & (wide > float(np.float32(0.1)))
    with np.errstate(invalid="ignore"):
        across = np.where(counts[1:-1, 2:] & counts[1:-1, :-2], (wide[1:-1, 2:] - wide[1:-1, :-2]) / 2, 0)
        down = np.where(counts[2:, 1:-1] & counts[:-2, 1:-1], (wide[2:, 1:-1] - wide[:-2, 1:-1]) / 2, 0)
        edges = (np.sqrt(across * across + down * down) > 0.1) & valid[1:-1, 1:-1]
    centres = np.count_nonzero(valid[1:-1, 1:-1])
    return min(max(1 - math.exp(-30 * np.count_nonzero(edges) / centres), 0), 1) if centres else 0.0


def analyse(depth):
    """The analysis of a depth map (height x width, f4) as the server makes it."""
    with np.errstate(invalid="ignore"):
        valid = np.isfinite(depth) & (depth >= np.float32(0.1)) & (depth <= np.float32(20))
    used = depth[valid].astype("f8")
    if not used.size:
        return {"verdict": "unavailable", "samples": 0, "failed": [], "screen": False}
    deviation, mean, spread = float(used.std()), float(used.mean()), float(used.max() - used.min())
    share = float(np.mean(np.abs(used - np.sort(used)[used.size // 2]) < 0.05))
    layers, edges = peaks(used), coherence(depth, valid)
    screen = spread < 0.15 and share > 0.85 and 0.2 <= mean <= 1.5
    failed = [name for name, fails in (("standard-deviation", not deviation > 0.5), ("layers", layers < 3),
                                       ("edge-coherence", not edges > 0.3), ("screen", screen)) if fails]
    return {"verdict": "fail" if failed else "pass", "samples": int(used.size), "failed": failed, "screen": screen,
            "standard_deviation_m": deviation, "layers": layers, "edge_coherence": edges, "mean_m": mean,
            "range_m": spread, "near_median_share": share}


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


def judged(bench, raw):
    """Returns what capbundle says of a raw capture, after comparing it with the second implementation."""
    said = json.loads(bench.capbundle("depth", raw, "--json").stdout)["realitycam"]
    wrong = differences(said, analyse(read_raw(raw)))
    expect(not wrong, f"{raw.name}: other {', '.join(sorted(wrong))}")
    return said["verdict"]


def sample_and_real_captures(bench):
    judged(bench, SAMPLE)
    verdicts = {judged(bench, raw) for raw in captures(bench)}
    expect(verdicts == {"pass", "fail"}, f"the real captures only give {verdicts}: they test too little")


def random_maps(bench):
    random = np.random.default_rng(SEED)
    verdicts = []
    for number in range(60):
        height, width = (int(side) for side in random.integers(1, 70, 2))
        near, spread = random.uniform(0.05, 3), random.choice([0.05, 0.2, 1, 4, 25])
        depth = near + spread * random.random((height, width))
        if number % 3 == 0:
            # A few walls, each with a little noise.
            depth = near + spread * random.integers(0, 6, (height, 1)) / 5 + 0.01 * random.random((height, width))
        if number % 4 == 1:
            depth[random.random(depth.shape) < 0.2] = random.choice([np.nan, 0, np.inf, -1, 0.1, 20.0])
        verdicts.append(judged(bench, write_raw(bench, "look", depth)))
    expect(set(verdicts) == {"pass", "fail"}, f"the maps only give {set(verdicts)}: they test too little")


def screens_and_nothing(bench):
    flat = np.full((192, 256), 0.4, "f4")
    expect(judged(bench, write_raw(bench, "flat", flat)) == "fail", "a flat map passes")
    said = json.loads(bench.capbundle("depth", bench.folder / "flat", "--json").stdout)["realitycam"]
    expect(said["screen"] and "screen" in said["failed"], "a flat map at 0.4 m is not like a screen")
    for value in (0, np.nan, 0.05, 30):
        said = judged(bench, write_raw(bench, "nothing", np.full((4, 5), value)))
        expect(said == "unavailable", f"a map of {value} is {said}")


# The colours of capbundle lie on lines between every eighth published one.
COLOUR_ERROR = {"cividis": 6, "turbo": 2}
# The edge around a picture that is alone, in pixels.
MARGIN = 12


def picture(bench, raw, *options):
    """Returns the pixels (height x width x 3) that `capbundle depth --image -` writes into a pipe."""
    data = bench.capbundle("depth", raw, "--image", "-", *options).stdout
    expect(data.startswith(b"\x89PNG\r\n\x1a\n"), "no PNG in the pipe")
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def colours(bench):
    depth = np.linspace(1, 3, 1000).reshape(20, 50)
    depth[7, 9] = np.nan
    raw = write_raw(bench, "ramp", depth)
    floats = np.sort(depth[np.isfinite(depth)].astype("f4"))
    near, far = (float(floats[math.floor(share * (floats.size - 1) + 0.5)]) for share in (0.02, 0.98))
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
    for orientation in range(1, 9):
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


def portraits(bench):
    """Of each real capture there is a picture, with and without the photo."""
    for raw in captures(bench):
        for options in ((), ("--beside", "--colours", "turbo")):
            shape = picture(bench, raw, *options).shape
            expect(shape[0] > 300 and shape[1] > 300, f"{raw.name}: {shape}")


def refusals(bench):
    bad = bench.write("bad-look.bundle", bench.pack().spoilt("photo.jpg", 999))
    cut = bench.write("cut-look.bundle", bench.pack().data[:-5000])
    target = bench.folder / "look.png"
    for bundle, code in ((bad, 1), (cut, 2)):
        result = bench.capbundle("depth", bundle, "--image", target, "--beside", expected=None)
        expect(result.returncode == code and not result.stdout and not target.exists(),
               f"a broken bundle: exit {result.returncode}, or it has a picture")
        result = bench.capbundle("depth", bundle, "--image", "-", expected=None)
        expect(result.returncode == code and not result.stdout, "a broken bundle sends a picture into the pipe")
    bundle = bench.pack().path
    before = bundle.read_bytes()
    for words, code in ((["--image", bundle, "--force"], 73), (["--image", target], 0), (["--image", target], 73),
                        (["--image", target, "--force"], 0), (["--beside"], 64)):
        result = bench.capbundle("depth", bundle, *words, expected=None)
        expect(result.returncode == code, f"{words}: exit {result.returncode}")
    expect(bundle.read_bytes() == before, "the picture replaced its bundle")
    with Terminal(bench, "depth", bundle, "--image", "-") as terminal:
        code, shown, _, _ = terminal.end()
    expect(code == 64 and b"terminal" in shown and len(shown) < 500, f"a picture to a terminal: exit {code}")


def half_blocks(bench):
    bundle = bench.pack().path
    for environment, colour in (({"COLORTERM": "truecolor"}, rb"38;2;\d+;\d+;\d+;48;2;"), ({}, rb"38;5;\d+;48;5;")):
        for columns in (40, 80, 200):
            with Terminal(bench, "show", "--picture", bundle, environment=environment, columns=columns) as terminal:
                code, shown, _, _ = terminal.end()
                lines = shown.decode().split("\r\n")
            expect(code == 0 and re.search(colour, shown), f"{environment}: exit {code}, or no half blocks")
            blocks = [line for line in lines if "\u2580" in line]
            width = max(len(re.sub("\x1b\\[[0-9;]*m", "", line)) for line in blocks)
            expect(min(columns, 160) * 0.8 < width <= columns, f"{columns} columns: the picture has {width}")
            expect(all(line.endswith("\x1b[0m") for line in blocks), "the colour goes on after a line")
            expect("depth from 0.74 m (bright) to 1.84 m (dark); grey was not measured" in lines, "no caption")


def kitty(bench):
    bundle = bench.pack().path
    for environment in ({"KITTY_WINDOW_ID": "1"}, {"TERM": "xterm-kitty"}, {"TERM_PROGRAM": "WezTerm"}):
        with Terminal(bench, "show", "--picture", bundle, environment=environment) as terminal:
            code, shown, _, _ = terminal.end()
        parts = re.findall(rb"\x1b_G([^;]*);([A-Za-z0-9+/=]*)\x1b\\", shown)
        expect(code == 0 and parts and parts[0][0].startswith(b"a=T,f=100,q=2,c=80,m="), f"{environment}: no picture")
        expect(all(len(data) <= 4096 for _, data in parts), "a part is longer than the protocol allows")
        expect([b"m=1" in keys for keys, _ in parts] == [True] * (len(parts) - 1) + [False], "a part is not the last")
        data = base64.b64decode(b"".join(data for _, data in parts))
        expect(data == bench.capbundle("depth", bundle, "--beside", "--image", "-").stdout, "another picture")
    with Terminal(bench, "show", "--picture", bundle, environment={"KITTY_WINDOW_ID": "1", "TMUX": "x"}) as terminal:
        shown = terminal.end()[1]
    expect(b"\x1b_G" not in shown and "\u2580".encode() in shown, "kitty's protocol in a multiplexer")


def no_picture(bench):
    bundle = bench.pack().path
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        with Terminal(bench, "show", "--picture", bundle, environment=environment) as terminal:
            code, shown, _, _ = terminal.end()
        expect(code == 0 and b"\x1b" not in shown and b"no picture" in shown, f"{environment}: {shown[-100:]!r}")
    result = bench.capbundle("show", "--picture", bundle, expected=None)
    expect(result.returncode == 64 and b"depth FILE --beside --image" in result.stderr, "a picture into a pipe")
    bad = bench.write("bad-look.bundle", bench.pack().spoilt("photo.jpg", 999))
    with Terminal(bench, "show", "--picture", bad, environment={"COLORTERM": "truecolor"}) as terminal:
        code, shown, _, _ = terminal.end()
    expect(code == 1 and "\u2580".encode() not in shown, f"a broken bundle: exit {code}, or a picture")


JUDGES = [
    ("numpy analyses the depth of the sample and of real captures as capbundle depth does", sample_and_real_captures),
    ("numpy analyses 60 random depth maps as capbundle depth does", random_maps),
    ("numpy takes a flat depth map for a screen, and judges none without samples, as capbundle depth does",
     screens_and_nothing),
    ("matplotlib's cividis and turbo are the colours of capbundle depth --image", colours),
    ("Pillow turns photo and depth as capbundle depth --beside does, for all eight orientations", upright),
    ("Pillow opens the picture of each real capture", portraits),
    ("capbundle depth --image replaces nothing, and makes no picture of a broken bundle", refusals),
    ("a terminal: show --picture fits its width with half blocks", half_blocks),
    ("a terminal: show --picture sends kitty the PNG of depth --beside", kitty),
    ("a terminal: show --picture draws nothing with NO_COLOR, into a pipe, or of a broken bundle", no_picture),
]
