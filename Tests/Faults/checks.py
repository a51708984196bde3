"""How a run of the tool ended, and what has to hold of it."""
from outcomes import Failed, PATIENCE, Skipped, ending, expect  # noqa: F401  (what every family needs, from one place)


def every(cases, judge):
    """`judge(name, case)` for each case; fails with what went wrong in any of them, so that one hides no other."""
    problems = []
    for name, case in cases.items():
        try:
            judge(name, case)
        except Failed as reason:
            problems.append(f"{name}: {reason}")
    if problems:
        raise Failed("; ".join(problems))


class Result:
    """How a run ended; `remarks` is what strace said of it."""

    def __init__(self, code, out, err, remarks=b""):
        self.code, self.out, self.err, self.remarks = code, out, err, remarks

    @property
    def text(self):
        return self.err.decode("utf-8", "replace")

    def must(self, *codes, about=""):
        """This result, if its exit code is one of `codes`."""
        expect(self.code in codes, f"{about}{': ' if about else ''}{ending(self.code)}, expected "
               f"{' or '.join(map(str, codes))}: {self.text.strip()[:300]!r}"
               + (f"; strace says {self.remarks[:300]!r}" if self.remarks else ""))
        return self

    def naming(self, name, about="a failure"):
        """This result, if its message names the file; a user cannot help himself otherwise."""
        expect(str(name) in self.text, f"{about}: the message does not name {name}: {self.text.strip()[:300]!r}")
        return self
