"""Bundles of the phone beside those of `capbundle pack`, with the same key and the same secret."""
import array
import json
import math
import random
import struct
import zlib

from Judges.bench import SAMPLE, expect
from Judges.bodies import nasty_photo
from Phone.bench import DEPTH, counter_of

TIME, MODEL = "2026-03-14T15:09:26.535+01:00", "Phone 3"
PLACE = {"latitude": 52.5163, "longitude": -13.3777, "altitude": -3.5, "accuracy": 4.0}
BLOCK = 65535


def facts(width=None, height=None, time=TIME, model=MODEL, **more):
    size = {"depth_map_dimensions": {"width": width, "height": height}} if width else {}
    return {"captured_at": time, "device_model": model, **size, **more}


def floats(width, height, seed=1):
    seeded = random.Random(seed)
    return array.array("f", (seeded.uniform(0.2, 5) for _ in range(width * height))).tobytes()


def sample(bench):
    """The desk lamp; and again from values of the types that an app has, and with padded rows."""
    bundle = bench.same(SAMPLE, "lamp")
    expect(bench.same(SAMPLE, "lamp-typed", "--typed").manifest == bundle.manifest, "other values in an app's types")
    expect(bench.same(SAMPLE, "lamp-padded", "--row-padding", 60).manifest == bundle.manifest, "padded rows count")


def real(bench):
    for raw in bench.captures():
        bench.same(raw, f"real-{raw.name}")


def parts(bench):
    """With and without a depth map and a position."""
    for name, members, samples in (
            ("whole", facts(3, 2, location=PLACE), floats(3, 2)), ("no-place", facts(3, 2), floats(3, 2)),
            ("no-depth", facts(location=PLACE), None), ("nothing", facts(), None),
            ("two-numbers", facts(location={"latitude": -90, "longitude": 180}), None),
            ("large-photo", facts(location=PLACE), None)):
        photo = {"photo": nasty_photo()} if name == "large-photo" else {}
        bench.same(bench.raw(name, members, samples, **photo), name)


def depth_maps(bench):
    """Each size of the last stored block, and samples that are not numbers. The size is that of README.md."""
    odd = struct.pack("<8I", 0x7fc00000, 0x7f800001, 0xffc12345, 0x7f800000, 0xff800000, 0x80000000, 1, 0)
    cases = {"1x1": (1, 1, b"\0\0\xc0\x7f"), "odd": (8, 1, odd), "tall": (1, 16384, floats(1, 16384)),
             "wide": (16384, 1, floats(16384, 1)), "block": (BLOCK, 4, b""), "large": (2048, 1536, floats(2048, 1536))}
    cases["block"] = (257 * 5, 51, floats(257 * 5, 51))  # 4 · 65535 bytes: the last block is full
    for name, (width, height, samples) in cases.items():
        bundle = bench.same(bench.raw(name, facts(width, height), samples), name)
        size, wanted = len(bundle.entries[DEPTH]), len(samples) + 5 * math.ceil(len(samples) / BLOCK) + 18
        expect(size == wanted, f"{name}: the depth map has {size} bytes, expected {wanted}")


