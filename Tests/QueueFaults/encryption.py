"""Whether the disk of the spool is encrypted, on file systems that the test makes."""
import json
import shutil
import sys

from Kit.disks import mounted
from Kit.invariants import refused
from Kit.outcomes import Skipped, expect

# Adds a random key to the file system, and gives the folder a policy (linux/fscrypt.h, version 2).
POLICY = """
import fcntl, os, struct, sys
os.makedirs(sys.argv[1], mode=0o700)
folder = os.open(sys.argv[1], os.O_RDONLY)
key = bytearray(struct.pack("<II32xII32x", 2, 0, 64, 0) + os.urandom(64))
fcntl.ioctl(folder, 0xC0506617, key)
fcntl.ioctl(folder, 0x800C6613, struct.pack("<BBBBB3x", 2, 1, 4, 3, 0) + bytes(key[8:24]))
"""
EXT4 = 'dd if=/dev/zero of="$0.img" bs=1M count=24 status=none && mkfs.ext4 -q -O encrypt "$0.img" && mount -o loop "$0.img" "$0"'
LUKS = ('dd if=/dev/zero of="$0.img" bs=1M count=40 status=none && echo secret > "$0.key" && '
        'cryptsetup -q luksFormat --pbkdf-force-iterations 4 --pbkdf-memory 32 "$0.img" "$0.key" && '
        'cryptsetup open --key-file "$0.key" "$0.img" capqueue-test && mkfs.ext4 -q /dev/mapper/capqueue-test && '
        'mount /dev/mapper/capqueue-test "$0" && cryptsetup close --deferred capqueue-test')


def says(place, queue, wanted, bundle):
    """Checks what `status` says of a queue, and that `require-encrypted` follows it."""
    place.run("init", "--queue", queue).must(0, about="init")
    status = json.loads(place.run("status", "--json", "--queue", queue).must(0, about="status").out)
    expect(status["disk"]["encryption"] == wanted, f"the encryption is {status['disk']['encryption']}, not {wanted}")
    place.run("config", "free-floor", "none", "--queue", queue).must(0, about="config free-floor")
    place.run("config", "require-encrypted", "on", "--queue", queue).must(0, about="config")
    result = place.run("push", bundle.path, "--queue", queue)
    if wanted == "unknown":
        refused(result, 12, about="push")
        expect("require-encrypted off" in result.text, f"does not name the setting: {result.text!r}")
        refused(place.run("push", "--reference", bundle.path, "--queue", queue), 12, about="push --reference")
        place.run("config", "require-encrypted", "off", "--queue", queue).must(0, about="config off")
        result = place.run("push", bundle.path, "--queue", queue)
    result.must(0, about="push")


def with_fscrypt(bench):
    """A folder with a policy is encrypted, and one beside it on the same file system is not."""
    rig = bench.rig()
    with mounted(rig, rig.out / "disk", EXT4) as place:
        made = place.shell(f"{sys.executable} -I -c '{POLICY}' \"$0/secret\"")
        if made.code:
            raise Skipped(f"no fscrypt folder can be made here: {made.text.splitlines()[-1]}")
        says(place, place.place / "secret/queue", "fscrypt", bench.stock[0])
        says(place, place.place / "open", "unknown", bench.stock[0])


def with_luks(bench):
    if not shutil.which("cryptsetup"):
        raise Skipped("no LUKS device can be made here: cryptsetup is not installed")
    rig = bench.rig()
    try:
        with mounted(rig, rig.out / "disk", LUKS) as place:
            says(place, place.place / "queue", "dm-crypt", bench.stock[0])
    except Skipped as reason:
        raise Skipped(f"no LUKS device can be made here: {reason}") from None


TESTS = [
    ("status names fscrypt, and require-encrypted refuses a folder without it", with_fscrypt),
    ("status names dm-crypt for a LUKS device", with_luks),
]
