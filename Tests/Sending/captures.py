"""Captures of the same photo, and captures by reference."""
from Kit.queues import photo_of


def twins(bench):
    """Returns two captures of one photo."""
    number = next(bench.numbers)
    return [bench.packed(f"twin{number}-{day}", photo_of(number, 5000), captured_at=f"2026-03-{day}T10:00:00Z")
            for day in (14, 15)]


def referred(bench, name, bundle):
    """Writes a file of the test to which the queue of a new rig can refer."""
    rig = bench.rig()
    path = rig.folder / f"{name.replace(' ', '-')}.bundle"
    path.write_bytes(bundle.data)
    return rig, path
