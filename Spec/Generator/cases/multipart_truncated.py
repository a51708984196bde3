"""Upload bodies that end too early (U1), and ends after which no further bytes could make the body sound."""

from .base import Draft
from .bodies import ASSERTION, FIRST, MANIFEST, METADATA, SECOND, THIRD, Body, case
from .valid import withheld


def truncated_cases():
    yield from _opening()
    yield from _parts()
    yield from _no_prefix()


def _opening():
    whole = Body().bytes()
    for name, length, comment in (
            ("empty", 0, "an empty body"), ("dash", 1, "one dash"),
            ("prefix", 10, "an end inside the prefix of the boundary"),
            ("digits", 40, "an end inside the digits of the boundary"), ("cr", 58, "an end after the first CR"),
            ("line", 59, "the first line alone")):
        yield case("truncated_" + name, "U1", comment, whole[:length])


def _parts():
    body = Body(Draft())
    whole, at, line = body.bytes(), body.starts(), len(b"--" + body.boundary() + b"\r\n")
    wanted = (
        (METADATA, "metadata", "header header_line in_data cr mark after_mark after_cr"),
        (MANIFEST, "manifest", "in_header no_data in_data"),
        (ASSERTION, "assertion", "in_data crlf after_mark after_cr"),
        (FIRST, "depth", "header header_line header_cr no_data in_data data cr mark"),
        (THIRD, "photo", "in_header in_data data crlf mark after_mark after_cr"))
    for index, name, places in wanted:
        data, end = at[index] + line + len(body.parts[index][0]), at[index + 1]
        found = {
            "header": (at[index] + line, "before the header lines of"),
            "in_header": (data - 30, "inside the header lines of"),
            "header_line": (data - 4, "before the last two CRLF of the header of"),
            "header_cr": (data - 1, "inside the empty line before the data of"),
            "no_data": (data, "before the data of"),
            "in_data": (end - 9, "inside the data of"), "data": (end - 2, "after the data of"),
            "cr": (end - 1, "after the CR after"),
            "crlf": (end, "after the CRLF after"), "mark": (end + line - 3, "inside the boundary after"),
            "after_mark": (end + line - 2, "after the boundary after"),
            "after_cr": (end + line - 1, "after the first byte after the boundary after")}
        for place in places.split():
            length, where = found[place]
            yield case("truncated_%s_%s" % (name, place), "U1", "an end %s %s" % (where, name), whole[:length])
    yield case("truncated_no_crlf", "U1", "the last CRLF is missing", whole[:-2])
    yield case("truncated_last_lf", "U1", "the last LF is missing", whole[:-1])
    skipped = Body(withheld())
    start = skipped.starts()[FIRST] + line
    yield case("truncated_skipped", "U1", "an end inside the name of an entry that is not the next one",
               skipped.bytes()[:start + len(b'Content-Disposition: form-data; name="pho')])


def _no_prefix():
    body = Body()
    whole, at, line = body.bytes(), body.starts(), len(b"--" + body.boundary() + b"\r\n")
    name = len(b'Content-Disposition: form-data; name="')
    yield case("cut_opening", "U2", "an end inside the first line, which has a space", b"--capture-bundle ")
    yield case("cut_name", "U3", "an end inside the name of a part that could not stand there",
               whole[:at[FIRST] + line + name] + b"dep")
    yield case("cut_earlier", "U3", "an end inside the name of the part before",
               whole[:at[SECOND] + line + name] + b"metad")
    yield case("cut_dash", "U3", "an end after the dash after the boundary after the manifest",
               whole[:at[ASSERTION] + line - 2] + b"-")
    yield case("cut_no_closing", "U3", "CRLF instead of -- CRLF after the last boundary: no part is left to come",
               whole[:-4] + b"\r\n")
    yield case("cut_no_closing_cr", "U3", "CR instead of -- CRLF after the last boundary", whole[:-4] + b"\r")
    yield case("cut_size", "U6", "an end after the photo and a space", whole[:at[-1] - 2] + b" ")
    yield case("cut_size_dash", "U6", "an end after the photo and CRLF-capture", whole[:at[-1]] + b"-capture")
