"""All vectors that are bundles, through the API of the package: from a stream that has only read()."""
import argparse
import gzip
import io

import capbundle
import vector
from Kit.outcomes import every, expect

from Python.suite import entries_of

OTHER_PARTS = ("multipart", "request", "chain", "state")  # they are not bundles, or need a state folder


class OnlyRead:
    """A stream like a pipe: it cannot seek, and may return less than what is asked for."""

    def __init__(self, data):
        self._inner = io.BytesIO(data)

    def read(self, count=-1):
        return self._inner.read(min(count, 700) if count > 0 else count)


def options_of(one):
    parser = argparse.ArgumentParser()
    parser.add_argument("--allow-withheld", action="store_true")
    parser.add_argument("--require", action="append", default=[])
    found = parser.parse_args(one.arguments)
    return {"allow_withheld": found.allow_withheld, "require": [role for roles in found.require for role in roles.split(",")],
            "trust": one.trust_file}


def judge(_, one):
    try:
        bundle = capbundle.open(OnlyRead(one.data), **options_of(one))
    except capbundle.BundleError as error:
        expect((78, [error.code]) == (one.exit_code, one.codes), f"raises {error}")
        return
    found = bundle.verdict.exit_code, sorted({fault.code for fault in bundle.faults})
    expect(found == (one.exit_code, one.codes), f"finds {found}, expected {one.exit_code} {one.codes}")
    if one.exit_code in (1, 2):
        expect(code_of(lambda: bundle.photo) in one.codes, "gives out the photo")
        code_of(lambda: contents_of(capbundle.open(OnlyRead(one.data), verify=False)))  # raises only BundleError
        return
    entries = entries_of(one.data)
    expected = [entries.get(path) for path in ("photo.jpg", "confidence.png", "depth.f32.gz")]
    expected[2] = expected[2] and gzip.decompress(expected[2])
    for opened in (bundle, capbundle.open(OnlyRead(one.data), verify=False)):
        expect(contents_of(opened) == expected, f"{opened}: other contents")
        expect((opened.location is None) == ("location.json" not in entries) and "captured_at" in opened.metadata,
               f"{opened}: other members")
        expect(opened.id in one.data.decode("latin-1"), f"{opened}: another id")


def contents_of(bundle):
    depth = bundle.depth
    return [bundle.photo, bundle.confidence, None if depth is None else depth.tobytes()]


def code_of(function):
    """Returns the code of the BundleError that a function raises, or None."""
    try:
        function()
    except capbundle.BundleError as error:
        return error.code
    return None


def all_vectors(_):
    vectors, problems = vector.load()
    chosen = {one.name: one for one in vectors if one.part not in OTHER_PARTS}
    expect(len(chosen) > 1300 and not problems, f"{len(chosen)} vectors, {problems}")
    every(chosen, judge)


TESTS = [("all vectors", all_vectors)]
