"""Mutations of JSON text: other spellings, spaces, order, duplicates, nesting and bytes that are not UTF-8."""

import re

import borders

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null|[{}\[\],:]|.', re.DOTALL)
_SPACES = (b" ", b"\n", b"\r\n", b"\t", b"\x0b", b"\0", b"\xc2\xa0", b"\xef\xbb\xbf", b"//\n", b"/**/")
_BYTES = (b"\xff", b"\xc0\xaf", b"\xc0\x80", b"\xed\xa0\x80", b"\xed\xa0\xbd\xed\xb8\x80", b"\xf4\x90\x80\x80",
          b"\xe2\x82", b"\xc3", b"\x80", b"\0", b"\x1f", b"\x7f", b"\n", b"\xef\xbb\xbf", b"\xf0\x9f\x98\x80",
          b"\xef\xbf\xbf", b"\xcc\x81")


def mutate(rng, data):
    """Returns other JSON text, which may still be canonical."""
    tokens = _TOKEN.findall(data)
    if not tokens:
        return rng.choice(_BYTES + (b"{}", b"[]", b"null", b"0", b'""'))
    return rng.choice(_MUTATIONS)(rng, tokens)


def _indexes(tokens, first):
    return [index for index, token in enumerate(tokens) if token[:1] in first]


def _space(rng, tokens):
    at = rng.randrange(len(tokens) + 1)
    return b"".join(tokens[:at] + [rng.choice(_SPACES)] + tokens[at:])


def _drop(rng, tokens):
    at = rng.randrange(len(tokens))
    return b"".join(tokens[:at] + tokens[at + 1:])


def _double(rng, tokens):
    at = rng.randrange(len(tokens))
    return b"".join(tokens[:at + 1] + tokens[at:])


def _swap(rng, tokens):
    one, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    tokens[one], tokens[other] = tokens[other], tokens[one]
    return b"".join(tokens)


def _number(rng, tokens):
    places = [index for index, token in enumerate(tokens) if token[:1].isdigit() or token[:1] == b"-"]
    if not places:
        return _space(rng, tokens)
    at = rng.choice(places)
    old = tokens[at].decode("latin-1")
    tokens[at] = rng.choice((old + ".0", old + "e0", "0" + old, "-" + old, old + "0", "+" + old, old + ".", old[:-1]
                             or "0", rng.choice(borders.NUMBERS))).encode()
    return b"".join(tokens)


def _string(rng, tokens):
    places = _indexes(tokens, (b'"',))
    if not places:
        return _space(rng, tokens)
    at = rng.choice(places)
    body = tokens[at][1:-1]
    where = rng.randrange(len(body) + 1)
    byte = body[where:where + 1] or b"a"
    tokens[at] = b'"' + rng.choice(
        (body[:where] + b"\\u00%02x" % byte[0] + body[where + 1:],
         body[:where] + b"\\u00%02X" % byte[0] + body[where + 1:], body[:where] + b"\\" + body[where:],
         body[:where] + rng.choice(_BYTES) + body[where:], body[:where] + rng.choice(
             (b"\\/", b"\\n", b"\\u000a", b"\\u001f", b"\\u001F", b"\\u0000", b"\\ud83d\\ude00", b"\\ud800", b"\\udc00",
              b"\\u12", b"\\\"", b"\\\\", b"\\x41", b"\\u007f", b"\\b", b"\\u0008", b"\\'", b"\\U00000041", b"\\u00e9",
              b"\\v", b"\\u2028")) + body[where:], body[:where], body[where:], rng.choice(borders.STRINGS).encode(
                  "utf-8", "surrogatepass").replace(b"\\", b"\\\\").replace(b'"', b'\\"'))) + b'"'
    return b"".join(tokens)


def _literal(rng, tokens):
    """Replaces a scalar by another value."""
    places = [index for index, token in enumerate(tokens) if token[:1] not in (b"{", b"}", b"[", b"]", b",", b":")]
    tokens[rng.choice(places or [0])] = rng.choice(
        (b"true", b"false", b"null", b"0", b'""', b"{}", b"[]", b"True", b"nul", b'{"":0}', b"[0]", b"1.5", b'"x"',
         b"-0", b"[true]", b"9007199254740992"))
    return b"".join(tokens)


def _nest(rng, tokens):
    """Wraps a value in arrays or objects."""
    starts = [0] + [index + 1 for index, token in enumerate(tokens) if token in (b":", b"[")]
    at = min(rng.choice(starts), len(tokens) - 1)
    end = _end(tokens, at)
    count = rng.choice(borders.NESTINGS)
    opening, closing = rng.choice(((b"[", b"]"), (b'{"":', b"}")))
    return b"".join(tokens[:at] + [opening * count] + tokens[at:end] + [closing * count] + tokens[end:])


def _member(rng, tokens):
    """Adds a member to an object, at a place that may break the order."""
    places = [index + 1 for index, token in enumerate(tokens) if token == b"{"]
    places += [index for index, token in enumerate(tokens) if token == b"}"]
    if not places:
        return _space(rng, tokens)
    at = rng.choice(places)
    name = _quoted(rng.choice(borders.NAMES))
    count = rng.choice(borders.NESTINGS)
    value = rng.choice(
        (b"true", b"0", b'"x"', b"{}", b"[" * count + b"]" * count, b'{"":' * count + b"0" + b"}" * count,
         rng.choice(borders.NUMBERS).encode(), _quoted(rng.choice(borders.STRINGS))))
    added = name + b":" + value
    if tokens[at - 1] == b"{":
        added += b"" if tokens[at:at + 1] == [b"}"] else b","
    else:
        added = b"," + added
    return b"".join(tokens[:at] + [added] + tokens[at:])


def _exchange(rng, tokens):
    """Exchanges two neighbouring members of an object, or repeats one."""
    places = [index for index, token in enumerate(tokens) if token == b":" and index]
    if not places:
        return _space(rng, tokens)
    start = rng.choice(places) - 1
    end = _end(tokens, start + 2)
    if end > len(tokens) - 2 or tokens[end] != b",":
        return b"".join(tokens[:end] + [b","] + tokens[start:])
    after = _end(tokens, end + 3)
    return b"".join(tokens[:start] + tokens[end + 1:after] + [b","] + tokens[start:end] + tokens[after:])


def _end(tokens, at):
    """Returns the index after the value that begins at this token."""
    depth = 0
    for index in range(at, len(tokens)):
        depth += (tokens[index] in (b"{", b"[")) - (tokens[index] in (b"}", b"]"))
        if depth <= 0:
            return index + 1
    return len(tokens)


def _edge(rng, tokens):
    data = b"".join(tokens)
    return rng.choice(
        (b"\xef\xbb\xbf" + data, b" " + data, data + b"\n", data + b" ", data + b"\0", data + data, data[:-1], data[1:],
         b"", data + b"null", data.decode("utf-8", "replace").encode("utf-16-le"), b"[" + data + b"]", data + b","))


def _quoted(text):
    """Returns a string with the escapes of RFC 8785, written without the code under test."""
    out = bytearray(b'"')
    for byte in text.encode("utf-8", "surrogatepass"):
        short = {8: b"\\b", 9: b"\\t", 10: b"\\n", 12: b"\\f", 13: b"\\r", 34: b'\\"', 92: b"\\\\"}.get(byte)
        out += short or (b"\\u%04x" % byte if byte < 32 else bytes((byte,)))
    return bytes(out + b'"')


_MUTATIONS = (_space, _drop, _double, _swap, _number, _number, _string, _string, _string, _literal, _nest, _member,
              _member, _exchange, _edge)
