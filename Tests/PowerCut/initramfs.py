"""The first file system of a guest: busybox, the tools under test with their libraries, fsck, and kernel modules."""
import pathlib
import re
import shutil
import subprocess

from Kit.outcomes import expect
from Kit.rigs import PHOTO, write_raw

HERE = pathlib.Path(__file__).parent / "guest"
MODULES = ("virtio_pci", "virtio_blk", "virtio_console", "virtio_net", "virtio_rng", "ext4", "xfs", "btrfs", "f2fs",
           "vfat", "exfat", "nls_utf8", "nls_iso8859-1", "nls_ascii", "nls_cp437", "crc32c_generic", "crc32c-intel",
           "xxhash_generic", "blake2b_generic", "sha256_generic", "dm_crypt", "xts", "aes_generic", "aesni_intel", "ecb",
           "algif_skcipher", "af_alg", "cifs", "ghash-generic", "gcm", "ccm", "ctr", "cmac")
PROGRAMS = ("mkfs.ext4", "fsck.ext4", "fsck.f2fs", "fsck.vfat", "fsck.exfat", "cryptsetup")
LARGE = 300_000  # bytes of the photo of the larger kind of capture
MARK = len(PHOTO) - 40  # where the number of a capture is written into its photo


def make(folder, kernel, tools, target):
    """Writes the archive `target`; `tools` are the programs under test."""
    root = folder / "initramfs"
    for name in ("bin", "lib/modules", "dev", "proc", "sys", "tmp", "etc", "usr", "mnt"):
        (root / name).mkdir(parents=True)
    programs = [*tools, *(pathlib.Path(shutil.which(name)) for name in ("busybox", *PROGRAMS))]
    for program in programs:
        shutil.copy(program, root / "bin" / program.name)
    for library in libraries(programs):
        place = root / library.relative_to("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, place)
    for tool in tools:
        subprocess.run(["strip", root / "bin" / tool.name], check=True)
    modules = modules_of(kernel)
    for module in modules:
        shutil.copy(module, root / "lib/modules")
    (root / "etc/modules").write_text("".join(f"{module.name}\n" for module in modules))
    write_raw(root / "raw/small")
    write_raw(root / "raw/large", photo=PHOTO[:-2] + b"\x31" * LARGE + PHOTO[-2:])
    for script in HERE.iterdir():
        shutil.copy(script, root / script.name)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", root / "once.so", HERE / "once.c"], check=True)
    (root / "init").chmod(0o755)
    made = subprocess.run(f"find . | cpio -o -H newc --quiet | gzip -1 > {target}", shell=True, cwd=root, check=False)
    expect(made.returncode == 0, "the initramfs of the guest cannot be made")
    shutil.rmtree(root)


def libraries(programs):
    """Returns the shared libraries of programs, and libcurl, which the tools load when they send."""
    known = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    curl = re.search(r"libcurl\.so\.4 .*=> (\S+)", known)[1]
    found = {pathlib.Path(curl)}
    for program in (*programs, curl):
        said = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
        found |= {pathlib.Path(path) for path in re.findall(r"(/\S+) \(0x", said)}
    return sorted(found)


def modules_of(kernel, names=MODULES):
    """Returns the files of the modules, each after those that it needs."""
    found = []
    for name in names:
        said = subprocess.run(["modprobe", "-d", kernel.folder, "-S", kernel.release, "--show-depends", name],
                              capture_output=True, text=True, check=False).stdout
        found += [path for word, path in re.findall(r"^(insmod) (\S+)", said, re.M) if path not in found]
    return [pathlib.Path(path) for path in found]
