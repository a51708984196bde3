"""Code that all judges share: a home folder with keys, bundles packed there, and ways to damage them."""
import base64
import json
import pathlib
import shutil
import sys
import tarfile

from Kit.outcomes import IS_LONG, ROOT, Failed, Skipped, expect
from Kit.rigs import Home

SPEC = ROOT / "Spec"
SAMPLE = ROOT / "Samples/desk-lamp/raw"
TYPE = b"application/vnd.capture-bundle.manifest+json;version=1"


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


class Bench(Home):
    """A home folder with a key, a trust file that names it, a second key, and the bundles that judges ask for."""

    def __init__(self, binary, folder, shared):
        super().__init__(folder / "home")
        self.binary, self.folder, self.shared, self._packed = binary, self.home, shared, {}
        self.key = self.home / ".local/share/capbundle/device.key"
        self.trust = self.home / ".config/capbundle/trusted_devices"
        self.stranger = self.home / "other/device.key"
        self.public, self.stranger_public = (key.with_name("device.key.pub") for key in (self.key, self.stranger))
        self.key_id = self.capbundle("key", "new").out.decode().strip()
        self.capbundle("trust", "add", "judge", self.public)
        self.capbundle("key", "new", "--key", self.stranger)

    def run(self, *command, code=0, **how):
        """Runs a command, and fails unless it ends with `code`; None allows any. A failure shows the command, but not
        its standard output, which may contain a position."""
        command = [str(word) for word in command]
        result = self.call(*command, **how)
        about = " ".join([pathlib.Path(command[0]).name, *command[1:3]])
        return result if code is None else result.must(code, about=about)

    def argv(self, *arguments):
        return [str(self.binary), *map(str, arguments)]

    def capbundle(self, *arguments, **how):
        return self.run(*self.argv(*arguments), **how)

    def refused(self, code, *arguments, **how):
        """Runs capbundle, which must end with `code` and print nothing on standard output."""
        result = self.capbundle(*arguments, code=code, **how)
        expect(not result.out, f"{arguments[0]}: {len(result.out)} bytes were printed with exit {code}")
        return result

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
        """Returns a new folder of the user alone, in place of one with the same name."""
        path = self.folder / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(mode=0o700, parents=True)
        return path

    def second(self, program, *words, **how):
        """Runs a program of the implementation in Spec/Generator."""
        return self.run(sys.executable, "-B", SPEC / "Generator" / program, *words, **how)

    def verify(self, path, *options, trust=None):
        """Returns the binary's exit code for a file."""
        return self.capbundle("verify", path, "--trust", trust or self.trust, *options, code=None).code

    def agree(self, path, about, *codes, options=(), trust=None):
        """Expects that capbundle and verify.py end with the same code, one of `codes`."""
        ours = self.verify(path, *options, trust=trust)
        theirs = self.second("verify.py", path, "--trust", trust or self.trust, *options, code=None).code
        expect(ours == theirs and ours in codes, f"{about}: capbundle {ours}, verify.py {theirs}, expected {codes}")

    @property
    def no_trust(self):
        return self.write("trust-nobody", b"# nobody\n")

    def captures(self):
        """Returns the captures of real devices, if their folder is here: all, or two in the short form."""
        found = sorted(path.parent for path in self.shared.glob("captures/*/metadata.json"))
        if not found:
            raise Skipped("no captures in the shared folder")
        return found if IS_LONG else [found[0], found[-1]]

    def real(self, raw):
        """Returns the bundle of a real capture; a failure does not show what the tool says of it."""
        try:
            return self.pack(f"real-{raw.name}", raw)
        except Failed:
            raise Failed(f"{raw.name} does not pack") from None
