"""The scene of this sample: the objects, their places and their materials.

Each object is a function that returns the distance to its surface. The unit is the metre. The x axis points right, y
points up, and z points towards the viewer; the top of the desk is at y = 0.
"""
import math

import numpy as np

FAR = 9.0  # the maximum length of a ray


def unit(v):
    return v / np.maximum(np.sqrt((v * v).sum(-1, keepdims=True)), 1e-9)


def dot(a, b):
    # This avoids matrix products: BLAS computes them, and its last bit depends on the machine.
    return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + a[..., 2] * b[..., 2]


def length(*parts):
    return np.sqrt(sum(p * p for p in parts))


def box(p, centre, half, yaw=0.0, edge=0.003):
    q, c, s = p - np.asarray(centre, p.dtype), math.cos(math.radians(yaw)), math.sin(math.radians(yaw))
    local = np.stack([c * q[:, 0] - s * q[:, 2], q[:, 1], s * q[:, 0] + c * q[:, 2]], 1)
    d = np.abs(local) - (np.asarray(half, p.dtype) - edge)
    outside = np.maximum(d, 0)
    return length(outside[:, 0], outside[:, 1], outside[:, 2]) + np.minimum(d.max(1), 0) - edge


def capsule(p, a, b, radius):
    a, b = np.asarray(a, p.dtype), np.asarray(b, p.dtype)
    along = np.clip(dot(p - a, b - a) / dot(b - a, b - a), 0, 1)[:, None]
    q = p - a - along * (b - a)
    return length(q[:, 0], q[:, 1], q[:, 2]) - radius


def lathe(p, origin, axis, profile, thickness):
    """Returns the distance to a shell of revolution: `profile` is a line of (height, radius) points."""
    q = p - np.asarray(origin, p.dtype)
    h = dot(q, np.asarray(axis, p.dtype))
    r = np.sqrt(np.maximum(dot(q, q) - h * h, 0))
    best = np.full(len(p), FAR, p.dtype)
    for (h0, r0), (h1, r1) in zip(profile, profile[1:]):
        dh, dr = h1 - h0, r1 - r0
        t = np.clip(((h - h0) * dh + (r - r0) * dr) / (dh * dh + dr * dr), 0, 1)
        best = np.minimum(best, length(h - h0 - t * dh, r - r0 - t * dr))
    return best - thickness


UP = (0.0, 1.0, 0.0)
ELBOW, HEAD = (-0.40, 0.34, -0.17), (-0.10, 0.485, -0.12)
AIM = unit(np.array([0.33, -0.90, 0.22]))  # the direction of the shade
BULB = np.array(HEAD) + 0.085 * AIM
SHADE = [(0.0, 0.0), (0.0, 0.030), (0.035, 0.034), (0.125, 0.094)]
# name: colour, gloss (0 to 1), and whether it reflects a LiDAR pulse
MATERIALS = {
    "desk": ((0.36, 0.20, 0.105), 0.2, True), "wall": ((0.50, 0.49, 0.45), 0.0, True),
    "frame": ((0.62, 0.60, 0.56), 0.15, True), "glass": ((0.0, 0.0, 0.0), 0.0, False),
    "shade": ((0.05, 0.22, 0.20), 0.45, True), "metal": ((0.52, 0.47, 0.38), 0.9, False),
    "bulb": ((1.0, 0.86, 0.62), 0.0, False), "mug": ((0.70, 0.66, 0.58), 0.4, True),
    "coffee": ((0.035, 0.016, 0.008), 0.5, False), "red": ((0.42, 0.055, 0.04), 0.2, True),
    "blue": ((0.045, 0.11, 0.24), 0.2, True), "ochre": ((0.55, 0.33, 0.07), 0.2, True),
    "paper": ((0.72, 0.69, 0.60), 0.0, True), "pencil": ((0.75, 0.42, 0.04), 0.3, True),
}
NAMES = list(MATERIALS)


