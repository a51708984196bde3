"""What shows that the judge sees losses: a disk that gets no flushes, and a file that is not synced under its name."""
from Kit.outcomes import expect, long
from PowerCut.bench import Trial

IMAGES = 12
# Parts of the judge's messages about promised data that is lost.
LOSSES = "lost: ", "is gone", "has other bytes", "without bytes"


def loses(bench, *names, settings=""):
    figures = Trial(bench, *names, keeps=False, settings=settings).play(IMAGES)
    expect(any(loss in fault for fault in figures.faults for loss in LOSSES),
           f"no image has lost a capture: {figures}: {figures.faults[:2]}")


def without_flushes(bench):
    loses(bench, "ext4, barrier=0")


def synced_once(bench):
    """The kernel has to be older than Linux 6.16."""
    loses(bench, "btrfs", settings="export LD_PRELOAD=/once.so")


TESTS = [
    ("ext4 with barrier=0 loses captures, and the judge sees it", long(without_flushes)),
    ("btrfs loses captures that are not synced under their names, and the judge sees it", long(synced_once)),
]