def compressed(bench):
    """Another deflate stream may take the place of the stored blocks."""
    samples = (SAMPLE / "depth.f32").read_bytes()
    for level in (1, 6, 9):
        squeezed = zlib.compressobj(level, zlib.DEFLATED, -15)
        stream = bench.write("stream", squeezed.compress(samples) + squeezed.flush())
        bundle = bench.same(SAMPLE, f"level{level}", "--deflated", stream)
        expect(len(bundle.entries[DEPTH]) < len(samples) // 2, f"level {level} does not compress")
    long = bench.write("stream", bytes(len(samples) + 2000))
    bench.refused(SAMPLE, "long", "--deflated", long, about="compressed depth map")


def times(bench):
    for index, time in enumerate((
            "2026-03-14T15:09:26Z", "2024-02-29T23:59:59.9+00:00", "2023-12-31T23:59:59.999999999-23:59",
            "2026-01-01T00:00:00.0009+14:00", "1999-12-31T12:00:00.12-00:30", "9999-12-31T23:59:59.999Z",
            "2000-02-29T00:00:00+05:45", "1970-01-01T00:00:00.000Z", "1969-12-31T23:59:59.5Z")):
        bench.same(bench.raw(f"time{index}", facts(time=time)), f"time{index}")


def texts(bench):
    """Names in UTF-16 order, escapes, characters that join others, and numbers whose digits stay."""
    names = ["\ufb33", "\U0001f600", "\u20ac", "\r", "1", "\x80", "\u00f6", "o\u0308", "</script>", "",
             "\"\\/\b\f\n\t\x1f\x7f\u2028"]
    own = {name: [name, {name: None}] for name in names}
    raw = bench.raw("texts", facts(model='Rig "7"\\ \u00e9e\u0301\u4e2d\U0001f4f7\u0301 \u0001', **own))
    bench.same(raw, "texts")
    numbers = "[0,-0,0.10,1e3,1E-7,-1.50e+05,9007199254740993,123456789012345678901234567890.5,1e400]"
    place = '{"longitude":1.30e1,"latitude":-0.0,"accuracy":0e0,"altitude":12345678901234567890.123456789}'
    start = json.dumps(facts())[:-1]
    more = f'"numbers": {numbers}, "flags": [true, false, null], "location": {place}'
    bench.same(bench.raw("numbers", f"{start}, {more}}}"), "numbers")
    deep = "[" * 31 + "]" * 31
    bench.same(bench.raw("deep", f'{start}, "deep": {deep}}}'), "deep")


def counters(bench):
    """Each signature has the next counter, which is on the disk before the bundle is written."""
    first = counter_of(bench.phone_bundle(SAMPLE, "first"))
    second = counter_of(bench.phone_bundle(SAMPLE, "second"))
    expect((first, second) == (second - 1, bench.counter.stat().st_size), f"counters {first} and {second}")
    traced = bench.folder / "trace"
    bench.run("strace", "-f", "-y", "-e", "trace=write,pwrite64,fsync,rename,renameat2", "-o", traced, bench.phone,
              SAMPLE, bench.folder / "third.bundle", "--key", bench.key, "--secret", bench.secret,
              "--counter", bench.counter)
    calls = [line for line in traced.read_text().splitlines() if "counter>" in line or "third.bundle" in line]
    order = [word for line in calls for word in ("write", "fsync", "rename") if f" {word}" in line]
    expect(order[:2] == ["write", "fsync"] and "counter>" in calls[1], f"the counter is not synced first: {order}")
    bench.counter.rename(bench.folder / "lost")
    try:
        bench.sign(SAMPLE, "lost-counter", code=1).naming(bench.counter)
    finally:
        (bench.folder / "lost").rename(bench.counter)
    expect(not (bench.folder / "lost-counter.bundle").exists(), "a bundle was signed without a counter")


TIMES = {
    "no zone": "2026-03-14T15:09:26", "leap second": "2026-12-31T23:59:60Z", "date": "2026-02-29T00:00:00Z",
    "month": "2026-13-01T00:00:00Z", "hour": "2026-03-14T24:00:00Z", "zone": "2026-03-14T15:09:26+24:00",
    "unknown zone": "2026-03-14T15:09:26-00:00", "decimals": "2026-03-14T15:09:26.1234567890Z",
    "point": "2026-03-14T15:09:26.Z", "digit": "2026-03-14T15:09:2\u0666Z", "space": " 2026-03-14T15:09:26Z",
}


def refused_metadata():
    """Yields names, metadata.json, and words of the message."""
    for name, time in TIMES.items():
        yield name, facts(time=time), "the time is"
    yield "late", facts(time="9999-12-31T23:59:59-01:00"), "after the year 9999"
    yield "blank", facts(model=" \t"), "device model"
    yield "long", facts(model="x" * 257), "device model"
    for name, place in (("latitude", {"latitude": 90.1, "longitude": 0}), ("longitude", {"latitude": 1}),
                        ("accuracy", {"latitude": 1, "longitude": 2, "accuracy": -1}),
                        ("altitude", {"latitude": 1, "longitude": 2, "altitude": "3"})):
        yield name, facts(location=place), name
    start = json.dumps(facts())[:-1]
    infinite = '"location": {"latitude": 1, "longitude": 2, "altitude": 1e999}'
    for name, text, about in (
            ("infinite", infinite, "altitude"), ("twice", '"a": 1, "\\u0061": 2', "two members"),
            ("plus", '"a": +1', "not a JSON number"), ("zeros", '"a": 007', "not a JSON number"),
            ("digits", f'"a": {"1" * 65}', "not a JSON number"), ("nested", f'"a": {"[" * 32}{"]" * 32}', "nested"),
            ("much", f'"a": "{"x" * (1 << 20)}"', "1 MiB")):
        yield name, f"{start}, {text}}}", about


def refusals(bench):
    """What cannot be in a bundle is refused before anything is signed."""
    signed = bench.counter.stat().st_size
    for name, metadata, about in refused_metadata():
        bench.refused(bench.raw("wrong", metadata), name, about=about)
    bench.refused(bench.raw("wrong", facts(), photo=b"\x89PNG\r\n"), "png", about="not a JPEG")
    bench.refused(bench.raw("wrong", facts(3, 2), floats(3, 2)[:-1]), "short", about="depth map")
    bench.refused(bench.raw("wrong", facts(16385, 1), floats(16385, 1)), "side", about="16384")
    expect(bench.counter.stat().st_size == signed, "a refused capture used up a counter")


TESTS = [
    ("the sample: the same bundle as pack's, from texts and from the types of an app, with padded rows too", sample),
    ("real captures: the same bundles as pack's", real),
    ("with and without depth map and position: the same bundles as pack's", parts),
    ("depth maps of every form: the same bundles as pack's, and the size of stored blocks", depth_maps),
    ("a deflate stream of another compressor takes the place of the stored blocks", compressed),
    ("times with and without decimals and zones: the same bundles as pack's", times),
    ("odd names, texts and numbers: the same bundles as pack's", texts),
    ("counters rise, and are synced before the bundle is written", counters),
    ("what cannot be in a bundle is refused, and nothing is signed", refusals),
]
