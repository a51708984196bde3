"""Faults at chosen system calls, made by strace: it kills the tool there, or makes the call fail.

strace kills at the entry of the Nth call of a name, before the kernel acts on it. So a sweep over all calls that touch
a file leaves the disk in every state that a crash of the process can leave.
"""
import functools
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

from Kit.outcomes import IS_LONG, Failed, Skipped
from Kit.tracing import again_if_not_injected, calls_in, require_strace, strace

CALLS = ("openat open write writev pwrite64 pwritev2 fsync fdatasync sync_file_range linkat link rename renameat "
         "renameat2 unlink unlinkat flock fcntl close read pread64 mkdir mkdirat ftruncate fallocate chmod fchmod "
         "fchmodat access faccessat faccessat2 exit_group").split()
MAKING = ("linkat", "link", "rename", "renameat", "renameat2")
WRITING = ("write", "writev", "pwrite64", "fsync", "fdatasync")
STATUS = ("?stat", "?lstat", "newfstatat", "?statx")  # a name is looked up by one of these, depending on the processor
KILLED = (-9, 137)


class Call:
    """One call of a traced run: the `number`th of its `name` in its thread."""

    def __init__(self, name, number, text, thread=""):
        self.name, self.number, self.text, self.thread = name, number, text, thread

    def __str__(self):
        return f"{self.name} number {self.number} [{self.text[:90]}]"


def trace(rig, *args, run=None, extra=(), names=CALLS, codes=(0,), **how):
    """Returns the calls of an undisturbed run in order, numbered for each thread as strace counts them.

    `run` replaces `rig.run` if the command needs more than arguments.
    """
    require_strace()
    log = rig.folder / "trace"
    # With the question mark strace ignores a call that this processor's Linux does not have.
    options = ("--seccomp-bpf", "-s", "256", "-e", "trace=" + ",".join("?" + name for name in names), *extra)
    (run or rig.run)(*args, prefix=strace(*options, log=log), **how).must(*codes, about="the undisturbed run")
    calls, counts, foreign = [], {}, {}
    for thread, name, text in calls_in(log):
        counts[thread, name] = counts.get((thread, name), 0) + 1
        if name.startswith("open") and "/openssl.cnf" in text:  # libcrypto's own file; it continues without
            foreign[thread] = text.rpartition("= ")[2]
        if thread not in foreign:
            calls.append(Call(name, counts[thread, name], text, thread))
        elif name == "close" and text.startswith(foreign[thread]):
            del foreign[thread]
    return calls


def since(calls, *words):
    """Returns the calls from the first one that names one of the words, each name and number once.

    strace acts on the first thread that reaches a number. So a call cannot be tested if a thread made as many such
    calls earlier, for example while the program was loaded.
    """
    first = next((place for place, call in enumerate(calls) if any(word in call.text for word in words)), None)
    if first is None:
        raise Failed(f"no call names {' or '.join(words)}, so there is nothing to inject into")
    seen, found = {(call.name, call.number) for call in calls[:first]}, []
    for call in calls[first:]:
        if (call.name, call.number) not in seen:
            seen.add((call.name, call.number))
            found.append(call)
    return found


def in_order(calls, *steps):
    """Fails unless the calls contain these steps in this order: (call, text that it names, what it does)."""
    place = 0
    for name, word, what in steps:
        place = next((index + 1 for index, call in enumerate(calls)
                      if index >= place and call.name.startswith(name) and word in call.text), None)
        if place is None:
            raise Failed(f"{what} is missing or in the wrong place")


def prefix(call, effect, extra=()):
    """Returns the prefix for the command line that causes `effect` at `call`."""
    # --seccomp-bpf is left out, because strace cannot deliver a signal at its stops, and the tool would survive.
    names = {call.name} | {word.split("=")[1].split(":")[0] for word in extra if word.startswith("inject=")}
    return strace("-e", "trace=" + ",".join(sorted(names)), *extra,
                  "-e", f"inject={call.name}:{effect}:when={call.number}")


def at_path(path, *names, error="EIO"):
    """Returns the prefix for the command line with which each call of these names about a path fails."""
    require_strace()
    calls = ",".join(names)
    return strace("-P", str(path), "-e", f"trace={calls}", "-e", f"inject={calls}:error={error}")


def preloaded(bench, name, source):
    """Returns the environment that loads a library into a program, made of this text in C."""
    compiler = shutil.which("cc") or shutil.which("clang")
    if not compiler:
        raise Skipped("this machine has no C compiler")
    library = bench.folder / f"{name}.so"
    if not library.exists():
        subprocess.run([compiler, "-shared", "-fPIC", "-x", "c", "-o", library, "-"], input=source.encode(), check=True)
    return {"LD_PRELOAD": str(library)}


def without_unnamed_files(calls):
    """Returns strace options that make `O_TMPFILE` look unusable, as on a file system without it."""
    probes = [call for call in calls if call.name.startswith(("access", "faccessat")) and "/proc/self/fd" in call.text]
    probe = next(iter(probes), None)
    if probe is None:
        raise Skipped("the tool does not ask for /proc/self/fd")
    return ("-e", f"inject={probe.name}:error=ENOENT:when={probe.number}+")


def representatives(items):
    """Returns one item of each kind; `make test-all` keeps all items. Items of one kind have the same name of a call,
    and the same other parts. The last one is returned, because it completes what the command has begun."""
    if IS_LONG:
        return list(items)
    kinds = {}
    for item in items:
        parts = item if isinstance(item, tuple) else (item,)
        kind = tuple(part.name if isinstance(part, Call) else part for part in parts if not isinstance(part, int))
        kinds[kind] = item
    return list(kinds.values())


def sweep(items, trial, at_a_time=4):
    """Runs `trial(item)` for some of the items, as `representatives` chooses them; returns their problems in order.
    Repeats trials without a fault."""
    items = representatives(items)
    with ThreadPoolExecutor(at_a_time) as pool:
        done = list(pool.map(functools.partial(again_if_not_injected, trial), items))
    problems = [problem for found, _ in done for problem in found or ()]
    missed = [reason for _, reason in done if reason]
    if missed and not problems:
        raise missed[0]
    return problems


def with_a_rig(scene, about, trial):
    """Runs `trial(rig)` on a new rig of the scene, and deletes it, since a sweep makes hundreds; returns the problems."""
    rig = scene.rig()
    try:
        trial(rig)
    except Failed as reason:
        return [f"{about}: {reason}"]
    finally:
        shutil.rmtree(rig.folder, ignore_errors=True)
    return []


def report(problems):
    """Fails with the first few problems."""
    if problems:
        more = f"; and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise Failed("; ".join(problems[:3]) + more)
