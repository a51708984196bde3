"""Records what a rig at work writes to its disks."""
import dataclasses
import threading

from PowerCut.blocks import Log
from PowerCut.guest import GuestDied

DEVICES, PLACES = ("vda", "vdb"), ("/mnt", "/mnt/dest")
CRYPTSETUP = "mkdir -p /run/cryptsetup; printf secret | cryptsetup -q --key-file -"
ENCRYPT = f"{CRYPTSETUP} luksFormat --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000"
UNLOCK = f"{CRYPTSETUP} open"
AHEAD = 600  # seconds by which the clock moves from one boot to the next


@dataclasses.dataclass
class Recording:
    """`bases` are the contents of the disks at the beginning, when `promises` had been made already. `history` is that of
    the servers. `boots` counts the boots before it."""

    bases: list
    log: Log
    promises: list
    history: list
    boots: int = 0


class Machine:
    """A guest, its disks with their file systems, and the servers that it sends to."""

    def __init__(self, guest, disks, systems, servers):
        self.guest, self.disks, self.systems, self.servers = guest, disks, systems, servers
        self.shell = guest.shells[0]

    def insert(self, contents, log):
        """Puts contents into the disks, and records in `log` from now on."""
        for disk, content in zip(self.disks, contents):
            disk.content, disk.log = content.copy(), log

    def boot(self, boots):
        """Makes the guest look like one that was started again: another boot id, and a later clock."""
        now = self.servers.set_clock(boots * AHEAD)
        self.shell.must("umount /proc/sys/kernel/random/boot_id 2>/dev/null; cat /proc/sys/kernel/random/uuid >/tmp/boot; "
                        "mount --bind /tmp/boot /proc/sys/kernel/random/boot_id; "
                        f"date -s @{now} >/dev/null")

    def mount(self, repairs=False):
        """Mounts all file systems; returns None, or what the guest said if that is not possible even after a repair."""
        for system, device, place in zip(self.systems, DEVICES, PLACES):
            how = f"mount -t {system.type} -o {system.options}"
            device = f"/dev/{device}"
            self.shell.must(f"mkdir -p {place}")
            if system.is_encrypted:
                self.shell.must(f"{UNLOCK} {device} crypt")
                device = "/dev/mapper/crypt"
            repair = f"{system.fsck} {device} >/tmp/fsck 2>&1" if system.fsck else "true"
            mount = f"{how} {device} {place}"
            code, output = self.shell(f"{f'{repair}; ' if repairs else ''}{mount} || {{ {repair}; {mount} || "
                                      "{ cat /tmp/fsck; dmesg | tail -n 3; exit 1; }; }")
            if code:
                self.unmount()
                return output
        return None

    def unmount(self):
        code, output = self.shell("cd /; for place in /mnt/dest /mnt; do ! grep -q \" $place \" /proc/mounts || "
                                  "umount $place || exit 1; done; "
                                  "[ ! -e /dev/mapper/crypt ] || cryptsetup close crypt")
        if code:
            raise GuestDied(f"a disk cannot be unmounted: {output[-300:]}")

    def make(self):
        """Makes the file system on an encrypted disk, and returns the contents of all disks."""
        for system, device in zip(self.systems, DEVICES):
            if system.is_encrypted:
                self.shell.must(f"{ENCRYPT} /dev/{device}; {UNLOCK} /dev/{device} crypt; "
                                f"{' '.join(system.mkfs)} /dev/mapper/crypt && cryptsetup close crypt && sync")
        return [disk.content.copy() for disk in self.disks]


def record(machine, rig, contents, promises, boots, steps, begin=None):
    """Records steps of a rig, in each shell of the guest, from contents on; `begin` comes before them."""
    log = Log()
    machine.insert(contents, log)
    machine.servers.begin(log)
    rig.log = log
    machine.boot(boots)
    if machine.mount() is not None:
        return None
    if begin:
        for system, place in zip(machine.systems, PLACES):
            machine.shell.must(f"[ {system.ballast} = 0 ] || fallocate -l {system.ballast}M {place}/ballast")
        machine.shell.must("mkdir -p /mnt/h /mnt/b /mnt/dest; sync")
        begin(machine.shell)

    def work(shell):
        for _ in range(steps):
            rig.step(shell)

    if len(machine.guest.shells) == 1:
        work(machine.shell)
    else:
        threads = [threading.Thread(target=work, args=(shell,)) for shell in machine.guest.shells]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    machine.unmount()
    return Recording(contents, log, promises, machine.servers.history, boots)
