"""Where bundles come from: files, folders, tar archives, pipes and URLs. Each is read once, without seeking."""

from __future__ import annotations

import builtins
import os
import tarfile
from collections.abc import Collection, Iterator
from typing import Any, BinaryIO, Union, cast

from .bundle import Bundle, BundleError, UnverifiedEntries, VerifiedEntries
from .format import container, trust as trust_file
from .format.container import Stream
from .format.faults import Fault
from .format.verifier import is_requirement, verify as verify_stream

Path = Union[str, "os.PathLike[str]"]
SUFFIX = ".bundle"


class Trust:
    """The devices of a trust file: a path, its bytes, or its text, which is a str with a line break.

    Raises BundleError (`trust.file`) if the file is broken. Make it once if many bundles are opened.
    """

    def __init__(self, source: Path | bytes) -> None:
        if isinstance(source, str) and "\n" in source:
            data = source.encode("utf-8", "surrogatepass")
        elif isinstance(source, bytes):
            data = source
        else:
            with builtins.open(source, "rb") as file:
                data = file.read(trust_file.MAX_FILE + 1)
        try:
            self.lines = trust_file.parse(data)
        except Fault as fault:
            raise BundleError(fault.code, fault.detail) from None


def open(source: Path | Stream, *, trust: Trust | Path | bytes | None = None, verify: bool = True,
         allow_withheld: bool = False, require: Collection[str] = ()) -> Bundle:
    """Opens a bundle: a path, a URL that fsspec knows, or a file object, of which only read() is used.

    The bundle is verified before this returns, and its entries are in memory then. `trust` is what `Trust` takes;
    without it, the verdict on a sound bundle is `unknown-device`. `allow_withheld` and `require` mean what they mean
    for `capbundle verify`. With `verify=False`, entries are read when they are asked for, and no hash and no
    signature is checked.

    Raises OSError if the source cannot be read.
    """
    judge = _Judge(trust, verify, allow_withheld, require)
    if not isinstance(source, (str, os.PathLike)):
        return judge.bundle(source, str(getattr(source, "name", "")))
    name = os.fspath(source)
    file = _opened(name)
    try:
        bundle = judge.bundle(file, name, file)
    except BaseException:
        file.close()
        raise
    if verify:
        bundle.close()
    return bundle


def iterate(source: Path | Stream, *, trust: Trust | Path | bytes | None = None, verify: bool = True,
            allow_withheld: bool = False, require: Collection[str] = ()) -> Iterator[Bundle]:
    """Yields the bundles of a folder, of a tar archive or of a URL that fsspec knows, one after another.

    The bundles of a folder or an archive are the regular files whose names end in `.bundle`; a folder is read with
    its subfolders, in the order of the names. An archive can come from a pipe; it is not compressed. A source that is
    itself a bundle yields that one. The options are those of `open`. A bundle that was not verified can be read until
    the next one is asked for.

    Raises OSError if the source cannot be read, and BundleError if it is neither a bundle nor an archive, or is cut
    off.
    """
    judge = _Judge(trust, verify, allow_withheld, require)
    return _bundles(source, judge)


def _bundles(source: Path | Stream, judge: _Judge) -> Iterator[Bundle]:
    if not isinstance(source, (str, os.PathLike)):
        yield from _of_stream(source, str(getattr(source, "name", "")), judge)
        return
    name = os.fspath(source)
    files = _files_of_url(name) if _is_url(name) else _files(name) if os.path.isdir(name) else None
    if files is None:
        with _opened(name) as file:
            yield from _of_stream(file, name, judge)
        return
    for path, file in files:
        with file:
            yield judge.bundle(file, path)


def _files(name: str) -> Iterator[tuple[str, BinaryIO]]:
    for folder, folders, files in os.walk(name, onerror=_raise):
        folders.sort()
        for path in (os.path.join(folder, file) for file in sorted(files) if file.endswith(SUFFIX)):
            if os.path.isfile(path):
                yield path, builtins.open(path, "rb")


