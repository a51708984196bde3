"""Mutations of the manifest's members and values. The id is computed again afterwards where that is possible."""

from bundle import base64_strict, p256
from bundle.canonical import Number
from cases import base

import borders


def mutate(rng, fields):
    """Changes the members of a manifest."""
    rng.choice(_MUTATIONS)(rng, fields)


def _entry(rng, fields):
    return rng.choice(fields["entries"])


def _entry_value(rng, fields):
    entry = _entry(rng, fields)
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
    fields["entries"].append({
        "media_type": rng.choice(borders.STRINGS), "path": path, "role": "source", "sha256": "00" * 32, "size":
        rng.choice(borders.SIZES), "withholdable": True
    })
    if rng.random() < 0.8:
        fields["entries"].sort(key=lambda entry: entry["path"])


def _entry_order(rng, fields):
    entries = fields["entries"]
    kind = rng.randrange(4)
    if kind == 0:
        rng.shuffle(entries)
    elif kind == 1:
        entries.insert(rng.randrange(len(entries) + 1), dict(_entry(rng, fields)))
    elif kind == 2:
        entries.remove(_entry(rng, fields))
    else:
        entries.append(rng.choice(({}, [], None, True, "photo.jpg", Number("0"))))


def _entry_count(rng, fields):
    """Lists as many withheld entries as are allowed, or one too many."""
    count = rng.choice((4095, 4096, 4097)) - len(fields["entries"])
    fields["entries"] += [{
        "media_type": "a/b", "path": "source/%04x" % index, "role": "source", "sha256": "00" * 32, "size": 0,
        "withholdable": True
    } for index in range(count)]


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


def _version(rng, fields):
    fields["version"] = rng.choice((0, 2, 10, "1", True, [], {}, Number("1.0"), Number("01"), 9007199254740991))


def _captured_at(rng, fields):
    fields["captured_at"] = rng.choice(borders.TIMES)


def _device(rng, fields):
    point = base64_strict.decode(fields["device"]) or base.KEY.point
    x = int.from_bytes(point[1:33], "big")
    fields["device"] = rng.choice(
        (base64_strict.encode(base.OTHER_KEY.point), base64_strict.encode(point[:-1]),
         base64_strict.encode(point + b"\0"), base64_strict.encode(bytes((2 + (point[-1] & 1),)) + point[1:33]),
         base64_strict.encode(b"\6" + point[1:]), base64_strict.encode(point[:-1] + bytes((point[-1] ^ 1,))),
         base64_strict.encode(b"\4" + bytes(64)),
         base64_strict.encode(b"\4" + ((x + p256.P) % 2**256).to_bytes(32, "big") + point[33:]),
         base64_strict.encode(point[:33] + (p256.P - int.from_bytes(point[33:], "big")).to_bytes(32, "big")),
         base64_strict.encode(b""), fields["device"].rstrip("="), fields["device"] + "=", fields["device"] + "\n",
         " " + fields["device"], fields["device"].replace("A", "-"),
         fields["device"][:-2] + chr(ord(fields["device"][-2]) + 1) + "=", point.hex()))


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


def _chain(rng, fields):
    fields["chain"] = rng.choice(
        ({"seq": 1}, {"prev": "5a" * 32, "seq": 2}, {"seq": 2}, {"prev": "5a" * 32, "seq": 1}, {"seq": 0}, {},
         {"prev": "5a" * 32, "seq": 9007199254740991}, {"prev": "5A" * 32, "seq": 2}, {"prev": "5a" * 32}, [], "1"))


def _id(rng, fields):
    text = fields["id"] if isinstance(fields.get("id"), str) else ""
    fields["id"] = rng.choice(
        (text.upper(), text.replace("-", ""), "{" + text + "}", "", text[:-1] + "0", "urn:uuid:" + text))


def _any(rng):
    return rng.choice((rng.choice(borders.STRINGS), rng.choice(borders.STRINGS), rng.choice(borders.STRINGS),
                       Number(rng.choice(borders.NUMBERS)), Number(rng.choice(borders.NUMBERS)),
                       rng.choice((True, False, None, [], {})), rng.choice(borders.TIMES)))


_MUTATIONS = (_entry_value, _entry_value, _entry_value, _entry_source, _entry_source, _entry_order, _top, _version,
              _captured_at, _device, _part, _part, _chain, _id) * 5 + (_entry_count,)
# These change the id itself, so it must stay as it is.
OWN_ID = (_id, _top)
