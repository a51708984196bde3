"""Form parsers by other authors find in a body what the bundle contains, in order and byte for byte.

Python's `email` and `multipart` (defnull) share no code; Werkzeug is tested behind a server, in judge_server. Then come
the second implementation and the valid vectors.
"""
import email.parser
import email.policy
import functools
import io

import multipart

from Judges.bench import IS_LONG, SPEC, Bundle, expect
from Judges.bodies import Body, bodies

KINDS = ("minimal", "everything", "apple", "withheld")  # of the valid vectors in the short form


def same_parts(name, body, found):
    """Checks `found`: (name, filename, type, data) of each part, as a parser sees it."""
    wanted = body.parts()
    expect([part[:3] for part in found] == [part[:3] for part in wanted],
           f"{name}: other parts: {[part[:3] for part in found]}")
    for part, other in zip(wanted, found):
        expect(part[3] is None or part[3] == other[3], f"{name}: {part[0]} has other bytes than the bundle")
    body.check_metadata(found[0][3])


def by_email(body):
    head = body.headers.read_bytes() + b"MIME-Version: 1.0\n\n"
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body.data)
    expect(message.is_multipart() and not message.defects and message.preamble is None and not message.epilogue,
           f"{message.defects}, preamble {message.preamble!r}, epilogue {message.epilogue!r}")
    for part in message.iter_parts():
        disposition, kind = part["Content-Disposition"], part["Content-Type"]
        expect(disposition.content_disposition == "form-data" and not part.defects, f"{part.defects}")
        shown = ";".join([kind.content_type, *(f"{name}={value}" for name, value in kind.params.items())])
        yield disposition.params["name"], part.get_filename(), shown, part.get_payload(decode=True)


def by_defnull(body):
    parser = multipart.MultipartParser(io.BytesIO(body.data), body.boundary, len(body.data), strict=True,
                                       memory_limit=1 << 28, part_limit=5000)
    return [(part.name, part.filename, part.headers["Content-Type"], part.raw) for part in parser]


PARSERS = {"Python's email parser, without a defect,": by_email, "multipart (defnull), strict,": by_defnull}


def reads(parser, bench):
    for name, body in bodies(bench).items():
        same_parts(name, body, list(parser(body)))


def second_implementation(bench):
    for name, body in bodies(bench).items():
        theirs = bench.second("to_body.py", body.bundle.path, "-o", "-").out
        expect(theirs == body.data, f"{name}: to_body.py writes another body")
        options = ["--allow-withheld"] if "withheld" in name else []
        for run, *words in ((bench.capbundle, "from-body"), (bench.second, "from_body.py")):
            out = bench.folder / "again.bundle"
            out.unlink(missing_ok=True)
            run(*words, body.path, "-o", out, "--trust", bench.trust, *options)
            expect(out.read_bytes() == body.bundle.data, f"{name}: {words[0]} makes another bundle")


def vectors(bench):
    """Valid bundles of Spec/Vectors become a body and the same bundle again, even 4096 entries and Apple keys."""
    found = sorted((SPEC / "Vectors/valid").glob("valid_*"))
    if not IS_LONG:
        found = [next(vector for vector in found if kind in vector.name) for kind in KINDS]
    for vector in found:
        data = vector.read_bytes()
        bundle = Bundle(bench.write("vector.bundle", data[data.index(b"\n\n") + 2:]))
        body, out = Body(bench, bundle), bench.folder / "vector-again.bundle"
        verdict = bench.verify(bundle.path)
        expect(verdict in (0, 3, 4), f"{vector.name}: verify says {verdict}")
        bench.capbundle("from-body", body.path, "-o", out, "--force", "--quiet", code=verdict)
        expect(out.read_bytes() == bundle.data, f"{vector.name}: another bundle")
        same_parts(vector.name, body, by_defnull(body))


TESTS = [
    *((f"{name} finds the bundle's entries", functools.partial(reads, parser)) for name, parser in PARSERS.items()),
    ("to_body.py writes the same body, from-body and from_body.py the same bundle again", second_implementation),
    ("valid vectors: bundle, body and bundle again; multipart (defnull) finds their entries", vectors),
]
