"""The result of one run of the tool, and checks of it."""
from outcomes import Failed, PATIENCE, Skipped, ending, expect  # noqa: F401  (every family needs these, from one place)


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
