"""Captures that are hard to tell apart, or refused, or in a file of the user's; and the order in which they came."""
import hashlib

from capture_api import Answer
from queues import photo_of


def twins(bench):
    """Two captures of one photo."""
    number = next(bench.numbers)
    return [bench.packed(f"twin{number}-{day}", photo_of(number, 5000), captured_at=f"2026-03-{day}T10:00:00Z")
            for day in (14, 15)]


def referred(bench, name, bundle):
    """A file of our own that a rig refers to."""
    rig = bench.rig()
    path = rig.folder / f"{name.replace(' ', '-')}.bundle"
    path.write_bytes(bundle.data)
    return rig, path


def arrivals(bench, api, bundles):
    """The places of the bundles whose bodies came, in the order of their arrival."""
    known = {hashlib.sha256(bench.body(bundle)).hexdigest(): place for place, bundle in enumerate(bundles)}
    return [known[request.digest] for request in api.seen() if request.digest]


def refuse(bench, api, bundle, answer=Answer(503)):
    api.poison[hashlib.sha256(bench.body(bundle)).hexdigest()] = answer
