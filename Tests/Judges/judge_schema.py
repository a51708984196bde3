"""jsonschema: the output of --json matches its published schema, whatever the verdict."""
import json
import shutil

import jsonschema
import numpy as np
from PIL import Image

from Judges.bench import SAMPLE, SPEC, expect


def validator(name):
    schema = json.loads((SPEC / f"{name}.schema.json").read_text())
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def documents(output):
    """Returns the JSON values of an output: one, or one for each line."""
    try:
        return [json.loads(output)]
    except ValueError:
        return [json.loads(line) for line in output.splitlines()]


def validate(schema, output, what):
    """Returns the JSON values of an output, after a check that each matches the schema."""
    try:
        found = documents(output)
    except ValueError:
        expect(False, f"{what}: not JSON")
    expect(found, f"{what}: no JSON at all")
    for document in found:
        for error in schema.iter_errors(document):
            expect(False, f"{what}: {error.json_path}: {error.validator} of the schema is broken")
    return found


def verify_reports(bench):
    schema = validator("verify-report")
    bundle, end = bench.pack(), len(bench.pack().data) - 1024
    files = {
        "good": (bundle.data, 0, ()), "tampered": (bundle.spoilt("photo.jpg", 999), 1, ()),
        "two faults": (bundle.spoilt("photo.jpg", 999)[:end] + b"x" * 1024, 2, ()),
        # This is the second last byte of the counter; a counter of 0 would be malformed.
        "signature": (bundle.spoilt("assertion.cbor", -2), 1, ()), "empty": (b"", 2, ()),
        "no bundle": (b"GIF89a" * 300, 2, ()), "truncated": (bundle.data[:3000], 2, ()),
        "manifest": (bundle.spoilt("manifest.json", 0), 2, ()), "trailing": (bundle.data + b"x", 2, ()),
        "unknown": (bundle.data, 3, ("--trust", bench.no_trust)),
        "withheld": (bundle.without("location.json"), 4, ()),
        "allowed": (bundle.without("location.json"), 0, ("--allow-withheld",)),
        "no depth": (bench.pack("no-depth", SAMPLE, "--no-depth").data, 0, ()),
    }
    paths = []
    for name, (data, code, options) in files.items():
        paths.append(bench.write(f"report {name}.bundle", data))
        validate(schema, bench.capbundle("verify", "--json", paths[-1], *options, code=code).out, name)
    validate(schema, bench.capbundle("verify", "--json", *paths, code=2).out, "all at once")


def pack_reports(bench):
    schema, folder = validator("pack-report"), bench.scratch("json-many")
    validate(schema, bench.capbundle("pack", SAMPLE, "-o", folder / "plain", "--json").out, "pack --json")
    result = bench.capbundle("pack", SAMPLE, "-o", folder / "a", "--multipart", folder / "body", "--headers",
                             folder / "headers", "--json")
    told, = validate(schema, result.out, "pack --multipart --json")
    expect("body" in told, "pack --multipart --json does not tell of the body")
    result = bench.capbundle("pack", SAMPLE, folder / "none", "--out-dir", folder / "out", "--json", code=66)
    told = validate(schema, result.out, "pack --out-dir --json")
    expect(len(told) == 2, "pack --out-dir --json: not a line a capture")
    # Codes may be added (Spec/stability.md), so the schema has no list of them.
    raw = folder / "millimetres"
    shutil.copytree(SAMPLE, raw)
    (raw / "depth.f32").unlink()
    Image.fromarray(np.full((192, 256), 1500, np.uint16)).save(raw / "depth.png")
    told, = validate(schema, bench.capbundle("pack", raw, "-o", folder / "unit", "--chain", "--json").out, "pack of depth.png")
    expect("raw.unit" in [remark["code"] for remark in told["remarks"]], "pack of depth.png says nothing about its unit")


def from_body_reports(bench):
    schema, folder = validator("verify-report"), bench.scratch("json-body")
    body = folder / "body"
    bench.capbundle("multipart", bench.pack().path, "-o", body)
    data = body.read_bytes()
    cases = {"sound": (data, 0), "cut": (data[:900], 2), "no body": (b"x", 2),
             "altered": (data[:-200] + b"?" + data[-199:], 1)}
    for name, (given, code) in cases.items():
        body.write_bytes(given)
        result = bench.capbundle("from-body", body, "-o", folder / "made", "--json", "--force", code=code)
        report, = validate(schema, result.out, f"from-body --json of {name}")
        expect(report["report"] == "capture-bundle/from-body/1", f"{name}: the report calls itself something else")
        expect(("output" in report) == (code == 0), f"{name}: the report of the output is wrong")
    result = bench.capbundle("from-body", folder / "none", "-o", folder / "x", "--json", code=66)
    validate(schema, result.out, "from-body --json of nothing")


TESTS = [
    ("jsonschema: verify --json matches verify-report.schema.json for every verdict", verify_reports),
    ("jsonschema: pack --json matches pack-report.schema.json, with a body, and for many captures", pack_reports),
    ("jsonschema: from-body --json matches verify-report.schema.json for every verdict", from_body_reports),
]
