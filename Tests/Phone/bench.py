"""What the tests of the phone share: a device key that both sides sign with, and a comparison of their bundles."""
import gzip
import json
import re
import shutil

from Judges.bench import Bench as Judges, Bundle, ROOT, expect

DEPTH, MANIFEST, ASSERTION = "depth.f32.gz", "manifest.json", "assertion.cbor"
PHOTO = (ROOT / "Samples/desk-lamp/raw/photo.jpg").read_bytes()
COUNTER = re.compile(rb"authenticatorDataX\x25.{33}(.{4})", re.S)


class Bench(Judges):
    """A home folder with a trusted key, the secret of its positions, and a counter for the phone."""

    def __init__(self, capbundle, phone, folder):
        super().__init__(capbundle, folder, ROOT.parent / "shared")
        self.phone, self.counter = phone, self.write("counter", b"")
        self.secret = re.search(r"^salt ([0-9a-f]{64})$", self.key.with_name("device.key.state").read_text(), re.M)[1]

    def sign(self, raw, name, *options, code=0):
        """Lets the phone write a bundle and its body; returns what it said."""
        for ending in ("bundle", "body"):
            (self.folder / f"{name}.{ending}").unlink(missing_ok=True)
        return self.run(self.phone, raw, self.folder / f"{name}.bundle", "--key", self.key, "--secret", self.secret,
                        "--counter", self.counter, "--body", self.folder / f"{name}.body", *options, code=code)

    def phone_bundle(self, raw, name, *options):
        said = self.sign(raw, name, *options)
        bundle = Bundle(self.folder / f"{name}.bundle")
        expect(said.out.decode() == f"{json.loads(bundle.manifest)['id']}\n", f"{name}: the phone prints another id")
        return bundle

    def raw(self, name, metadata, floats=None, photo=PHOTO):
        """Makes a raw folder. `metadata` is a dictionary or the text of metadata.json."""
        folder = self.scratch(name)
        (folder / "photo.jpg").write_bytes(photo)
        (folder / "metadata.json").write_text(metadata if isinstance(metadata, str) else json.dumps(metadata))
        if floats is not None:
            (folder / "depth.f32").write_bytes(floats)
        return folder

    def same(self, raw, name, *options):
        """Expects that the phone writes what `pack` writes, except for the compressed depth map and the signature."""
        (self.folder / f"pack-{name}.bundle").unlink(missing_ok=True)
        has_depth = (raw / "depth.f32").exists()
        self.capbundle("pack", raw, "-o", self.folder / f"pack-{name}.bundle", *([] if has_depth else ["--no-depth"]))
        packed, bundle = Bundle(self.folder / f"pack-{name}.bundle"), self.phone_bundle(raw, name, *options)
        self.agree(bundle.path, name, 0)
        expect(list(bundle.entries) == list(packed.entries), f"{name}: other entries: {list(bundle.entries)}")
        different = [path for path, data in packed.entries.items()
                     if path not in (DEPTH, MANIFEST, ASSERTION) and bundle.entries[path] != data]
        expect(not different, f"{name}: other bytes in {different}")
        expect(self._without_size(bundle) == self._without_size(packed), f"{name}: another manifest")
        if has_depth:
            floats = (raw / "depth.f32").read_bytes()
            expect(gzip.decompress(bundle.entries[DEPTH]) == floats, f"{name}: other floats")
        return bundle

    def _without_size(self, bundle):
        """The manifest's bytes, with `id`, without the hash and the size of the compressed depth map."""
        return re.sub(rb'("path":"depth\.f32\.gz","role":"depth"),"sha256":"[0-9a-f]{64}","size":[0-9]+', rb"\1",
                      bundle.manifest)

    def refused(self, raw, name, *options, about):
        """Expects that the phone refuses a capture with a message, and writes nothing."""
        before = sorted(self.folder.iterdir())
        said = self.sign(raw, name, *options, code=1).naming(about, about=name)
        expect(not said.out and sorted(self.folder.iterdir()) == before, f"{name}: something was written")

    def scratch(self, name):
        shutil.rmtree(self.folder / name, ignore_errors=True)
        return super().scratch(name)


def counter_of(bundle):
    return int.from_bytes(COUNTER.search(bundle.entries[ASSERTION])[1], "big")
