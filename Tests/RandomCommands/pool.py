"""The bundles that the sequences push: a few captures, and variants that can be made without a capture's key.

There are few of them, so that a sequence often meets one again: a twin (the same manifest, signed again), a redacted
copy (without location.json), an altered and a cut one.
"""
import hashlib
import tarfile

from Kit.rigs import PHOTO, Bench, write_raw

# These lengths are on both sides of the buffer size and of what SQLite and a pipe take at once.
LENGTHS = (0, 3000, 40_000, 70_000, 200_000, 1_100_000)
DOUBLES = 4  # how many captures also have a twin and a redacted copy


class Bundle:
    """A bundle file, and the values that the Spec derives from its bytes."""

    def __init__(self, path, code=0):
        self.path, self.name, self.code = path, path.name, code
        self.data = path.read_bytes()
        self.sha256 = hashlib.sha256(self.data).hexdigest()
        self.bytes = len(self.data)
        if not code:
            self._read()

    def _read(self):
        with tarfile.open(self.path, "r:") as archive:
            names = archive.getnames()
            manifest = archive.extractfile("manifest.json").read()
        self.manifest_sha256 = hashlib.sha256(manifest).hexdigest()
        payload = "".join(f"{name}\n" for name in names[3:])
        self.identity = hashlib.sha256(bytes.fromhex(self.manifest_sha256) + payload.encode()).hexdigest()
        # The manifest is canonical JSON and "id" is one of its last members, so the last match is the right one.
        self.id = manifest.rpartition(b'"id":"')[2][:36].decode()

    def __deepcopy__(self, memo):
        return self  # models are copied often, and bundles never change

    def __repr__(self):
        return self.name


class Pool:
    def __init__(self, folder, capbundle):
        folder.mkdir()
        self.folder, self._rig = folder, Bench(capbundle, folder).template
        self.trust, self.sound = self._rig.trust, []
        for number, length in enumerate(LENGTHS):
            self._capture(number, length)
        data = bytearray(self.sound[0].data)
        data[data.rindex(PHOTO[-20:]) + 2] ^= 1
        self.broken = [self._made("altered", bytes(data), 1), self._made("cut", bytes(data[:-700]), 2)]
        self.by_sha256 = {bundle.sha256: bundle for bundle in self.sound}

    def _capture(self, number, length):
        photo = PHOTO[:-2] + bytes([0x20 + number]) * length + PHOTO[-2:]
        raw = write_raw(self.folder / f"raw{number}", photo, captured_at=f"2026-03-14T09:26:{10 + number}Z")
        for name in (f"c{number}", f"c{number}-twin") if number < DOUBLES else (f"c{number}",):
            path = self.folder / f"{name}.bundle"
            self._rig.pack(path, raw=raw).must(0, about="pack")
            self.sound.append(Bundle(path))
        if number < DOUBLES:
            self.sound.append(self._made(f"c{number}-redacted", without(self.sound[-2].path, "location.json")))

    def _made(self, name, data, code=0):
        path = self.folder / f"{name}.bundle"
        path.write_bytes(data)
        return Bundle(path, code)


def without(path, name):
    """Returns the bytes of a bundle without one entry."""
    data = path.read_bytes()
    with tarfile.open(path, "r:") as archive:
        member = archive.getmember(name)
    end = member.offset_data + -(-member.size // 512) * 512
    return data[:member.offset] + data[end:]
