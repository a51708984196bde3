"""What a test uses to say what it found: expectations, the result of a program, and the ways a test can end."""
import os
import pathlib
import signal

PATIENCE = 120  # seconds until a test counts as hanging; on a busy machine a run can take many
ROOT = pathlib.Path(__file__).resolve().parents[2]
# Whether this is a run of `make test-all`, which plays long tests too. The Swift tests read the same variable.
IS_LONG = os.environ.get("CAPTURE_TESTS") == "all"


def ignore(*_):
    """Handles a signal that this process ignores. What it starts does not ignore it, as with SIG_IGN."""


def on_signals(handler):
    """Sets the handler for signals that end a run, except those that nohup or a shell's background job ignores."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not ignore:
            signal.signal(number, handler)


for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, ignore)


class Failed(Exception):
    """The tool did something that it must not do; the text says what."""


class Skipped(Exception):
    """The test cannot run here; the text says why."""


def long(test):
    """Marks a test that takes more than 3 seconds, or that waits: only `make test-all` plays it."""
    test.is_long = True
    return test


def expect(condition, detail):
    if not condition:
        raise Failed(detail)


def every(cases, judge):
    """Runs `judge(name, case)` for each case, and fails with the problems of all cases, so that none hides another."""
    problems = []
    for name, case in cases.items():
        try:
            judge(name, case)
        except Failed as reason:
            problems.append(f"{name}: {reason}")
    if problems:
        raise Failed("; ".join(problems))


def ending(code):
    """Describes how a process ended, from the code of `subprocess`: its exit code, or the signal that ended it."""
    if code >= 0:
        return f"exit {code}"
    known = {int(one): one.name for one in signal.Signals}
    return f"ended by signal {-code} ({known.get(-code, 'without a name')})"


class Result:
    """The result of a run; `remarks` is what strace printed about it."""

    def __init__(self, code, out, err, remarks=b""):
        self.code, self.out, self.err, self.remarks = code, out, err, remarks

    @property
    def text(self):
        return self.err.decode("utf-8", "replace")

    def must(self, *codes, about=""):
        """Returns this result if its exit code is one of `codes`, and fails otherwise."""
        expect(self.code in codes, f"{about}{': ' if about else ''}{ending(self.code)}, expected "
               f"{' or '.join(map(str, codes))}: {self.text.strip()[:300]!r}"
               + (f"; strace says {self.remarks[:300]!r}" if self.remarks else ""))
        return self

    def naming(self, name, about="a failure"):
        """Returns this result if its message names the file, which the user needs to know, and fails otherwise."""
        expect(str(name) in self.text, f"{about}: the message does not name {name}: {self.text.strip()[:300]!r}")
        return self
