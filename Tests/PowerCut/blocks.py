"""A disk's content, and the record of what was written to it."""
import dataclasses
import sys
import threading

BLOCK, SECTOR = 4096, 512
ZEROS = bytes(BLOCK)
UNANSWERED = sys.maxsize


class Blocks:
    """The content of a disk. Only blocks that are not zero take memory, so a copy costs little."""

    def __init__(self, size, blocks=None):
        self.size, self.blocks = size, dict(blocks or {})

    @classmethod
    def of(cls, path):
        """Reads the file at `path`."""
        found = cls(path.stat().st_size)
        with open(path, "rb") as file:
            for number in range(found.size // BLOCK):
                data = file.read(BLOCK)
                if data != ZEROS:
                    found.blocks[number] = data
        return found

    def copy(self):
        return Blocks(self.size, self.blocks)

    def read(self, offset, length):
        first, last = offset // BLOCK, (offset + length - 1) // BLOCK
        data = b"".join(self.blocks.get(number, ZEROS) for number in range(first, last + 1))
        return data[offset - first * BLOCK:][:length]

    def write(self, offset, data):
        at = 0
        while at < len(data):
            number, start = divmod(offset + at, BLOCK)
            piece = data[at:at + BLOCK - start]
            if len(piece) < BLOCK:
                old = self.blocks.get(number, ZEROS)
                piece = old[:start] + piece + old[start + len(piece):]
            self.blocks[number] = piece
            at += BLOCK - start

    def save(self, path):
        """Writes a sparse file."""
        with open(path, "wb") as file:
            file.truncate(self.size)
            for number, data in self.blocks.items():
                file.seek(number * BLOCK)
                file.write(data)


@dataclasses.dataclass
class Write:
    """A write, where it stands in the log when it reaches the disk."""

    disk: int
    offset: int
    data: bytes
    answered: int = UNANSWERED


@dataclasses.dataclass
class Flush:
    """A flush, where it stands in the log when it reaches the disk. It covers only writes answered before that."""

    disk: int
    answered: int = UNANSWERED


class Log(list):
    """The writes and flushes of all disks of a guest, and promises, in their order. `answered` is the length of the log
    when the disk answered."""

    def __init__(self):
        super().__init__()
        self._lock = threading.Lock()

    def add(self, entry):
        with self._lock:
            self.append(entry)
        return entry
