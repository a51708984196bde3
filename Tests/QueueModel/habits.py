"""Code that all sequences share: the tool, the bundles, and what a command usually does if it is not killed."""
import os
import subprocess
import time

import crashes
from pool import Pool
from tracing import calls_in, strace

TRACED = crashes.CALLS + ["copy_file_range", "ioctl"]
LEARN = ("--seccomp-bpf", "-s", "256", "-e", "trace=" + ",".join("?" + name for name in sorted(TRACED)))


class Habits:
    """The system calls and the duration of each command, learned once from plain runs."""

    def __init__(self):
        self.calls, self.seconds = {}, {}

    def where(self, crash, command):
        """Returns the prefix of the command line, and the seconds until a kill, if there is one."""
        if crash.traced and self.calls.get(command):
            name, number = self.calls[command][int(crash.fraction * len(self.calls[command]))]
            return strace("-e", f"trace={name}", "-e", f"inject={name}:signal=KILL:when={number}"), None
        return [], crash.fraction * self.seconds.get(command, 0.02)


class Bench:
    def __init__(self, capqueue, capbundle, folder, keep=False, repeatable=False):
        self.capqueue, self.folder, self.keep = capqueue, folder, keep
        (folder / "pool").mkdir()
        self.pool = Pool(folder / "pool", capbundle)
        self.habits, self.crashes, self.repeatable = Habits(), True, repeatable
        self._learn(folder / "timed", False)
        if crashes.can_trace():
            self._learn(folder / "traced", True)

    def _learn(self, folder, traced):
        (folder / "disk").mkdir(parents=True)
        environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(folder), "CAPQUEUE_DIR": "queue",
                       "LC_ALL": "C.UTF-8"}
        for words, stdin in self._usual():
            start = time.monotonic()
            subprocess.run([*(strace(*LEARN, log=folder / "trace") if traced else ()), self.capqueue, *words],
                           input=stdin, cwd=folder, env=environment, capture_output=True, check=False)
            if traced:
                self.habits.calls.setdefault(words[0], []).extend(_calls(folder / "trace"))
            else:
                longest = max(time.monotonic() - start, self.habits.seconds.get(words[0], 0))
                self.habits.seconds[words[0]] = longest

    def _usual(self):
        """Returns commands as the sequences use them, with their standard input."""
        c0, twin, redacted, c1, _, _, c2, *_, c4, c5 = self.pool.sound
        receipt = f"stored {c1.sha256}\n".encode()
        return [
            (["push", c0.path], b""), (["push", twin.path, redacted.path, c1.path, "--session=monday"], b""),
            (["push", "-"], c2.data), (["push", c4.path, c5.path], b""),
            (["hold", c0.id, c1.id], b""), (["hold", "--all"], b""), (["release", c0.id, c1.id], b""),
            (["release", "--all"], b""), (["cancel", c0.id], b""), (["cancel", "--session=monday"], b""),
            (["retry", c0.id], b""), (["retry", "--all"], b""), (["cancel", c4.id], b""),
            (["mark-uploaded", c1.id, "--receipt", "-"], receipt), (["prune", "--older-than=0s", "--cancelled"], b""),
            (["session", "end", "monday"], b""), (["dest", "add", "nas", "--kind", "folder", "--path", "disk"], b""),
            (["run"], b""), (["check"], b""), (["check", "--read-data"], b""), (["check", "--repair"], b""),
            (["adopt", self.pool.folder], b""), (["prune", "--older-than=0s"], b"")]


def _calls(log):
    """Returns (name, number) of each call from the first that names the queue; strace counts each thread separately."""
    counts, found, seen = {}, [], False
    for thread, name, text in calls_in(log):
        counts[thread, name] = counts.get((thread, name), 0) + 1
        seen = seen or "queue" in text
        if seen:
            found.append((name, counts[thread, name]))
    return found
