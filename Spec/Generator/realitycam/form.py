"""Parses and builds an upload body by the rules of RFC 7578 and of the server's parser."""
import dataclasses
import re

CRLF = b"\r\n"
NAMED = re.compile(rb'Content-Disposition: form-data; name="([a-z0-9_]+)"(?:; filename="([A-Za-z0-9._-]+)")?')


class Broken(Exception):
    """The bytes are not a valid form."""


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of a form: its name, its header as sent, and its data."""

    name: str
    head: bytes
    data: bytes


def boundary_of(body):
    """Returns the boundary that the first line of the body names."""
    line, found, _ = body.partition(CRLF)
    if not found or not line.startswith(b"--") or not 1 <= len(line) - 2 <= 70:
        raise Broken("the body does not begin with a boundary line that ends with CRLF")
    return line[2:]


def parts_of(body):
    """Returns the parts in their order. Every delimiter counts, wherever it occurs."""
    boundary = boundary_of(body)
    first, *middle, last = (CRLF + body).split(CRLF + b"--" + boundary)
    if first != b"" or last != b"--" + CRLF:
        raise Broken("the body does not end with the closing delimiter and CRLF")
    return [_part(piece) for piece in middle]


def _part(piece):
    if not piece.startswith(CRLF):
        raise Broken("the boundary occurs where no part begins")
    head, found, data = piece[2:].partition(CRLF + CRLF)
    if not found or b"\n" in head.replace(CRLF, b"") or b"\r" in head.replace(CRLF, b""):
        raise Broken("the header of a part does not consist of lines that end with CRLF")
    named = [NAMED.fullmatch(line) for line in head.split(CRLF) if line.lower().startswith(b"content-disposition")]
    if len(named) != 1 or not named[0]:
        raise Broken("a part has no quoted name")
    return Part(named[0][1].decode(), head, data)


def body_of(boundary, parts):
    """Builds a body. It depends only on the boundary and the parts."""
    pieces = [b"--" + boundary + CRLF + part.head + CRLF + CRLF + part.data + CRLF for part in parts]
    return b"".join(pieces) + b"--" + boundary + b"--" + CRLF
