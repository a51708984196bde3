"""Trust files, sound and broken, and the options of a verifier."""

from capbundle.format import base64_strict
from cases import base

from Differential import borders

_RPID = 'level=apple-appattest,rpid="%s"' % base.APP_ID
STANDARD = (base.TRUST + "\n" + base.PHONE_TRUST + "\n").encode()
_TIMES = ("2026-03-14", "2026-03-15", "2026-03-14T08:26:53.589Z", "2026-03-14T08:26:53.590Z",
          "2026-03-14T08:26:53.589000001Z", "2026-03-14T09:26:53.589+01:00", "0001-01-01", "9999-12-31",
          "9999-12-31T23:59:59.999999999Z", "2026-01-01", "2027-01-01", "2026-03-14T08:26:53.588999999Z")
_SPACES = ("", " ", "\t", "\r", "\x0b", "\x0c", "\u00a0", "\u2028", "\ufeff", "\0", "  ", "\x85")
_LINES = ("", " ", "\t", "#", "# comment", "#\r", "# \u00e9", "#\0", " # x", "\r", "\ufeff", "\ufeff# x", "\x0c",
          "\u2028", "\0", "x", "\u00e9")
_NAMES = ("n" * 65, "-a", ".a", "a/b", "\u00e9", "a\u0301", "a#", "#a", "", '"a"', "a,b", "A", "a:")


def sound(rng):
    """Returns a trust file that keeps the grammar, with lines for our keys."""
    if rng.random() < 0.7:
        return STANDARD
    lines = [_line(rng) for _ in range(rng.randrange(5))]
    lines += rng.sample(("", " \t", "# comment", "#\u00e9", "#\r"), rng.randrange(3))
    rng.shuffle(lines)
    text = "\n".join(lines)
    return (text + rng.choice(("", "\n", "\n\n"))).encode()


def _line(rng):
    key = rng.choice((base.KEY, base.KEY, base.KEY, base.PHONE_KEY, base.OTHER_KEY))
    options = []
    if key is base.PHONE_KEY and rng.random() < 0.8:
        options.append(rng.choice((_RPID, _RPID, 'rpid="x",level=apple-appattest', _RPID.replace("org", "ORG"))))
    elif rng.random() < 0.15:
        options.append(rng.choice((_RPID, "level=software", 'level=apple-appattest,rpid="capture-bundle.device-key"')))
    for name in ("valid-after", "valid-before"):
        if rng.random() < 0.2:
            options.append(name + "=" + rng.choice(_TIMES))
    if rng.random() < 0.08:
        options.append("revoked")
    rng.shuffle(options)
    name = rng.choice(("studio", "a", "9.@+-_", "n" * 64, "p256"))
    fields = (name, ",".join(options), "p256", base64_strict.encode(key.point))
    return rng.choice((" ", " ", "\t", " \t ")).join(field for field in fields if field)


def broken(rng):
    """Returns a trust file with mutations, which may still keep the grammar."""
    lines = [_line(rng) for _ in range(rng.randrange(1, 4))] + [base.TRUST]
    for _ in range(rng.randrange(1, 3)):
        at = rng.randrange(len(lines))
        lines[at] = rng.choice(_MUTATIONS)(rng, lines[at])
    data = rng.choice(("\n", "\n", "\n", "\r\n", "\r")).join(lines).encode("utf-8", "surrogatepass")
    data += rng.choice((b"\n", b"\n", b"", b"\n\n", b"\r\n", b"\n ", b"\0", b"\n\0"))
    at = rng.randrange(len(data) + 1)
    wrong = rng.choice((b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\0", b"\xf4\x90\x80\x80", b"\xc3"))
    start = rng.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\0", b"\n", b"\r\n"))
    return rng.choice((data[:at] + wrong + data[at:], start + data, data[:at], *[data] * 9))


def _insert(rng, line):
    at = rng.choice((0, len(line), rng.randrange(len(line) + 1)))
    return line[:at] + rng.choice(_SPACES + ('"', ",", "=", "#", "A", "\u0301", "\u212a")) + line[at:]


def _cut(rng, line):
    at = rng.randrange(len(line) + 1)
    return rng.choice((line[:at], line[at:], line[:at] + line[at + 1:]))


def _rest(rng, line):
    return rng.choice((rng.choice(_LINES), rng.choice(_NAMES) + " " + line.partition(" ")[2]))


def _options(rng, line):
    """Gives the line other options."""
    pieces = [
        "revoked", "level=software", "level=apple-appattest", 'rpid="x"', 'rpid="a,b"', "valid-after=2026-01-01",
        "valid-before=2027-01-01", "revoked=", "revoked=true", "level=", "level", "level=tpm", "Level=software",
        "rpid=x", 'rpid=""', 'rpid="', 'rpid="a"b', 'rpid="a""b"',
        'rpid="%s"' % ("r" * 255), 'rpid="%s"' % ("r" * 256), 'rpid="\u00e9"', 'rpid="a=b"', '"rpid"="a"', "", ",",
        "=", "x=1", "valid-after=",
        "valid-after", "valid-before=2026-02-29", 'rpid="a,revoked,level=software"', "\u212a=1", "revoked\u0301",
        'rpid="\\"', "valid-after=2026-01-01,revoked", "valid-after=" + rng.choice(borders.TIMES).replace(" ", "T"),
        "valid-before=" + rng.choice(borders.TIMES).strip(), "valid-before=" + rng.choice(_TIMES),
        "valid-before=9999-12-31T23:59:59.9999Z", "valid-after=10000-01-01", "valid-after=0000-12-31",
        "valid-after=2026-01-01T00:00:00Z", 'valid-after="2026-01-01"'
    ]
    chosen = rng.sample(pieces, rng.randrange(1, 4))
    return "studio " + ",".join(chosen) + " p256 " + base64_strict.encode(rng.choice((base.KEY, base.PHONE_KEY)).point)


def _key(rng, line):
    point = base.KEY.point
    text = base64_strict.encode(point)
    points = (point[:-1], point[:-1] + bytes((point[-1] ^ 1,)), b"\2" + point[1:33], b"\6" + point[1:],
              b"\4" + bytes(64), b"\0")
    return "studio " + rng.choice(("p256", "P256", "p384", "", "p256 p256")) + " " + rng.choice(
        (text, text.rstrip("="), text + "=", text[:-2] + chr(ord(text[-2]) + 1) + "=", point.hex(), "", text + " x",
         text.replace("+", "-").replace("/", "_"), text[:40] + " " + text[40:], *map(base64_strict.encode, points)))


_MUTATIONS = (_insert, _insert, _insert, _cut, _rest, _rest, _options, _options, _options, _key)


def options(rng):
    """Returns (whether withheld entries are allowed, what is required)."""
    parts = ("photo", "depth", "metadata", "location", "confidence", "source", "chain", "plausible", "photo.jpg",
             "depth.f32.gz", "depth.f32", "location.json", "source/a", "metadata.json")
    return rng.random() < 0.5, tuple(rng.sample(parts, rng.choice((0, 0, 0, 1, 2, 3))))
