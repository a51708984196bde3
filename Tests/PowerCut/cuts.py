"""What a power cut leaves of a disk.

A moment is a position in the log. A write is on the disk for sure if the disk had answered it before a flush was issued
that was answered before the moment. Of the other writes, a variant keeps none, all, a beginning, or some; "torn" keeps
some, and of one of these only some sectors, because a disk tears no more than the write at which it is.
"""
import dataclasses

from PowerCut.blocks import SECTOR, Flush, Write
from PowerCut.promises import Promise

VARIANTS = ("none", "all", "beginning", "some", "torn")


@dataclasses.dataclass(frozen=True)
class Cut:
    moment: int
    variant: str

    def __str__(self):
        return f"{self.moment} {self.variant}"


def chosen(log, count, random, first=0):
    """Returns cuts of a log, in their order: half of them right after a promise, the others at any moment."""
    promised = [place + 1 for place, entry in enumerate(log) if place >= first and isinstance(entry, Promise)]
    moments = random.sample(promised, min(count // 2, len(promised)))
    moments += [random.randint(first + 1, len(log)) for _ in range(count - len(moments))]
    return [Cut(moment, random.choice(VARIANTS)) for moment in sorted(moments)]


def image(base, log, disk, cut, random):
    """Returns the content of a disk after a cut."""
    written = [(place, entry) for place, entry in enumerate(log[:cut.moment])
               if not isinstance(entry, Promise) and entry.disk == disk]
    flushed = max((place for place, entry in written if isinstance(entry, Flush) and entry.answered < cut.moment),
                  default=-1)
    found, volatile = base.copy(), []
    for _, entry in written:
        if not isinstance(entry, Write):
            continue
        if entry.answered <= flushed:
            found.write(entry.offset, entry.data)
        else:
            volatile.append(entry)
    for offset, data in kept(volatile, cut.variant, random):
        found.write(offset, data)
    return found


def kept(volatile, variant, random):
    """Yields offset and bytes of what a variant keeps of writes that no flush covers."""
    if variant == "none":
        return
    if variant == "beginning":
        volatile = volatile[:random.randint(0, len(volatile))]
    elif variant != "all":
        volatile = [write for write in volatile if random.random() < 0.5]
    torn = random.choice(volatile) if variant == "torn" and volatile else None
    for write in volatile:
        if write is not torn:
            yield write.offset, write.data
            continue
        for at in range(0, len(write.data), SECTOR):
            if random.random() < 0.5:
                yield write.offset + at, write.data[at:at + SECTOR]
