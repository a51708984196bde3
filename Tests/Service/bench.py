"""What the tests share: the guest, which boots when the first test needs it."""
import shlex
import threading
import time

from Kit.outcomes import Failed, expect
from PowerCut import kernels
from PowerCut.guest import Guest
from Service import debian

BOOT = 1200  # seconds in which the guest boots; without KVM and with other work on the machine it takes minutes
PATIENCE = 600  # seconds for what happens by itself: the service is started again after 30
MEMORY = "1024"
QUEUE = "/var/lib/capqueue"
MAILS = "/var/mail/person"  # who gets root's mail


class ServiceBench:
    """`machine` is the booted guest."""

    def __init__(self, options, folder):
        self.folder, self._lock = folder, threading.Lock()
        self.tools = [options.capbundle, options.capqueue, options.capbundle.with_name("capbundle-decode")]
        self._guest = self._machine = None
        self._is_begun = False

    @property
    def machine(self):
        with self._lock:
            if not self._machine:
                self._machine = Machine(self._boot())
            return self._machine

    def _boot(self):
        expect(not self._is_begun, "the guest has not booted")
        self._is_begun = True
        kernels.require_tools()
        began, kernel = time.monotonic(), kernels.newest()
        image, archive = debian.disk(self.folder, self.tools), debian.initramfs(self.folder, kernel)
        more = ["-m", MEMORY, "-smp", "2", "-drive", f"file={image},if=virtio,format=raw,cache=unsafe"]
        made = time.monotonic()
        self._guest = Guest(self.folder, kernel, archive, accelerator="tcg", seconds=BOOT, more=more)
        print(f"{kernels.versions(kernel)}; tcg; made in {made - began:.0f} s, booted in {time.monotonic() - made:.0f} s",
              flush=True)
        return self._guest.shells[0]

    def close(self):
        if self._guest:
            self._guest.kill()


class Machine:
    """Runs scripts in the guest, as root."""

    def __init__(self, shell):
        self.call, self._must = shell, shell.must
        self.must("while [ \"$(systemctl is-system-running)\" = starting ]; do sleep 1; done; systemctl daemon-reload")
        versions = "dpkg-query -W -f '${Package} ${Version}, ' systemd prometheus-node-exporter exim4-daemon-light"
        print(self.must(f"{versions}; capqueue --version"), flush=True)

    def must(self, script):
        return self._must(script)

    def capqueue(self, words, code=0, queue=QUEUE):
        """Returns the output of a command of the queue's user."""
        user = "setpriv --reuid=capqueue --regid=capqueue --init-groups env HOME=/var/lib/capqueue LC_ALL=C.UTF-8"
        got, said = self.call(f"cd /; {user} CAPQUEUE_DIR={queue} capqueue {words}")
        expect(got == code, f"capqueue {words}: exit {got}, expected {code}: {said[-300:]!r}")
        return said

    def wait(self, what, condition):
        """Waits until a command of the guest succeeds."""
        end = time.monotonic() + PATIENCE
        while self.call(condition)[0]:
            if time.monotonic() > end:
                _, said = self.call("journalctl -n 12 -o cat --no-pager")
                raise Failed(f"not within {PATIENCE} s: {what}; the journal ends with {said[-700:]!r}")
            time.sleep(1)

    def property(self, unit, name):
        return self.must(f"systemctl show -P {name} {unit}").strip()

    def write(self, path, text):
        self.must(f"mkdir -p $(dirname {path}); printf '%s' {shlex.quote(text)} >{path}")

    def check(self):
        """Starts the check as its timer does, waits until all that follows has ended, and returns how many mails came."""
        before = self.mails()
        self.call("systemctl start capqueue-check.service")
        self.wait("the mail is made", "[ -z \"$(systemctl list-jobs --no-legend)\" ]")
        return self.mails() - before

    def mails(self):
        return int(self.must(f"cat {MAILS} 2>/dev/null | grep -c '^Subject: capqueue on rig needs you' || true"))

    def last_mail(self):
        """The body of the last mail."""
        return self.must(f"cat {MAILS}").rpartition("\nSubject: capqueue on rig needs you")[2].partition("\n\n")[2].strip()

    def ages(self, days):
        self.must("cd /var/lib/capqueue-check; for file in since since.told; do "
                  f"[ ! -e $file ] || touch -d '{days} days ago' $file; done")