def _files_of_url(url: str) -> Iterator[tuple[str, BinaryIO]] | None:
    """Returns the files of a folder; None if the URL is not a folder."""
    system, path = _fsspec().core.url_to_fs(url)
    if not system.isdir(path):
        return None
    found = sorted(one for one in system.find(path) if one.endswith(SUFFIX))
    return ((system.unstrip_protocol(one), system.open(one, "rb")) for one in found)


def _of_stream(stream: Stream, name: str, judge: _Judge) -> Iterator[Bundle]:
    """Yields the bundles of a tar archive, or the bundle that the stream is."""
    rejoined = _Rejoined(stream)
    if rejoined.start[:container.BLOCK] == container.MAGIC[:container.BLOCK]:
        yield judge.bundle(rejoined, name)
        return
    try:
        with tarfile.open(fileobj=cast(BinaryIO, rejoined), mode="r|", tarinfo=_Member) as archive:
            while (member := archive.next()) is not None:
                archive.members.clear()  # type: ignore[attr-defined]  # or the memory would grow with the archive
                if member.isreg() and member.name.endswith(SUFFIX):
                    if member.issparse():
                        raise tarfile.ReadError(f"{member.name} is a sparse file")
                    yield judge.bundle(cast(Stream, archive.extractfile(member)), member.name)
    except tarfile.TarError as error:
        about = f"{name or 'the stream'} is neither a bundle nor a whole tar archive of bundles"
        raise BundleError("container.magic", f"{about}: {error}") from None


class _Member(tarfile.TarInfo):
    """tarfile takes the end of a file for the end of an archive; this asks for the zero block at its end."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Any:
        try:
            return super().fromtarfile(archive)
        except tarfile.EmptyHeaderError:  # type: ignore[attr-defined]
            raise tarfile.ReadError("it ends without a zero block") from None
        except (ArithmeticError, LookupError, RecursionError, ValueError) as error:
            raise tarfile.ReadError(f"it has a header that cannot be read: {error}") from None


class _Rejoined:
    """A stream whose first bytes were looked at. tarfile reads on behind the end for as long as a header claims bytes, so a
    third read there is an error."""

    ENDS = 2

    def __init__(self, stream: Stream) -> None:
        self._stream, self.start = stream, b""
        while len(self.start) < container.BLOCK and (more := stream.read(container.BLOCK - len(self.start))):
            self.start += more
        self._waiting, self._ends = self.start, 0

    def read(self, count: int = -1) -> bytes:
        if not self._waiting:
            found = self._stream.read(count)
            self._ends += not found
            if self._ends > self.ENDS:
                raise tarfile.ReadError("it ends before its last file does")
            return found
        found, self._waiting = self._waiting[:count], self._waiting[count:]
        return found


class _Judge:
    """Makes bundles from streams as the options of `open` ask for it."""

    def __init__(self, trust: Trust | Path | bytes | None, verify: bool, allow_withheld: bool,
                 require: Collection[str]) -> None:
        for role in require:
            if not is_requirement(role) or role == "fresh":
                raise ValueError(f"require: unknown role {role!r}")
        self._trust = trust if trust is None or isinstance(trust, Trust) else Trust(trust)
        self._verify, self._allow_withheld, self._require = verify, allow_withheld, tuple(require)

    def bundle(self, stream: Stream, name: str, file: BinaryIO | None = None) -> Bundle:
        if not self._verify:
            return Bundle(name, UnverifiedEntries(stream, name), None, file)
        lines = self._trust.lines if self._trust else ()
        report = verify_stream(stream, lines, self._allow_withheld, self._require, keeps_all=True)
        return Bundle(name, VerifiedEntries(report), report, file)


def _opened(name: str) -> BinaryIO:
    return cast(BinaryIO, _fsspec().open(name, "rb").open()) if _is_url(name) else builtins.open(name, "rb")


def _is_url(name: str) -> bool:
    return "://" in name


def _fsspec() -> Any:
    try:
        import fsspec  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise ImportError("a URL needs fsspec: pip install capbundle[fsspec]") from None
    return fsspec


def _raise(error: OSError) -> None:
    raise error
