"""A Debian system in a folder, made by debootstrap and booted by systemd-nspawn."""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import threading
import time
import uuid

from Kit.apt import mirror, setting
from Kit.outcomes import ROOT, Failed, Result, expect

MADE = ROOT / ".build/debian"  # systems that debootstrap made; tests use copies
BOOTED = "systemd,systemd-sysv,dbus"
PATIENCE = 600  # in seconds
MAKING = threading.Lock()


def made(name):
    """Returns the folder of a new system; it is kept for the next run. Without -slim in its name it can be booted."""
    place, (suite, _, is_slim) = MADE / name, name.partition("-")
    with MAKING:
        return make(place, suite, is_slim)


def make(place, suite, is_slim):
    if not (place / "etc/apt/apt.conf.d/host").is_file():
        shutil.rmtree(place, ignore_errors=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        proxy = setting("Acquire::http::Proxy")
        done = subprocess.run(["debootstrap", "--variant=minbase", f"--include=ca-certificates{'' if is_slim else ',' + BOOTED}", suite, place, mirror()],
                              env=os.environ | ({"http_proxy": proxy} if proxy else {}), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1800, check=False)
        expect(done.returncode == 0, f"debootstrap {suite}: {done.stdout[-300:]}")
        (place / "etc/apt/apt.conf.d/host").write_text(f'Acquire::http::Proxy "{proxy}";\n' if proxy else "")
    return place


class Machine:
    """A booted system. `run` runs a command in it, as root."""

    def __init__(self, place, leader):
        self.place, self.leader = place, leader

    def call(self, *words, user=None, env=None):
        given = [f"{name}={value}" for name, value in (env or {}).items()]
        command = ["nsenter", "-t", str(self.leader), "-m", "-u", "-i", "-n", "-p", "env", "-i",
                   "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]
        command += ["runuser", "-u", user, "--", "env", f"HOME={self.home(user)}"] if user else ["HOME=/root"]
        done = subprocess.run([*command, *given, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE,
                              check=False)
        return Result(done.returncode, done.stdout, done.stderr)

    def run(self, *words, code=0, **how):
        done = self.call(*words, **how)
        expect(done.code == code, f"{' '.join(map(str, words))}: exit {done.code}, expected {code}: "
               f"{(done.err + done.out).decode(errors='replace').strip()[-400:]}")
        return done.out.decode()

    def home(self, user):
        return next(line.split(":")[5] for line in self.path("etc/passwd").read_text().splitlines() if line.startswith(f"{user}:"))

    def path(self, name):
        return self.place / name

    def wait(self, what, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise Failed(f"not within {seconds} s: {what}; the journal ends with "
                             f"{self.call('journalctl', '-n', '8', '-o', 'cat', '--no-pager').out.decode(errors='replace')[-600:]}")
            time.sleep(0.3)

    def property(self, unit, name):
        return self.run("systemctl", "show", "-P", name, unit).strip()


@contextlib.contextmanager
def booted(suite, folder):
    """Boots a copy of a system; its init gets a process of its own, and the network of this machine."""
    name = f"{suite}-{uuid.uuid4().hex[:8]}"  # two tests may boot copies of one system at the same time
    place = folder / name
    subprocess.run(["cp", "-a", "--reflink=auto", made(suite), place], check=True)
    command = ["systemd-nspawn", "--keep-unit", "--register=no", "--quiet", f"--machine={name}", "--resolv-conf=replace-host",
               "--console=pipe", "-D", place, "-b"]
    with open(folder / f"{name}.console", "w+b") as console:
        nspawn = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=console, stderr=console,
                                  env=os.environ | {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"})
        try:
            machine = Machine(place, leader(nspawn, console))
            machine.wait("the system is up", lambda: machine.call("systemctl", "is-system-running").out.strip() == b"running")
            yield machine
        finally:
            nspawn.terminate()  # it asks the system to power off
            try:
                nspawn.wait(60)
            except subprocess.TimeoutExpired:
                nspawn.kill()
                nspawn.wait()
            shutil.rmtree(place, ignore_errors=True)


def leader(nspawn, console):
    """Waits for the init of the system, and returns its process id."""
    end = time.monotonic() + 30
    while nspawn.poll() is None and time.monotonic() < end:
        children = pathlib.Path(f"/proc/{nspawn.pid}/task/{nspawn.pid}/children").read_text().split()
        for child in children:
            with contextlib.suppress(OSError):
                if re.match(r"(\S*/)?(systemd|init)\0", pathlib.Path(f"/proc/{child}/cmdline").read_text()):
                    return int(child)
        time.sleep(0.1)
    console.seek(0)
    raise Failed(f"systemd-nspawn boots nothing here: {console.read()[-300:].decode(errors='replace')}")
