"""zlib's inflate, block by block, because Python's own module does not tell where a block ends."""

import ctypes
import ctypes.util

_OK, _STREAM_END, _BUF_ERROR, _DATA_ERROR = 0, 1, -5, -3
_BLOCK = 5
_BLOCK_ENDED, _LAST_BLOCK = 128, 64  # flags in data_type


class _Stream(ctypes.Structure):
    """z_stream of zlib.h."""
    _fields_ = [("next_in", ctypes.c_void_p), ("avail_in", ctypes.c_uint), ("total_in", ctypes.c_ulong),
                ("next_out", ctypes.c_void_p), ("avail_out", ctypes.c_uint), ("total_out", ctypes.c_ulong),
                ("msg", ctypes.c_char_p), ("state", ctypes.c_void_p), ("zalloc", ctypes.c_void_p),
                ("zfree", ctypes.c_void_p), ("opaque", ctypes.c_void_p), ("data_type", ctypes.c_int),
                ("adler", ctypes.c_ulong), ("reserved", ctypes.c_ulong)]


_zlib = ctypes.CDLL(ctypes.util.find_library("z") or "libz.so.1")
_zlib.zlibVersion.restype = ctypes.c_char_p


class Inflate:
    """A raw deflate stream."""

    def __init__(self):
        self._stream = _Stream()
        status = _zlib.inflateInit2_(
            ctypes.byref(self._stream), -15, _zlib.zlibVersion(), ctypes.sizeof(_Stream))
        if status != _OK:
            raise MemoryError("inflateInit2: %d" % status)

    def __del__(self):
        _zlib.inflateEnd(ctypes.byref(self._stream))

    def run(self, data, room):
        """Inflates until data or room is used up, a block ends or something is wrong.

        Returns (output, rest of data, event): "more", "block" if another block must follow, "end", or the fault in
        words.
        """
        source, target = ctypes.create_string_buffer(data, len(data) or 1), ctypes.create_string_buffer(room)
        stream = self._stream
        stream.next_in, stream.avail_in = ctypes.addressof(source), len(data)
        stream.next_out, stream.avail_out = ctypes.addressof(target), room
        status = _zlib.inflate(ctypes.byref(stream), _BLOCK)
        output, rest = target.raw[:room - stream.avail_out], data[len(data) - stream.avail_in:]
        if status == _STREAM_END:
            return output, rest, "end"
        if status == _DATA_ERROR:
            return output, rest, stream.msg.decode()
        if status not in (_OK, _BUF_ERROR):
            raise MemoryError("inflate: %d" % status)
        ended = status == _OK and stream.data_type & (_BLOCK_ENDED | _LAST_BLOCK) == _BLOCK_ENDED
        return output, rest, "block" if ended else "more"
