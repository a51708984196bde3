"""zlib's inflate, block by block: Python's own module does not tell where a block ends.

Section 5.1 limits the number of blocks. No size shows that a stream keeps the limit: a block can have 10 bits, and a
real map has 100 times as many of these as blocks are allowed. So zlib itself stops after each block. That costs a call
for each of the few blocks of a real map, and no second pass.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools

_OK, _STREAM_END, _BUF_ERROR, _DATA_ERROR = 0, 1, -5, -3
_BLOCK = 5
_BLOCK_ENDED, _LAST_BLOCK = 128, 64  # flags in data_type


class _Stream(ctypes.Structure):
    """z_stream of zlib.h."""
    _fields_ = [("next_in", ctypes.c_char_p), ("avail_in", ctypes.c_uint), ("total_in", ctypes.c_ulong),
                ("next_out", ctypes.c_void_p), ("avail_out", ctypes.c_uint), ("total_out", ctypes.c_ulong),
                ("msg", ctypes.c_char_p), ("state", ctypes.c_void_p), ("zalloc", ctypes.c_void_p),
                ("zfree", ctypes.c_void_p), ("opaque", ctypes.c_void_p), ("data_type", ctypes.c_int),
                ("adler", ctypes.c_ulong), ("reserved", ctypes.c_ulong)]


@functools.lru_cache(maxsize=None)
def _zlib() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL("libz.so.1")
    except OSError:
        name = ctypes.util.find_library("z")  # this starts programs, so it comes second
        if not name:
            raise ImportError("verifying a depth map needs the shared library of zlib (Debian: zlib1g)") from None
        library = ctypes.CDLL(name)
    library.zlibVersion.restype = ctypes.c_char_p
    return library


class Inflate:
    """A raw deflate stream, whose output has at most `room` bytes at a time."""

    def __init__(self, room: int) -> None:
        self._zlib, self._stream = _zlib(), _Stream()
        self._target = ctypes.create_string_buffer(room)
        self._view, self._address = memoryview(self._target), ctypes.addressof(self._target)
        self._data = b""
        status = self._zlib.inflateInit2_(
            ctypes.byref(self._stream), -15, self._zlib.zlibVersion(), ctypes.sizeof(_Stream))
        if status != _OK:
            raise MemoryError("inflateInit2: %d" % status)

    def __del__(self) -> None:
        self._zlib.inflateEnd(ctypes.byref(self._stream))

    def feed(self, data: bytes) -> None:
        """Gives the next bytes of the stream, when all earlier ones are used up."""
        self._data = data  # zlib points into it
        self._stream.next_in, self._stream.avail_in = data, len(data)

    @property
    def rest(self) -> bytes:
        """The bytes that are not used up."""
        return self._data[len(self._data) - self._stream.avail_in:]

    def run(self, room: int) -> tuple[memoryview, str]:
        """Inflates until data or room is used up, a block ends or something is wrong.

        Returns (output, event): the output is valid until the next call. The event is "more", "block" if another block
        must follow, "end", or the fault in words.
        """
        stream = self._stream
        stream.next_out, stream.avail_out = self._address, room
        status = self._zlib.inflate(ctypes.byref(stream), _BLOCK)
        output = self._view[:room - stream.avail_out]
        if status == _STREAM_END:
            return output, "end"
        if status == _DATA_ERROR:
            return output, stream.msg.decode()
        if status not in (_OK, _BUF_ERROR):
            raise MemoryError("inflate: %d" % status)
        ended = status == _OK and stream.data_type & (_BLOCK_ENDED | _LAST_BLOCK) == _BLOCK_ENDED
        return output, "block" if ended else "more"
