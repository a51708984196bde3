"""The packages in booted systems: installed by apt, used, upgraded while the service runs, removed and purged."""
import json
import shutil

from Kit.outcomes import ROOT, expect, long
from Packages.bench import NAMES, free_port, require_root
from Packages.machine import booted

SECONDS = 300
QUEUE = {"CAPQUEUE_DIR": "/var/lib/capqueue"}
TIMERS = ("capqueue-prune.timer", "capqueue-check.timer", "capqueue-metrics.timer")
OLDER = "0.9.0"
DROP_IN = "[Service]\nReadWritePaths=/srv/captures\n"


class Life:
    """One system from the installation to the purge; each step is a method, and needs those before it."""

    def __init__(self, bench, machine):
        self.bench, self.machine, self.ids = bench, machine, []

    def install(self):
        """An older version is installed first, so that the upgrade can be seen."""
        incoming = self.machine.path("srv/packages")
        incoming.mkdir()
        for name in NAMES:
            shutil.copy(self.bench.packages[name], incoming)
            self.bench.older(name, OLDER, incoming)
        shutil.copytree(ROOT / "Samples/desk-lamp/raw", self.machine.path("srv/raw"))
        self.machine.run("apt-get", "update", "-qq")
        self.apt("install", *(f"/srv/packages/{name}_{OLDER}.deb" for name in NAMES), "curl")
        said = self.machine.run("dpkg-query", "-W", "-f", "${Package} ${Version}\n", *NAMES)
        expect(said == "".join(f"{name} {OLDER}\n" for name in NAMES), f"installed are {said}")

    def apt(self, *words):
        return self.machine.run("apt-get", "-y", "-qq", "--no-install-recommends", "-o", "Dpkg::Use-Pty=0", *words)

    def capqueue(self, *words, **how):
        return self.machine.run("capqueue", *words, user="capqueue", env=QUEUE, **how)

    def starts(self):
        """The service and the timers run, as their user, with what systemd thinks of the units."""
        units = [*TIMERS, "capqueue.service"]
        for unit in units:
            self.machine.wait(f"{unit} is active", lambda unit=unit: self.machine.property(unit, "ActiveState") == "active")
            expect(self.machine.run("systemctl", "is-enabled", unit).strip() == "enabled", f"{unit} is not enabled")
        files = self.machine.run("sh", "-c", "echo /lib/systemd/system/cap*.service /lib/systemd/system/cap*.timer").split()
        said = self.machine.run("systemd-analyze", "verify", "--man=no", *files)
        expect(not said.strip(), f"systemd-analyze: {said[:300]}")
        owner = self.machine.run("stat", "-c", "%U", f"/proc/{self.pid()}").strip()
        expect(owner == "capqueue", f"the service runs as {owner}")
        modes = self.machine.run("stat", "-c", "%a %U %G", "/var/lib/capqueue", "/var/spool/capqueue", "/etc/capqueue/environment")
        expect(modes.splitlines() == ["700 capqueue capqueue", "3770 capqueue capqueue-inbox", "600 root root"], f"modes are {modes}")

    def pid(self):
        return self.machine.property("capqueue.service", "MainPID")

    def uses(self):
        """A member of the inbox's group hands over a bundle; the service sends it to a folder outside of its own."""
        machine = self.machine
        machine.run("install", "-d", "-o", "capqueue", "-m", "0700", "/srv/captures")
        machine.path("etc/systemd/system/capqueue.service.d").mkdir()
        machine.path("etc/systemd/system/capqueue.service.d/disk.conf").write_text(DROP_IN)
        machine.path("etc/capqueue/environment").write_text("AWS_ACCESS_KEY_ID=of-the-test\n")
        machine.run("systemctl", "daemon-reload")
        machine.run("systemctl", "restart", "capqueue.service")
        self.capqueue("dest", "add", "disk", "--kind", "folder", "--path", "/srv/captures")
        environment = machine.run("cat", f"/proc/{self.pid()}/environ")
        expect("AWS_ACCESS_KEY_ID=of-the-test" in environment, "the service does not have the environment of its file")
        machine.run("useradd", "-m", "-G", "capqueue-inbox", "sender")
        machine.run("capbundle", "key", "new", user="sender")
        self.send("first")

    def send(self, name):
        """Packs a capture as another user, puts it into the inbox and waits for it at the destination."""
        hidden, shown = f"/var/spool/capqueue/.{name}.bundle.tmp", f"/var/spool/capqueue/{name}.bundle"
        before = len(list(self.machine.path("srv/captures").glob("*.bundle")))
        metadata = json.loads((ROOT / "Samples/desk-lamp/raw/metadata.json").read_text()) | {"note": name}
        self.machine.path("srv/raw/metadata.json").write_text(json.dumps(metadata))
        self.machine.run("sh", "-c", f"umask 027 && capbundle pack /srv/raw -o {hidden} && mv {hidden} {shown}", user="sender")
        self.machine.wait("the bundle of the inbox is at the destination",
                          lambda: len(list(self.machine.path("srv/captures").glob("*.bundle"))) == before + 1)
        expect(not self.machine.path(shown[1:]).exists(), "the bundle is still in the inbox")
        self.machine.run("capbundle", "verify", *(f"/srv/captures/{path.name}" for path in
                         self.machine.path("srv/captures").glob("*.bundle")), code=3)

    def measures(self):
        """The metrics are where the node exporter reads them, and change each minute."""
        metrics = self.machine.path("var/lib/prometheus/node-exporter/capqueue.prom")
        metrics.parent.mkdir(parents=True)
        self.machine.wait("the timer writes metrics", metrics.is_file, seconds=90)
        expect('capqueue_running{queue="/var/lib/capqueue"} 1' in metrics.read_text(), f"the metrics do not say that a run is active: {metrics.read_text()[-400:]!r}")
        expect(metrics.stat().st_uid == 0 and metrics.stat().st_mode & 0o044 == 0o044, "the node exporter cannot read them")
        for unit in ("capqueue-prune.service", "capqueue-check.service"):
            self.machine.run("systemctl", "start", unit)

    def receives(self):
        """The receiver takes a capture of a device that it invited."""
        machine, folder = self.machine, "/var/lib/capbundle-receiver"
        expect(machine.property("capbundle-receiver.service", "ActiveState") == "inactive", "the receiver was not asked for, and runs")
        url = f"http://127.0.0.1:{free_port()}"
        machine.path("etc/capbundle-receiver").mkdir()
        machine.path("etc/capbundle-receiver/environment").write_text(f"RECEIVER_OPTIONS=--port={url.rpartition(':')[2]}\n")
        machine.run("systemctl", "start", "capbundle-receiver.service")
        machine.wait("the receiver answers", lambda: machine.call("curl", "-fs", f"{url}/healthz").code == 0)
        machine.path("srv/invite.sh").write_text(
            machine.run("receiver", "invite", folder, "rig", user="capbundle-receiver"))
        machine.run("sh", "/srv/invite.sh", url, user="sender")
        machine.run("sh", "-c", "capbundle pack /srv/raw -o - | capqueue push - && capqueue run --until-empty", user="sender")
        machine.wait("the receiver passes it on", lambda: machine.call("sh", "-c", f"ls {folder}/kept/*.bundle").code == 0)
        machine.run("systemctl", "stop", "capbundle-receiver.service")

    def upgrades(self):
        """The service is restarted, nothing is lost, and settings stay."""
        before, version = self.pid(), self.bench.run(ROOT / ".ci/version").strip()
        self.machine.run("systemctl", "disable", "--now", "capqueue-metrics.timer")
        self.apt("install", *(f"/srv/packages/{self.bench.packages[name].name}" for name in NAMES))
        said = self.machine.run("dpkg-query", "-W", "-f", "${Version}\n", *NAMES).split()
        expect(said == [version] * len(NAMES), f"after the upgrade: {said}")
        self.machine.wait("the service is active", lambda: self.machine.property("capqueue.service", "ActiveState") == "active")
        expect(self.pid() != before, "the service still runs the old program")
        expect(self.machine.property("capqueue-metrics.timer", "ActiveState") == "inactive", "a timer that was switched off runs")
        expect("of-the-test" in self.machine.path("etc/capqueue/environment").read_text(), "a setting is lost")
        self.machine.run("capqueue", "--version")
        self.send("second")
        expect(self.machine.run("dpkg", "--verify", *NAMES) in ("", "??5?????? c /etc/capqueue/environment\n"), "files were changed")

    def leaves(self):
        """Removed, the service is gone and the queue stays; purged, only the captures stay."""
        files = [name for package in NAMES for name in self.machine.run("dpkg", "-L", package).splitlines()]
        files = [name for name in files if not self.machine.path(name[1:]).is_dir()]
        self.apt("remove", *NAMES)
        expect(self.machine.call("systemctl", "is-active", "capqueue.service").code != 0, "the service runs after its removal")
        expect(self.machine.path("etc/capqueue/environment").is_file(), "remove deletes a setting")
        held = self.machine.run("sh", "-c", "ls /var/lib/capqueue/spool/*/*.bundle | wc -l").strip()
        said = self.machine.call("dpkg", "--purge", *NAMES)
        expect(said.code == 0 and "the queue stays in /var/lib/capqueue" in said.text, f"purge says {said.text[-300:]}")
        left = [name for name in files if self.machine.path(name[1:]).exists()]
        expect(not left, f"purge leaves {left[:5]}")
        links = self.machine.run("sh", "-c", "find /etc/systemd/system /var/lib/systemd/deb-systemd-helper* -name 'cap*' ! -name '*.d'")
        expect(not links.strip(), f"purge leaves {links.split()[:5]}")
        again = self.machine.run("sh", "-c", "ls /var/lib/capqueue/spool/*/*.bundle | wc -l").strip()
        expect(held == again == "2", f"the queue had {held} bundles, and has {again}")


def lives(suite):
    def test(bench):
        require_root()
        with booted(suite, bench.folder) as machine:
            life = Life(bench, machine)
            for step in (life.install, life.starts, life.uses, life.measures, life.receives, life.upgrades, life.leaves):
                print(f"     {suite}: {step.__name__}", flush=True)
                step()
    return long(test)


TESTS = [(f"installed, used, upgraded and purged in a booted {suite}", lives(suite)) for suite in ("bookworm", "trixie")]
