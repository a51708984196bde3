"""The newest kernel 6.1 of Debian 12, downloaded and unpacked by the package manager."""
import pathlib
import platform
import re
import shutil
import subprocess

from Kit.outcomes import ROOT, Failed, Skipped, expect

KEPT = ROOT / ".build/powercut"
RELEASE = re.compile(r"linux-image-(6\.1\.0-(\d+)-amd64)$")
# From .ci/dependencies powercut; the versions of these packages are printed.
TOOLS = {"qemu-system-x86_64": "qemu-system-x86", "mkfs.ext4": "e2fsprogs", "mkfs.xfs": "xfsprogs",
         "mkfs.btrfs": "btrfs-progs", "mkfs.f2fs": "f2fs-tools", "mkfs.vfat": "dosfstools",
         "mkfs.exfat": "exfatprogs", "cryptsetup": "cryptsetup-bin", "busybox": "busybox-static", "depmod": "kmod",
         "cpio": "cpio"}


def require_tools():
    """Skips the test if this machine cannot have what the guests need."""
    if platform.machine() != "x86_64":
        raise Skipped("the guests need an x86-64 machine")
    missing = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
    if missing and not pathlib.Path("/proc/self").owner() == "root":
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


def newest():
    """Returns the newest kernel that the package lists of this machine name; it is kept for the next run."""
    package = newest_package()
    folder = KEPT / package
    if not (folder / "version").is_file():
        download(package, folder)
    return Kernel(folder)


def newest_package():
    listed = apt("apt-cache", "search", "--names-only", r"^linux-image-6\.1\.0-[0-9]+-amd64$").split("\n")
    found = [match for line in listed if (match := RELEASE.match(line.split(" ")[0]))]
    if not found:
        if not has_network():
            raise Skipped("no kernel can be downloaded without a network")
        raise Failed("the package lists of this machine have no linux-image-6.1.0-N-amd64, which is Debian 12's kernel")
    return max(found, key=lambda match: int(match[2]))[0]


def download(package, folder):
    if not has_network():
        raise Skipped("no kernel can be downloaded without a network")
    part = folder.with_name(f"{package}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    apt("apt-get", "-o", "APT::Sandbox::User=root", "download", package, cwd=part)
    (archive,) = part.glob("*.deb")
    version = apt("dpkg-deb", "--field", archive, "Version").strip()
    apt("dpkg-deb", "-x", archive, part)
    archive.unlink()
    apt("depmod", "-b", part, next((part / "lib/modules").iterdir()).name)
    (part / "version").write_text(version)
    part.rename(folder)


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
