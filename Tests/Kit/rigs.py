"""Code that all families share: a copy of the binary, rigs (key, trust file, raw folder), and checks of leftovers.

These checks do not use the code under test where Python can check: they read counters from the bytes, and compare the
key's state with its own checksum.
"""
import itertools
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess

from Kit.outcomes import Failed, PATIENCE, Result
from Kit.records import counter_of_state
from Kit.tracing import require_injected, separate

KEY_FILES = {"device.key", "device.key.pub", "device.key.state", "device.key.lock"}
PHOTO = (b"\xff\xd8" b"\xff\xc0\x00\x0b\x08\x00\x10\x00\x10\x01\x01\x11\x00"
         b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00" + b"\x12\x34" * 40 + b"\xff\xd9")
NOBODY = 65534


def write_raw(folder, photo=PHOTO, **members):
    """Writes a raw folder of a few hundred bytes; `members` go into metadata.json."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    (folder / "photo.jpg").write_bytes(photo)
    (folder / "depth.f32").write_bytes(struct.pack("<12f", *(1 + index / 8 for index in range(12))))
    metadata = {"captured_at": "2026-03-14T09:26:53.589+01:00", "device_model": "Rig 1",
                "depth_map_dimensions": {"width": 4, "height": 3},
                "location": {"latitude": 52.5163, "longitude": 13.3777}}
    (folder / "metadata.json").write_text(json.dumps(metadata | members))
    return folder


class Home:
    """A home folder of its own, so that no test sees a key, a queue or a setting of another test or of the user."""

    def __init__(self, folder):
        self.home = pathlib.Path(folder)
        self.home.mkdir(parents=True)
        self.env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(self.home), "LC_ALL": "C.UTF-8"}
        self.env |= {name: value for name, value in os.environ.items() if name == "TSAN_OPTIONS"}  # of Tests/Threads

    def call(self, *argv, env=None, seconds=PATIENCE, input=None, **options):
        """Runs a command to its end and returns its Result. `input` is bytes for its standard input."""
        options.setdefault("stdin", subprocess.DEVNULL if input is None else subprocess.PIPE)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options.setdefault("cwd", self.home)
        argv = [os.fspath(word) for word in argv]
        with subprocess.Popen(argv, env=self.env | (env or {}), start_new_session=True, **options) as tool:
            try:
                out, err = tool.communicate(input, timeout=seconds)
            except BaseException as error:  # it hangs, or a signal ends the tests
                # Kill the group, because the tool behind strace or a shell would otherwise survive.
                os.killpg(tool.pid, signal.SIGKILL)
                tool.communicate()
                if isinstance(error, subprocess.TimeoutExpired):
                    raise Failed(f"hangs: nothing after {seconds} s of {' '.join(argv)[-100:]}") from None
                raise
        err, remarks = separate(err or b"") if "strace" in argv else (err or b"", b"")
        require_injected(remarks)
        return Result(tool.returncode, out or b"", err, remarks)


class Bench:
    """The binary under test, copied to where any user can run it, and a folder for all rigs."""

    def __init__(self, binary, folder):
        self.folder = folder
        folder.chmod(0o755)
        self.binary = folder / "capbundle"
        self.decoder = binary.with_name("capbundle-decode")
        shutil.copy(binary, self.binary)
        self.binary.chmod(0o755)
        self.raw = write_raw(folder / "raw")
        self.numbers = itertools.count(1)  # thread-safe, because threads make rigs
        self.template = Rig(self, folder / "template")
        self.template.run("key", "new").must(0, about="key new")
        self.template.run("trust", "add", "rig", self.template.key + ".pub").must(0, about="trust add")

    def rig(self, empty=False):
        """Returns a new rig: with a trusted key that has signed nothing, or empty."""
        rig = Rig(self, self.folder / f"rig{next(self.numbers)}")
        if not empty:
            shutil.copytree(self.template.home, rig.home, dirs_exist_ok=True)
        return rig

    def copy(self, other):
        """Returns a new rig with all files of another one."""
        rig = Rig(self, self.folder / f"rig{next(self.numbers)}")
        shutil.copytree(other.folder, rig.folder, symlinks=True, dirs_exist_ok=True)
        return rig


class Rig(Home):
    """A home folder, so that no test sees the key of another test or of the user, and a folder for bundles."""

    def __init__(self, bench, folder):
        super().__init__(pathlib.Path(folder) / "home")
        self.bench, self.folder, self.out, self.raw = bench, pathlib.Path(folder), pathlib.Path(folder) / "out", bench.raw
        self.out.mkdir(parents=True)

    @property
    def keys(self):
        return self.home / ".local/share/capbundle"

    @property
    def key(self):
        return str(self.keys / "device.key")

    @property
    def trust(self):
        return self.home / ".config/capbundle/trusted_devices"

    def argv(self, *args):
        return [str(self.bench.binary), *map(os.fspath, args)]

    def run(self, *args, prefix=(), **how):
        """Runs the tool; `prefix` comes before it on the command line (strace, sh)."""
        return self.call(*prefix, *self.argv(*args), **{"cwd": self.out} | how)

    def pack(self, target, *options, raw=None, **how):
        return self.run("pack", self.raw if raw is None else raw, "-o", target, *options, **how)

    def bundle(self, name="x.bundle", **how):
        """Packs a sound bundle."""
        self.pack(self.out / name, **how).must(0, about="pack")
        return self.out / name

    def verify(self, *files, code=0, about="verify"):
        return self.run("verify", *files).must(code, about=about)

    def state(self, about=""):
        """Returns the counter of the key's state, after a check of the checksum of Spec section 9.1."""
        return counter_of_state((self.keys / "device.key.state").read_bytes(), about)

    def strays(self):
        """Returns unexpected files, including hidden ones."""
        known = {self.keys: KEY_FILES, self.trust.parent: {"trusted_devices", "trusted_devices.lock"}}
        found = [str(path.relative_to(self.home)) for folder, names in known.items() if folder.is_dir()
                 for path in folder.iterdir() if path.name not in names]
        return found + sorted(path.name for path in self.out.iterdir() if not path.name.endswith(".bundle")
                              or path.name.startswith("."))
