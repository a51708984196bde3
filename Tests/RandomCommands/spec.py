"""Reads tables from the Spec pages for the model, so that this test and the pages cannot differ."""
import pathlib
import re

SPEC = pathlib.Path(__file__).resolve().parents[2] / "Spec"


class Machine:
    """The table of Spec/queue.md section 5: state and event give a state, or None if the cell is empty."""

    def __init__(self, page):
        lines = page.split("<!-- states -->")[1].split("<!-- end of states -->")[0].strip().splitlines()
        rows = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]
        self.events = rows[0][1:]
        self._cells = {(row[0], event): cell or None for row in rows[2:] for event, cell in zip(self.events, row[1:])}
        self.states = [row[0] for row in rows[2:]]
        words = page.split("The **overall state** of a capture is the first")[1].split(".")[0]
        self.order = re.findall(r"`(\w+)`", words)
        if sorted(self.order) != sorted(self.states):
            raise ValueError("the overall states are not the states of the table")

    def after(self, state, event):
        return self._cells[state, event]

    def overall(self, states):
        return next(state for state in self.order if state in states)


class ExitCodes:
    """Picks the worst of several exit codes, in the order of Spec/capqueue.md section 1."""

    def __init__(self, page):
        line = page.split("Of several the worst wins:")[1].split(".")[0]
        self._order = [int(number) for number in re.findall(r"\d+", line)]

    def worst(self, codes):
        return next((code for code in self._order if code in codes), 0)


MACHINE = Machine((SPEC / "queue.md").read_text(encoding="utf-8"))
EXIT_CODES = ExitCodes((SPEC / "capqueue.md").read_text(encoding="utf-8"))
