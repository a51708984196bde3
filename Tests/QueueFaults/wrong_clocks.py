"""Wrong clocks delay deletion and never hasten it.

libfaketime sets the wall clock of one process and does not change the boot clock, as with `date -s`. Without it the
tests change the rows of the table `clock` instead, which shows less.
"""
import contextlib
import json
import shutil
import time

from checks import Skipped, expect
from invariants import clean, gives, holds, words_for_people
from queues import DAY, ids

YEAR = 365 * DAY


@contextlib.contextmanager
def faked(rig, offset, *options):
    """Shifts the wall clock of the rig's runs by `offset`, in the form of faketime; the boot clock stays right."""
    if not shutil.which("faketime"):
        raise Skipped("faketime is not installed (Debian's package of that name)")
    # Use the program and not only LD_PRELOAD: that library would change the environment inside the tool and move it.
    rig.before = ["faketime", *(options or ["--exclude-monotonic"]), "-f", offset]
    try:
        yield
    finally:
        rig.before = []


def nothing_goes(rig, *options, about):
    result = rig.run("prune", *options).must(0, about=about)
    expect(not result.out, f"{about}: prune releases {result.out!r}")
    return words_for_people(result, about=about)


def goes(rig, *bundles, options=(), about):
    result = rig.run("prune", *options).must(0, about=about)
    expect(sorted(ids(result)) == sorted(bundle.id for bundle in bundles), f"{about}: prune releases {result.out!r}")


def faketime_works(bench):
    """Checks faketime itself, because without it the tests below would show nothing."""
    rig = bench.rig()
    with faked(rig, "+400d"):
        rig.push(bench.stock[0])
    pushed = rig.rows()[bench.stock[0].id]["pushed_at"]
    expect(pushed[:4] > time.strftime("%Y"), f"the tool is not deceived: pushed at {pushed}")


def right(bench):
    """With a right clock a capture is released after eight days, and not after six."""
    rig = bench.rig()
    rig.push(*bench.stock[:3])
    rig.uploaded(bench.stock[0], days=8)
    rig.uploaded(bench.stock[1], days=6)
    goes(rig, bench.stock[0], about="a right clock")
    rows = clean(rig)
    holds(rig, *bench.stock[1:3], rows=rows)


def set_forward(bench):
    """A clock a year ahead on the same boot makes no earlier upload old, however often prune runs."""
    rig = bench.rig()
    rig.push(*bench.stock[:3])
    rig.uploaded(*bench.stock[:2])
    with faked(rig, "+365d"):
        for _ in range(3):
            nothing_goes(rig, about="a year ahead")
        rig.run("run").must(0, 15, 78, about="run")
        rig.push(bench.stock[3])
        nothing_goes(rig, "--older-than", "1d", about="a year ahead, after a push")
    nothing_goes(rig, about="right again")
    nothing_goes(rig, "--older-than", "1d", about="right again")
    gives(rig, *bench.stock[:4])
    clean(rig)


def uploaded_in_the_future(bench):
    """A time from a clock a year ahead delays deletion; prune reports it, and --accept-clock ends the delay."""
    rig = bench.rig()
    rig.push(*bench.stock[:2])
    with faked(rig, "+365d"):
        rig.uploaded(bench.stock[0])
        nothing_goes(rig, about="a year ahead")
    result = nothing_goes(rig, "--older-than", "0s", about="right again")
    expect("clock" in result.text, f"prune does not say that it waits: {result.text!r}")
    status = json.loads(rig.run("status", "--json").must(0).out)
    expect(status["clock"] == "delayed", f"status says that the clock is {status['clock']}")
    nothing_goes(rig, "--accept-clock", about="--accept-clock: as if uploaded now")
    goes(rig, bench.stock[0], options=("--accept-clock", "--older-than", "0s"), about="--accept-clock --older-than 0s")
    status = json.loads(rig.run("status", "--json").must(0).out)
    expect(status["clock"] == "trusted", f"status says that the clock is {status['clock']}")
    holds(rig, bench.stock[1])


