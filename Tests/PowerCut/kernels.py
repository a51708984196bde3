"""The newest kernel 6.1 of Debian 12, downloaded and unpacked by the package manager."""
import os
import pathlib
import platform
import re
import shutil
import subprocess

from Kit.apt import mirror
from Kit.outcomes import ROOT, Skipped, expect

KEPT = ROOT / ".build/powercut"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# From .ci/dependencies powercut; the versions of these packages are printed.
TOOLS = {"qemu-system-x86_64": "qemu-system-x86", "mkfs.ext4": "e2fsprogs", "mkfs.xfs": "xfsprogs",
         "mkfs.btrfs": "btrfs-progs", "mkfs.f2fs": "f2fs-tools", "mkfs.vfat": "dosfstools",
         "mkfs.exfat": "exfatprogs", "cryptsetup": "cryptsetup-bin", "busybox": "busybox-static", "depmod": "kmod",
         "cpio": "cpio", "smbd": "samba"}


def require_tools():
    """Skips the test if this machine cannot have what the guests need."""
    if platform.machine() != "x86_64":
        raise Skipped("the guests need an x86-64 machine")
    missing = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
    if missing and os.geteuid() != 0:
        raise Skipped(f"only root can install {' '.join(missing)}")
    expect(not missing, f"{' '.join(missing)} is not installed (.ci/dependencies powercut)")


class Kernel:
    """An unpacked kernel package: `release` as `uname -r` prints it, and the `version` of the package."""

    def __init__(self, folder):
        self.folder = folder
        (self.modules,) = (folder / "lib/modules").iterdir()
        self.release = self.modules.name
        self.version = (folder / "version").read_text()
        self.image = folder / f"boot/vmlinuz-{self.release}"


class Archive:
    """A suite of Debian with kernels, which are named by a pattern, and the options with which apt uses it."""

    def __init__(self, pattern, options=()):
        self.pattern, self.options = pattern, options

    def newest(self):
        """Returns the newest kernel that the package lists name; it is kept for the next run."""
        package = self.listed()
        if not package or not is_kept(package):
            if not has_network():
                raise Skipped("no kernel can be downloaded without a network")
            if os.geteuid() == 0:
                apt("apt-get", *self.options, "update", "-qq")
            package = self.listed()
            expect(package, f"the package lists have no {self.pattern}, which is a kernel of Debian 12")
            if not is_kept(package):
                self.download(package)
        return Kernel(KEPT / package)

    def listed(self):
        """Returns the name of the newest package, or None."""
        lines = apt("apt-cache", *self.options, "search", "--names-only", f"^{self.pattern}$").splitlines()
        names = [line.split()[0] for line in lines]
        return max(names, key=lambda name: [int(number) for number in re.findall(r"\d+", name)], default=None)

    def download(self, package):
        folder = KEPT / f"{package}.part"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        apt("apt-get", *self.options, "-o", "APT::Sandbox::User=root", "download", package, cwd=folder)
        (archive,) = folder.glob("*.deb")
        version = apt("dpkg-deb", "--field", archive, "Version").strip()
        apt("dpkg-deb", "-x", archive, folder)
        archive.unlink()
        apt("depmod", "-b", folder, next((folder / "lib/modules").iterdir()).name)
        (folder / "version").write_text(version)
        folder.rename(KEPT / package)


def newest():
    """Returns the newest kernel 6.1 of Debian 12."""
    return Archive(r"linux-image-6\.1\.0-[0-9]+-amd64").newest()


def newest_backport():
    """Returns the newest kernel of bookworm-backports, which need not be among the sources of this machine."""
    folder = KEPT / "backports"
    (folder / "lists/partial").mkdir(parents=True, exist_ok=True)
    (folder / "sources").write_text(f"deb [signed-by={KEYRING}] {mirror()} bookworm-backports main\n")
    settings = {"Dir::Etc::sourcelist": folder / "sources", "Dir::Etc::sourceparts": "/nonexistent",
                "Dir::State::lists": folder / "lists", "Dir::Cache": folder, "APT::Sandbox::User": "root"}
    options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    return Archive(r"linux-image-[0-9.]+\+deb12(\.[0-9]+)?-amd64", options).newest()


def is_kept(package):
    return (KEPT / package / "version").is_file()


def apt(*words, cwd=None):
    done = subprocess.run(words, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"{words[0]} {words[1]} ends with {done.returncode}: {done.stderr[-300:]}")
    return done.stdout


def has_network():
    """Whether this machine has a default route."""
    routes = [line.split() for line in pathlib.Path("/proc/net/route").read_text().splitlines()[1:]]
    return any(route[1] == "00000000" for route in routes)


def versions(kernel):
    """Returns a line with the versions of everything that has a part in the figures."""
    said = apt("dpkg-query", "-W", "-f", "${Package} ${Version}\n", "libsqlite3-0", *TOOLS.values())
    return f"kernel {kernel.release} ({kernel.version}); {', '.join(said.splitlines())}"
