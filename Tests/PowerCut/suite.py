"""Power cuts: the tools work in a guest with a Debian kernel, on disks that record every write and flush. Images of these
disks are made as a power cut at many moments would leave them, mounted by another boot, and compared with what the tools
had promised."""
import contextlib

from PowerCut.bench import PowerBench

PROGRAMS = ("capbundle", "capqueue")
LANES = 2
FLAGS = {"backports": "use the newest kernel of bookworm-backports in place of Debian 12's"}
NUMBERS = {"images": (30, "how many images of each set of file systems are examined"),
           "processes": (1, "how many processes work at the same time"),
           "steps": (40, "how many things each process does")}


@contextlib.contextmanager
def bench(options, folder):
    yield PowerBench(options, folder)
