"""What fails a bench: what was not measured, and memory above its limit, but no time."""
from Bench.results import Row
from Kit.outcomes import expect


def failures(_):
    rows = {"a ratio of times": (Row("", 2, 1, 1, spread=(1, 3)), False), "seconds": (Row("", 2, 1, 1, "s"), False),
            "memory": (Row("", 2, 1, 1, "MiB"), True), "a ratio of memory": (Row("", 2, 1, 1), True),
            "memory below its limit": (Row("", 1, 2, 1, "MiB"), False), "not measured": (Row("", None), True),
            "without a limit": (Row("", 2), False)}
    for name, (row, fails) in rows.items():
        expect(row.failed == fails, f"{name}: {row.failed}, {row.verdict()}")


TESTS = [("what fails a bench", failures)]
