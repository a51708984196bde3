"""numpy: a second implementation of the RealityCam analysis gives the numbers that `capbundle depth` prints."""
import json
import math

import numpy as np

from bench import SAMPLE, expect
from judge_captures import captures

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
    """The members in which two analyses differ; the last digits of a number may."""
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


JUDGES = [
    ("numpy analyses the depth of the sample and of real captures as capbundle depth does", sample_and_real_captures),
    ("numpy analyses 60 random depth maps as capbundle depth does", random_maps),
    ("numpy takes a flat depth map for a screen, and judges none without samples, as capbundle depth does",
     screens_and_nothing),
]
