#!/usr/bin/env python3
"""Renders the raw capture of this sample: raw/photo.jpg, raw/depth.f32 and raw/metadata.json.

    render.py           write all three
    render.py --check   compute the depth map again and compare it with raw/depth.f32

A sample must not show real places or infringe anybody's rights, so the scene is invented: a desk lamp, a mug, books and
a notebook in front of a window at night. It is drawn by sphere tracing (J. C. Hart 1996): every object is a function
that returns the distance to its surface, and a ray advances by the smallest distance until it reaches a surface.

scene.py holds the objects; this file holds the light and the camera. It needs numpy, and Pillow for the photo, which
takes some minutes on one core.
"""
import pathlib
import sys

import numpy as np

from scene import AIM, BULB, FAR, MATERIALS, NAMES, colours, dot, length, material, nearest, night, unit

RAW = pathlib.Path(__file__).resolve().parent / "raw"
PHOTO, DEPTH = (960, 720), (256, 192)
FOCAL = 790.0  # pixels of the photo; the depth map sees the same view with fewer pixels
EYE, TARGET = np.array([0.06, 0.47, 1.16]), np.array([0.03, 0.205, -0.1])
RANGE = 5.0  # the range of the LiDAR in metres
METADATA = """{
  "captured_at": "2026-03-14T15:09:26.535+01:00",
  "device_model": "Synthetic LiDAR camera",
  "depth_map_dimensions": { "width": 256, "height": 192 },
  "location": { "latitude": 12.345678, "longitude": -45.678901, "altitude": 3.5, "accuracy": 4.0 },
  "camera": { "focal_length_px": 790.0, "principal_point_px": [480, 360], "note": "rendered, see render.py" }
}
"""


def march(origin, direction, steps=140, close=2e-4):
    """Returns the distance along each ray to the first surface."""
    t, active = np.zeros(len(direction), direction.dtype), np.arange(len(direction))
    for _ in range(steps):
        d = nearest(origin[active] + t[active, None] * direction[active])
        t[active] += d
        active = active[(d > close) & (t[active] < FAR)]
        if not len(active):
            break
    return t


def lit(p, light, softness, skip):
    """Returns how much of a light reaches p, 0 to 1, from how closely the ray passes objects (I. Quilez 2010)."""
    way = light - p
    distance = length(way[:, 0], way[:, 1], way[:, 2])
    direction, t, seen = way / distance[:, None], np.full(len(p), 0.004, p.dtype), np.ones(len(p), p.dtype)
    active = np.arange(len(p))
    for _ in range(48):
        d = nearest(p[active] + t[active, None] * direction[active], skip)
        seen[active] = np.minimum(seen[active], 0.5 + 0.5 * softness * d / t[active])
        t[active] += np.clip(d, 0.004, 0.12)
        active = active[(seen[active] > 0) & (t[active] < distance[active])]
        if not len(active):
            break
    seen = np.clip(seen, 0, 1)
    return seen * seen * (3 - 2 * seen)


def normal(p):
    corners = np.array([[1, -1, -1], [-1, -1, 1], [-1, 1, -1], [1, 1, 1]], p.dtype)
    return unit(sum(c * nearest(p + c * p.dtype.type(4e-4))[:, None] for c in corners))


def radiance(origin, direction, mirror=True):
    t = march(origin, direction)
    p = origin + t[:, None] * direction
    which, n = material(p), normal(p)
    gloss = np.array([MATERIALS[name][1] for name in NAMES])[which]
    is_metal = which == NAMES.index("metal")
    colour, p = colours(p, which), p + n * p.dtype.type(0.0012)
    out = np.zeros((len(p), 3))
    ambient = np.clip(nearest(p + n * 0.03) / 0.03, 0, 1) * np.clip(nearest(p + n * 0.1) / 0.1, 0.25, 1)
    bounce = np.exp(-length(p[:, 0] - 0.06, p[:, 2] - 0.05) / 0.35) * np.clip(0.6 - 0.4 * n[:, 1], 0, 1)
    light = ambient[:, None] * (np.array([0.050, 0.060, 0.085]) + bounce[:, None] * np.array([0.34, 0.20, 0.10]))
    lamp, moon = (BULB + 0.01 * AIM).astype(p.dtype), np.array([2.6, 3.2, -3.3], p.dtype)
    for place, power, tint, softness, skip in ((lamp, 0.42, (1.0, 0.70, 0.40), 7, ("shade", "bulb", "metal")),
                                               (moon, 0.55, (0.30, 0.42, 0.75), 30, ("glass",))):
        way = place - p
        distance = length(way[:, 0], way[:, 1], way[:, 2])
        way = way / distance[:, None]
        strength = power / (distance ** 2 + 0.02) if place is lamp else np.full(len(p), power)
        if place is lamp:  # the shade limits the light to a cone with a soft edge
            edge = np.clip((dot(-way, AIM.astype(p.dtype)) - 0.74) / 0.12, 0, 1)
            strength = strength * (0.05 + 0.95 * edge * edge * (3 - 2 * edge))
        facing = np.clip(dot(n, way), 0, 1)
        seen = strength * lit(p, place, softness, skip)
        shine = np.clip(dot(n, unit(way - direction)), 0, 1) ** (20 + 180 * gloss) * gloss * 2.0
        light += (facing * seen)[:, None] * np.array(tint)
        out += (shine * seen * (facing > 0))[:, None] * np.array(tint)
    out += colour * light * np.where(is_metal, 0.35, 1)[:, None]
    inside = (which == NAMES.index("shade")) & (dot(p - BULB.astype(p.dtype), n) < 0)
    out[inside] = np.array([1.5, 0.86, 0.40])
    out[which == NAMES.index("bulb")] = (3.2, 2.6, 1.7)
    behind = which == NAMES.index("glass")
    out[behind] = night(direction[behind])
    if mirror:
        fresnel = (0.04 + 0.96 * (1 - np.clip(-dot(direction, n), 0, 1)) ** 5) * gloss
        amount = np.where(is_metal, 0.75, fresnel)
        hit = np.flatnonzero(amount > 0.01)
        d = direction[hit]
        seen = radiance(p[hit], d - 2 * dot(d, n[hit])[:, None] * n[hit], mirror=False)
        out[hit] += np.minimum(seen, 0.8) * amount[hit, None] * np.where(is_metal[hit, None], colour[hit] * 1.6, 1)
    return out


