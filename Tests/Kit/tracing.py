"""strace around the tool: its command line, and its remarks, which it writes to the tool's standard error."""
import functools
import re
import shutil
import subprocess

from Kit.outcomes import Skipped

TRIES = 5  # for a fault that strace fails to make
REMARK = re.compile(rb"^(?:[^\n:]*/)?strace: .*\n?", re.MULTILINE)


class NotInjected(Skipped):
    """strace did not make a fault that it was told to make, so the result of the run proves nothing."""


def strace(*options, log="/dev/null"):
    """Returns the prefix for a command line that traces it and its child processes."""
    return ["strace", "-f", "-o", log, *options]


@functools.cache
def require_strace():
    """Skips the test if strace is missing or may not trace."""
    if not shutil.which("strace"):
        raise Skipped("strace is not installed")
    probe = [*strace("--seccomp-bpf", "-e", "trace=exit_group"), "true"]
    done = subprocess.run(probe, capture_output=True, check=False)
    if done.returncode:
        raise Skipped(f"strace may not trace here: {done.stderr.decode('utf-8', 'replace').strip()}")


def calls_in(log):
    """Returns (thread, name, arguments and result) of each call in a trace, in the order in which calls began.

    If other threads make calls meanwhile, strace splits a call into two lines; here it is joined again.
    """
    found, begun = [], {}
    for line in log.read_text(errors="replace").splitlines():
        thread, _, rest = line.partition(" ")
        if call := re.match(r" *(\w+)\((.*)", rest):
            text = call[2].removesuffix(" <unfinished ...>")
            if text != call[2]:
                begun[thread] = len(found)
            found.append((thread, call[1], text))
        elif (end := re.match(r" *<\.\.\. \w+ resumed>(.*)", rest)) and thread in begun:
            place = begun.pop(thread)
            found[place] = (*found[place][:2], found[place][2] + end[1])
    return found


def separate(err):
    """Splits standard error into (the tool's output, strace's remarks), line by line."""
    return REMARK.sub(b"", err), b"".join(REMARK.findall(err))


def require_injected(remarks):
    """Raises NotInjected if strace remarks that it made no fault."""
    failed = re.search(rb"Failed to tamper.*", remarks)
    if failed:
        raise NotInjected(f"strace made no fault: {failed[0].decode('utf-8', 'replace')}")


def again_if_not_injected(trial, *arguments):
    """Returns (the result of `trial`, None) once strace has made its fault, or (None, the reason) if it never does."""
    for _ in range(TRIES):
        try:
            return trial(*arguments), None
        except NotInjected as why:
            reason = why
    return None, reason
