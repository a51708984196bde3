"""Compares what the disks have after a power cut with what had been promised."""
import json

from PowerCut.promises import of, values

FINISHED = ("completed", "held", "cancelled")


def parsed(text):
    """Returns exit code and output of each command of guest/look.sh, by its name."""
    found, name = {}, None
    for line in text.splitlines():
        if line.startswith("@@@ "):
            name, code = line[4:].split()
            found[name] = [int(code), []]
        elif name:
            found[name][1].append(line)
    return {name: (code, "\n".join(lines)) for name, (code, lines) in found.items()}


class Judge:
    """`landed` is what the servers had at the moment of the cut. `faults` are sentences."""

    def __init__(self, seen, promises, landed, photos):
        self.seen, self.promises, self.landed, self.photos = seen, promises, landed, photos
        self.faults = []
        self.sums = {path: sha256 for sha256, path in
                     (line.split(None, 1) for line in self.output("sums").splitlines())}
        self.rows = {row["id"]: row for row in values(self.output("list")) if "id" in row}
        self.spooled = {path.rsplit("/", 1)[1][:64] for path, sha256 in self.sums.items()
                        if path.startswith("/mnt/q/spool/") and path.endswith(f"/{sha256}.bundle")}
        self.delivered = {sha256 for path, sha256 in self.sums.items() if path.startswith("/mnt/dest/")}
        self.has_queue = bool(of(promises, "queue"))

    def output(self, name):
        return self.seen.get(name, (0, ""))[1]

    def code(self, name, default=0):
        return self.seen.get(name, (default, ""))[0]

    def fault(self, text):
        self.faults.append(text)

    def all(self):
        """Judges everything."""
        self.commands()
        self.captures()
        self.receipts()
        self.choices()
        self.files()
        self.backup()
        return self.faults

    def commands(self):
        """The queue can be read, and nothing in it is damaged or missing."""
        for name, allowed in (("list", (0,)), ("check", (0, 15))):
            if self.has_queue and self.code(name) not in allowed:
                self.fault(f"{name} exits {self.code(name)}: {self.output(name)} {self.output(f'{name}.said')}")
        for path, sha256 in self.sums.items():
            if path.startswith("/mnt/q/spool/") and not path.endswith(f"/{sha256}.bundle"):
                self.fault(f"torn in the spool: {path}")
            if path.startswith("/mnt/q/quarantine/"):
                self.fault(f"set aside as damaged: {path}")

    def has_bytes(self, sha256):
        """Whether a destination, or a server, has a bundle."""
        return (sha256 in self.delivered | self.landed.put | self.landed.s3
                or self.photos.get(sha256) in self.landed.http)

    def holds(self, row):
        """Whether the bytes of a row are where it says."""
        if row["holding"] == "spool":
            return row["sha256"] in self.spooled
        if row["holding"] == "reference":
            return self.sums.get(row["path"]) == row["sha256"]
        return row["holding"] in ("removing", "removed") and (row["sha256"] in self.spooled or self.has_bytes(row["sha256"]))

    def captures(self):
        """Each capture that was pushed has a row, and its bytes are where the row says."""
        for promise in of(self.promises, "pushed"):
            row = self.rows.get(promise.name)
            if row is None:
                there = "is in the spool" if promise.sha256 in self.spooled else "is gone"
                self.fault(f"lost: pushed {promise.name}, no row; its file {there}")
            elif not self.holds(row):
                self.fault(f"lost: bytes of {promise.name}, which is {row['holding']}")

    def receipts(self):
        """Each completed delivery is at its destination, and what a run called completed is so still."""
        for name, row in self.rows.items():
            for delivery in row.get("deliveries", []):
                if delivery["state"] == "completed" and not self.is_at(delivery["destination"], row["sha256"]):
                    self.fault(f"receipt without bytes: {name} at {delivery['destination']}")
        for promise in of(self.promises, "sent"):
            states = [delivery["state"] for delivery in self.rows.get(promise.name, {}).get("deliveries", [])
                      if delivery["destination"] == promise.more]
            if states != ["completed"]:
                self.fault(f"run said completed: {promise.name} at {promise.more} is {states}")

    def is_at(self, destination, sha256):
        if destination == "folder":
            return sha256 in self.delivered
        if destination == "http":
            return self.photos.get(sha256) in self.landed.http
        return sha256 in getattr(self.landed, destination)

    def choices(self):
        """Holds, cancellations, ended sessions and settings are as they were chosen."""
        again = {promise.sha256 for promise in of(self.promises, "again")}
        for kind in ("held", "cancelled"):
            for promise in of(self.promises, kind):
                if self.rows.get(promise.name, {}).get("sha256") in again:
                    continue
                now = {delivery["state"] for delivery in self.rows.get(promise.name, {}).get("deliveries", [])}
                if not now & {"held", "cancelled"}:
                    self.fault(f"{kind}: {promise.name} is {now}")
        sessions = {row.get("session", row.get("name")): row for row in values(self.output("sessions"))}
        for promise in of(self.promises, "ended"):
            if not sessions.get(promise.name, {}).get("ended_at"):
                self.fault(f"session {promise.name} has not ended: {sessions.get(promise.name)}")
        chosen = [promise for promise in self.promises if promise.kind in ("set", "setting")]
        last = max((place for place, promise in enumerate(chosen) if promise.kind == "set"), default=None)
        if last is not None:
            allowed = {int(promise.name[:-1]) * 86_400 for promise in chosen[last:]}
            now = {row.get("retention_seconds") for row in values(self.output("settings"))}
            if not now & allowed:
                self.fault(f"the retention is {now}, not {allowed}")

    def files(self):
        """Named bundles are whole, and where they were packed or else in the queue; no counter is in two bundles."""
        moving = {promise.name for promise in of(self.promises, "moving")}
        queued = {row["sha256"] for row in self.rows.values() if self.holds(row)}
        for promise in of(self.promises, "packed") + of(self.promises, "written"):
            if self.sums.get(promise.name) != promise.sha256 and not (promise.name in moving and promise.sha256 in queued):
                self.fault(f"bundle {promise.name} {'has other bytes' if promise.name in self.sums else 'is gone'}")
        counters = {}
        for report in values(self.output("bundles")):
            if report.get("exit_code") not in (0, 3, 4):
                self.fault(f"named but not whole: {report.get('file')}: {report.get('faults')}")
            elif "counter" in report.get("device", {}):
                counters.setdefault(report["device"]["counter"], set()).add(report["bundle"]["manifest_sha256"])
        for counter, bundles in counters.items():
            if len(bundles) > 1:
                self.fault(f"counter {counter} is in {len(bundles)} bundles")
        self.counters = [*counters, *(promise.more for promise in of(self.promises, "packed"))]

    def backup(self):
        """The last backup is whole."""
        made = of(self.promises, "backed up")
        if made:
            if self.code("backup", 99) not in (0, 15):
                self.fault(f"backup: check exits {self.code('backup', 99)}: {self.output('backup')} "
                           f"{self.output('backup.said')}")
            have = {row["id"] for row in values(self.output("backup-list")) if "id" in row}
            for name in made[-1].more - have:
                self.fault(f"the backup lacks {name}")


def unsent(rows):
    """Returns faults for what a run, which had everything it needs, has not sent."""
    return [f"not sent after a run: {row['id']} at {delivery['destination']}: {json.dumps(delivery)[:300]}"
            for row in rows.values() for delivery in row.get("deliveries", []) if delivery["state"] not in FINISHED]
