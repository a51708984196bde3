"""A fault at each system call of a command in turn: a kill, a broken or full disk, no permission, a signal.

A command that fails must give the documented exit code and a message that names a file, and repeat a call that a signal
interrupted. What else must hold is in the scene of the command.
"""
import functools
import types

from Kit.disks import FULL, at_every_room
from Kit.outcomes import IS_LONG, expect
from Kit.kills import changes
from Kit.injection import (KILLED, MAKING, WRITING, prefix, report, since, sweep, trace, with_a_rig,
                           without_unnamed_files)

# Each error, the calls that it can meet, and the right exit codes. If a broken disk prevents opening a key, this is
# "input unreadable" or "I/O": Spec/command-line.md allows both readings.
ERRORS = {
    "EIO": (("read", "pread64", "openat", "flock", *MAKING, *WRITING), (66, 74)),
    "EINTR": (("read", "write", "writev", "flock", "openat"), (0,)),
    "ENOSPC": ((*MAKING, *WRITING), (74,)),
    "EDQUOT": ((*MAKING, *WRITING), (74,)),
    "EROFS": (MAKING, (73,)),
    "EACCES": (MAKING, (73,)),
}
# `make test` tries EIO at one call of each name, and each other error at one call.
NO_CALL = types.SimpleNamespace(name="", text="", is_after_naming=False)  # stands for the call where a full disk shows


class Scene:
    """A command, the rig that it finds, and what must hold after a fault. Each trial gets a copy of that rig."""

    start = ("device.key",)  # faults begin at the first call that names one of these
    named = False  # whether O_TMPFILE looks unusable
    lines = 3  # a message has at most as many
    may_end = False  # whether a run may end without the call that is to be killed
    places = ()  # what a message can name, beside the rig's folder
    copes = False  # whether the command works on a full disk

    def __init__(self, bench):
        self.bench, self.extra = bench, ()
        self.origin = self.make()

    def make(self):
        return self.bench.rig()

    def rig(self):
        return self.bench.copy(self.origin)

    def run(self, rig, **how):
        return rig.run(*self.words(rig), **how)

    def words(self, rig):
        raise NotImplementedError

    def judge(self, rig, ended, call, is_killed):
        """Checks the rig after a fault, and that the command works again; `ended` is the Result."""
        raise NotImplementedError

    def codes(self, call, error):
        return ERRORS[error][1]

    def calls(self):
        rig = self.rig()
        calls = trace(rig, run=functools.partial(self.run, rig))
        if self.named:
            self.extra = without_unnamed_files(calls)
            rig = self.rig()
            calls = trace(rig, run=functools.partial(self.run, rig), extra=self.extra)
            expect(not any("O_TMPFILE" in call.text for call in calls), "O_TMPFILE is used without /proc/self/fd")
        return since(calls, *self.start)

    def trial(self, item):
        """Makes one fault; returns the broken promises as texts."""
        call, error = item
        is_killed = error == "kill"

        def run(rig):
            ended = self.run(rig, prefix=prefix(call, "signal=KILL" if is_killed else f"error={error}", self.extra))
            if is_killed:
                expect(ended.code in KILLED or self.may_end and ended.code == 0, f"was not killed: exit {ended.code}")
            else:
                ended.must(*self.codes(call, error))
                self.judge_message(rig, ended, error)
            self.judge(rig, ended, call, is_killed)

        return with_a_rig(self, f"{error} at {call}", run)

    def judge_message(self, rig, ended, error):
        expect(len(ended.text.splitlines()) <= self.lines, f"a storm of messages: {ended.text[:300]!r}")
        if error != "EINTR" and ended.code:
            named = any(name in ended.text for name in (str(rig.folder), "standard output", *self.places))
            expect("capbundle: error: " in ended.text and named, f"the message names no file: {ended.text!r}")


def is_message(call):
    """Whether the call writes a message to standard error; if that fails, the work is still done."""
    return call.name == "write" and call.text.startswith("2,")


def killed(scene, bench):
    """Kills the command at each call. `make test` leaves out calls that change nothing on the disk."""
    scene = scene(bench)
    report(sweep([(call, "kill") for call in scene.calls() if IS_LONG or changes(call)], scene.trial))


def fails(scene, bench):
    """Makes each call fail with each error that it can meet."""
    scene = scene(bench)
    calls = [call for call in scene.calls() if not is_message(call)]
    items = []
    for error, (names, _) in ERRORS.items():
        met = [(call, error) for call in calls if call.name in names]
        items += met if IS_LONG or error == "EIO" else met[-1:]
    report(sweep(items, scene.trial))


def full(scene, bench):
    """Runs the command where key, trust file, target and temporary files are on one disk with little room or none."""
    scene = scene(bench)

    def trial(rig, room, free):
        ended = scene.run(rig).must(0, 74)
        if ended.code:
            scene.judge_message(rig, ended, "ENOSPC")
            expect(FULL.search(ended.text), f"does not say that the disk is full: {ended.text!r}")
        free()
        scene.judge(rig, ended, NO_CALL, False)
        return ended.code == 0

    at_every_room(scene, trial)
