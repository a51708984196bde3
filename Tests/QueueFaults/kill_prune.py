"""`prune` is killed at each of its system calls.

No row with holding `spool` may lack its file, captures that prune must keep stay whole, and the next prune finishes the
work.
"""
from Kit.outcomes import expect
from Kit.invariants import clean, gives, holds, rows_have_bytes
from Kit.kills import Scene, killed_everywhere
from Kit.queues import ids


class Prune(Scene):
    """Two captures were uploaded eight days ago; one waits, one is held, one is cancelled, one was uploaded now."""

    def __init__(self, bench):
        self.going, self.staying = bench.stock[:2], bench.stock[2:6]
        super().__init__(bench)

    def make(self, rig):
        rig.push(*self.bench.stock[:6])
        _, held, cancelled, young = self.staying
        rig.run("hold", held.id).must(0, about="hold")
        rig.run("cancel", cancelled.id).must(0, about="cancel")
        rig.uploaded(*self.going, young)
        rig.aged(*self.going, *self.staying[:3], days=8)

    def words(self, rig):
        return ["prune"]

    def judge(self, rig, ended, _):
        names, printed = {bundle.id for bundle in self.going}, ids(ended)
        expect(set(printed) <= names, f"prints {printed}")
        rows = rows_have_bytes(rig, "after the kill")
        holds(rig, *self.staying, rows=rows, about="after the kill")
        for bundle in self.going:
            holding = rows[bundle.id]["holding"]
            expect(holding in ("spool", "removing", "removed"), f"{bundle.id} is {holding}")
            expect(holding != "removed" or not rig.spool_file(bundle).exists(),
                   f"{bundle.id} is removed, and its file there")
            expect(bundle.id not in printed or holding != "spool", f"{bundle.id} is printed, and held")
        result = rig.run("prune").must(0, about="prune again")
        expect(set(ids(result)) <= names, f"prune again prints {result.out[:200]!r}")
        rows = clean(rig, "after prune again")
        for bundle in self.going:
            holding = rows[bundle.id]["holding"]
            expect(holding == "removed", f"prune again leaves {bundle.id} {holding}")
            for ending in ("bundle", "json"):
                expect(not rig.spool_file(bundle, ending).exists(), f"prune again leaves a .{ending}")
        holds(rig, *self.staying, rows=rows, about="after prune again")
        gives(rig, self.staying[0])


def killed(bench):
    killed_everywhere(Prune(bench))


TESTS = [("prune: a kill at any system call loses nothing, and the next prune ends it", killed)]
