"""Form parsers by other authors find in a body what the bundle contains, in order and byte for byte.

Python's `email`, `multipart` (defnull), `python-multipart` (Kludex) and `streaming-form-data` share no code; Werkzeug
is tested behind a server, in judge_server. Then come the second implementation, all valid vectors, and captures of real
devices.
"""
import email.parser
import email.policy
import io
import json
import sys

import multipart
from python_multipart import FormParser
from streaming_form_data import StreamingFormDataParser
from streaming_form_data.targets import ValueTarget

from bench import SAMPLE, SPEC, Bundle, Skipped, expect
from bodies import Body, bodies
from judge_captures import captures, packed


def _same(name, body, found):
    """Checks `found`: (name, filename, type, data) of each part, as a parser sees it."""
    wanted = body.parts()
    expect([part[:3] for part in found] == [part[:3] for part in wanted],
           f"{name}: other parts: {[part[:3] for part in found]}")
    for part, other in zip(wanted, found):
        expect(part[3] is None or part[3] == other[3], f"{name}: {part[0]} has other bytes than the bundle")
    body.check_metadata(found[0][3])


def by_email(bench):
    for name, body in bodies(bench).items():
        head = body.headers.read_bytes() + b"MIME-Version: 1.0\n\n"
        message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body.data)
        expect(message.is_multipart() and not message.defects and message.preamble is None and not message.epilogue,
               f"{name}: {message.defects}, preamble {message.preamble!r}, epilogue {message.epilogue!r}")
        found = []
        for part in message.iter_parts():
            disposition, kind = part["Content-Disposition"], part["Content-Type"]
            expect(disposition.content_disposition == "form-data" and not part.defects, f"{name}: {part.defects}")
            shown = ";".join([kind.content_type, *(f"{name}={value}" for name, value in kind.params.items())])
            found.append((disposition.params["name"], part.get_filename(), shown, part.get_payload(decode=True)))
        _same(name, body, found)


def _parts_by_defnull(body):
    parser = multipart.MultipartParser(io.BytesIO(body.data), body.boundary, len(body.data), strict=True,
                                       memory_limit=1 << 28, part_limit=5000)
    return [(part.name, part.filename, part.headers["Content-Type"], part.raw) for part in parser]


def by_defnull(bench):
    for name, body in bodies(bench).items():
        _same(name, body, _parts_by_defnull(body))


def by_kludex(bench):
    for name, body in bodies(bench).items():
        found = []

        def on_field(field, found=found):
            found.append((field.field_name.decode(), None, field.content_type, field.value))

        def on_file(file, found=found):
            file.file_object.seek(0)
            data = file.file_object.read()
            found.append((file.field_name.decode(), file.file_name.decode(), file.content_type, data))

        parser = FormParser("multipart/form-data", on_field, on_file, boundary=body.boundary.encode(),
                            config={"MAX_MEMORY_FILE_SIZE": 1 << 26})
        for start in range(0, len(body.data), 4093):
            parser.write(body.data[start:start + 4093])
        parser.finalize()
        _same(name, body, [(part[0], part[1], _text(part[2]), part[3]) for part in found])


def _text(value):
    return value.decode() if isinstance(value, bytes) else value


def by_streaming(bench):
    for name, body in bodies(bench).items():
        parser = StreamingFormDataParser({"Content-Type": body.content_type}, strict=True)
        targets = {part[0]: ValueTarget() for part in body.parts()}
        for part, target in targets.items():
            parser.register(part, target)
        for start in range(0, len(body.data), 1021):
            parser.data_received(body.data[start:start + 1021])
        found = []
        for part, _, kind, _ in body.parts():
            target = targets[part]
            # This parser reports the type without its parameters.
            expect(target.multipart_content_type == kind.partition(";")[0], f"{name}: {part} has another type")
            found.append((part, target.multipart_filename, kind, target.value))
        _same(name, body, found)


def told(bench):
    """--json and --headers describe the body correctly, and pipes give the same body."""
    for name, body in bodies(bench).items():
        words = ["multipart", body.bundle.path, "-o", bench.folder / "told", "--force", "--json"]
        report = json.loads(bench.capbundle(*words).stdout)
        expect(report["bytes"] == len(body.data) and report["content_type"] == body.content_type, f"{name}: {report}")
        piped = bench.capbundle("multipart", "-", "-o", "-", input=body.bundle.data)
        expect(piped.stdout == body.data, f"{name}: another body through pipes")