def scene(p):
    """Yields (material, distance) for each object."""
    x, y, z = p[:, 0], p[:, 1], p[:, 2]
    yield "desk", box(p, (0, -0.02, 0.1), (1.6, 0.02, 0.62), edge=0.006)
    hole = np.maximum(np.abs(x - 0.56) - 0.27, np.abs(y - 0.66) - 0.36)
    yield "wall", np.maximum(np.abs(z + 0.66) - 0.04, -hole)
    border = np.maximum(np.abs(hole) - 0.018, np.abs(z + 0.61) - 0.025)
    bars = np.maximum(np.minimum(np.abs(x - 0.56), np.abs(y - 0.66)) - 0.009, np.abs(z + 0.64) - 0.012)
    yield "frame", np.minimum(border, np.maximum(bars, hole))
    yield "glass", z + 8.0
    yield "shade", lathe(p, HEAD, AIM, SHADE, 0.0022)
    arms = np.minimum(capsule(p, (-0.30, 0.02, -0.16), ELBOW, 0.0075), capsule(p, ELBOW, HEAD, 0.0075))
    joints = np.minimum(capsule(p, ELBOW, ELBOW[:2] + (-0.15,), 0.016),
                        capsule(p, np.array(HEAD) - 0.022 * AIM, np.array(HEAD), 0.017))
    base = lathe(p, (-0.30, 0.010, -0.16), UP, [(0, 0), (0, 0.078), (0.004, 0.070), (0.009, 0.0)], 0.008)
    yield "metal", np.minimum(np.minimum(arms, joints), base)
    yield "bulb", length(*(p - BULB.astype(p.dtype)).T) - 0.027
    cup = lathe(p, (0.24, 0.005, 0.13), UP, [(0, 0), (0, 0.034), (0.008, 0.040), (0.088, 0.042)], 0.0028)
    ring = length(length(x - 0.291, y - 0.048) - 0.026, z - 0.13) - 0.0052
    yield "mug", np.minimum(cup, np.maximum(ring, 0.282 - x))
    yield "coffee", np.maximum(length(x - 0.24, z - 0.13) - 0.0405, np.abs(y - 0.073) - 0.001)
    for name, bottom, height, half, yaw in (
            ("blue", 0.0, 0.042, (0.135, 0.095), 8), ("red", 0.042, 0.030, (0.125, 0.088), -7),
            ("ochre", 0.072, 0.036, (0.108, 0.080), 14)):
        middle, inner = bottom + height / 2, height / 2 - 0.0035
        pages = box(p, (0.30, middle, -0.20), (half[0] - 0.005, inner, half[1] - 0.005), yaw)
        cover = box(p, (0.30, middle, -0.20), (half[0], height / 2 - 0.0005, half[1]), yaw, 0.002)
        bite = box(p, (0.30, middle, -0.14), (half[0] + 0.1, inner, half[1] + 0.05), yaw, 0.001)
        yield "paper", pages
        yield name, np.maximum(cover, -bite)
    yield "paper", np.minimum(box(p, (-0.105, 0.004, 0.22), (0.085, 0.004, 0.115), -16, 0.002),
                              box(p, (0.060, 0.004, 0.267), (0.085, 0.004, 0.115), -16, 0.002))
    yield "pencil", capsule(p, (-0.03, 0.0125, 0.18), (0.045, 0.0125, 0.31), 0.0042)


def nearest(p, skip=()):
    best = np.full(len(p), FAR, p.dtype)
    for name, d in scene(p):
        if name not in skip:
            best = np.minimum(best, d)
    return best


def material(p):
    best, which = np.full(len(p), np.inf), np.zeros(len(p), int)
    for name, d in scene(p):
        which, best = np.where(d < best, NAMES.index(name), which), np.minimum(d, best)
    return which


def night(direction):
    """Returns the view behind the window: a gradient, a moon, and the blurred lights of a town."""
    u, v = direction[:, 0] / -direction[:, 2], direction[:, 1] / -direction[:, 2]
    sky = np.array([0.030, 0.055, 0.115]) + np.clip(0.30 - v, 0, 1)[:, None] * np.array([0.20, 0.16, 0.20])
    for du, dv, radius, colour in ((0.375, 0.165, 0.020, (1.1, 1.06, 0.92)), (0.22, -0.07, 0.014, (0.9, 0.45, 0.12)),
                                   (0.30, -0.045, 0.010, (0.7, 0.6, 0.3)), (0.36, -0.085, 0.013, (0.8, 0.30, 0.08)),
                                   (0.455, -0.06, 0.011, (0.35, 0.5, 0.7)), (0.262, -0.10, 0.008, (0.8, 0.7, 0.4))):
        sky += np.clip((radius - length(u - du, v - dv)) / 0.003, 0, 1)[:, None] * np.array(colour)
    return sky


def colours(p, which):
    """Returns surface colours, with the wood grain, the lines on the paper and the stripe on the mug."""
    table = np.array([MATERIALS[name][0] for name in NAMES])
    colour, (x, y, z) = table[which], p.T.astype(float)
    warp = z + 0.012 * np.sin(5 * x + 1.3) + 0.004 * np.sin(23 * x + 40 * z)
    grain = 0.5 + 0.3 * np.sin(95 * warp) * np.sin(31 * warp + 2) + 0.12 * np.sin(420 * warp + 3 * np.sin(9 * x))
    seam = np.abs((z + 0.03) % 0.22 - 0.11) < 0.0012
    wood = which == NAMES.index("desk")
    colour[wood] *= ((0.72 + 0.5 * grain) * np.where(seam, 0.45, 1))[wood, None]
    across = 0.276 * (x + 0.02) + 0.961 * (z - 0.24)
    ruled = (which == NAMES.index("paper")) & (y > 0.007) & (z > 0.05) & (np.abs(across % 0.014 - 0.007) < 0.0007)
    colour[ruled] = (0.30, 0.36, 0.46)
    colour[(which == NAMES.index("mug")) & (np.abs(y - 0.030) < 0.009)] = (0.07, 0.20, 0.23)
    return colour
