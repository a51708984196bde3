"""The bundles that the sequences push: a few captures, and variants that can be made without a capture's key.

There are few of them, so that a sequence often meets one again: a twin (the same manifest, signed again), a redacted
copy (without location.json), an altered and a cut one.
"""
import hashlib
import os
import subprocess
import tarfile

from bench import PHOTO, write_raw
from outcomes import Failed

CAPTURES = 6
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
        self.folder = folder
        self._environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "XDG_DATA_HOME": str(folder / "data"),
                             "XDG_CONFIG_HOME": str(folder / "config"), "HOME": str(folder), "LC_ALL": "C.UTF-8"}
        self._capbundle = capbundle
        self._run("key", "new")
        self._run("trust", "add", "rig", folder / "data/capbundle/device.key.pub")
        self.trust = folder / "config/capbundle/trusted_devices"
        self.sound, self.broken = [], []
        for number in range(CAPTURES):
            self._capture(number)
        for path, code in ((folder / "altered.bundle", 1), (folder / "cut.bundle", 2)):
            self.broken.append(Bundle(path, code))
        self.by_sha256 = {bundle.sha256: bundle for bundle in self.sound}

    def _run(self, *words):
        done = subprocess.run([self._capbundle, *words], env=self._environment, capture_output=True, check=False)
        if done.returncode:
            raise Failed(f"capbundle {words[0]} ends with {done.returncode}: {done.stderr[:300]!r}")

    def _capture(self, number):
        # These lengths are on both sides of the buffer size and of what SQLite and a pipe take at once.
        length = (0, 3000, 40_000, 70_000, 200_000, 1_100_000)[number]
        photo = PHOTO[:-2] + bytes([0x20 + number]) * length + PHOTO[-2:]
        raw = write_raw(self.folder / f"raw{number}", photo, captured_at=f"2026-03-14T09:26:{10 + number}Z")
        path = self.folder / f"c{number}.bundle"
        self._run("pack", raw, "-o", path)
        self.sound.append(Bundle(path))
        if number < DOUBLES:
            twin = self.folder / f"c{number}-twin.bundle"
            self._run("pack", raw, "-o", twin)
            self.sound.append(Bundle(twin))
            redacted = self.folder / f"c{number}-redacted.bundle"
            redacted.write_bytes(without(path, "location.json"))
            self.sound.append(Bundle(redacted))
        if not number:
            data = bytearray(path.read_bytes())
            data[data.rindex(PHOTO[-20:]) + 2] ^= 1
            (self.folder / "altered.bundle").write_bytes(data)
            (self.folder / "cut.bundle").write_bytes(data[:-700])


def without(path, name):
    """Returns the bytes of a bundle without one entry."""
    data = path.read_bytes()
    with tarfile.open(path, "r:") as archive:
        member = archive.getmember(name)
    end = member.offset_data + -(-member.size // 512) * 512
    return data[:member.offset] + data[end:]
