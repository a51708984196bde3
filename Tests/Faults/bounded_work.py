"""The work for each byte of a hostile bundle is bounded.

The second implementation makes and signs the bundles. Each is compared with a plain bundle of its size (and with a
depth map of as many samples, if it is about depth) by the CPU time of the process. Whatever else runs on the machine
only adds to that time, so the best of several runs counts, and a test fails only if even the best of many is too long.
"""
import random
import resource
import struct
import subprocess
import zlib

from Kit.outcomes import every, expect, long

from bundle import writer
from capbundle.format import canonical
from capbundle.format.canonical import Number
from cases.base import Draft, PHOTO, TRUST, metadata
from cases.deflate import Stream, codes

TIMES, REPORT = 8, 4
TURNS = 40
MARKS = "a" + "\u0301" * 200_000
SIDE = 1024
FLOATS = 4 * SIDE * SIDE
LIMIT = FLOATS + FLOATS // 256 + 128


def text(**members):
    draft = Draft()
    draft.set_metadata(canonical.encode(metadata(**members)))
    return draft.bytes()


def nested(levels, wrap, value):
    for _ in range(levels):
        value = wrap(value)
    return value


def entries(content, is_spoilt=False):
    """Makes a bundle with many entries; if it is spoilt, each of them has another hash than the manifest says."""
    draft = Draft()
    draft.payload |= {f"source/{number:04d}": content for number in range(4092)}
    if is_spoilt:
        draft.sealed_assertion()
        draft.payload |= {f"source/{number:04d}": b"b" for number in range(4092)}
    return draft.bytes()


def with_depth(raw, side, body):
    """Returns a draft with a square depth map whose compressed form is `body`."""
    trailer = zlib.crc32(raw).to_bytes(4, "little") + len(raw).to_bytes(4, "little")
    draft = Draft()
    draft.payload["depth.f32.gz"] = b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + body + trailer
    draft.depth = writer.describe_depth(raw, side, side)
    size = {"height": Number(side), "width": Number(side)}
    draft.set_metadata(canonical.encode(metadata(depth_map_dimensions=size)))
    return draft


def depth_map(deflated):
    """Makes a depth map of zeros whose stream begins with these bytes."""
    zeros, raw = zlib.compressobj(9, zlib.DEFLATED, -15), bytes(FLOATS)
    return with_depth(raw, SIDE, deflated + zeros.compress(raw) + zeros.flush()).bytes()