def _second(name):
    program = SPEC / "Generator" / name
    if not program.exists():
        raise Skipped(f"Spec/Generator/{name} is not here")
    return [sys.executable, "-B", program]


def second_writer(bench):
    for name, body in bodies(bench).items():
        theirs = bench.run(*_second("to_body.py"), body.bundle.path, "-o", "-").stdout
        expect(theirs == body.data, f"{name}: to_body.py writes another body")


def second_reader(bench):
    for name, body in bodies(bench).items():
        options = ["--allow-withheld"] if "withheld" in name else []
        for program in ([bench.binary, "from-body"], _second("from_body.py")):
            out = bench.folder / "again.bundle"
            out.unlink(missing_ok=True)
            bench.run(*program, body.path, "-o", out, "--trust", bench.trust, *options)
            expect(out.read_bytes() == body.bundle.data, f"{name}: {program[-1]} makes another bundle")


def vectors(bench):
    """Every valid bundle of Spec/Vectors becomes a body and the same bundle again, even 4096 entries and Apple keys."""
    found = sorted((SPEC / "Vectors/valid").glob("valid_*"))
    if not found:
        raise Skipped("Spec/Vectors/valid is not here")
    for vector in found:
        data = vector.read_bytes()
        bundle = Bundle(bench.write("vector.bundle", data[data.index(b"\n\n") + 2:]))
        body, out = Body(bench, bundle), bench.folder / "vector-again.bundle"
        verdict = bench.verify(bundle.path)
        code = bench.capbundle("from-body", body.path, "-o", out, "--force", "--quiet", expected=None).returncode
        expect(code == verdict and code in (0, 3, 4), f"{vector.name}: from-body {code}, verify {verdict}")
        expect(out.read_bytes() == bundle.data, f"{vector.name}: another bundle")
        _same(vector.name, body, _parts_by_defnull(body))


def real_round_trips(bench):
    for raw in captures(bench):
        bundle = packed(bench, raw)
        body, out = Body(bench, bundle), bench.folder / "real-again.bundle"
        code = bench.capbundle("from-body", body.path, "-o", out, "--force", "--quiet", expected=None).returncode
        expect(code == 0 and out.read_bytes() == bundle.data, f"{raw.name}: exit {code}, or another bundle")
        theirs = bench.run(*_second("to_body.py"), bundle.path, "-o", "-", expected=None)
        expect(theirs.stdout == body.data, f"{raw.name}: to_body.py writes another body (exit {theirs.returncode})")
        _same(raw.name, body, _parts_by_defnull(body))


def real_pack_writes_both(bench):
    """`pack --multipart` and `multipart` make the same body."""
    for raw in [SAMPLE, *captures(bench)]:
        bundle, body, headers = (bench.folder / f"both.{kind}" for kind in ("bundle", "upload", "line"))
        words = ["pack", raw, "-o", bundle, "--multipart", body, "--headers", headers, "--force"]
        code = bench.capbundle(*words, expected=None).returncode
        expect(code == 0, f"{raw.name}: pack --multipart: exit {code}")
        later = Body(bench, Bundle(bundle))
        expect(body.read_bytes() == later.data, f"{raw.name}: pack --multipart writes another body")
        expect(headers.read_bytes() == later.headers.read_bytes(), f"{raw.name}: pack --headers writes another line")


def real_extracts(bench):
    for raw in captures(bench):
        bundle, out = packed(bench, raw), bench.scratch("real-out")
        code = bench.capbundle("extract", bundle.path, "--floats", "-o", out, expected=None).returncode
        expect(code == 0, f"{raw.name}: extract: exit {code}")
        for name in ("photo.jpg", "depth.f32"):
            expect((out / name).read_bytes() == (raw / name).read_bytes(), f"{raw.name}: {name} is another")


JUDGES = [
    ("Python's email parser finds the bundle's entries, without a defect", by_email),
    ("multipart (defnull), strict, finds the bundle's entries", by_defnull),
    ("python-multipart finds the bundle's entries", by_kludex),
    ("streaming-form-data, strict, finds the bundle's entries", by_streaming),
    ("multipart --json, --headers and pipes agree on the body", told),
    ("to_body.py writes the same body", second_writer),
    ("from-body and from_body.py make the same bundle again", second_reader),
    ("every valid vector: bundle, body and bundle again; multipart (defnull) finds its entries", vectors),
    ("real captures: bundle, body and bundle again, byte for byte; to_body.py too", real_round_trips),
    ("real captures: pack --multipart writes the body of multipart", real_pack_writes_both),
    ("real captures: extract --floats returns photo and floats unchanged", real_extracts),
]
