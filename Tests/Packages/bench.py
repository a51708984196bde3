"""What the tests of the packages share: where the packages are, and how more of them are built."""
import os
import shutil
import socket
import subprocess

from Kit.outcomes import ROOT, Skipped, expect
from Kit.rigs import Home

BUILT = ROOT / ".build/packages"
NAMES = ("capbundle", "capbundle-doc", "capbundle-receiver", "capqueue")
RECEIVER = ".build-receiver/release/receiver"
BUILDING = 600  # in seconds


class Bench(Home):
    def __init__(self, folder):
        super().__init__(folder / "home")
        folder.chmod(0o755)
        self.folder = folder
        self.env["PATH"] = os.environ["PATH"]
        self.packages = {path.name.partition("_")[0]: path for path in sorted(BUILT.glob("*.deb"))}
        expect(tuple(sorted(self.packages)) == NAMES, f"{BUILT} has {sorted(self.packages)}: run make deb first")

    def run(self, *words, code=0, **how):
        return self.call(*words, **how).must(code, about=str(words[0])).out.decode()

    def build(self, target, root=ROOT, receiver=ROOT / RECEIVER, **environment):
        self.run(root / ".ci/packages/build.py", target, "--receiver", receiver, env=environment, seconds=BUILDING)

    def older(self, package, version, target):
        """Packs a package again, as an older version."""
        tree = target / f"{package}-{version}"
        self.run("dpkg-deb", "-R", self.packages[package], tree)
        control = tree / "DEBIAN/control"
        control.write_text("".join(f"Version: {version}\n" if line.startswith("Version:") else line
                                   for line in control.open()))
        self.run("dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", tree, target / f"{package}_{version}.deb")
        shutil.rmtree(tree)


def require_root():
    if os.geteuid():
        raise Skipped("only root can make a Debian system")


def tracked():
    """The names of the files that git tracks here, in their current state."""
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [name for name in names.split("\0") if name and (ROOT / name).is_file()]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
