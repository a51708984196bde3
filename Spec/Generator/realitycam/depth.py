"""The server's analysis of a depth map, in 64-bit floats and with sums in the order of the samples."""
import array
import dataclasses
import math
import struct
import sys

LOW, = struct.unpack("<f", struct.pack("<f", 0.1))  # the server compares 32-bit floats
HIGH = 20.0
BINS = 50


@dataclasses.dataclass(frozen=True)
class Analysis:
    """The results of the server's analysis. `status` is pass, fail, or unavailable (no sample is valid)."""

    status: str
    deviation: float = 0.0
    layers: int = 0
    coherence: float = 0.0
    is_screen: bool = False
    low: float = 0.0
    high: float = 0.0
    coverage: float = 0.0


def samples_of(data):
    """Decodes little-endian 32-bit floats."""
    values = array.array("f", data)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def analysed(values, width, height):
    """Analyses a map that is given with its size; the server guesses a size if the number of samples differs."""
    valid = [value for value in values if math.isfinite(value) and LOW <= value <= HIGH]
    if not valid:
        return Analysis("unavailable")
    if len(values) != width * height:
        width, height = _guess(len(values))
    mean = _sum(valid) / len(valid)
    deviation = math.sqrt(_sum((value - mean) ** 2 for value in valid) / len(valid))
    low, high = min(valid), max(valid)
    layers, coherence = _layers(valid, low, high), _coherence(values, width, height)
    is_screen = _screen(valid, low, high, mean)
    is_real = deviation > 0.5 and layers >= 3 and coherence > 0.3 and not is_screen
    return Analysis("pass" if is_real else "fail", deviation, layers, coherence, is_screen, low, high,
                    len(valid) / len(values))


def _sum(values):
    """Adds in order; the `sum` of newer Pythons corrects rounding errors, which the server does not."""
    total = 0.0
    for value in values:
        total += value
    return total


def _guess(count):
    known = {49_152: (256, 192), 76_800: (320, 240), 307_200: (640, 480)}
    if count in known:
        return known[count]
    height = int(math.sqrt(count * 0.75))
    return (count // height, height) if height else (0, 0)


def _layers(valid, low, high):
    """Counts the peaks of a smoothed histogram."""
    if high <= low:
        return 0
    step, bins = (high - low) / BINS, [0.0] * BINS
    for value in valid:
        bins[min(int((value - low) / step), BINS - 1)] += 1
    smooth = [(bins[max(at - 1, 0)] + bins[at] + bins[min(at + 1, BINS - 1)]) / 3 for at in range(BINS)]
    floor = 0.05 * max(smooth)
    around = [-math.inf, *smooth, -math.inf]
    return sum(around[at] > floor and around[at] > around[at - 1] and around[at] > around[at + 1]
               for at in range(1, BINS + 1))


def _coherence(values, width, height):
    """The share of edges among the inner samples, on a curve from 0 to 1."""
    if width < 3 or height < 3 or width * height != len(values):
        return 0.0
    edges = centres = 0
    for y in range(1, height - 1):
        for at in range(y * width + 1, y * width + width - 1):
            centre = values[at]
            if not (math.isfinite(centre) and LOW <= centre <= HIGH):
                continue
            centres += 1
            across, down = (_slope(values[at + step], values[at - step]) for step in (1, width))
            edges += math.sqrt(across * across + down * down) > 0.1
    return min(max(1 - math.exp(-30 * edges / centres), 0.0), 1.0) if centres else 0.0


def _slope(after, before):
    usable = math.isfinite(after) and math.isfinite(before) and after > LOW and before > LOW
    return (after - before) / 2 if usable else 0.0


def _screen(valid, low, high, mean):
    """Whether the samples lie in a plane at the distance of a screen."""
    if high - low >= 0.15:
        return False
    median = sorted(valid)[len(valid) // 2]
    near = sum(abs(value - median) < 0.05 for value in valid)
    return near / len(valid) > 0.85 and 0.2 <= mean <= 1.5
