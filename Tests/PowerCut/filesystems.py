"""The file systems under test: how they are made, mounted and repaired at boot."""
import dataclasses
import subprocess

from PowerCut.blocks import Blocks


@dataclasses.dataclass(frozen=True)
class FileSystem:
    type: str
    mkfs: tuple
    megabytes: int
    fsck: str = ""  # the repair that a distribution runs at boot, without questions
    options: str = "noatime"  # for mount
    ballast: int = 0  # MiB of a file that only takes room, so that filling the disk is quick
    is_encrypted: bool = False  # below it is LUKS; then the guest makes the file system

    def make(self, path):
        """Makes the file system in a new file, and returns its content."""
        with open(path, "wb") as file:
            file.truncate(self.size)
        if not self.is_encrypted:
            subprocess.run([*self.mkfs, path], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = Blocks.of(path)
        path.unlink()
        return found

    @property
    def size(self):
        return self.megabytes << 20


EXT4 = ("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0")
FSCK_EXT4, FSCK_F2FS = "fsck.ext4 -p", "fsck.f2fs -a"
FILE_SYSTEMS = {
    "ext4": FileSystem("ext4", EXT4, 128, FSCK_EXT4),
    "ext4, data=writeback": FileSystem("ext4", EXT4, 128, FSCK_EXT4, "noatime,data=writeback"),
    "ext4, data=journal": FileSystem("ext4", EXT4, 128, FSCK_EXT4, "noatime,data=journal"),
    "ext4, barrier=0": FileSystem("ext4", EXT4, 128, FSCK_EXT4, "noatime,barrier=0"),
    "ext4 on LUKS": FileSystem("ext4", EXT4, 128, FSCK_EXT4, is_encrypted=True),
    "XFS": FileSystem("xfs", ("mkfs.xfs", "-q", "-f"), 320, ballast=200),
    "btrfs": FileSystem("btrfs", ("mkfs.btrfs", "-q", "-f"), 192),
    "F2FS": FileSystem("f2fs", ("mkfs.f2fs", "-q", "-f"), 128, FSCK_F2FS),
    "FAT": FileSystem("vfat", ("mkfs.vfat", "-F", "32"), 128, "fsck.vfat -a", "noatime,umask=077"),
    "exFAT": FileSystem("exfat", ("mkfs.exfat",), 128, "fsck.exfat -p", "noatime,umask=077"),
}
