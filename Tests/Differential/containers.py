"""Mutations of the container: entries, headers, padding, the end, and cuts."""

from capbundle.format import container

from Differential import borders


class Entry:
    """The three pieces of an entry."""

    def __init__(self, path, data):
        self.path = path
        self.header = container.header(path, len(data))
        self.data = data
        self.padding = bytes(container.padding(len(data)))

    def bytes(self):
        return self.header + self.data + self.padding


class Archive:
    """A bundle in pieces, which a mutation changes."""

    def __init__(self, members):
        self.entries = [Entry(path, data) for path, data in [("mimetype", container.MAGIC[512:557])] + members]
        self.end = container.END
        self.tail = b""
        self.cut = None

    def bytes(self):
        data = b"".join(entry.bytes() for entry in self.entries) + self.end + self.tail
        return data if self.cut is None else data[:self.cut]


def mutate(rng, archive):
    rng.choice(_MUTATIONS)(rng, archive)


def _add(rng, archive):
    path = rng.choice(borders.PATHS)
    entry = Entry(path[:100], bytes(rng.choice((0, 1, 512, 513))))
    archive.entries.insert(rng.randrange(1, len(archive.entries) + 1), entry)


def _size(rng, archive):
    """Writes another size into the header; the data follows it or not."""
    entry = rng.choice(archive.entries)
    size = rng.choice(borders.SIZES + (len(entry.data) + 1, max(0, len(entry.data) - 1)))
    entry.header = container.header(entry.path, size)
    if rng.random() < 0.5 and size <= 1 << 21:
        entry.data = (entry.data + bytes(size))[:size]
        entry.padding = bytes(container.padding(size))


def _field(rng, archive):
    """Changes bytes of a header; the checksum follows or not."""
    entry = rng.choice(archive.entries)
    block = bytearray(entry.header)
    at, new = rng.choice(
        ((100, b"000755 \0"), (100, b"0000644\0"), (100, b"004755 \0"), (108, b"000001 \0"), (136, b"00000000001 "),
         (156, b"\0"), (156, b"1"), (156, b"2"), (156, b"5"), (156, b"7"), (156, b"x"), (156, b"g"), (156, b"L"),
         (157, b"x"), (257, b"ustar  \0"), (263, b"01"), (265, b"root"), (297, b"root"), (329, b"\0" * 8),
         (345, b"source"), (500, b"\1"), (511, b"\1"), (124, b"%011o\0" % len(entry.data)),
         (124, b"%12o" % len(entry.data)), (124, b" %010o " % len(entry.data)),
         (124, b"\x80" + bytes(7) + len(entry.data).to_bytes(4, "big")), (124, b"\xff" * 12), (124, b"0000000008 "),
         (124, b"77777777777 "), (124, b"-0000000001 "), (124, b"0x%09x " % len(entry.data)),
         (124, b"0000000000" + b"\0 "), (99, b"x"), (len(entry.path) + 1, b"x"), (0, b"\0"), (148, b"000000\0 "),
         (148, b"%06o \0" % sum(block)), (154, b" \0"), (154, b"\0\0"),
         (rng.randrange(512), bytes((rng.randrange(256),)))))
    block[at:at + len(new)] = new
    if rng.random() < 0.7 and not 148 <= at < 156:
        block[148:156] = b" " * 8
        block[148:156] = b"%06o\0 " % sum(block)
    entry.header = bytes(block[:512])


def _padding(rng, archive):
    entry = rng.choice(archive.entries)
    padding = bytearray(entry.padding)
    kind = rng.randrange(3)
    if kind == 0 and padding:
        padding[rng.choice((0, -1, rng.randrange(len(padding))))] = rng.choice((1, 0x20, 0xFF))
    elif kind == 1:
        padding += bytes(512)
    else:
        del padding[rng.randrange(len(padding) + 1):]
    entry.padding = bytes(padding)


def _end(rng, archive):
    archive.end = rng.choice(
        (b"", bytes(512), bytes(1023), bytes(1025), bytes(1536), bytes(10240),
         bytes(513), bytes(511), bytes(512) + b"\1" * 512, b"\1" + bytes(1023), bytes(511) + b"\1" + bytes(512),
         bytes(1023) + b"\1", bytes(512) + container.header("source/z", 0), archive.end, archive.end, archive.end))
    archive.tail = rng.choice((b"", b"", b"\0", b"\n", b"PK\5\6" + bytes(18), bytes(512), archive.bytes(),
                               container.MAGIC, b"x" * 9000))


def _cut(rng, archive):
    """Ends the file at a place where a piece ends, or next to it."""
    places, at = [0, 1, 100, 511], 0
    for entry in archive.entries:
        for piece in (entry.header, entry.data, entry.padding):
            at += len(piece)
            places.append(at)
    places += [at + 512, at + 1023, at + 100]
    archive.cut = max(0, rng.choice(places) + rng.choice((-1, 0, 0, 1)))


def _magic(rng, archive):
    entry = archive.entries[0]
    line = rng.choice(
        (b"1\n", b"2\n", b"0\n", b"01\n", b"10\n", b"1", b"1\r\n", b"\n", b"", b"1\n\n", b"11", b"1 ", b"\xff\xff"))
    entry.data = b"application/vnd.capture-bundle+tar;version=" + line
    if rng.random() < 0.7:
        entry.header = container.header("mimetype", len(entry.data))
        entry.padding = bytes(container.padding(len(entry.data)))
    if rng.random() < 0.2:
        archive.cut = rng.randrange(1024)


def bits(rng, data):
    """Changes single bits anywhere."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        if data:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def splice(rng, data):
    """Removes, repeats or inserts some bytes anywhere."""
    one, other = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    other = min(other, one + rng.choice((1, 2, 16, 511, 512, 1024, 4096)))
    return rng.choice((data[:one] + data[other:], data[:other] + data[one:],
                       data[:one] + bytes(other - one) + data[one:], data[:one] + bytes(other - one) + data[other:]))


def _names(rng, archive):
    """Renames an entry, or puts zero blocks in front of it, as if the archive ended there."""
    entry = rng.choice(archive.entries)
    renamed = container.header(rng.choice(borders.PATHS)[:100], len(entry.data))
    entry.header = rng.choice((renamed, renamed, bytes(rng.choice((512, 1024))) + entry.header))


_MUTATIONS = (*(lambda rng, archive, change=change: change(rng, archive.entries) for change in borders.CHANGES), _add,
              _names, _names, _names, _size, _size, _field, _field, _field, _padding, _end, _end, _cut, _cut, _magic)
