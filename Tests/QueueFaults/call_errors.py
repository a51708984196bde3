"""A system call of `push` or `prune` fails: broken disk, full disk, quota, no permission, a signal.

Either the command reports an error and has acknowledged nothing, or it has done all of its work. After a failed sync
the push fails, whatever a later sync returns. A call that a signal interrupted is repeated. In the short form each call
meets one error, and each error one call.
"""
import functools
import re

from Kit.outcomes import IS_LONG, expect
from Kit.injection import MAKING, WRITING, prefix, report, with_a_rig
from Kit.invariants import clean, gives, holds, only_strays, refused, rows_have_bytes, words_for_people
from QueueFaults.kill_prune import Prune
from QueueFaults.kill_push import Push
from Kit.kills import changes, sweep, thinned
from Kit.queues import ids

OPENING = ("openat", "open")
FOLDERS = ("mkdir", "mkdirat")
SHARED_MEMORY = re.compile(r'^\d+, "\\0", 1, ')  # SQLite extends the shared memory with single bytes
FULL = ("ENOSPC", "EDQUOT")
SYNCS = ("fsync", "fdatasync", "sync_file_range")
# Each error, and the calls that can meet it.
ERRORS = {
    "EIO": ("read", "pread64", *OPENING, *MAKING, *WRITING, "unlink", "unlinkat", "ftruncate"),
    "ENOSPC": (*MAKING, *WRITING, *FOLDERS, "ftruncate", "fallocate"),
    "EDQUOT": (*MAKING, *WRITING, *FOLDERS, "ftruncate", "fallocate"),
    "EROFS": (*MAKING, *FOLDERS, "unlink", "unlinkat"),
    "EACCES": (*OPENING, *MAKING, *FOLDERS, "unlink", "unlinkat"),
    "EINTR": ("read", "write", "writev", "pread64", "pwrite64", "flock", *OPENING),
}
PUSH_CODES = {"EIO": (66, 74), "ENOSPC": (74,), "EDQUOT": (74,), "EROFS": (73, 74, 77), "EACCES": (66, 73, 74, 77),
              "EINTR": ()}
PRUNE_CODES = PUSH_CODES | {"EIO": (74,), "EACCES": (73, 74, 77)}


@functools.cache
def traced(kind, bench):
    """Returns a scene and its calls, except calls that fail anyway."""
    scene = kind(bench)
    return scene, [call for call in scene.calls() if " = -1 E" not in call.text]


def meeting(calls, error):
    """Returns the calls that can meet the error; in the short form those that meet no earlier error, or one."""
    calls = [call for call in calls if call.name in ERRORS[error]]
    before = [name for other in list(ERRORS)[:list(ERRORS).index(error)] for name in ERRORS[other]]
    new = [call for call in calls if call.name not in before]
    return calls if IS_LONG else new or [call for call in calls if not call.meets_output][-1:]


def meets(kind, bench, error, judge):
    """Tries the error at the calls of the scene that can meet it, and judges each time."""
    scene, calls = traced(kind, bench)
    calls = meeting(calls, error)
    expect(calls, f"no call can meet {error}")

    def trial(_, call):
        return with_a_rig(scene, f"{error} at {call}", lambda rig: judge(scene, rig, call))

    report(sweep(thinned(calls, bench, f"{kind.__name__} {error}", is_needed), trial))


def is_needed(call):
    """Whether the call must be tried; in the long form, a part of the many calls that open and read is enough."""
    return not IS_LONG or changes(call) or call.name in SYNCS


def push_meets(error, bench):
    def judge(scene, rig, call):
        new, = scene.new
        ended = scene.run(rig, prefix(call, f"error={error}"))
        held = list(scene.held)
        if ended.code == 0:
            expect(ids(ended) == [new.id], f"answers 0 and prints {ended.out!r}")
            matters = call.name in SYNCS and call.is_before_output and not call.is_repeated_by_sqlite
            expect(not matters, "a sync failed and the push did not")
            words_for_people(ended, about="answers 0")
            held.append(new)
        elif call.meets_output:
            ended.must(74)
            expect(not ids(ended), f"fails and prints {ended.out!r}")
        else:
            refused(ended, *PUSH_CODES[error])
            # SQLite has no error for a quota, nor for a disk that is found to be full by a sync or by a file of shared
            # memory that grows. The tool then checks the free room, and here there is enough; see full_disks.
            is_vague = error == "EDQUOT" or call.name in (*SYNCS, "ftruncate") or SHARED_MEMORY.search(call.text)
            told = error not in FULL or "--reference" in ended.text
            expect(told or "queue.sqlite" in ended.text and is_vague, f"--reference is not named: {ended.text!r}")
        rows = rows_have_bytes(rig, "after the error")
        holds(rig, *held, rows=rows, about="after the error")
        strays = only_strays(rig)
        expect(not strays or error != "ENOSPC" or call.name in SYNCS, f"a full disk, and a stray is left: {strays}")
        rig.push(new)
        rows = clean(rig)
        holds(rig, *scene.held, new, rows=rows, about="after the push again")
        expect(len(rows) == 2, f"{len(rows)} captures instead of 2")
        gives(rig, new)

    meets(Push, bench, error, judge)


def prune_meets(error, bench):
    def judge(scene, rig, call):
        ended = scene.run(rig, prefix(call, f"error={error}"))
        names = {bundle.id for bundle in scene.going}
        expect(set(ids(ended)) <= names, f"prints {ended.out[:200]!r}")
        if ended.code:
            ended.must(*PRUNE_CODES[error], *((74,) if call.meets_output else ()))
            told = ended.text.startswith("capqueue: error: ") or call.meets_output
            expect(told, f"no message: {ended.text[:200]!r}")
        words_for_people(ended)
        # The checks after a killed prune matter here, too.
        ended.out = ended.out if ended.code == 0 else b""
        scene.judge(rig, ended, 0)

    meets(Prune, bench, error, judge)


TESTS = [(f"push: {error} at any call", functools.partial(push_meets, error)) for error in ERRORS]
TESTS += [(f"prune: {error} at any call", functools.partial(prune_meets, error)) for error in ERRORS]
