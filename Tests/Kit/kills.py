"""Kills at every system call of a command, and errors at every call that can meet one, each in a new copy of a rig.

strace counts the calls of each thread separately and acts on the first thread that reaches the number, so calls are
counted in the same way here. A kill at a call that reads or syncs leaves the same disk as a kill at the next call that
changes something. A kill between the pages of a transaction leaves an incomplete transaction, which SQLite ignores. So
these calls show little: a sweep tries a random part of them, and all other calls. --every tries all calls, which takes
many minutes; `make test` tries one call of each name that changes something.
"""
import functools
import re

from Kit import injection
from Kit.outcomes import IS_LONG, expect
from Kit.injection import CALLS, KILLED, prefix, report, since, trace, with_a_rig

MORE = ("ioctl copy_file_range sendfile fstat newfstatat statx getdents64 lseek fsetxattr utimensat futimesat statfs "
        "fstatfs")
NAMES = [*CALLS, *MORE.split()]
CHANGING = {"write", "writev", "pwrite64", "pwritev2", "linkat", "link", "rename", "renameat", "renameat2", "unlink",
            "unlinkat", "mkdir", "mkdirat", "ftruncate", "fallocate", "chmod", "fchmod", "fchmodat", "copy_file_range",
            "sendfile", "utimensat", "fsetxattr", "exit_group"}
SHARE = 0.08


def changes(call):
    """Whether the disk can be different after this call; power cuts are not tested here."""
    if call.name.startswith("open"):
        return "O_CREAT" in call.text or "O_TMPFILE" in call.text or "O_TRUNC" in call.text
    return call.name in CHANGING or call.name == "ioctl" and "FICLONE" in call.text


class Scene:
    """A command, the queue before it, and the checks after it was killed or failed.

    `make(rig)` prepares the queue, `words(rig)` returns the command, and `judge(rig, result, number)` checks the
    result. `number` lets trials alternate between two ways to continue. `stdin(rig)` makes the standard input of the
    command.
    """

    stdin = None
    codes = (0,)  # exit codes of an undisturbed run
    copes = False  # whether the command may succeed on a full disk

    def __init__(self, bench):
        self.bench = bench
        self.origin = bench.rig()
        self.make(self.origin)

    def make(self, rig):
        pass

    def rig(self):
        rig = self.bench.rig().like(self.origin)
        self.enter(rig)
        return rig

    def enter(self, rig):
        """Prepares what cannot be copied with a rig because it contains the rig's path."""

    def run(self, rig, prefix=()):
        how = {"stdin": self.stdin(rig)} if self.stdin else {}
        return rig.run(*self.words(rig), prefix=prefix, **how)

    def calls(self):
        """Returns the calls of an undisturbed run from the first that names the rig, each name and number once.

        `is_before_output` says whether nothing was printed before the call. `meets_output` says whether a call with
        that name and number, in any thread, writes to standard output or standard error.
        """
        rig = self.rig()
        calls = trace(rig, run=functools.partial(self.run, rig), names=NAMES, codes=self.codes)
        outputs = [call for call in calls if call.name == "write" and call.text.startswith(("1,", "2,"))]
        printed = next((call for call in outputs if call.text.startswith("1,")), None)
        places, has_printed, opened = {(call.name, call.number) for call in outputs}, False, {}
        for call in calls:
            has_printed = has_printed or call is printed
            call.is_before_output, call.meets_output = not has_printed, (call.name, call.number) in places
            if call.name == "openat":
                opened[call.thread] = call.text
            # SQLite syncs the folder of a new log with fdatasync, right after opening it, and ignores the result. The
            # tool has synced it before, with fsync.
            folder = re.search(r'queue", O_RDONLY\|O_CLOEXEC\) = (\d+)', opened.get(call.thread, ""))
            call.is_repeated_by_sqlite = bool(
                call.name == "fdatasync" and folder and call.text.startswith(folder[1] + ")"))
        calls = since(calls, str(rig.folder))
        for call in calls:
            call.text = call.text.replace(str(rig.folder), "")
        return calls


def thinned(calls, bench, title, needed=changes):
    """Returns the needed calls, the last call, and a random part of the others."""
    chance = bench.chance(title)
    chosen = []
    for place, call in enumerate(calls):
        beside = [calls[place + step] for step in (-1, 1) if 0 <= place + step < len(calls)]
        amid = call.name == "pwrite64" and all(is_like(call, other) for other in beside)
        by_chance = IS_LONG and chance.random() < SHARE
        if bench.every or by_chance or call is calls[-1] or needed(call) and not amid:
            chosen.append(call)
    return injection.representatives(chosen)


def is_like(call, other):
    """Whether both calls write into the same file."""
    return call.name == other.name and call.text.partition(",")[0] == other.text.partition(",")[0]


def sweep(items, trial):
    """Runs `trial(number, item)` for each item, two at a time; returns their problems in order."""
    return injection.sweep(enumerate(items), lambda item: trial(*item), at_a_time=2)


def killed_everywhere(scene):
    """Kills the scene's command at each of its calls."""
    survived = []

    def trial(number, call):
        def run(rig):
            rig.killed_at = call
            ended = scene.run(rig, prefix(call, "signal=KILL"))
            if ended.code not in KILLED:
                # With several threads, perhaps none of them reached that number this time.
                ended.must(*scene.codes, about="neither killed nor done")
                survived.append(call)
            scene.judge(rig, ended, number)

        return with_a_rig(scene, f"killed at {call}", run)

    calls = thinned(scene.calls(), scene.bench, type(scene).__name__)
    report(sweep(calls, trial))
    expect(len(survived) <= max(2, len(calls) // 10), f"{len(survived)} of {len(calls)} runs were not killed")
