"""A rig at work: commands in the guest, chosen at random, and what each has promised."""
import hashlib
import itertools
import threading

from Kit.rigs import PHOTO
from PowerCut import initramfs
from PowerCut.promises import Promise, of, values

SETTINGS = ("export HOME=/mnt/h CAPQUEUE_DIR=/mnt/q LC_ALL=C.UTF-8 AWS_ACCESS_KEY_ID=AKPOWERCUT "
            "AWS_SECRET_ACCESS_KEY=powercut; cd /tmp; [ ! -e /tmp/settings ] || . /tmp/settings; ")
KEY = "/mnt/h/.local/share/capbundle/device.key"
AT_ONCE = "0,0,0,0,0,0,0,0"
STEPS = {"pack and push": 10, "pack": 3, "batch": 3, "pipe": 3, "move": 3, "inbox": 4, "reference": 2, "run": 8, "prune": 4,
         "hold": 1, "cancel": 1, "session": 1, "backup": 1, "config": 1, "get": 1, "check": 1, "fresh": 2, "redact": 1,
         "again": 2}
RUNS = (0, 10, 14, 15)  # exit codes of `run` that are no fault of the power


class Rig:
    """`log` gets the promises. `photos` has the hash of the photo of each bundle, by the hash of the bundle."""

    def __init__(self, random, servers):
        self.random, self.servers = random, servers
        self.numbers, self.photos, self.odd = itertools.count(1), {}, []
        self.packed = {}  # the hash of each bundle by its path
        self.pushed, self.files, self.arriving = {}, [], []  # ids with hashes; bundles in /mnt/b; bundles in the inbox
        self.log, self._lock = None, threading.Lock()

    def recovering(self, promises):
        """Returns the rig as it is after a power cut, when only these promises had been made."""
        rig = Rig(self.random, self.servers)
        rig.numbers, rig.photos, rig.packed = self.numbers, self.photos, self.packed
        rig.pushed = {promise.name: promise.sha256 for promise in of(promises, "pushed")}
        moving = {promise.name for promise in of(promises, "moving")}
        packed = [promise.name for promise in of(promises, "packed") if promise.name not in moving]
        rig.files = [path for path in packed if path.startswith("/mnt/b/")]
        rig.arriving = [path for path in packed if path.startswith("/mnt/in/")]
        return rig

    def promise(self, kind, name="", sha256="", more=None):
        self.log.add(Promise(kind, name, sha256, more))

    def do(self, shell, command, allowed=(0,)):
        """Runs a command, and returns its output, or None if it failed."""
        code, output = shell(SETTINGS + command)
        if code not in allowed:
            self.odd.append(f"exit {code}: {command[-200:]}: {output[-300:]}")
        return output if code in allowed else None

    def begin(self, shell):
        """Makes key, queue and destinations."""
        for command, kind in (("capbundle key new", "key"), (f"capbundle trust add rig {KEY}.pub", "trust"),
                              ("capqueue init", "queue")):
            shell.must(SETTINGS + command)
            self.promise(kind)
        self.servers.admit(shell.must(f"cat {KEY}.pub").encode())
        shell.must(f"{SETTINGS}mkdir -m 700 /mnt/in; capqueue config free-floor none; capqueue config inbox /mnt/in")
        for name, options in self.servers.addresses().items():
            shell.must(f"{SETTINGS}capqueue dest add {name} {options} --retry {AT_ONCE}")
        shell.must(f"{SETTINGS}capqueue dest add folder --kind folder --path /mnt/dest --retry {AT_ONCE}")
        shell.must(f"{SETTINGS}capqueue dest default folder")
        self.promise("destinations")

    def raw(self):
        """Returns a command that makes a raw capture with a photo of its own, its folder, and the photo's hash."""
        with self._lock:
            number = next(self.numbers)
        kind = self.random.choice(("small", "small", "small", "large"))
        photo = PHOTO if kind == "small" else PHOTO[:-2] + b"\x31" * initramfs.LARGE + PHOTO[-2:]
        mark = f"{number:08}".encode()
        photo = photo[:initramfs.MARK] + mark + photo[initramfs.MARK + len(mark):]
        command = (f"cp -r /raw/{kind} /tmp/raw{number}; printf {mark.decode()} | dd of=/tmp/raw{number}/photo.jpg bs=1 "
                   f"seek={initramfs.MARK} conv=notrunc 2>/dev/null; ")
        return command, f"/tmp/raw{number}", hashlib.sha256(photo).hexdigest(), number

    def pack(self, shell, folder="/mnt/b"):
        """Packs a new capture, and returns its file, or None."""
        command, raw, photo, number = self.raw()
        path = f"{folder}/{number}.bundle"
        chain = self.random.choice(("", " --chain"))
        output = self.do(shell, f"{command}capbundle pack {raw} -o {path} --json{chain}; code=$?; rm -r {raw}; exit $code")
        if output is None:
            return None
        made, sha256 = values(output)[0], shell.must(f"sha256sum <{path}").split()[0]  # reading writes nothing: noatime
        self.photos[sha256], self.packed[path] = photo, sha256
        self.promise("packed", path, sha256, made["counter"])
        (self.files if folder == "/mnt/b" else self.arriving).append(path)
        return path

    def push(self, shell, *paths, options=""):
        """Pushes bundles, and returns whether all were taken."""
        if "--move" in options:
            for path in paths:
                self.promise("moving", path)
                self.files = [one for one in self.files if one != path]
        output = self.do(shell, f"capqueue push --json {options} --dest {self.destination()} {' '.join(paths)}")
        for made in values(output or ""):
            if "id" in made:
                self.took(made["id"], made["sha256"])
        return output is not None

    def took(self, name, sha256):
        self.pushed[name] = sha256
        self.promise("pushed", name, sha256)

    def destination(self):
        return self.random.choice(("folder", "folder", "put", "s3", "http", "put --dest folder"))

    def step(self, shell):
        """Does one thing, chosen at random."""
        kind = self.random.choices(list(STEPS), STEPS.values())[0]
        getattr(self, kind.replace(" ", "_"))(shell)

    def pack_and_push(self, shell):
        path = self.pack(shell)
        if path:
            self.push(shell, path)

    def batch(self, shell, options=""):
        paths = [self.pack(shell) for _ in range(self.random.randint(2, 5))]
        if all(paths):
            self.push(shell, *paths, options=options)

    def move(self, shell):
        self.batch(shell, "--move")

    def reference(self, shell):
        path = self.pack(shell)
        if path:
            self.push(shell, path, options="--reference")

    def inbox(self, shell):
        self.pack(shell, "/mnt/in")

    def again(self, shell):
        if self.files:
            path = self.random.choice(self.files)
            self.promise("again", sha256=self.packed[path])
            self.push(shell, path)

    def pipe(self, shell):
        command, raw, photo, _ = self.raw()
        output = self.do(shell, f"{command}set -o pipefail; capbundle pack {raw} -o - | capqueue push --json "
                                f"--dest {self.destination()} -; code=$?; rm -r {raw}; exit $code")
        for made in values(output or ""):
            if "id" in made:
                self.photos[made["sha256"]] = photo
                self.took(made["id"], made["sha256"])

    def run(self, shell):
        for path in self.arriving:
            self.promise("moving", path)
        self.arriving = []
        for event in values(self.do(shell, "capqueue run --json", RUNS) or ""):
            if event.get("event") == "completed":
                self.promise("sent", event["id"], event["sha256"], event["destination"])

    def prune(self, shell):
        self.do(shell, "capqueue prune --older-than 0s")

    def hold(self, shell, command="hold", kind="held"):
        if self.pushed:
            name = self.random.choice(list(self.pushed))
            output = self.do(shell, f"capqueue {command} {name}", (0, 64))
            if name in (output or "").split():
                self.promise(kind, name)

    def cancel(self, shell):
        self.hold(shell, "cancel", "cancelled")

    def session(self, shell):
        path = self.pack(shell)
        name = f"s{path.split('/')[-1].split('.')[0]}" if path else ""
        if path and self.push(shell, path, options=f"--session {name}"):
            if self.do(shell, f"capqueue session end {name}") is not None:
                self.promise("ended", name)

    def backup(self, shell):
        ids = frozenset(self.pushed)
        if self.do(shell, "capqueue backup /mnt/backup", (0, 10)) is not None:
            self.promise("backed up", more=ids)

    def config(self, shell):
        value = f"{self.random.randint(2, 90)}d"
        self.promise("setting", value)
        if self.do(shell, f"capqueue config retention {value}") is not None:
            self.promise("set", value)

    def get(self, shell):
        if self.pushed:
            name, target = self.random.choice(list(self.pushed)), f"/mnt/b/got{next(self.numbers)}.bundle"
            self.write(shell, f"capqueue get {name} -o {target}", target, (0, 66, 74))

    def redact(self, shell):
        path, target = self.pack(shell), f"/mnt/b/withheld{next(self.numbers)}.bundle"
        if path:
            self.write(shell, f"capbundle redact --withhold location.json {path} -o {target}", target, (0, 64))

    def write(self, shell, command, target, allowed):
        """Runs a command that writes a file, if it can."""
        code, output = shell(SETTINGS + command)
        if code == 0:
            self.promise("written", target, shell.must(f"sha256sum <{target}").split()[0])
        elif code not in allowed:
            self.odd.append(f"exit {code}: {command}: {output[-300:]}")

    def check(self, shell):
        self.do(shell, "capqueue check --json", (0, 15))

    def fresh(self, shell):
        path = self.pack(shell)
        if path and self.do(shell, f"capbundle verify --state /mnt/seen --require fresh {path}") is not None:
            self.promise("accepted", path)