def set_back(bench):
    """With a clock a year behind, old captures wait and recorded times do not go back; afterwards everything works."""
    rig = bench.rig()
    rig.push(*bench.stock[:3])
    rig.uploaded(bench.stock[0], days=8)
    with faked(rig, "-365d"):
        nothing_goes(rig, about="a year behind")
        rig.push(bench.stock[3])
        rig.uploaded(bench.stock[1])
        nothing_goes(rig, about="a year behind")
    rows = rig.rows()
    expect(rows[bench.stock[1].id]["finished_at"] >= rows[bench.stock[2].id]["pushed_at"], "a stamp goes back")
    expect(rows[bench.stock[3].id]["pushed_at"] >= rows[bench.stock[2].id]["pushed_at"], "a stamp goes back")
    goes(rig, bench.stock[0], about="right again")
    clean(rig)


def queue_of_a_wrong_boot(bench):
    """If the clock was at 1970 when the queue was made and is right now, no early time hastens deletion."""
    rig = bench.rig()
    with faked(rig, "@1970-01-02 00:00:00"):
        rig.push(*bench.stock[:2])
        rig.uploaded(bench.stock[0])
        nothing_goes(rig, about="1970")
    nothing_goes(rig, about="55 years later on the same boot")
    gives(rig, bench.stock[0])


def forward_in_the_table(bench):
    """The same as `set_forward`, for machines without libfaketime: the rows move back by a year."""
    rig = bench.rig()
    rig.push(*bench.stock[:2])
    rig.uploaded(bench.stock[0])
    with rig.database() as database:
        database.execute("UPDATE clock SET last_seen = last_seen - ?1, anchor_wall = anchor_wall - ?1", (YEAR,))
    rig.aged(*bench.stock[:2], days=365)
    nothing_goes(rig, about="a year ahead")
    nothing_goes(rig, "--older-than", "1h", about="a year ahead")
    gives(rig, bench.stock[0])


def newer_last_seen(bench):
    """If the clock was once 30 days ahead, times continue from there and deletion waits; --accept-clock helps."""
    rig = bench.rig()
    rig.push(*bench.stock[:3])
    with rig.database() as database:
        database.execute("UPDATE clock SET last_seen = last_seen + ?", (30 * DAY,))
        seen, = database.execute("SELECT last_seen FROM clock").fetchone()
    rig.uploaded(bench.stock[0])
    (stamp,), = rig.query("SELECT finished_at FROM captures WHERE id = ?", bench.stock[0].id)
    expect(stamp >= seen, f"a stamp is {seen - stamp} ms below the last time seen")
    nothing_goes(rig, "--older-than", "1d", about="last seen in 30 days")
    (now_seen,), = rig.query("SELECT last_seen FROM clock")
    expect(now_seen >= seen, "the last time seen went back by itself")
    nothing_goes(rig, "--accept-clock", about="--accept-clock")
    (now_seen,), = rig.query("SELECT last_seen FROM clock")
    expect(now_seen < seen, "--accept-clock does not take the wall clock as it is")
    goes(rig, bench.stock[0], options=("--older-than", "0s"), about="after --accept-clock")
    clean(rig)


def another_boot(bench):
    """On another boot the clock is trusted from its first plausible reading; even then nothing is deleted early."""
    rig = bench.rig()
    rig.push(*bench.stock[:2])
    rig.uploaded(bench.stock[0])
    with rig.database() as database:
        database.execute("UPDATE clock SET boot = '00000000-0000-0000-0000-000000000000', anchor_boot = 1")
    nothing_goes(rig, about="another boot")
    rig.aged(bench.stock[0], days=8)
    goes(rig, bench.stock[0], about="another boot, eight days later")
    with rig.database() as database:
        database.execute("UPDATE clock SET boot = '00000000-0000-0000-0000-000000000000', anchor_boot = 1, "
                         "last_seen = last_seen + ?", (30 * DAY,))
    rig.uploaded(bench.stock[1])
    nothing_goes(rig, "--older-than", "1d", about="another boot, last seen in 30 days")
    clean(rig)


TESTS = [
    ("libfaketime changes the tool's clock", faketime_works),
    ("a right clock: captures are released after eight days, not after six", right),
    ("set forward by a year on the same boot: nothing is deleted", set_forward),
    ("uploaded while the clock was ahead: deletion waits, --accept-clock ends it", uploaded_in_the_future),
    ("set back by a year: deletion waits, stamps do not go back", set_back),
    ("a queue made in 1970: nothing is deleted when the clock is right", queue_of_a_wrong_boot),
    ("the table clock shows a jump ahead: nothing is deleted", forward_in_the_table),
    ("a last seen time after now: times continue from it", newer_last_seen),
    ("another boot: nothing is deleted early", another_boot),
]
