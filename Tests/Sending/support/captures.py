"""Captures of the same photo, captures that the server refuses, captures by reference; and the order of uploads."""
import hashlib

from capture_api import Answer
from queues import photo_of


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


def arrivals(bench, api, bundles):
    """Returns the indexes of the bundles whose bodies were uploaded, in the order of their arrival."""
    known = {hashlib.sha256(bench.body(bundle)).hexdigest(): place for place, bundle in enumerate(bundles)}
    return [known[request.digest] for request in api.seen() if request.digest]


def refuse(bench, api, bundle, answer=Answer(503)):
    api.poison[hashlib.sha256(bench.body(bundle)).hexdigest()] = answer
