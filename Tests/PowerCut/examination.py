"""Examines what a power cut left: mounts it, compares it with the promises, works on, and compares again."""
import dataclasses

from PowerCut.blocks import Log
from PowerCut.judge import Judge, parsed, unsent
from PowerCut.promises import Promise, of, values
from PowerCut.workload import RUNS, SETTINGS

FILL = ("dd if=/dev/zero bs=1M count=1 2>/dev/null | tr '\\0' '\\377' >/tmp/ones; for place in /mnt /mnt/dest; do "
        "while cat /tmp/ones; do :; done >$place/fill 2>/dev/null; sync; rm -f $place/fill; done")


@dataclasses.dataclass
class Outcome:
    """The faults of an image, and how much was compared."""

    faults: list
    captures: int = 0
    unmountable: str = ""  # what mount and fsck said


class Examination:
    """One image. `at` is the cut of the recording from which it was made."""

    def __init__(self, machine, rig, recording, moment):
        self.machine, self.rig, self.recording, self.moment = machine, rig, recording, moment
        self.promises = recording.promises + [one for one in recording.log[:moment] if isinstance(one, Promise)]

    def examine(self, contents, boots, repairs, sends, sweeps):
        """Mounts contents and judges them. `repairs`: fsck comes first; `sends`: the queue also runs; `sweeps`: commands
        remove leftovers, and the free blocks are overwritten, before everything is compared once more."""
        machine = self.machine
        machine.insert(contents, Log())
        machine.servers.restore(self.recording.history, self.moment)
        machine.servers.begin([])
        machine.boot(boots)
        problem = machine.mount(repairs)
        if problem is not None:
            return Outcome([], unmountable=problem)
        try:
            judge = self.look()
            faults = judge.all()
            if of(self.promises, "key"):
                faults += self.work(judge.counters)
            if sends and of(self.promises, "destinations") and not faults:
                faults += self.send()
            if sweeps and judge.has_queue and not faults:
                faults += self.sweep()
            return Outcome(faults, len(of(self.promises, "pushed")))
        finally:
            machine.unmount()

    def look(self):
        seen = parsed(self.machine.shell.must(f"{SETTINGS}sh /look.sh; true"))
        return Judge(seen, self.promises, self.machine.servers.landed, self.rig.photos)

    def work(self, counters):
        """A new capture can be packed, with a counter that was never used, and pushed."""
        command, raw, _, number = self.rig.raw()
        path = f"/mnt/new{number}.bundle"
        code, output = self.machine.shell(f"{SETTINGS}{command}capbundle pack {raw} -o {path} --json; code=$?; rm -r {raw}; "
                                          "exit $code")
        if code:
            return [f"pack exits {code}: {output}"]
        counter = values(output)[0]["counter"]
        faults = [f"counter {counter} comes after {max(counters)}"] if counters and counter <= max(counters) else []
        if of(self.promises, "queue"):
            code, output = self.machine.shell(f"{SETTINGS}capqueue push {path}")
            faults += [f"push exits {code}: {output}"] if code else []
        for promise in of(self.promises, "accepted")[-1:]:
            code, _ = self.machine.shell(f"{SETTINGS}capbundle verify --state /mnt/seen --require fresh {promise.name}")
            faults += [f"accepted as fresh once more: {promise.name}"] if code == 0 else []
        return faults

    def send(self):
        """A run sends everything, and needs no person."""
        self.promises += [Promise("moving", promise.name) for promise in of(self.promises, "packed")
                          if promise.name.startswith("/mnt/in/")]
        code, output = self.machine.shell(f"{SETTINGS}capqueue run --until-empty --json --max-duration 600s")
        judge = self.look()
        judge.commands()
        judge.captures()
        judge.receipts()
        return [*([] if code in RUNS else [f"run exits {code}: {output[-300:]}"]), *unsent(judge.rows),
                *(f"after a run: {fault}" for fault in judge.faults)]

    def sweep(self):
        """Leftovers are removed, and free blocks overwritten; then all that was promised is still there."""
        self.machine.shell(f"{SETTINGS}capqueue check --repair; capqueue prune --older-than 0s; {FILL}")
        self.machine.unmount()
        problem = self.machine.mount()
        if problem is not None:
            return [f"cannot be mounted again: {problem}"]
        return [f"after a sweep: {fault}" for fault in self.look().all()]
