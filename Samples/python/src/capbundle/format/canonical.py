"""Canonical JSON: a strict reader and a writer for the manifest form (section 4) and the metadata form (section 6).

The reader accepts exactly the canonical bytes: it knows no white space and no alternative escapes, so nothing must be
encoded again and compared. The nesting limit of the form bounds its recursion.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

MAX_SAFE_INTEGER = 2 ** 53 - 1
MANIFEST_NESTING = 8
METADATA_NESTING = 32
NUMBER_CHARACTERS = 64

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"0|[1-9][0-9]{0,15}")
# One unescaped run, then any number of (escape, run): the match takes linear time even without the closing quote.
_STRING = re.compile(r'"([^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*)"')
_ESCAPE = re.compile(r"\\(u[0-9a-f]{4}|.)", re.DOTALL)
_NOT_ASCII = re.compile(r"[^\x20-\x7e]")
_SHORT = {'"': '"', "\\": "\\", "b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r"}
_SHORT_OUT = {value: "\\" + key for key, value in _SHORT.items()}


class NotCanonical(ValueError):
    """The bytes are not in the canonical form; the message says where."""


class Number(str):
    """A number of the metadata form, which keeps its original characters (section 6)."""

    __slots__ = ()


class _Parser:
    def __init__(self, text: str, strict_manifest: bool) -> None:
        self.text = text
        self.at = 0
        self.manifest = strict_manifest
        self.limit = MANIFEST_NESTING if strict_manifest else METADATA_NESTING

    def fail(self, what: str) -> NoReturn:
        raise NotCanonical("%s at character %d" % (what, self.at))

    def peek(self) -> str:
        return self.text[self.at:self.at + 1]

    def take(self, token: str) -> None:
        if not self.text.startswith(token, self.at):
            self.fail("expected %s" % token)
        self.at += len(token)

    def value(self, depth: int) -> Any:
        first = self.peek()
        if first == "{" or first == "[":
            if depth > self.limit:
                self.fail("nesting deeper than %d" % self.limit)
            return self.object(depth) if first == "{" else self.array(depth)
        if first == '"':
            return self.string()
        if first == "t":
            self.take("true")
            return True
        if not self.manifest and first == "f":
            self.take("false")
            return False
        if not self.manifest and first == "n":
            self.take("null")
            return None
        return self.number()

    def object(self, depth: int) -> dict[str, Any]:
        self.take("{")
        members: dict[str, Any] = {}
        previous = None
        if self.peek() == "}":
            self.at += 1
            return members
        while True:
            name = self.string()
            # RFC 8785 section 3.2.3 orders by UTF-16 code units; for the manifest's ASCII that is bytewise order.
            order = name.encode("utf-16-be")
            if previous is not None and order <= previous:
                self.fail("member out of order or twice")
            previous = order
            self.take(":")
            members[name] = self.value(depth + 1)
            if self.peek() == ",":
                self.at += 1
                continue
            self.take("}")
            return members

    def array(self, depth: int) -> list[Any]:
        self.take("[")
        items: list[Any] = []
        if self.peek() == "]":
            self.at += 1
            return items
        while True:
            items.append(self.value(depth + 1))
            if self.peek() == ",":
                self.at += 1
                continue
            self.take("]")
            return items

    def number(self) -> int | Number:
        found = (_INTEGER if self.manifest else _NUMBER).match(self.text, self.at)
        if not found:
            self.fail("no value")
        self.at = found.end()
        characters = found.group()
        if self.manifest:
            if int(characters) > MAX_SAFE_INTEGER:
                self.fail("integer above 2^53 - 1")
            return int(characters)
        if len(characters) > NUMBER_CHARACTERS:
            self.fail("number of more than %d characters" % NUMBER_CHARACTERS)
        return Number(characters)

    def string(self) -> str:
        found = _STRING.match(self.text, self.at)
        if not found:
            self.fail("no string")
        body = found.group(1)
        if self.manifest and _NOT_ASCII.search(body):
            self.fail("character outside U+0020 to U+007E")
        if "\\" in body:
            body = _ESCAPE.sub(self.unescape, body)
        self.at = found.end()
        return body

    def unescape(self, found: re.Match[str]) -> str:
        escape = found.group(1)
        if self.manifest and escape not in ('"', "\\"):
            self.fail("escape")
        if escape in _SHORT:
            return _SHORT[escape]
        if len(escape) == 5:
            character = chr(int(escape[1:], 16))
            if character < " " and character not in _SHORT_OUT:
                return character
        self.fail("escape that RFC 8785 does not write")


def parse(data: bytes, manifest: bool = False) -> Any:
    """Returns the value of canonical bytes; raises NotCanonical for any others."""
    try:
        text = bytes(data).decode("utf-8")  # Python's strict decoder refuses surrogates and overlong forms
    except UnicodeDecodeError as error:
        raise NotCanonical("not UTF-8 at byte %d" % error.start) from None
    parser = _Parser(text, manifest)
    value = parser.value(1)
    if parser.at != len(text):
        parser.fail("bytes after the value")
    return value


def encode_string(text: str) -> str:
    """Returns a string with the escapes of RFC 8785 section 3.2.2.2."""
    out = ['"']
    for character in text:
        if character in _SHORT_OUT:
            out.append(_SHORT_OUT[character])
        elif character < " ":
            out.append("\\u%04x" % ord(character))
        else:
            out.append(character)
    return "".join(out) + '"'


def encode_text(value: object) -> str:
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(encode_string(name) + ":" + encode_text(value[name]) for name in names) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(encode_text(item) for item in value) + "]"
    if value is True or value is False or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, Number):
        return str.__str__(value)
    if isinstance(value, str):
        return encode_string(value)
    if isinstance(value, int):
        return str(value)
    raise TypeError("no canonical form for %r" % type(value))


def encode(value: object) -> bytes:
    """Returns the canonical bytes of a value; a number that is not an integer must be a Number."""
    return encode_text(value).encode("utf-8")
