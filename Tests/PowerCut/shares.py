"""A share of an SMB server outside of the guest, which the kernel of the guest mounts (CIFS)."""
import contextlib
import os
import socket
import subprocess
import time

from Kit.outcomes import Skipped, every, expect, long
from PowerCut.guest import HOST

SECONDS = 200
SETTINGS = """
[global]
server role = standalone server
interfaces = lo
bind interfaces only = yes
smb ports = {port}
disable netbios = yes
private dir = {own}
pid directory = {own}
lock directory = {own}
state directory = {own}
cache directory = {own}
ncalrpc dir = {own}/ncalrpc
log file = {own}/log
passdb backend = smbpasswd:{own}/passwd
map to guest = Bad User
guest account = root
load printers = no
printing = bsd
disable spoolss = yes
usershare max shares = 0
[share]
path = {share}
read only = no
guest ok = yes
force user = root
"""
WHOLE = "nobrl,file_mode=0600,dir_mode=0700,uid=0"
LACKS_MODE = "new files have the mode 755, expected 600"
LACKS_LOCKS = "parts of files cannot be locked (fcntl: permission denied)"
ADVICE = "CIFS needs the mount options nobrl,file_mode=0600,dir_mode=0700,uid=NUMBER"
NOTE = "what a power cut leaves depends on its server"
# Mount options, and what is missing with them.
REFUSALS = {"": (LACKS_MODE, LACKS_LOCKS), "nobrl": (LACKS_MODE,), "file_mode=0600,dir_mode=0700,uid=0": (LACKS_LOCKS,),
            "nobrl,file_mode=0600,dir_mode=0700,uid=1000": ("new files belong to another user (number 1000)",)}
USE = "export HOME=/tmp CAPQUEUE_DIR={} LC_ALL=C.UTF-8; cd /tmp; "
BUNDLES = ("capbundle key new && capbundle trust add rig /tmp/.local/share/capbundle/device.key.pub && for n in 1 2 3; do "
           "cp -r /raw/small /tmp/raw$n; printf 0000$n | dd of=/tmp/raw$n/photo.jpg bs=1 seek=200 conv=notrunc; done && "
           "capbundle pack /tmp/raw* --out-dir /tmp/b")


class Server:
    """smbd with a folder of its own, on a free port of loopback."""

    def __init__(self, folder):
        self.share, own = folder / "share", folder / "own"
        for path in (self.share, own):
            path.mkdir(parents=True)
        with socket.create_server(("127.0.0.1", 0)) as found:
            self.port = found.getsockname()[1]
        self._settings = folder / "smb.conf"
        self._settings.write_text(SETTINGS.format(port=self.port, own=own, share=self.share))
        self._process = None

    def start(self):
        # When smbd ends it sends SIGTERM to its process group, so it needs one of its own.
        self._process = subprocess.Popen(["smbd", "-F", "--no-process-group", "-s", self._settings], stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return
            expect(self._process.poll() is None, "smbd does not start")
            time.sleep(0.05)
        expect(False, "smbd does not listen")

    def close(self):
        """Ends it; the processes that it has for connections end with it."""
        if self._process:
            self._process.terminate()
            self._process.wait()

    def mount(self, options):
        """The command of the guest that mounts the share."""
        return (f"mkdir -p /share && mount -i -t cifs //{HOST}/share /share -o ip={HOST},unc=//{HOST}/share,port={self.port},"
                f"username=rig,password=x{',' if options else ''}{options}")


@contextlib.contextmanager
def guest_and_server(bench):
    if os.geteuid() != 0:
        raise Skipped("only root can run an SMB server for guests of a share")
    with bench.machine([]) as (guest, _), contextlib.closing(Server(bench.folder / f"smb{id(guest)}")) as server:
        server.start()
        yield guest.shells[0], server


def refused(bench):
    """Each option that is missing is named, and nothing is left."""
    with guest_and_server(bench) as (shell, server):
        def refuses(options, lacks):
            shell.must(server.mount(options))
            code, said = shell(USE.format("/share/q") + "capqueue init")
            shell.must("umount /share")
            expect(code == 73, f"exit {code}, expected 73: {said!r}")
            expect(all(word in said for word in (*lacks, ADVICE)), f"says {said!r}")
            expect((LACKS_LOCKS in said) == (LACKS_LOCKS in lacks), f"says {said!r}")
            left = [path.name for path in server.share.iterdir()]
            expect(not left, f"leaves {left}")
        every(REFUSALS, refuses)


def used(bench):
    """With the options that the hint names a queue works, also for two processes at once, and so does a destination."""
    with guest_and_server(bench) as (shell, server):
        use = USE.format("/share/q")
        shell.must(server.mount(WHOLE))
        shell.must(use + BUNDLES)
        said = shell.must(use + "capqueue init")
        expect(NOTE in said, f"init says {said!r}")
        shell.must("mkdir /share/there")
        said = shell.must(use + "capqueue dest add d --kind folder --path /share/there")
        expect("is a network mount: a receipt says" in said, f"dest add says {said!r}")
        shell.must(use + "set -- /tmp/b/*; capqueue push $1 & one=$!; capqueue push $2 & two=$!; wait $one && wait $two")
        shell.must(use + "set -- /tmp/b/*; capqueue push $3 && capqueue run && capqueue check --read-data && "
                         "capqueue check --remote && capqueue prune --older-than 0s")
        sent = list((server.share / "there").glob("*.bundle"))
        expect(len(sent) == 3, f"{len(sent)} bundles are at the destination, expected 3")
        left = list((server.share / "q/spool").rglob("*.bundle"))
        expect(not left, f"prune leaves {left}")
        shell.must(use + "capqueue check --read-data; umount /share")
        # Mounted again without the modes: chmod would do nothing there.
        shell.must(server.mount("nobrl,uid=0"))
        code, said = shell(use + "capqueue list")
        expect(code == 77 and ADVICE in said and "chmod" not in said, f"exit {code}: {said!r}")
        shell.must("umount /share")


TESTS = [("CIFS: each mount option that a queue needs and lacks is named, and nothing is left", long(refused)),
         ("CIFS with the options that are named: a queue, two processes at once, and a folder destination", long(used))]
