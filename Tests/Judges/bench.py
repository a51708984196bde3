"""Code that all judges share: the binary, a temporary folder, bundles packed there, and ways to damage them."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

from outcomes import Failed, Skipped, expect  # noqa: F401  (every judge needs these, from one place)

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = ROOT / "Spec"
SAMPLE = ROOT / "Samples/desk-lamp/raw"
TYPE = b"application/vnd.capture-bundle.manifest+json;version=1"


def client_data(manifest):
    """Returns the DSSE pre-authentication encoding of the manifest (section 9)."""
    return b"DSSEv1 %d %s %d %s" % (len(TYPE), TYPE, len(manifest), manifest)


def flip(data, at, bit=0):
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1:]


class Bundle:
    """A bundle as Python's tarfile reads it, so that finding an entry does not depend on code of this project."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.data = self.path.read_bytes()
        with tarfile.open(self.path, "r:") as archive:
            self.members = archive.getmembers()
            self.entries = {member.name: archive.extractfile(member).read() for member in self.members}

    @property
    def manifest(self):
        return self.entries["manifest.json"]

    @property
    def point(self):
        return base64.b64decode(json.loads(self.manifest)["device"])

    def member(self, name):
        return next(member for member in self.members if member.name == name)

    def spoilt(self, name, at):
        """Returns the whole file with one bit flipped in an entry; a negative `at` counts from the entry's end."""
        member = self.member(name)
        return flip(self.data, member.offset_data + (at if at >= 0 else member.size + at))

    def without(self, name):
        """Returns the whole file without one entry, as section 8 withholds it."""
        member = self.member(name)
        end = member.offset_data + -(-member.size // 512) * 512
        return self.data[:member.offset] + self.data[end:]


class Bench:
    """A temporary folder with a key, a trust file that names it, and the bundles that judges ask for."""

    def __init__(self, binary, folder, shared):
        self.binary, self.folder, self.shared = pathlib.Path(binary).resolve(), pathlib.Path(folder), shared
        self.key, self.trust, self.stranger = folder / "data/device.key", folder / "trust", folder / "other/device.key"
        # Use no key, trust file or setting of the user who runs this.
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("CAPBUNDLE_")}
        self.environment |= {"CAPBUNDLE_KEY": str(self.key), "CAPBUNDLE_TRUST": str(self.trust),
                             "XDG_DATA_HOME": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "config"),
                             "HOME": str(folder), "LC_ALL": "C.UTF-8"}
        self._packed = {}
        self.key.parent.mkdir(mode=0o700)
        self.stranger.parent.mkdir(mode=0o700)
        self.key_id = self.capbundle("key", "new").stdout.decode().strip()
        self.public = folder / "device.key.pub"
        self.public.write_bytes(self.capbundle("key", "public").stdout)
        self.capbundle("trust", "add", "judge", self.public)
        self.capbundle("key", "new", "--key", self.stranger)
        self.stranger_public = folder / "stranger.pub"
        self.stranger_public.write_bytes(self.capbundle("key", "public", "--key", self.stranger).stdout)

    def run(self, *command, expected=(0,), input=None, cwd=None):
        """Runs a command; with `expected` None any exit code is allowed. A failure shows the command, but not its
        standard output, which may contain a position."""
        result = subprocess.run([str(part) for part in command], input=input, capture_output=True,
                                cwd=cwd or self.folder, env=self.environment, timeout=120)
        if expected is not None and result.returncode not in expected:
            name = pathlib.Path(str(command[0])).name
            said = result.stderr.decode(errors="replace").strip().split("\n")[0][:200]
            raise Failed(f"{name} {' '.join(str(part) for part in command[1:3])}: exit {result.returncode}: {said}")
        return result

    def capbundle(self, *arguments, **options):
        return self.run(self.binary, *arguments, **options)

    def pack(self, name="plain", raw=SAMPLE, *options):
        """Returns a bundle of a raw capture, packed once for each name."""
        if name not in self._packed:
            path = self.folder / f"{name}.bundle"
            self.capbundle("pack", raw, "-o", path, *options)
            self._packed[name] = Bundle(path)
        return self._packed[name]

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def scratch(self, name):
        path = self.folder / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def verify(self, path, *options, trust=None):
        """Returns the binary's exit code for a file."""
        return self.capbundle("verify", path, "--trust", trust or self.trust, *options, expected=None).returncode

    def second_verify(self, path, *options, trust=None):
        """Returns the exit code of the implementation in Spec/Generator for the same file."""
        program = SPEC / "Generator/verify.py"
        if not program.exists():
            raise Skipped("Spec/Generator/verify.py is not here")
        trust = ["--trust", trust or self.trust]
        return self.run(sys.executable, "-B", program, path, *trust, *options, expected=None).returncode

    @property
    def no_trust(self):
        return self.write("trust-nobody", b"# nobody\n")
