"""`prune` is killed at each of its system calls.

No row with holding `spool` may lack its file, captures that prune must keep stay whole, and the next prune finishes the
work.
"""
import functools

from checks import expect
from invariants import clean, gives, holds, rows_have_bytes
from kills import Scene, killed_everywhere
from queues import ids


class Prune(Scene):
    """Three captures were uploaded eight days ago; one waits, one is held, two are cancelled, one was uploaded now."""

    options = ()

    def __init__(self, bench):
        stock = bench.stock
        self.old, self.waiting, self.stopped, self.cancelled, self.young = (
            stock[:3], stock[3:4], stock[4:5], stock[5:7], stock[7:8])
        super().__init__(bench)

    def make(self, rig):
        rig.push(*self.bench.stock[:8])
        rig.run("hold", *(bundle.id for bundle in self.stopped)).must(0, about="hold")
        rig.run("cancel", *(bundle.id for bundle in self.cancelled)).must(0, about="cancel")
        rig.uploaded(*self.old)
        rig.uploaded(*self.young)
        rig.aged(*self.old, *self.waiting, *self.stopped, *self.cancelled, days=8)

    def words(self, rig):
        return ["prune", *self.options]

    @property
    def going(self):
        return self.old

    @property
    def staying(self):
        return [*self.waiting, *self.stopped, *self.young, *self.cancelled]

    def judge(self, rig, ended, _):
        names = {bundle.id for bundle in self.going}
        printed = ids(ended)
        expect(set(printed) <= names, f"prints {printed}")
        rows = rows_have_bytes(rig, "after the kill")
        holds(rig, *self.staying, rows=rows, about="after the kill")
        for bundle in self.going:
            holding = rows[bundle.id]["holding"]
            expect(holding in ("spool", "removing", "removed"), f"{bundle.id} is {holding}")
            expect(holding != "removed" or not rig.spool_file(bundle).exists(),
                   f"{bundle.id} is removed, and its file there")
            expect(bundle.id not in printed or holding != "spool", f"{bundle.id} is printed, and held")
        result = rig.run("prune", *self.options).must(0, about="prune again")
        expect(set(ids(result)) <= names, f"prune again prints {result.out[:200]!r}")
        rows = clean(rig, "after prune again")
        for bundle in self.going:
            holding = rows[bundle.id]["holding"]
            expect(holding == "removed", f"prune again leaves {bundle.id} {holding}")
            for ending in ("bundle", "json"):
                expect(not rig.spool_file(bundle, ending).exists(), f"prune again leaves a .{ending}")
        holds(rig, *self.staying, rows=rows, about="after prune again")
        gives(rig, self.staying[0])


class Cancelled(Prune):
    options = ("--cancelled",)

    @property
    def going(self):
        return [*self.old, *self.cancelled]

    @property
    def staying(self):
        return [*self.waiting, *self.stopped, *self.young]


def test(kind, bench):
    killed_everywhere(kind(bench))


TESTS = [("prune: a kill at any system call loses nothing, and the next prune ends it",
          functools.partial(test, Prune)),
         ("prune --cancelled: a kill at any system call loses nothing, and the next prune ends it",
          functools.partial(test, Cancelled))]
