"""The state folder of section 11.2: which manifest used a counter of a key (K1)."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator

from .faults import Fault

RECORD = 32
_UNSEEN = bytes(RECORD)
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Refused(OSError):
    """A state that this program must not use."""


class State:
    """An open state folder. It raises OSError if the folder cannot be used."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
            _sync_folder(os.path.dirname(os.path.abspath(folder)))
        self.folder = folder
        _refuse_shared(folder, os.stat(folder))

    def judge(self, key_id: str, counter: int, manifest_hash: bytes) -> bool:
        """Compares one bundle and records it if its counter was not seen; returns whether it was seen before.

        Raises Fault K1 if the counter has another manifest. The record is on the disk when this returns.
        """
        path = os.path.join(self.folder, key_id)
        with self._locked(), _opened(path) as file:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode) or found.st_size % RECORD:
                raise Refused(0, "is not a regular file of whole records", path)
            _refuse_shared(path, found)
            if found.st_size == 0:
                _sync_folder(self.folder)
            known = os.pread(file, RECORD, RECORD * counter)
            if known in (b"", _UNSEEN):
                os.pwrite(file, manifest_hash, RECORD * counter)
            elif known != manifest_hash:
                raise Fault("K1", "counter %d has the manifest %s" % (counter, known.hex()))
            os.fdatasync(file)
            return known == manifest_hash

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with _opened(os.path.join(self.folder, "lock")) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


@contextlib.contextmanager
def _opened(path: str) -> Iterator[int]:
    file = os.open(path, _FLAGS, 0o600)
    try:
        yield file
    finally:
        os.close(file)


def _sync_folder(path: str | os.PathLike[str]) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _refuse_shared(path: str | os.PathLike[str], status: os.stat_result) -> None:
    if status.st_uid not in (0, os.geteuid()) or status.st_mode & 0o022:
        raise Refused(0, "others can change it", path)
