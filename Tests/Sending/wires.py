"""Two network namespaces with a wire that a test can cut: capqueue runs in one, a server in the other."""
import concurrent.futures
import contextlib
import ctypes
import itertools
import os
import subprocess

from Kit.outcomes import Failed, Skipped

CLONE_NEWNET = 0x40000000
_numbers = itertools.count(1)


def ip(*words, may_fail=False):
    result = subprocess.run(["ip", *words], capture_output=True, text=True, timeout=30)
    if result.returncode and not may_fail:
        raise Failed(f"ip {' '.join(words)}: {result.stderr.strip()[:200]}")
    return result


class Wire:
    """Two namespaces: the rig's is `near`, the servers' is `far`, and `address` is the servers' address."""

    address, own = "10.213.7.2", "10.213.7.1"

    def __enter__(self):
        number = f"{os.getpid()}x{next(_numbers)}"
        self.near, self.far = f"near{number}", f"far{number}"
        made = ip("netns", "add", self.near, may_fail=True)
        if made.returncode:
            raise Skipped(f"network namespaces cannot be made here: {made.stderr.strip()[:100]}")
        try:
            ip("netns", "add", self.far)
            ip("-n", self.near, "link", "add", "wire", "type", "veth", "peer", "name", "wire", "netns", self.far)
            for namespace, address in ((self.near, self.own), (self.far, self.address)):
                ip("-n", namespace, "addr", "add", f"{address}/30", "dev", "wire")
                ip("-n", namespace, "link", "set", "lo", "up")
                ip("-n", namespace, "link", "set", "wire", "up")
        except Failed:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for namespace in (self.near, self.far):
            ip("netns", "del", namespace, may_fail=True)

    def cut(self):
        """Takes the near end down, so that its routes are gone."""
        ip("-n", self.near, "link", "set", "wire", "down")

    def mend(self):
        ip("-n", self.near, "link", "set", "wire", "up")

    def inside(self, rig):
        """Lets the rig run the tool in the near namespace from now on."""
        plain = rig.argv
        # nsenter becomes the tool, so its id is the tool's; `ip netns exec` would also mount /sys again.
        rig.argv = lambda *args: ["nsenter", f"--net=/run/netns/{self.near}", *plain(*args)]
        return rig

    @contextlib.contextmanager
    def serving(self, server):
        """Makes a server whose sockets are in the far namespace; the connections that it accepts are there, too."""
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            server = pool.submit(self._enter, server).result()
            try:
                yield server
            finally:
                server.__exit__()

    def _enter(self, server):
        # This moves only this thread, which ends with the server.
        libc = ctypes.CDLL(None, use_errno=True)
        namespace = os.open(f"/run/netns/{self.far}", os.O_RDONLY)
        try:
            if libc.setns(namespace, CLONE_NEWNET):
                raise Failed(f"setns: {os.strerror(ctypes.get_errno())}")
        finally:
            os.close(namespace)
        return server.__enter__()
