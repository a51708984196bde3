"""The boundary of an upload body: how the body begins (U2), and which boundary it must have (U9)."""

from bundle import signing, upload

from .base import PHONE_TRUST, Draft, apple_draft
from .bodies import ANY_MARK, MANIFEST, Body, case


def occupied(numbers):
    """Returns a bundle whose assertion contains the boundaries of these n, which only an Apple key's signer can do."""
    manifest = apple_draft(with_depth=False).sealed_manifest()
    text = b" ".join(upload.boundary(manifest, n) for n in numbers)
    extension = b"\xa1" + signing.text_string("apple_bundle_version_01") + signing.text_string(text.decode())
    return apple_draft(extension, with_depth=False)


def boundary_cases():
    yield from _beginning()
    yield from _judged()


def _beginning():
    whole = Body().bytes()
    mark = Body().boundary()
    line = b"--" + mark + b"\r\n"

    def one(name, comment, start):
        return case("opening_" + name, "U2", comment, start + whole[len(line):])

    def everywhere(name, comment, other):
        return case("opening_" + name, "U2", comment, whole.replace(mark, other))

    yield one("crlf", "an empty line before the first boundary", b"\r\n" + line)
    yield one("preamble", "a preamble", b"This is a multipart message.\r\n" + line)
    yield one("bom", "a byte order mark", b"\xef\xbb\xbf" + line)
    yield one("padding", "a space after the first boundary", line[:-2] + b" \r\n")
    yield one("lf", "LF after the first boundary", line[:-2] + b"\n")
    yield one("dash", "one dash", line[1:])
    yield case("opening_closing", "U2", "the closing delimiter and nothing else", b"--" + mark + b"--\r\n")
    yield case("opening_bundle", "U2", "the bundle itself", Draft(with_depth=False).bytes())
    yield case("opening_lf_all", "U2", "LF instead of CRLF everywhere", whole.replace(b"\r\n", b"\n"))
    yield everywhere("upper_hex", "the digits in upper case", upload.PREFIX + mark[len(upload.PREFIX):].upper())
    yield everywhere("upper_prefix", "Capture-Bundle-", mark.replace(b"capture-bundle", b"Capture-Bundle"))
    yield everywhere("prefix", "another prefix", mark.replace(b"capture-bundle-", b"----formboundary"))
    yield everywhere("digits_39", "39 digits", mark[:-1])
    yield everywhere("digits_41", "41 digits", mark + b"0")
    yield everywhere("letter", "a letter that is no hex digit", mark[:-1] + b"g")


def _judged():
    other = upload.boundary(Draft().sealed_manifest(), 0)
    yield case("boundary_other", "U9", "the boundary of another manifest", Body().marked(other))
    yield case("boundary_any", "U9", "a boundary of no manifest", Body().marked(ANY_MARK))
    yield case("boundary_1_free", "U9", "the boundary of n = 1 where that of n = 0 is free", Body().marked(1))
    yield case("boundary_16", "U9", "the boundary of n = 16", Body().marked(16))
    yield case("boundary_00", "U9", "n written as 00", Body().marked(
        upload.boundary(Draft(with_depth=False).sealed_manifest() + b"0", 0)))
    yield case("boundary_no_n", "U9", "the hash of the manifest alone", Body().marked(
        upload.PREFIX + upload.hashlib.sha256(Draft(with_depth=False).sealed_manifest()).hexdigest()[:40].encode()))
    phone = {"trust": PHONE_TRUST}
    yield case("boundary_2_free", "U9", "the boundary of n = 2 where that of n = 1 is free and that of n = 0 is not",
               Body(occupied(range(1))).marked(2), **phone)
    yield case("boundary_0_taken", "U5", "the boundary of n = 0, which stands in the assertion",
               Body(occupied(range(1))).marked(0), **phone)
    full = Body(occupied(range(16)))
    yield case("boundary_none_free", "U5", "all 16 boundaries stand in the assertion, and that of n = 15 is used",
               full.marked(15), **phone)
    yield case("boundary_none_free_16", "U9", "all 16 boundaries stand in the assertion, and that of n = 16 is used",
               full.marked(16), **phone)
    if full.parts[MANIFEST][1] != Body(occupied(range(1))).parts[MANIFEST][1]:
        raise ValueError("the boundaries would be of another manifest")
