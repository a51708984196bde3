"""The depth map of section 5 with rules D1 to D3. It is inflated while the bytes of the entry are read."""

from __future__ import annotations

import hashlib
import struct
import zlib
from typing import Any

from .faults import Fault
from .inflate import Inflate

GZIP_START = bytes.fromhex("1f8b080000000000")
_HEADER = 10  # length of GZIP_START, XFL and OS
_TRAILER = 8  # length of CRC-32 and ISIZE
_OUTPUT = 65536
_LEAST, _MOST = struct.unpack("<2f", struct.pack("<2f", 0.05, 100))


class DepthCheck:
    """Takes the entry's bytes with update(), and returns at the end what is wrong with them."""

    def __init__(self, depth: dict[str, Any], surveys: bool = False) -> None:
        self._surveys = surveys
        self._expected = 4 * depth["width"] * depth["height"]
        self._sha256 = depth["sha256"]
        self._header = b""
        self._trailer = b""
        self._inflate = Inflate(_OUTPUT)
        self._is_ended = False
        self._blocks = 0
        self._most_blocks = 64 + self._expected // 512
        self._hash = hashlib.sha256()
        self._crc = 0
        self._length = 0
        self._fault: Fault | None = None
        self._partial = b""  # of a sample
        self._measured = self._below = self._above = 0

    def update(self, data: bytes) -> None:
        if not self._fault:
            try:
                self._update(data)
            except Fault as fault:
                self._fault = fault

    def _update(self, data: bytes) -> None:
        if self._is_ended:
            self._end(data)
            return
        missing = _HEADER - len(self._header)
        if missing:
            self._header += data[:missing]
            data = data[missing:]
            start = self._header[:len(GZIP_START)]
            if not GZIP_START.startswith(start):
                raise Fault("D1", "the first bytes are %s" % start.hex())
        if len(self._header) == _HEADER:
            self._inflate.feed(data)
            self._run()

    def _run(self) -> None:
        while True:
            # Room for one byte more than expected is enough to notice that there are too many (D2).
            room = min(_OUTPUT, self._expected - self._length + 1)
            output, event = self._inflate.run(room)
            self._take(output)
            if event == "end":
                self._is_ended = True
                self._end(self._inflate.rest)
                return
            if event == "block":
                self._blocks += 1
                if self._blocks == self._most_blocks:
                    raise Fault("D1", "more than %d blocks" % self._most_blocks)
            elif event != "more":
                raise Fault("D1", event)
            elif len(output) < room and not self._inflate.rest:
                return  # zlib holds no output back and needs more input

    def _take(self, output: memoryview) -> None:
        self._length += len(output)
        if self._length > self._expected:
            raise Fault("D2", "more than %d bytes" % self._expected)
        self._hash.update(output)
        self._crc = zlib.crc32(output, self._crc)
        if self._surveys:
            self._survey(self._partial + bytes(output))

    def _survey(self, data: bytes) -> None:
        """Section 5.2."""
        whole = len(data) // 4 * 4
        self._partial = data[whole:]
        for (sample,) in struct.iter_unpack("<f", data[:whole]):
            if 0 < sample < float("inf"):
                self._measured += 1
                self._below += sample < _LEAST
                self._above += sample > _MOST

    @property
    def is_plausible(self) -> bool:
        return 2 * self._below < self._measured and 2 * self._above < self._measured

    def _end(self, data: bytes) -> None:
        self._trailer += data[:_TRAILER + 1]
        if len(self._trailer) > _TRAILER:
            raise Fault("D1", "bytes after the gzip member")

    def fault(self) -> Fault | None:
        """Returns the first fault of D1 to D3, or None."""
        if self._fault:
            return self._fault
        if len(self._trailer) != _TRAILER:
            return Fault("D1", "it ends inside the gzip member")
        if int.from_bytes(self._trailer[:4], "little") != self._crc:
            return Fault("D1", "wrong CRC-32")
        if int.from_bytes(self._trailer[4:], "little") != self._length & 0xFFFFFFFF:
            return Fault("D1", "wrong ISIZE")
        if self._length != self._expected:
            return Fault("D2", "%d bytes, not %d" % (self._length, self._expected))
        if self._hash.hexdigest() != self._sha256:
            return Fault("D3", self._hash.hexdigest())
        return None
