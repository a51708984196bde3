"""Mutations of the fields of EXIF: their texts and numbers, types and counts, and their places."""

import struct

from cases.exif_photo import agreeing, longs, placed, raw, text, tiff

from Differential import borders

_AGREEING = agreeing()
_MAIN, _EXIF, _GPS = _AGREEING
_POINTERS = {_EXIF: 0x8769, _GPS: 0x8825}
_MAKE, _MODEL, _CLOCK, _ZONE, _FRACTION, _DAY, _DAY_TIME = 0x010F, 0x0110, 0x9003, 0x9011, 0x9291, 29, 7
_LISTED = {_MAKE: borders.MODELS, _MODEL: borders.MODELS, _CLOCK: borders.CLOCKS, _ZONE: borders.ZONES,
           _FRACTION: borders.FRACTIONS, _DAY: borders.DAYS, 1: borders.SIDES_OF_EARTH, 3: borders.SIDES_OF_EARTH}
_TEXTS = ((_MAIN, _MAKE), *(((_MAIN, _MODEL), (_EXIF, _CLOCK), (_EXIF, _ZONE), (_EXIF, _FRACTION)) * 2), (_GPS, 1),
          (_GPS, 3), (_GPS, _DAY))
_RATIONALS = ((_GPS, 2), (_GPS, 4), (_GPS, _DAY_TIME))
_INTEGERS = ((_MAIN, 0x0112), (_EXIF, 0xA002), (_EXIF, 0xA003), (_MAIN, 0x8769), (_MAIN, 0x8825))
_ALL = _TEXTS + _RATIONALS + _INTEGERS


def mutate(rng, fields, order):
    """Changes {directory: {tag: field}}, which is about to be written in this byte order."""
    rng.choice(_MUTATIONS)(rng, fields, order)


def _agreeing(place):
    directory, tag = place
    return _AGREEING[directory].get(tag) or longs(8)


def _now(fields, place):
    """The field as it is now, or as it agrees; of a tag that occurs twice, the first."""
    directory, tag = place
    found = fields[directory].get(tag) or _agreeing(place)
    return found[0] if isinstance(found, list) else found


def _text(rng, fields, order):
    directory, tag = rng.choice(_TEXTS)
    now = _now(fields, (directory, tag)).data(order).split(b"\0")[0]
    if rng.random() < 0.35:
        now = rng.choice(_LISTED[tag]).encode()
    for _ in range(rng.choice((0, 1, 1, 2))):
        at = rng.choice((0, len(now), rng.randrange(len(now) + 1)))
        now = now[:at] + rng.choice(borders.PIECES) + now[at + rng.choice((0, 0, 1)):]
    end = rng.choice((b"\0", b"\0", b"\0", b"", b"\0\0", b"\0x", b"\0\xff", b" ", b"\n\0"))
    fields[directory][tag] = text(now, end)


def _rational(rng, fields, order):
    directory, tag = rng.choice(_RATIONALS)
    if tag == _DAY_TIME and rng.random() < 0.5:
        fields[_EXIF][_ZONE] = None  # so that the GPS time counts
    if rng.random() < 0.4:
        triples = borders.DAY_TIMES if tag == _DAY_TIME else borders.ANGLES
        numbers = [number for pair in rng.choice(triples) for number in pair]
    else:
        numbers = list(struct.unpack(order + "6L", _now(fields, (directory, tag)).data(order)[:24].ljust(24, b"\0")))
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(6)
            numbers[at] = rng.choice((rng.choice(borders.INTEGERS), numbers[at] + 1, -numbers[at])) % 2**32
    pairs = list(zip(numbers[::2], numbers[1::2]))[:rng.choice((3, 3, 3, 3, 3, 2, 1, 0))]
    pairs += pairs[:1] * rng.choice((0, 0, 0, 1))
    data = b"".join(struct.pack(order + "2L", *pair) for pair in pairs)
    fields[directory][tag] = raw(rng.choice((5, 5, 5, 10, 10, 12)), data, count=len(pairs))


def _integer(rng, fields, order):
    directory, tag = rng.choice(_INTEGERS)
    forms = ((1, "B"), (3, "H"), (3, "H"), (4, "L"), (13, "L"), (6, "B"), (7, "B"), (8, "H"), (9, "L"))
    form, code = rng.choice(forms)
    values = [rng.choice((1, 6, 8, 16, 24, rng.choice(borders.INTEGERS))) % 256**struct.calcsize(code)
              for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 5)))]
    data = struct.pack(f"{order}{len(values)}{code}", *values)
    fields[directory][tag] = raw(form, data, count=len(values))


def _form(rng, fields, order):
    """Gives a field another type, another number of values, or both; its bytes stay."""
    directory, tag = rng.choice(_ALL)
    field, kind = _now(fields, (directory, tag)), rng.randrange(3)
    form, count = field.form, field.count
    if kind != 0:
        form = rng.choice((1, 6, 7, 129) if form == 2 and rng.random() < 0.5 else borders.TYPES)
    if kind != 1:
        count = rng.choice((0, 1, 2, 3, 4, 5, count - 1, count + 1, 256, 257, 2**16, 2**29, 2**31, 2**32 - 1)) % 2**32
    fields[directory][tag] = raw(form, field.data(order), count=count)


def _twice(rng, fields, order):
    """Lets a tag occur twice, with other values."""
    directory, tag = place = rng.choice(_ALL)
    usual = _agreeing(place)
    pair = [_now(fields, place), rng.choice((usual, raw(rng.choice(borders.TYPES), usual.data(order))))]
    rng.shuffle(pair)
    fields[directory][tag] = pair


def _missing(rng, fields, order):
    for directory, tag in rng.sample(_ALL, rng.randrange(1, 4)):
        fields[directory][tag] = None


def _elsewhere(rng, fields, order):
    """Puts a field into another directory, or all fields into the main one, which is then another one, too."""
    if rng.random() < 0.5:
        directory, tag = place = rng.choice(_TEXTS + _RATIONALS)
        fields[rng.choice(list(_AGREEING))][tag] = _now(fields, place)
        fields[directory][tag] = rng.choice((None, _now(fields, place)))
        return
    directory = rng.choice((_EXIF, _GPS))
    fields[_MAIN].update(_AGREEING[directory] | fields[directory])
    fields[_MAIN][_POINTERS[directory]] = longs(8)


def _offset(rng, fields, order):
    """Gives values an offset at a border of the structure."""
    directory, tag = place = rng.choice(_TEXTS + _RATIONALS)
    field = _now(fields, place)
    data, size = field.data(order), len(tiff(order, **fields))
    last = size - len(data)  # where the values would just fit
    at = rng.choice((0, 1, 4, 7, 8, 9, 20, last, last + 1, size - 1, size, 2**31, 2**32 - 1, 2**32 - len(data)))
    fields[directory][tag] = placed(raw(field.form, data, count=field.count), at % 2**32)


_MUTATIONS = (*(_text,) * 8, *(_rational,) * 3, _integer, _integer, _form, _form, _twice, _missing, _elsewhere, _offset)
