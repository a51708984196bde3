"""Faults at chosen system calls, made by strace: it kills the tool there, or makes the call fail.

strace kills at the entry of the Nth call of a name, before the kernel acts on it. So a sweep over all calls that touch
a file leaves the disk in every state that a crash of the process can leave.
"""
import functools
from concurrent.futures import ThreadPoolExecutor

from checks import Failed, Skipped
from tracing import again_if_not_injected, calls_in, require_strace, strace

CALLS = ("openat open write writev pwrite64 pwritev2 fsync fdatasync sync_file_range linkat link rename renameat "
         "renameat2 unlink unlinkat flock fcntl close read pread64 mkdir mkdirat ftruncate fallocate chmod fchmod "
         "fchmodat access faccessat faccessat2 exit_group").split()
# With the question mark strace ignores a call that this processor's Linux does not have.
FILTER = "trace=" + ",".join("?" + name for name in CALLS)


class Call:
    """One call of a traced run: the `number`th of its `name`."""

    def __init__(self, name, number, text):
        self.name, self.number, self.text = name, number, text

    def __str__(self):
        return f"{self.name} number {self.number} [{self.text[:90]}]"


def trace(rig, *args, extra=(), **how):
    """Returns the calls of an undisturbed run, in order."""
    require_strace()
    log = rig.folder / "trace"
    result = rig.run(*args, prefix=strace("--seccomp-bpf", "-s", "256", "-e", FILTER, *extra, log=log), **how)
    if result.code:
        raise Failed(f"the undisturbed run ends with {result.code}: {result.text[:200]}")
    calls, counts, foreign = [], {}, None
    for _, name, text in calls_in(log):
        counts[name] = counts.get(name, 0) + 1
        if name.startswith("open") and "/openssl.cnf" in text:  # libcrypto's own file; it continues without
            foreign = text.rpartition("= ")[2]
        if foreign is None:
            calls.append(Call(name, counts[name], text))
        elif name == "close" and text.startswith(foreign):
            foreign = None
    return calls


def since(calls, word):
    """Returns the calls from the first one that names `word`."""
    first = next((index for index, call in enumerate(calls) if word in call.text), None)
    if first is None:
        raise Failed(f"no call names {word}, so there is nothing to inject into")
    return calls[first:]


def prefix(call, effect, extra=()):
    """Returns the prefix for the command line that causes `effect` at `call`."""
    # --seccomp-bpf is left out, because strace cannot deliver a signal at its stops, and the tool would survive.
    names = {call.name} | {word.split("=")[1].split(":")[0] for word in extra if word.startswith("inject=")}
    return strace("-e", "trace=" + ",".join(sorted(names)), *extra,
                  "-e", f"inject={call.name}:{effect}:when={call.number}")


def without_unnamed_files(calls):
    """Returns strace options that make `O_TMPFILE` look unusable, as on a file system without it."""
    probes = [call for call in calls if call.name.startswith(("access", "faccessat")) and "/proc/self/fd" in call.text]
    probe = next(iter(probes), None)
    if probe is None:
        raise Skipped("the tool does not ask for /proc/self/fd")
    return ("-e", f"inject={probe.name}:error=ENOENT:when={probe.number}+")


def sweep(items, trial, at_a_time=4):
    """Runs `trial(item)` for each item; returns their problems in order. Repeats trials without a fault."""
    with ThreadPoolExecutor(at_a_time) as pool:
        done = list(pool.map(functools.partial(again_if_not_injected, trial), items))
    problems = [problem for found, _ in done for problem in found or ()]
    missed = [reason for _, reason in done if reason]
    if missed and not problems:
        raise missed[0]
    return problems


def report(problems):
    """Fails with the first few problems."""
    if problems:
        more = f"; and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise Failed("; ".join(problems[:3]) + more)
