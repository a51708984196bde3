"""Mutations of the bytes of a TIFF structure: its header, its directories and their entries, and random ones."""

import struct

_EXIF, _GPS = 0x8769, 0x8825
_MAIN_OFFSET = 8  # of the main directory in what the generator makes


def mutate(rng, data, order):
    """Changes the bytes of a structure with this byte order."""
    if len(data) > _MAIN_OFFSET + 2:
        rng.choice(_MUTATIONS)(rng, data, order)


def _places(data, order):
    """The offsets of the directories."""
    found = [_MAIN_OFFSET]
    count = struct.unpack_from(order + "H", data, _MAIN_OFFSET)[0]
    for at in range(_MAIN_OFFSET + 2, min(_MAIN_OFFSET + 2 + 12 * count, len(data) - 11), 12):
        tag, _, _, value = struct.unpack_from(order + "HHLL", data, at)
        found += [value] if tag in (_EXIF, _GPS) and value + 2 <= len(data) else []
    return found


def _entries(rng, data, order):
    """Moves entries, replaces them by others, or changes their number."""
    place = rng.choice(_places(data, order))
    count, start = struct.unpack_from(order + "H", data, place)[0], place + 2
    fits = (len(data) - start) // 12
    blocks = [data[start + 12 * index:start + 12 * index + 12] for index in range(min(count, fits))]
    kind = rng.randrange(4)
    if kind == 0:
        rng.shuffle(blocks)
    elif kind == 1:
        blocks.reverse()
    elif kind == 2 and blocks:
        blocks[rng.randrange(len(blocks))] = rng.choice(blocks)
    else:
        number = rng.choice((0, 1, count - 1, count + 1, fits, fits + 1, 65535)) % 65536
        struct.pack_into(order + "H", data, place, number)
    data[start:start + 12 * len(blocks)] = b"".join(blocks)


def _pointers(rng, data, order):
    """Gives a directory another offset."""
    places, size = _places(data, order), len(data)
    target = rng.choice((*places, 0, 2, 6, 7, 9, places[-1] + 12, size - 2, size - 1, size, 2**31, 2**32 - 1))
    holders = [4] + [at + 8 for at in range(_MAIN_OFFSET + 2, size - 11, 12)
                     if struct.unpack_from(order + "H", data, at)[0] in (_EXIF, _GPS)]
    struct.pack_into(order + "L", data, rng.choice(holders), target)


def _header(rng, data, order):
    start = rng.choice((b"II", b"MM", b"IM", b"ii", b"\0\0", bytes(data[:2])))
    data[:4] = start + rng.choice((b"\x2a\0", b"\0\x2a", b"\x2b\0", b"\0\x2b", bytes(data[2:4])))
    if rng.random() < 0.3:
        del data[rng.choice((0, 1, 2, 4, 7, 8, 9, 10, 22)):]


def _cut(rng, data, order):
    del data[rng.choice((len(data) - 1, len(data) - 2, rng.randrange(len(data)))):]


def _random(rng, data, order):
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        at = rng.randrange(len(data))
        data[at] = rng.choice((data[at] ^ 1 << rng.randrange(8), rng.choice((0, 1, 8, 0x20, 0x3A, 0x7F, 0x80, 0xFF))))


def _splice(rng, data, order):
    at, count = rng.randrange(len(data)), rng.choice((1, 1, 2, 4, 8, 12, 24))
    if rng.random() < 0.5:
        del data[at:at + count]
    else:
        data[at:at] = rng.choice((bytes(count), bytes(data[at:at + count])))


_MUTATIONS = (_entries, _entries, _pointers, _pointers, _header, _cut, _random, _random, _random, _splice)
