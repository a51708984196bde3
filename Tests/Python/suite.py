"""The Python package of Samples/python: its API, its command, its examples, its README, and how it is installed."""
import contextlib
import io
import json
import sys
import tarfile

from Kit.outcomes import ROOT
from Kit.rigs import Bench, write_raw
from PIL import Image

PROGRAMS = ("capbundle",)
PACKAGE = ROOT / "Samples/python"
sys.path.append(str(PACKAGE / "examples"))
LANES = 2
CAMERA = {"fx": 5.5, "fy": 6, "cx": 8.25, "cy": 7.75, "width": 16, "height": 16}
MATRIX = [0.0, -1.0, 0.0, 0.5, 1.0, 0.0, 0.0, -2.0, 0.0, 0.0, 1.0, 3.25, 0.0, 0.0, 0.0, 1.0]


class Place:
    """A rig, the bundles that it packed, and the way to call Python with the package."""

    def __init__(self, capbundle, folder):
        self.folder = folder
        self.rig = Bench(capbundle, folder).rig()
        self.rig.env |= {"PYTHONPATH": f"{PACKAGE}/src:{PACKAGE}/examples", "PYTHONDONTWRITEBYTECODE": "1"}
        self.trust = self.rig.trust
        raw = write_raw(folder / "posed", camera_intrinsics=CAMERA, camera_pose={"matrix": MATRIX})
        Image.new("L", (4, 3), 2).save(raw / "confidence.png")
        self.rig.pack("posed.bundle", raw=raw).must(0, about="pack")
        self.posed = self.rig.out / "posed.bundle"
        self.archive = folder / "archive"
        for number, name in enumerate(("b", "a", "inner/c")):
            bundle = self.archive / f"{name}.bundle"
            bundle.parent.mkdir(parents=True, exist_ok=True)
            stamped = write_raw(folder / f"raw{number}", captured_at=f"2026-03-14T09:26:5{number}Z")
            self.rig.pack(bundle, raw=stamped).must(0, about="pack")
        (self.archive / "note.txt").write_text("not a bundle")
        self.names = ["a.bundle", "b.bundle", "inner/c.bundle"]

    def python(self, *words, **how):
        """Runs Python with the package."""
        return self.rig.call(sys.executable, *words, **how)

    def shown(self, bundle):
        """What capbundle says of a bundle."""
        return json.loads(self.rig.run("verify", "--json", bundle).out)


def entries_of(data):
    """Returns the entries of a bundle as tarfile reads them."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}


@contextlib.contextmanager
def bench(options, folder):
    yield Place(options.capbundle, folder)
