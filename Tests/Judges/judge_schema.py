"""jsonschema: the output of --json matches its published schema, whatever the verdict.

SCHEMAS names the schema of each output; the judge of a missing schema is skipped.
"""
import json

import jsonschema

from bench import SAMPLE, SPEC, Skipped, expect

SCHEMAS = {"verify": SPEC / "verify-report.schema.json", "pack": SPEC / "pack-report.schema.json"}


def validator(path):
    if not path.exists():
        raise Skipped(f"{path.relative_to(SPEC.parent)} is not here")
    schema = json.loads(path.read_text())
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def documents(output):
    """Returns the JSON values of an output: one, or one for each line."""
    try:
        return [json.loads(output)]
    except ValueError:
        return [json.loads(line) for line in output.splitlines()]


def _validate(schema, output, what):
    try:
        found = documents(output)
    except ValueError:
        expect(False, f"{what}: not JSON")
    expect(found, f"{what}: no JSON at all")
    for document in found:
        for error in schema.iter_errors(document):
            expect(False, f"{what}: {error.json_path}: {error.validator} of the schema is broken")


def verify_reports(bench):
    schema = validator(SCHEMAS["verify"])
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
        path = bench.write(f"report {name}.bundle", data)
        result = bench.capbundle("verify", "--json", path, *options, expected=None)
        expect(result.returncode == code, f"{name}: exit {result.returncode}, not {code}")
        _validate(schema, result.stdout, name)
        paths.append(path)
    result = bench.capbundle("verify", "--json", *paths, expected=None)
    _validate(schema, result.stdout, "all at once")
    expect(result.returncode == 2, f"all at once: exit {result.returncode}, not 2")


def pack_report(bench):
    schema = validator(SCHEMAS["pack"])
    result = bench.capbundle("pack", SAMPLE, "-o", bench.folder / "json.bundle", "--json", "--force")
    _validate(schema, result.stdout, "pack --json")


def pack_reports_with_body_and_of_many(bench):
    schema, folder = validator(SCHEMAS["pack"]), bench.scratch("json-many")
    result = bench.capbundle("pack", SAMPLE, "-o", folder / "a", "--multipart", folder / "body", "--headers",
                             folder / "headers", "--json")
    expect("body" in json.loads(result.stdout), "pack --multipart --json does not tell of the body")
    _validate(schema, result.stdout, "pack --multipart --json")
    result = bench.capbundle("pack", SAMPLE, folder / "none", "--out-dir", folder / "out", "--json", expected=(66,))
    expect(len(documents(result.stdout)) == 2, "pack --out-dir --json: not a line a capture")
    _validate(schema, result.stdout, "pack --out-dir --json")


def from_body_reports(bench):
    schema, folder = validator(SCHEMAS["verify"]), bench.scratch("json-body")
    body = folder / "body"
    bench.capbundle("multipart", bench.pack().path, "-o", body)
    data = body.read_bytes()
    cases = {"sound": (data, 0), "cut": (data[:900], 2), "altered": (data[:-200] + b"?" + data[-199:], 1), "no body": (b"x", 2)}
    for name, (bytes_, code) in cases.items():
        body.write_bytes(bytes_)
        result = bench.capbundle("from-body", body, "-o", folder / "made", "--json", "--force", expected=(code,))
        report = json.loads(result.stdout)
        expect(report["report"] == "capture-bundle/from-body/1", f"{name}: the report calls itself something else")
        expect(("output" in report) == (code == 0), f"{name}: the report of the output is wrong")
        _validate(schema, result.stdout, f"from-body --json of {name}")
    result = bench.capbundle("from-body", folder / "none", "-o", folder / "x", "--json", expected=(66,))
    _validate(schema, result.stdout, "from-body --json of nothing")


def schemas_are_schemas(bench):
    found = sorted(SPEC.glob("*.schema.json"))
    if not found:
        raise Skipped("Spec/*.schema.json is missing")
    for path in found:
        try:
            validator(path)
        except jsonschema.SchemaError as error:
            expect(False, f"{path.name}: {error.message[:200]}")


JUDGES = [
    ("jsonschema: every Spec/*.schema.json is a schema", schemas_are_schemas),
    ("jsonschema: verify --json matches verify-report.schema.json for every verdict", verify_reports),
    ("jsonschema: pack --json matches pack-report.schema.json", pack_report),
    ("jsonschema: pack --json also matches it with a body, and for many captures", pack_reports_with_body_and_of_many),
    ("jsonschema: from-body --json matches verify-report.schema.json for every verdict", from_body_reports),
]
