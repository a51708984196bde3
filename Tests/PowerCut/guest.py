"""A guest: QEMU with a Debian kernel, disks that this process serves, and shells on virtio serial ports."""
import base64
import contextlib
import os
import socket
import subprocess
import time

from Kit.outcomes import Failed, expect

HOST = "10.0.2.2"  # the machine that runs the tests, as the guest sees it
SOON = 15  # seconds in which a guest boots with KVM
PATIENCE = 900  # seconds for a script; without KVM everything takes ten times as long
CPU = "max,-arch-capabilities"  # a machine that is itself a guest may not let KVM set these
COMMAND_LINE = "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable no_timer_check"


class GuestDied(Failed):
    """The guest does not answer any more."""


class Guest:
    """`shells` are functions that run a script in the guest, one for each process that works there."""

    def __init__(self, folder, kernel, initramfs, disks=(), processes=1, accelerator="tcg", seconds=300,
                 more=()):
        """Boots it. It has to answer within `seconds`. `more` are further words for QEMU."""
        self._stack, self.console = contextlib.ExitStack(), folder / "console"
        words = ["nice", "-n", "10", "qemu-system-x86_64", "-accel", accelerator, "-cpu", CPU, "-m", "640",
                 "-nodefaults", "-display", "none", "-no-reboot", "-kernel", kernel.image, "-initrd", initramfs,
                 "-append", COMMAND_LINE, "-serial", f"file:{self.console}", "-device", "virtio-serial-pci",
                 "-device", "virtio-rng-pci", "-netdev", "user,id=net0", "-device", "virtio-net-pci,netdev=net0,romfile=", *more]
        for disk in disks:
            words += ["-blockdev", f"driver=nbd,node-name=d{disk.number},server.type=unix,server.path={disk.path}",
                      "-device", f"virtio-blk-pci,drive=d{disk.number},write-cache=on"]
        places = [folder / f"port{number}" for number in range(processes)]
        for number, place in enumerate(places):
            place.unlink(missing_ok=True)
            words += ["-chardev", f"socket,id=c{number},path={place},server=on,wait=off",
                      "-device", f"virtserialport,chardev=c{number},name=port{number}"]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=open(folder / "qemu", "wb"))
        try:
            self.shells = [Shell(self._connected(place)) for place in places]
            for shell in self.shells:
                shell.line(time.monotonic() + seconds)
        except BaseException:
            self.kill()
            raise

    def _connected(self, place):
        end = time.monotonic() + 60
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(str(place))
                return self._stack.enter_context(connection)
            except OSError:
                connection.close()
                if self.process.poll() is not None or time.monotonic() > end:
                    raise Failed("QEMU does not start") from None
                time.sleep(0.05)

    def kill(self):
        self._stack.close()
        self.process.kill()
        self.process.wait()


class Shell:
    """Runs scripts in the guest, one after the other."""

    def __init__(self, connection):
        self._connection, self._rest = connection, b""

    def __call__(self, script):
        """Returns the exit code of a script, and its output."""
        try:
            self._connection.sendall(base64.b64encode(script.encode()) + b"\n")
            end = time.monotonic() + PATIENCE
            code, size = map(int, self.line(end).split())
            while len(self._rest) < size:
                self._more(end)
        except OSError as error:
            raise GuestDied(f"the guest is gone: {error}") from None
        output, self._rest = self._rest[:size], self._rest[size:]
        return code, output.decode("utf-8", "replace")

    def must(self, script):
        """Returns the output of a script that ends with 0."""
        code, output = self(script)
        expect(code == 0, f"in the guest, exit {code}: {script[-200:]!r}: {output[-300:]!r}")
        return output

    def line(self, end):
        while b"\n" not in self._rest:
            self._more(end)
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _more(self, end):
        self._connection.settimeout(max(0.1, end - time.monotonic()))
        try:
            piece = self._connection.recv(1 << 16)
        except TimeoutError:
            raise GuestDied("the guest does not answer in time") from None
        except OSError:
            piece = b""
        if not piece:
            raise GuestDied("the guest is gone")
        self._rest += piece


def accelerator(folder, kernel, initramfs):
    """Returns kvm if a guest boots with it here, otherwise tcg, which interprets the guest."""
    if os.access("/dev/kvm", os.R_OK | os.W_OK):
        try:
            Guest(folder, kernel, initramfs, accelerator="kvm", seconds=SOON).kill()
            return "kvm"
        except (Failed, OSError):  # such as a machine that is itself a guest
            pass
    return "tcg"
