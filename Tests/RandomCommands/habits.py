"""Code that all sequences share: the bundles, and the calls and the time of each command, to choose moments for kills.

strace kills at the entry of a call, before the kernel acts on it, and so reaches each step of a write. A kill after
some time is cheaper, and also hits code between calls and several threads at once.
"""
import dataclasses
import time

from Kit.injection import CALLS
from Kit.outcomes import Skipped
from Kit.rigs import Home
from Kit.tracing import calls_in, require_strace, strace
from RandomCommands.pool import Pool

TRACED = ",".join("?" + name for name in (*CALLS, "copy_file_range", "ioctl"))
LEARN = ("--seccomp-bpf", "-s", "256", "-e", f"trace={TRACED}")


@dataclasses.dataclass(frozen=True)
class Crash:
    """A moment for a kill, as a fraction of the usual calls or time, which are not known when it is chosen."""
    traced: bool
    fraction: float


class Bench:
    def __init__(self, capqueue, capbundle, folder, keep=False, repeatable=False):
        self.capqueue, self.folder, self.keep, self.repeatable = capqueue, folder, keep, repeatable
        self.pool = Pool(folder / "pool", capbundle)
        self.calls, self.seconds = {}, {}  # of each command, from plain runs
        self._learn(Home(folder / "timed"), False)
        try:
            require_strace()
        except Skipped:
            return
        self._learn(Home(folder / "traced"), True)

    def where(self, crash, command):
        """Returns the prefix of the command line that kills the command, and the moment for the transcript."""
        if crash.traced and self.calls.get(command):
            name, number = self.calls[command][int(crash.fraction * len(self.calls[command]))]
            prefix = strace("-e", f"trace={name}", "-e", f"inject={name}:signal=KILL:when={number}")
            return prefix, f", to be killed at {name} number {number}"
        delay = f"{max(crash.fraction * self.seconds.get(command, 0.02), 0.0001):.4f}"
        return ["timeout", "--foreground", "-s", "KILL", delay], f", to be killed after {delay} s"

    def _learn(self, home, traced):
        (home.home / "disk").mkdir()
        log = home.home / "trace"
        for words, stdin in self._usual():
            start = time.monotonic()
            home.call(*(strace(*LEARN, log=log) if traced else ()), self.capqueue, *words, input=stdin)
            if traced:
                self.calls.setdefault(words[0], []).extend(_calls(log))
            else:
                self.seconds[words[0]] = max(time.monotonic() - start, self.seconds.get(words[0], 0))

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