def rays(size, dx=0.5, dy=0.5, dtype=float):
    """Returns the direction of one ray for each pixel, row by row from the top, and its cosine to the optical axis."""
    forward = unit(TARGET - EYE)
    right = unit(np.array([-forward[2], 0.0, forward[0]]))
    up = np.array([right[1] * forward[2] - right[2] * forward[1], right[2] * forward[0] - right[0] * forward[2],
                   right[0] * forward[1] - right[1] * forward[0]])
    scale = FOCAL * size[0] / PHOTO[0]
    x, y = np.meshgrid((np.arange(size[0]) + dx - size[0] / 2) / scale, (size[1] / 2 - np.arange(size[1]) - dy) / scale)
    direction = unit(forward + x.reshape(-1, 1) * right + y.reshape(-1, 1) * up)
    return direction.astype(dtype), dot(direction, forward)


def photo():
    from PIL import Image
    total = np.zeros((PHOTO[0] * PHOTO[1], 3))
    for dx, dy in ((0.375, 0.125), (0.875, 0.375), (0.125, 0.625), (0.625, 0.875)):
        direction, _ = rays(PHOTO, dx, dy, np.float32)
        for part in np.array_split(np.arange(len(direction)), 24):
            sample = radiance(EYE.astype(np.float32)[None].repeat(len(part), 0), direction[part])
            total[part] += np.clip(1 - np.exp(-2.0 * sample), 0, 1) / 4  # film response per sample: smooth edges
    x, y = np.meshgrid(np.linspace(-1, 1, PHOTO[0]), np.linspace(-1, 1, PHOTO[1]))
    total *= (1 - 0.20 * (x * x + y * y)).reshape(-1, 1)
    pixels = (np.clip(total, 0, 1) ** (1 / 2.2) * 255 + 0.5).astype(np.uint8)
    Image.fromarray(pixels.reshape(PHOTO[1], PHOTO[0], 3)).save(RAW / "photo.jpg", quality=85, optimize=True)


def hashed(n, seed):
    """Returns pseudorandom numbers from 0 to 1 that are the same on every machine (the finalizer of MurmurHash3)."""
    h = np.arange(n, dtype=np.uint32) * np.uint32(0x9E3779B1) + np.uint32(seed)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = (h ^ (h >> np.uint32(shift))) * np.uint32(factor)
    return (h ^ (h >> np.uint32(16))) / 4294967296.0


def depth():
    """Simulates a LiDAR: its noise grows with distance, and metal, glass, lamps and distant surfaces return nothing."""
    direction, cosine = rays(DEPTH)
    origin = EYE[None].repeat(len(direction), 0)
    t = march(origin, direction)
    z = t * cosine
    noise = sum(hashed(len(z), seed) for seed in (1, 2, 3, 4)) - 2
    # Steps of 1/4096 m are finer than any sensor; with them, the map compresses well and is the same on every machine.
    measured = np.round((z + 0.0015 * noise * z * z) * 4096) / 4096
    returns = np.array([MATERIALS[name][2] for name in NAMES])[material(origin + t[:, None] * direction)]
    measured[~returns | (z > RANGE)] = np.nan
    grid = z.reshape(DEPTH[1], DEPTH[0])
    near = np.pad(grid, 1, mode="edge")
    steps = sum(np.abs(near[1 + i:193 + i, 1 + j:257 + j] - grid) > 0.06 for i, j in ((0, 1), (0, -1), (1, 0), (-1, 0)))
    # A pulse that hits two surfaces is discarded: a quarter of the samples at edges are zero.
    measured[(steps.ravel() > 0) & (z < RANGE) & (hashed(len(z), 5) < 0.25)] = 0
    return measured.astype("<f4")


def check():
    stored, made = np.frombuffer((RAW / "depth.f32").read_bytes(), "<f4"), depth()
    if stored.tobytes() == made.tobytes():
        print("depth.f32: same bytes")
        return 0
    if stored.shape != made.shape:
        print(f"depth.f32: {stored.size} floats, expected {made.size}")
        return 1
    other = np.isnan(stored) != np.isnan(made)
    worst = float(np.nanmax(np.abs(stored - made)))
    print(f"depth.f32: {other.sum()} pixels missing in one only, largest difference {worst:.6f} m")
    return 0 if not other.any() and worst <= 1e-4 else 1


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(check())
    if sys.argv[1:]:
        sys.exit("usage: render.py [--check]")
    RAW.mkdir(exist_ok=True)
    (RAW / "metadata.json").write_text(METADATA)
    (RAW / "depth.f32").write_bytes(depth().tobytes())
    photo()
