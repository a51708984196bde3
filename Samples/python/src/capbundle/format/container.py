"""The container of section 3: header blocks, and a strict reader that reads a stream once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from .faults import Fault, printable

BLOCK = 512
ZERO_BLOCK = bytes(BLOCK)
END = bytes(2 * BLOCK)
MAX_SIZE = 8 ** 11 - 1
MAX_PATH = 99
LIMITS = {"manifest.json": 1048576, "assertion.cbor": 4096}  # C11
BUFFER = 65536

_MEDIA_TYPE = b"application/vnd.capture-bundle+tar;version="
_VERSION_LINE = b"1\n"
_SIZE = re.compile(rb"[0-7]{11} ")
_SEGMENT = re.compile(r"[0-9a-z][0-9a-z._-]*")
_FIXED_PAYLOAD = ("confidence.png", "depth.f32.gz", "location.json", "metadata.json", "photo.jpg")
_HEAD = ("mimetype", "manifest.json", "assertion.cbor")
_DEVICES = frozenset(["con", "prn", "aux", "nul"] + [name + digit for name in ("com", "lpt") for digit in "0123456789"])


def header(path: str | bytes, size: int) -> bytes:
    """Returns the header block of section 3.1, which depends only on path and size."""
    name = path.encode("utf-8") if isinstance(path, str) else bytes(path)
    block = bytearray(BLOCK)
    block[0:len(name)] = name
    block[100:108] = b"000644 \0"
    block[108:116] = block[116:124] = b"000000 \0"
    block[124:136] = b"%011o " % size
    block[136:148] = b"00000000000 "
    block[148:156] = b" " * 8
    block[156:157] = b"0"
    block[257:265] = b"ustar\x0000"
    block[329:337] = block[337:345] = b"000000 \0"
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def padding(size: int) -> int:
    """Returns how many bytes are between an entry of this size and the next block."""
    return -size % BLOCK


def entry(path: str | bytes, data: bytes) -> bytes:
    """Returns header, bytes and padding of one entry."""
    return header(path, len(data)) + data + bytes(padding(len(data)))


MAGIC = entry("mimetype", _MEDIA_TYPE + _VERSION_LINE)


def is_payload_path(path: str) -> bool:
    """Whether the path matches `payload` of section 3.4, with its rules for length and names."""
    if path in _FIXED_PAYLOAD:
        return True
    if not path.startswith("source/") or len(path) > MAX_PATH:
        return False
    segment = path[len("source/"):]
    if not _SEGMENT.fullmatch(segment) or segment.endswith("."):
        return False
    return segment.split(".")[0] not in _DEVICES


def is_path(path: str) -> bool:
    return path in _HEAD or is_payload_path(path)


class Stream(Protocol):
    """What a bundle is read from: read() returns at most this many bytes, and none only at the end."""

    def read(self, count: int, /) -> bytes: ...


class Reader:
    """Reads a bundle once, from a file object; it uses only read()."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._seen = {"mimetype"}
        self._last_payload = ""
        self._count = 1

    def _upto(self, count: int) -> bytes:
        """Reads up to count bytes, fewer only at the end of the stream (a pipe may return them piecewise)."""
        parts = []
        while count > 0:
            part = self._stream.read(count)
            if not part:
                break
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _exactly(self, count: int, where: str) -> bytes:
        data = self._upto(count)
        if len(data) != count:
            raise Fault("C1", "the file ends inside %s" % where)
        return data

    def read_magic(self) -> None:
        """Checks C1 to C3 on the first 1024 bytes."""
        found = self._upto(len(MAGIC))
        if found == MAGIC:
            return
        if len(found) < len(MAGIC) and MAGIC.startswith(found):
            raise Fault("C1", "the file ends inside the magic, after %d bytes" % len(found))
        # Check the version whatever the rest of the header says, because its size field may differ with the version.
        start = BLOCK + len(_MEDIA_TYPE)
        if found[:100] == MAGIC[:100] and found[BLOCK:start] == _MEDIA_TYPE:
            version = found[start:start + len(_VERSION_LINE)]
            if not _VERSION_LINE.startswith(version):
                raise Fault("C3", "format version %s" % printable(found[start:start + 16].split(b"\n")[0]))
        raise Fault("C2", "the first bytes are %s" % printable(found[:16]))

    def read_head(self) -> tuple[bytes, bytes]:
        """Returns manifest.json and assertion.cbor, which come after the magic."""
        self.read_magic()
        manifest = b"".join(self.chunks(*self._judge_header(self._exactly(BLOCK, "a header block"))))
        return manifest, b"".join(self.chunks(*self._judge_header(self._exactly(BLOCK, "a header block"))))

    def next_header(self) -> tuple[str, int] | None:
        """Returns (path, size) of the next entry after the head; None for a zero block."""
        block = self._exactly(BLOCK, "a header block")
        return None if block == ZERO_BLOCK else self._judge_header(block)

    def _judge_header(self, block: bytes) -> tuple[str, int]:
        """Returns (path, size) of a header block after C4 and C8 to C11."""
        name = block[:100].split(b"\0")[0]
        if not 1 <= len(name) <= MAX_PATH:
            raise Fault("C4", "name of %d bytes in header %d" % (len(name), self._count + 1))
        if not _SIZE.fullmatch(block[124:136]):
            raise Fault("C4", "size field %s of %s" % (printable(block[124:136]), printable(name)))
        size = int(block[124:135], 8)
        again = header(name, size)
        if block != again:
            offset = next(index for index in range(BLOCK) if block[index] != again[index])
            raise Fault("C4", "byte %d of the header of %s" % (offset, printable(name)))
        path = name.decode("latin-1")
        self._judge_path(path)
        if size > LIMITS.get(path, MAX_SIZE):
            raise Fault("C11", "%s of %d bytes" % (path, size))
        self._seen.add(path)
        self._count += 1
        return path, size

    def _judge_path(self, path: str) -> None:
        """Checks C8, C9 and C10 in this order."""
        if not is_path(path):
            raise Fault("C8", printable(path))
        if path in self._seen:
            raise Fault("C9", path)
        if self._count < len(_HEAD):
            if path != _HEAD[self._count]:
                raise Fault("C10", "entry %d is %s, not %s" % (self._count + 1, path, _HEAD[self._count]))
        elif path < self._last_payload:
            raise Fault("C10", "%s after %s" % (path, self._last_payload))
        else:
            self._last_payload = path

    def chunks(self, path: str, size: int) -> Iterator[bytes]:
        """Yields the bytes of the entry whose header was just read, then checks its padding (C1, C5)."""
        rest = size
        while rest:
            data = self._stream.read(min(rest, BUFFER))
            if not data:
                raise Fault("C1", "the file ends %d bytes before the end of %s" % (rest, path))
            rest -= len(data)
            yield data
        if self._exactly(padding(size), "the padding of %s" % path).strip(b"\0"):
            raise Fault("C5", "after %s" % path)

    def read_end(self) -> None:
        """Checks C6, C1 and C7 after the first zero block, in the order of section 11."""
        block = self._upto(BLOCK)
        if block.strip(b"\0"):
            raise Fault("C6", "one zero block, then other bytes")
        if len(block) != BLOCK:
            raise Fault("C1", "the file ends inside the 1024 zero bytes")
        if self._stream.read(1):
            raise Fault("C7", "the file goes on after the 1024 zero bytes")
