"""A system call fails at each place in turn: broken disk, full disk, quota, no permission, a signal.

The command must give the documented exit code and a message that names a file, leave no partial file, and use no
counter twice. It repeats a call that a signal interrupted.
"""
import functools

from checks import Failed, expect
from crash_pack import Scene
from injection import prefix, report, since, sweep, trace, without_unnamed_files
from records import counter_in

MAKING = ("linkat", "link", "rename", "renameat", "renameat2")
WRITING = ("write", "writev", "pwrite64", "fsync", "fdatasync")
# Each error, the calls that it can meet, and the right exit codes. If a broken disk prevents opening a key, this is
# "input unreadable" or "I/O": Spec/command-line.md allows both readings.
ERRORS = {
    "EIO": (("read", "openat", "flock", *MAKING, *WRITING), (66, 74)),
    "ENOSPC": ((*MAKING, *WRITING), (74,)),
    "EDQUOT": ((*MAKING, *WRITING), (74,)),
    "EROFS": (MAKING, (73,)),
    "EACCES": (MAKING, (73,)),
    "EINTR": (("read", "write", "writev", "flock", "openat"), (0,)),
}


def is_message(call):
    """Whether the call writes a message to standard error; if that fails, the work is still done."""
    return call.name == "write" and call.text.startswith("2,")


def targets(calls, error):
    return [call for call in calls if call.name in ERRORS[error][0] and not is_message(call)]


def judge_message(result, rig, error):
    expect(error == "EINTR" or str(rig.folder) in result.text or "standard output" in result.text,
           f"the message names no file: {result.text!r}")
    expect(len(result.text.splitlines()) <= 3, f"a storm of messages: {result.text[:300]!r}")


def pack_trial(scene, error, is_named_from, call):
    """Makes `call` of a pack fail with `error`; returns the broken promises as texts."""
    rig = scene.rig()
    target = rig.out / "x.bundle"
    old = target.read_bytes() if target.exists() else None
    result = scene.run(rig, prefix=prefix(call, f"error={error}", scene.extra))
    try:
        result.must(*ERRORS[error][1])
        judge_message(result, rig, error)
        counters = [counter_in((rig.out / "before.bundle").read_bytes())]
        data = target.read_bytes() if target.exists() else None
        if scene.piped:
            counters += [counter_in(data) or 0]
        elif data != old:
            # Once the bundle has its name, only the sync of the folder can fail; the bundle that stays must be whole.
            expect(result.code == 0 or call.order > is_named_from, "a failed pack changes the final file")
            rig.verify(target, about="the file under the final name")
            counters.append(counter_in(data))
        expect(not rig.strays(), f"leaves {rig.strays()}")
        rig.state("after the error")
        again = rig.bundle("again.bundle")
        rig.verify(again, about="the next bundle")
        expect(counter_in(again.read_bytes()) > max(counters), f"{counter_in(again.read_bytes())} after {counters}")
    except Failed as reason:
        return [f"{error} at {call}: {reason}"]
    return []


def pack_meets(error, words, bench):
    scene = Scene(bench, words)
    calls = scene.calls()
    for order, call in enumerate(calls):
        call.order = order
    naming = max((call.order for call in calls if call.name in MAKING and "x.bundle" in call.text), default=0)
    report(sweep(targets(calls, error), functools.partial(pack_trial, scene, error, naming)))


def files_meet(error, named, bench):
    """If a command that writes key or trust files fails, the old files stay unchanged, or the new ones are whole."""
    other = bench.rig(empty=True)
    other.run("key", "new").must(0, about="key new")
    for words, empty, start in ((["key", "new"], True, "device.key"),
                                (["key", "recover", "--counter", "9"], False, "device.key.lock"),
                                (["trust", "add", "other", other.key + ".pub"], False, "trusted_devices"),
                                (["trust", "revoke", "rig"], False, "trusted_devices")):
        rig = bench.rig(empty)
        calls = trace(rig, *words)
        extra = without_unnamed_files(calls) if named else ()
        if named:
            rig = bench.rig(empty)
            calls = trace(rig, *words, extra=extra)

        def trial(call, words=words, empty=empty, extra=extra):
            rig = bench.rig(empty)
            result = rig.run(*words, prefix=prefix(call, f"error={error}", extra))
            try:
                result.must(*ERRORS[error][1], *((78,) if "key.pub" in call.text else ()))
                judge_message(result, rig, error)
                expect(not rig.strays(), f"leaves {rig.strays()}")
                rig.run("trust", "list").must(0, about="trust list")
                if not empty or (rig.keys / "device.key").exists():
                    rig.state("after the error")
                    rig.bundle()
                else:
                    rig.run("key", "new").must(0, about="key new again")
            except Failed as reason:
                return [f"{' '.join(words[:2])}: {error} at {call}: {reason}"]
            return []

        calls = [call for call in targets(since(calls, start), error) if not call.text.startswith("1,")]
        report(sweep(calls, trial))


PLACES = {"pack": (), "pack --force": ("--force",), "pack to a pipe": ("pipe",), "pack without O_TMPFILE": ("named",)}
TESTS = [(f"{place}: {error} at any call", functools.partial(pack_meets, error, words))
         for place, words in PLACES.items() for error in ERRORS if "pipe" not in words or ERRORS[error][0] != MAKING]
TESTS += [(f"key and trust files: {error} at any call", functools.partial(files_meet, error, False))
          for error in ERRORS]
TESTS += [("key and trust files without O_TMPFILE: EIO at any call", functools.partial(files_meet, "EIO", True))]