def filled(pattern):
    return depth_map(pattern * ((LIMIT - 20_000) // len(pattern)))


def blocks(literals, distances, count):
    """Makes empty blocks with tables; eight of them end at a byte boundary, whatever their length."""
    stream = Stream()
    for _ in range(8):
        stream.dynamic(literals, distances, final=False).code(codes(literals)[256])
    return stream.bytes() * (count // 8)


def fixed_blocks():
    # Ten bits each, so four of them are five bytes.
    stream = Stream()
    for _ in range(4):
        stream.empty()
    return stream.bytes()


LONG_TABLES = ({symbol: 8 + (symbol >= 226) for symbol in range(286)}, {symbol: 4 + (symbol >= 2) for symbol in range(30)})
HOSTILE = {
    "combining path": lambda: text(**{MARKS: {f"m{number}": Number(0) for number in range(30_000)}}),
    "combining positions": lambda: text(x={
        f"{'lat' if number % 2 else 'x'}{number}" + "\u0301" * 2000: {"lat": Number(1)} for number in range(200)}),
    "combining values": lambda: text(x=[MARKS, MARKS]),
    "many members": lambda: text(**{f"m{number}": Number(0) for number in range(80_000)}),
    "many positions": lambda: text(x=[{"lat": Number(1)}] * 80_000),
    "deep nesting": lambda: text(x=[nested(30, lambda value: {"lat": value}, Number(1))] * 3_000),
    "nested arrays": lambda: text(x=[nested(28, lambda value: [value], [])] * 17_000),
    "many entries": lambda: entries(b""), "spoilt entries": lambda: entries(b"a", is_spoilt=True),
    "empty stored blocks": lambda: filled(b"\0\0\0\xff\xff"), "empty fixed blocks": lambda: filled(fixed_blocks()),
    "empty dynamic blocks": lambda: filled(blocks({256: 1}, {}, 8)),
    "as many blocks as allowed": lambda: depth_map(blocks(*LONG_TABLES, 64 + FLOATS // 512 - 16)),
}


def plain(size, side):
    """Makes a bundle of `size` bytes with a noisy depth map, which compresses to nine tenths, and a photo."""
    noise = random.Random(1)
    raw = struct.pack(f"<{side * side}f", *(1 + index / side / side + noise.random() for index in range(side * side)))
    zipper = zlib.compressobj(6, zlib.DEFLATED, -15)
    draft = with_depth(raw, side, zipper.compress(raw) + zipper.flush())
    room = size - sum(map(len, draft.payload.values()))
    draft.payload["photo.jpg"] = PHOTO[:-2] + random.Random(2).randbytes(max(0, room)).replace(b"\xff", b"\xfe") + PHOTO[-2:]
    return draft.bytes()


def seconds(rig, words, codes_expected):
    """Returns the CPU time of the process, and the length of its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([rig.bench.binary, *words], capture_output=True, env=rig.env, cwd=rig.folder,
                          stdin=subprocess.DEVNULL, timeout=120)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    expect(done.returncode in codes_expected, f"{words[0]}: exit {done.returncode}: {done.stderr[:300]!r}")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, len(done.stdout + done.stderr)


def compare(rig, plain, hostile, limit):
    """Fails if the command takes more than `limit` times as long as the plain one. Returns the length of its output.

    `plain` and `hostile` are a command and the exit codes that are expected. They run in turns, so that both meet the
    same load.
    """
    usual = spent = float("inf")
    for turn in range(TURNS):
        # Below this, the start of the process takes most of the time, and differs between runs.
        usual = max(min(usual, seconds(rig, *plain)[0]), 0.010)
        took, said = seconds(rig, *hostile)
        spent = min(spent, took)
        if turn >= 2 and spent <= limit * usual:
            return said
    words = " ".join(hostile[0])
    expect(False, f"{words}: {spent / usual:.1f} times a plain file ({spent:.3f} s), expected at most {limit}")


def bounded(bench):
    def judge(name, make):
        rig = bench.rig()
        rig.folder.joinpath("trust").write_text(TRUST + "\n")
        hostile = make()
        rig.folder.joinpath("hostile").write_bytes(hostile)
        rig.folder.joinpath("forged").write_bytes(_forged(hostile))
        rig.folder.joinpath("plain").write_bytes(plain(len(hostile), SIDE if "blocks" in name else 256))
        for words in (["verify"], ["verify", "--json"], ["show", "--json"], ["multipart", "-o", "-"],
                      ["extract", "manifest.json"]):
            def command(file):
                trusted = ["--trust", "trust"] if words[0] == "verify" else []
                return [words[0], file, *words[1:], *trusted]
            for file in ("hostile", "forged"):
                sound = file == "hostile" and not name.startswith(("empty", "spoilt"))
                # multipart reads metadata.json twice, because the body begins with its contents. Half a million nested
                # arrays take 8 to 9 times as long as a plain bundle, because each array is a memory allocation.
                limit = TIMES * (2 if words[0] == "multipart" or "nest" in name else 1)
                expected = (0,) if sound else (1, 2)
                said = compare(rig, (command("plain"), (0,)), (command(file), expected), limit)
                if words[0] != "multipart":
                    expect(said <= REPORT * len(hostile), f"{' '.join(words)}: {said} bytes said of {len(hostile)}")

    every(HOSTILE, judge)


def _forged(bundle):
    """Returns the bundle with one bit of the signature changed."""
    at = bundle.index(b"assertion.cbor") + 512 + 40
    return bundle[:at] + bytes([bundle[at] ^ 1]) + bundle[at + 1:]


TESTS = [
    ("each hostile bundle takes at most 8 times the time of a plain one", long(bounded)),
]
