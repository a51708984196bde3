"""Reads the upload body of Spec/upload.md section 1.3 once, in constant memory, and returns the bundle (U1 to U9)."""

import io
import re

from capbundle.format import container, manifest
from capbundle.format.faults import Fault, printable
from capbundle.format.verifier import verify

from . import upload
from .upload import CRLF

_OPENING = re.compile(rb"--(" + upload.PREFIX + rb"[0-9a-f]{40})\r\n")
_SOME_OPENING = b"--" + upload.PREFIX + b"0" * upload.DIGITS + CRLF
_CLOSING = b"--" + CRLF
_KEPT = ("metadata.json", "location.json")  # the sources of section 1.2


class _Ahead:
    """A stream whose next bytes can be read in advance; it uses only read()."""

    def __init__(self, stream):
        self._stream = stream
        self._ready = b""

    def peek(self, count):
        """Returns the next count bytes without taking them, fewer only at the end of the stream."""
        while len(self._ready) < count:
            more = self._stream.read(max(count - len(self._ready), 4096))
            if not more:
                break
            self._ready += more
        return self._ready[:count]

    def take(self, count):
        found = self.peek(count)
        self._ready = self._ready[len(found):]
        return found


class Bundle:
    """The bundle in a body, as a file object: read() returns the bundle's next bytes, or raises a Fault of U1 to U7.

    It reads only as much of the body as the requested bytes need, so a verifier finds the faults of the bundle and
    those of the body in their order.
    """

    def __init__(self, stream, sink=None):
        self._body = _Ahead(stream)
        self._sink = sink
        self._pieces = self._rebuild()
        self._ready = b""
        self._mark = b""
        self._candidates = []
        self._taken = set()  # each n of section 1.1 whose boundary is in data
        self._head = []  # data of the metadata, manifest and assertion parts
        self._contents = {}

    def read(self, count):
        while not self._ready:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._ready = piece
        found, self._ready = self._ready[:count], self._ready[count:]
        if self._sink:
            self._sink.write(found)
        return found

    def faults(self):
        """Yields U8 and U9, for a body whose bundle was read to its end and is sound."""
        described, signed, assertion = self._head
        expected = upload.metadata_part(signed, assertion, *(self._contents.get(path) for path in _KEPT))
        if described != expected:
            at = next((index for index, pair in enumerate(zip(described, expected)) if pair[0] != pair[1]),
                      min(len(described), len(expected)))
            yield Fault("U8", "the metadata part differs at its byte %d from what is signed" % at)
        free = next((mark for n, mark in enumerate(self._candidates) if n not in self._taken), None)
        if self._mark != free:
            yield Fault("U9", "%s, expected %s" % (printable(self._mark), printable(free)))

    def _rebuild(self):
        yield container.MAGIC
        self._read_opening()
        self._expect([upload.METADATA_HEAD], "U3", "the metadata part does not begin as it has to")
        self._head.append(self._upto_mark("metadata"))
        for path, head in (("manifest.json", upload.MANIFEST_HEAD), ("assertion.cbor", upload.ASSERTION_HEAD)):
            self._expect([CRLF + head], "U3", "no part of %s where it belongs" % path)
            self._head.append(self._upto_mark(path))
            yield container.entry(path, self._head[-1])
        # A caller asks for more only if the manifest is sound.
        self._candidates = [upload.boundary(self._head[1], n) for n in range(upload.TRIES)]
        for data in self._head:
            self._look_for_marks(data, "")
        entries = manifest.judge(self._head[1]).entries
        while True:
            heads = (CRLF + upload.entry_head(entry) for entry in entries)
            index = self._expect(_then(heads, _CLOSING), "U3", "neither a part that may stand here nor the end")
            if index == len(entries):
                break
            yield from self._payload(entries[index])
            entries = entries[index + 1:]
        if self._body.peek(1):
            raise Fault("U7", "the body goes on after its closing delimiter")
        yield container.END

    def _read_opening(self):
        """Checks U2 and its U1; U9 checks the digits."""
        found = self._body.take(len(_SOME_OPENING))
        if not _OPENING.fullmatch(found + _SOME_OPENING[len(found):]):
            raise Fault("U2", "the first bytes are %s" % printable(found))
        if len(found) < len(_SOME_OPENING):
            raise Fault("U1", "the body ends inside its first line, after %d bytes" % len(found))
        self._mark = found[2:-2]

    def _expect(self, options, label, detail):
        """Takes the byte string that comes next and returns its index; no option is the beginning of another."""
        truncated = False
        for index, option in enumerate(options):
            found = self._body.peek(len(option))
            if found == option:
                self._body.take(len(option))
                return index
            truncated = truncated or option.startswith(found)
        if truncated:
            raise Fault("U1", "the body ends before a part or the closing delimiter is complete")
        raise Fault(label, "%s: %s" % (detail, printable(self._body.peek(80))))

    @property
    def _delimiter(self):
        return CRLF + b"--" + self._mark

    def _upto_mark(self, name):
        """Returns the data of one of the first three parts; U1, U4 or U5 by the byte that breaks the rule."""
        limit, delimiter = upload.LIMITS[name], self._delimiter
        window = self._body.peek(limit + len(delimiter))
        at = window.find(self._mark)
        if at >= 0 and window[:at + len(self._mark)].endswith(delimiter):
            return self._body.take(at + len(self._mark))[:-len(delimiter)]
        if 0 <= at <= limit - len(self._mark):
            raise Fault("U5", "the boundary stands in the data of %s" % name)
        # If the window ends early, the data may continue within the limit, or end in a delimiter that began within it.
        starts = range(max(0, len(window) - len(delimiter) + 1), limit + 1)
        if len(window) <= limit or any(delimiter.startswith(window[start:]) for start in starts):
            raise Fault("U1", "the body ends inside %s" % name)
        raise Fault("U4", "%s of more than %d bytes" % (name, limit))

    def _payload(self, entry):
        """Yields header, data and padding of an entry; it reads the delimiter only when more is requested."""
        path, rest = entry["path"], entry["size"]
        yield container.header(path, rest)
        tail, kept = b"", []
        while rest:
            data = self._body.take(min(rest, container.BUFFER))
            if not data:
                raise Fault("U1", "the body ends %d bytes before the end of %s" % (rest, path))
            self._look_for_marks(tail + data, path)
            tail = (tail + data)[1 - len(self._mark):]
            rest -= len(data)
            if path in _KEPT:
                kept.append(data)
            yield data
        self._contents[path] = b"".join(kept)
        yield bytes(container.padding(entry["size"]))
        self._expect([self._delimiter], "U6", "after %s" % path)

    def _look_for_marks(self, window, path):
        if self._mark in window:
            raise Fault("U5", "the boundary stands in the data of %s" % path)
        self._taken.update(n for n, mark in enumerate(self._candidates) if mark in window)


def _then(options, last):
    yield from options
    yield last


def read(stream, sink=None, trust_lines=(), allow_withheld=False, require=()):
    """Returns the Report on a body. The sink gets the bundle, which is worth keeping if the exit code is 0, 3 or 4."""
    bundle = Bundle(stream, sink)
    report = verify(bundle, trust_lines, allow_withheld, require)
    if is_sound(report.exit_code):
        report.faults.extend(bundle.faults())
    return report


def is_sound(exit_code):
    return exit_code not in (1, 2)


def decode(body, **options):
    """Returns (bundle, report) of a body's bytes; the bundle is None if the body is not sound."""
    sink = io.BytesIO()
    report = read(io.BytesIO(body), sink, **options)
    return (sink.getvalue() if is_sound(report.exit_code) else None), report
