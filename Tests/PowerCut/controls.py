"""What shows that the judge sees losses: a file system that sends no flushes."""
from Kit.outcomes import expect, long
from PowerCut.bench import Trial

IMAGES = 12


def loses(bench):
    figures = Trial(bench, "ext4, barrier=0").play(IMAGES)
    lost = [fault for fault in figures.faults if "lost: " in fault or "is gone" in fault]
    expect(lost, f"no image has lost a capture: {figures}: {figures.faults[:2]}")


TESTS = [("ext4 with barrier=0 loses captures, and the judge sees it", long(loses))]
