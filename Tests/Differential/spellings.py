"""Mutations of JSON text: other spellings, spaces, order, duplicates, nesting and bytes that are not UTF-8."""

import re

from Differential import borders

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null|[{}\[\],:]|.', re.DOTALL)
_SPACES = (b" ", b"\n", b"\r\n", b"\t", b"\x0b", b"\0", b"\xc2\xa0", b"\xef\xbb\xbf", b"//\n", b"/**/")
_BYTES = (b"\xff", b"\xc0\xaf", b"\xc0\x80", b"\xed\xa0\x80", b"\xed\xa0\xbd\xed\xb8\x80", b"\xf4\x90\x80\x80",
          b"\xe2\x82", b"\xc3", b"\x80", b"\0", b"\x1f", b"\x7f", b"\n", b"\xef\xbb\xbf", b"\xf0\x9f\x98\x80",
          b"\xef\xbf\xbf", b"\xcc\x81")
_ESCAPES = (b"\\/", b"\\n", b"\\u000a", b"\\u001f", b"\\u001F", b"\\u0000", b"\\ud83d\\ude00", b"\\ud800", b"\\udc00",
            b"\\u12", b"\\\"", b"\\\\", b"\\x41", b"\\u007f", b"\\b", b"\\u0008", b"\\'", b"\\U00000041", b"\\u00e9",
            b"\\v", b"\\u2028")


def mutate(rng, data):
    """Returns other JSON text, which may still be canonical."""
    tokens = _TOKEN.findall(data)
    if not tokens:
        return rng.choice(_BYTES + (b"{}", b"[]", b"null", b"0", b'""'))
    return rng.choice(_MUTATIONS)(rng, tokens)


def _place(rng, tokens, starts):
    """Returns the index of a token that begins with one of these bytes; None without such a token."""
    places = [index for index, token in enumerate(tokens) if token[:1] in starts]
    return rng.choice(places) if places else None


def _space(rng, tokens):
    at = rng.randrange(len(tokens) + 1)
    return b"".join(tokens[:at] + [rng.choice(_SPACES)] + tokens[at:])


def _number(rng, tokens):
    at = _place(rng, tokens, [b"-", *(b"%d" % digit for digit in range(10))])
    if at is None:
        return _space(rng, tokens)
    old = tokens[at].decode("latin-1")
    tokens[at] = rng.choice((old + ".0", old + "e0", "0" + old, "-" + old, old + "0", "+" + old, old + ".",
                             old[:-1] or "0", rng.choice(borders.NUMBERS))).encode()
    return b"".join(tokens)


def _string(rng, tokens):
    at = _place(rng, tokens, (b'"',))
    if at is None:
        return _space(rng, tokens)
    where = rng.randrange(len(tokens[at]) - 1)
    left, right = tokens[at][1:-1][:where], tokens[at][1:-1][where:]
    byte = (right or b"a")[0]
    tokens[at] = b'"' + rng.choice(
        (left + b"\\u00%02x" % byte + right[1:], left + b"\\u00%02X" % byte + right[1:], left + b"\\" + right,
         left + rng.choice(_BYTES) + right, left + rng.choice(_ESCAPES) + right, left, right,
         _quoted(rng.choice(borders.STRINGS), is_raw=True)[1:-1])) + b'"'
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
    is_first = tokens[at - 1] == b"{"
    added = b"," * (not is_first) + name + b":" + value + b"," * (is_first and tokens[at:at + 1] != [b"}"])
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


def _quoted(text, is_raw=False):
    """Returns a string with the escapes of RFC 8785, written without the code under test; `is_raw` leaves control
    characters as they are."""
    out = bytearray(b'"')
    for byte in text.encode("utf-8", "surrogatepass"):
        short = {8: b"\\b", 9: b"\\t", 10: b"\\n", 12: b"\\f", 13: b"\\r", 34: b'\\"', 92: b"\\\\"}.get(byte)
        short = short or (b"\\u%04x" % byte if byte < 32 else None)
        out += short if short and (byte > 31 or not is_raw) else bytes((byte,))
    return bytes(out + b'"')


def _change(change):
    def mutate(rng, tokens):
        change(rng, tokens)
        return b"".join(tokens)
    return mutate


_MUTATIONS = (_space, *map(_change, borders.CHANGES), _number, _number, _string, _string, _string, _literal, _nest,
              _member, _member, _exchange, _edge)
