"""A home folder with a device key, and raw folders that are packed and read back."""
import io
import json

import numpy as np
from PIL import Image

from Kit.outcomes import expect
from Kit.rigs import Home

METADATA = {"captured_at": "2026-03-14T15:09:26+01:00", "device_model": "Rig"}
Y, X = np.mgrid[:64, :48]
# A scene with holes, with values that no rounding changes by luck, and the same in millimetres.
METRES = (1 + 0.01 * X + 0.02 * Y + 1e-7 * X * Y).astype("f4")
METRES[10:20, 5:15] = 0
MILLIMETRES = np.round(METRES * 1000).astype("u2")


def photo():
    made = io.BytesIO()
    Image.fromarray(np.stack([X % 256, Y % 256, X * 0], -1).astype("u1")).save(made, "JPEG")
    return made.getvalue()


def metres(codes, units=1000):
    """What integers become (Spec/raw-captures.md section 3)."""
    return (codes.astype("f8") / units).astype("f4")


class Bench(Home):
    def __init__(self, binary, folder):
        super().__init__(folder / "home")
        self.binary, self.key, self.count = binary, self.home / "device.key", 0
        self.tool("key", "new", "--key", self.key)

    def tool(self, *words, code=0):
        done = self.call(self.binary, *words)
        expect(done.code == code, f"{words[0]} ended with {done.code}, expected {code}: {done.text.strip()[-400:]!r}")
        return done.text

    def raw(self, name, write):
        """A raw folder whose depth map `write` writes to the path that it gets."""
        self.count += 1
        raw = self.home / f"raw-{self.count}"
        raw.mkdir()
        (raw / "photo.jpg").write_bytes(photo())
        (raw / "metadata.json").write_text(json.dumps(METADATA))
        write(str(raw / name))
        return raw

    def packed(self, raw, *options):
        """Packs a raw capture and returns its depth map, and what was said."""
        bundle = self.home / "made.bundle"
        said = self.tool("pack", raw, "--key", self.key, "-o", bundle, "--force", *options)
        manifest = json.loads(self.call(self.binary, "extract", bundle, "manifest.json").out)
        floats = self.call(self.binary, "extract", bundle, "depth.f32").out
        return np.frombuffer(floats, "<f4").reshape(manifest["depth"]["height"], -1), said

    def gives(self, name, write, floats, *options, said=""):
        """Packs what `write` writes. The bundle must have these floats, bit by bit, and the notes this text."""
        found, words = self.packed(self.raw(name, write), *options)
        same(found, floats)
        expect(said in words, f"nothing says {said!r}: {words[-300:]!r}")

    def refused(self, name, write, words, *options):
        said = self.tool("pack", self.raw(name, write), "--key", self.key, "-o", self.home / "no.bundle", *options, code=65)
        expect(words in said, f"{words!r} is not in {said[-400:]!r}")


def same(found, expected):
    expected = np.ascontiguousarray(expected, "<f4")
    expect(found.shape == expected.shape, f"has the shape {found.shape}, expected {expected.shape}")
    count = np.count_nonzero(found.view("u4") != expected.view("u4"))
    expect(count == 0, f"{count} of {found.size} samples differ")
