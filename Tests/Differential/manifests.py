"""Mutations of the manifest's members and values. The id is computed again afterwards where that is possible."""

import copy

from capbundle.format import base64_strict, p256
from capbundle.format.canonical import Number
from cases import base

from Differential import borders


def mutate(rng, fields):
    """Changes the members of a manifest."""
    rng.choice(_MUTATIONS)(rng, fields)


def _entry_value(rng, fields):
    entry = rng.choice(fields["entries"])
    name = rng.choice(("media_type", "path", "role", "sha256", "size", "withholdable"))
    if name == "size":
        entry[name] = rng.choice(borders.SIZES + (entry["size"] + 1, max(0, entry["size"] - 1)))
    elif name == "path":
        entry[name] = rng.choice(borders.PATHS).decode("latin-1")
    elif name == "withholdable":
        entry[name] = rng.choice((True, True, True, False, None, Number("1"), "true"))
    else:
        entry[name] = _any(rng)


def _entry_source(rng, fields):
    """Adds an entry that is withheld, with a source path and any media type."""
    path = rng.choice([one for one in borders.PATHS if one.startswith(b"source")]).decode("latin-1")
    fields["entries"].append(_source(path, rng.choice(borders.STRINGS), rng.choice(borders.SIZES)))
    if rng.random() < 0.8:
        fields["entries"].sort(key=lambda entry: entry["path"])


def _entry_order(rng, fields):
    entries = fields["entries"]
    kind = rng.randrange(4)
    if kind == 0:
        rng.shuffle(entries)
    elif kind == 1:
        entries.insert(rng.randrange(len(entries) + 1), dict(rng.choice(entries)))
    elif kind == 2:
        entries.remove(rng.choice(entries))
    else:
        entries.append(rng.choice(({}, [], None, True, "photo.jpg", Number("0"))))


def _entry_count(rng, fields):
    """Lists as many withheld entries as are allowed, or one too many."""
    count = rng.choice((4095, 4096, 4097)) - len(fields["entries"])
    fields["entries"] += [_source(f"source/{index:04x}") for index in range(count)]


def _source(path, kind="a/b", size=0):
    return {"media_type": kind, "path": path, "role": "source", "sha256": "00" * 32, "size": size, "withholdable": True}


def _top(rng, fields):
    name = rng.choice(sorted(fields))
    kind = rng.randrange(4)
    if kind == 0:
        fields.pop(name)
    elif kind == 1:
        fields[name] = _any(rng)
    elif kind == 2:
        fields[rng.choice(borders.NAMES)] = _any(rng)
    else:
        fields[name] = rng.choice((True, {}, [], [{}], {"": True}, "", Number("0")))


def _member(name, *values):
    """Returns a mutation that gives a member one of these values."""
    def mutate(rng, fields):
        fields[name] = copy.copy(rng.choice(values))
    return mutate


def _device(rng, fields):
    text = fields["device"]
    point = base64_strict.decode(text) or base.KEY.point
    x, y = (int.from_bytes(part, "big") for part in (point[1:33], point[33:]))
    points = (base.OTHER_KEY.point, point[:-1], point + b"\0", bytes((2 + (point[-1] & 1),)) + point[1:33],
              b"\6" + point[1:], point[:-1] + bytes((point[-1] ^ 1,)), b"\4" + bytes(64), b"",
              b"\4" + ((x + p256.P) % 2**256).to_bytes(32, "big") + point[33:],
              point[:33] + (p256.P - y).to_bytes(32, "big"))
    fields["device"] = rng.choice(
        (*map(base64_strict.encode, points), text.rstrip("="), text + "=", text + "\n", " " + text,
         text.replace("A", "-"), text[:-2] + chr(ord(text[-2]) + 1) + "=", point.hex()))


def _part(rng, fields):
    """Changes a member of depth, of its source, or of chain."""
    parts = [part for part in (fields.get("depth"), fields.get("chain")) if isinstance(part, dict)]
    parts += [part["source"] for part in parts if isinstance(part.get("source"), dict)]
    part = rng.choice(parts or [fields])
    kind = rng.randrange(3)
    if kind == 0 and part:
        part.pop(rng.choice(sorted(part)))
    elif kind == 1 or not part:
        part[rng.choice(borders.NAMES)] = _any(rng)
    else:
        part[rng.choice(sorted(part))] = _any(rng)


def _id(rng, fields):
    text = fields["id"] if isinstance(fields.get("id"), str) else ""
    fields["id"] = rng.choice(
        (text.upper(), text.replace("-", ""), "{" + text + "}", "", text[:-1] + "0", "urn:uuid:" + text))


def _any(rng):
    text, number = rng.choice(borders.STRINGS), Number(rng.choice(borders.NUMBERS))
    return rng.choice((text, text, text, number, number, borders.other(rng), rng.choice(borders.TIMES)))


_version = _member("version", 0, 2, 10, "1", True, [], {}, Number("1.0"), Number("01"), 9007199254740991)
_captured_at = _member("captured_at", *borders.TIMES)
_chain = _member("chain", *borders.CHAINS, [], "1")
_MUTATIONS = (_entry_value, _entry_value, _entry_value, _entry_source, _entry_source, _entry_order, _top, _version,
              _captured_at, _device, _part, _part, _chain, _id) * 5 + (_entry_count,)
