"""Wrong clocks delay deletion and never hasten it: the real tool under libfaketime.

libfaketime sets the wall clock of one process and does not change the boot clock, as with `date -s`. QueueClockTests
shows what each pair of clocks means; LifeTests and OnlyCopyTests show a jump and another boot with their own clock.
"""
import contextlib
import time

from Kit.clocks import shifted
from Kit.outcomes import expect
from Kit.invariants import clean, gives, words_for_people
from QueueFaults.monitoring import metrics, status


@contextlib.contextmanager
def faked(rig, offset, *options):
    """Shifts the wall clock of the rig's runs by `offset`, in the form of faketime; the boot clock stays right."""
    rig.before = shifted(offset, *(options or ["--exclude-monotonic"]))
    try:
        yield
    finally:
        rig.before = []


def nothing_goes(rig, *options, about):
    result = rig.run("prune", *options).must(0, about=about)
    expect(not result.out, f"{about}: prune deletes {result.out!r}")
    return words_for_people(result, about=about)


def set_forward(bench):
    """A clock a year ahead on the same boot makes no earlier upload old, however often prune runs."""
    rig = bench.rig()
    rig.push(*bench.stock[:2])
    rig.uploaded(bench.stock[0])
    with faked(rig, "+365d"):
        for _ in range(2):
            nothing_goes(rig, about="a year ahead")
        rig.push(bench.stock[2])
        nothing_goes(rig, "--older-than", "1d", about="a year ahead, after a push")
    pushed = rig.rows()[bench.stock[2].id]["pushed_at"]
    expect(pushed[:4] > time.strftime("%Y"), f"libfaketime did not change the tool's clock: pushed at {pushed}")
    nothing_goes(rig, "--older-than", "1d", about="right again")
    gives(rig, *bench.stock[:3])
    clean(rig)


def uploaded_in_the_future(bench):
    """A time from a clock a year ahead delays deletion; prune, status and run report it, and --accept-clock ends it."""
    rig, sent = bench.rig(), bench.stock[0]
    rig.to_folder("a")
    rig.push(sent)
    with faked(rig, "+365d"):
        rig.uploaded(sent)
        nothing_goes(rig, about="a year ahead")
    result = nothing_goes(rig, "--older-than", "0s", about="right again")
    expect("clock" in result.text, f"prune does not say that it waits: {result.text!r}")
    expect(status(rig)["clock"] == "delayed", f"status says that the clock is {status(rig)['clock']}")
    expect(metrics(rig)[("capqueue_clock_trusted",)] == 0, "--prometheus trusts the clock")
    rig.run("run").must(15, about="run with a wrong clock")
    rig.run("run", "--dest", "a").must(0, about="run --dest with a wrong clock")
    nothing_goes(rig, "--accept-clock", about="--accept-clock: as if uploaded now")
    expect(rig.prune("--accept-clock", "--older-than", "0s") == [sent.id], "--accept-clock --older-than 0s keeps it")
    expect(status(rig)["clock"] == "trusted", f"status says that the clock is {status(rig)['clock']}")


def set_back(bench):
    """With a clock a year behind, old captures wait and recorded times do not go back; afterwards everything works."""
    rig = bench.rig()
    old, sent, waiting, new = bench.stock[:4]
    rig.push(old, sent, waiting)
    rig.uploaded(old, days=8)
    with faked(rig, "-365d"):
        nothing_goes(rig, about="a year behind")
        rig.push(new)
        rig.uploaded(sent)
    rows = rig.rows()
    for stamp in (rows[sent.id]["finished_at"], rows[new.id]["pushed_at"]):
        expect(stamp >= rows[waiting.id]["pushed_at"], "a stamp goes back")
    expect(rig.prune() == [old.id], "the old one is kept by a right clock")
    clean(rig)


TESTS = [
    ("set forward by a year on the same boot: nothing is deleted", set_forward),
    ("uploaded while the clock was ahead: deletion waits, --accept-clock ends it", uploaded_in_the_future),
    ("set back by a year: deletion waits, stamps do not go back", set_back),
]
