"""The disk of the guest: a Debian 12 that debootstrap makes, and the tools under test, installed as by `make install`."""
import os
import pathlib
import shutil
import subprocess

from Kit.apt import mirror, setting
from Kit.outcomes import ROOT, Skipped, expect
from PowerCut.initramfs import libraries, modules_of
from PowerCut.kernels import has_network

HERE = pathlib.Path(__file__).parent / "guest"
KEPT = ROOT / ".build/debian/bookworm-service"
PACKAGES = ("systemd", "systemd-sysv", "dbus", "udev", "e2fsprogs", "libcurl4", "ca-certificates", "prometheus-node-exporter",
            "exim4-daemon-light")
MODULES = ("virtio_pci", "virtio_blk", "virtio_console", "virtio_rng", "ext4", "crc32c_generic", "autofs4", "loop")
SIZE = "1200M"


def base():
    """Returns the folder of a Debian 12 with what the service works with; it is kept for the next run."""
    if os.geteuid():
        raise Skipped("only root can make a Debian system")
    if not (KEPT / "made").is_file():
        if not has_network():
            raise Skipped("no Debian system can be made without a network")
        shutil.rmtree(KEPT, ignore_errors=True)
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        proxy = setting("Acquire::http::Proxy")
        words = ["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", "bookworm", KEPT, mirror()]
        made = subprocess.run(words, env=os.environ | ({"http_proxy": proxy} if proxy else {}), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1800, check=False)
        expect(made.returncode == 0, f"debootstrap bookworm: {made.stdout[-300:]}")
        (KEPT / "made").touch()
    return KEPT


def disk(folder, tools):
    """Writes the image of a disk with a copy of that system and the tools, and returns it."""
    root, image = folder / "root", folder / "disk"
    subprocess.run(["cp", "-a", "--reflink=auto", base(), root], check=True)
    shutil.rmtree(root / "var/cache/apt", ignore_errors=True)
    shutil.rmtree(root / "var/lib/apt/lists", ignore_errors=True)
    stripped = [folder / "tools" / tool.name for tool in tools]
    stripped[0].parent.mkdir()
    for tool, copy in zip(tools, stripped):
        shutil.copy(tool, copy)
        subprocess.run(["strip", copy], check=True)
    done = subprocess.run([ROOT / ".ci/install", *stripped[:2], "/usr/local", root], cwd=ROOT, capture_output=True, text=True,
                          env=os.environ | {"LD_LIBRARY_PATH": ":".join({str(path.parent) for path in libraries(tools)})},
                          check=False)
    expect(done.returncode == 0, f".ci/install: {done.stderr[-300:]}")
    for library in libraries(tools):
        place = root / "usr/local/lib" / library.name
        if not any((root / known / library.name).exists() for known in ("lib/x86_64-linux-gnu", "lib64")):
            shutil.copy(library, place)
    (root / "etc/ld.so.conf.d/tools.conf").write_text("/usr/local/lib\n")
    subprocess.run(["chroot", root, "ldconfig"], check=True)
    shutil.copy(HERE / "agent.service", root / "etc/systemd/system/agent.service")
    shutil.copy(ROOT / "Tests/PowerCut/guest/agent.sh", root / "agent.sh")
    wanted = root / "etc/systemd/system/multi-user.target.wants"
    wanted.mkdir(exist_ok=True)
    (wanted / "agent.service").symlink_to("/etc/systemd/system/agent.service")
    shutil.copy(ROOT / "Samples/desk-lamp/desk-lamp.bundle", root / "srv/a.bundle")
    subprocess.run(["chroot", root, "useradd", "--create-home", "person"], check=True)
    (root / "etc/aliases").write_text("root: person\n")
    (root / "etc/fstab").write_text("/dev/vda / ext4 defaults 0 1\n")
    (root / "etc/hostname").write_text("rig\n")
    (root / "etc/hosts").write_text("127.0.0.1 localhost rig\n")
    (root / "etc/machine-id").write_text("")
    made = subprocess.run(["mkfs.ext4", "-q", "-d", root, image, SIZE], capture_output=True, text=True, check=False)
    expect(made.returncode == 0, f"mkfs.ext4: {made.stderr[-300:]}")
    shutil.rmtree(root)
    return image


def initramfs(folder, kernel):
    """Writes the archive that boots from the disk, and returns it."""
    root, archive = folder / "initramfs", folder / "initramfs.gz"
    for name in ("bin", "dev", "mnt", "modules"):
        (root / name).mkdir(parents=True)
    busybox = pathlib.Path(shutil.which("busybox"))
    shutil.copy(busybox, root / "bin")
    for library in libraries([busybox]):
        (root / library.relative_to("/")).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, root / library.relative_to("/"))
    modules = modules_of(kernel, MODULES)
    for module in modules:
        shutil.copy(module, root / "modules")
    (root / "modules.list").write_text("".join(f"/modules/{module.name}\n" for module in modules))
    shutil.copy(HERE / "init", root / "init")
    (root / "init").chmod(0o755)
    made = subprocess.run(f"find . | cpio -o -H newc --quiet | gzip -1 > {archive}", shell=True, cwd=root, check=False)
    expect(made.returncode == 0, "the initramfs of the guest cannot be made")
    shutil.rmtree(root)
    return archive
