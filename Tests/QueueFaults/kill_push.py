"""`push` is killed at each of its system calls.

Every acknowledged capture is stored, no row lacks its bytes, and the same push again leads to one copy of everything.
Half of the trials push again at once; in the other half `check --repair` first adopts what the kill left.
"""
import os

from Kit.outcomes import expect, long
from Kit.invariants import clean, gives, holds, only_strays, pushes, rows_have_bytes
from Kit.kills import Scene, killed_everywhere
from Kit.disks import without_nameless_files
from Kit.queues import ids


class Push(Scene):
    """Bundles from number 2 on are pushed into a queue that holds bundle 0."""

    before, count, options = 1, 1, ()

    def __init__(self, bench):
        self.held, self.new = bench.stock[:self.before], bench.stock[2:2 + self.count]
        super().__init__(bench)

    def make(self, rig):
        if self.held:
            rig.push(*self.held)

    def words(self, rig):
        return ["push", *self.options, *(self.source(rig, bundle) for bundle in self.new)]

    def source(self, _, bundle):
        return bundle.path

    def judge(self, rig, ended, number):
        printed = ids(ended)
        # On a full disk a later bundle may find room where an earlier one did not.
        kept = [bundle for bundle in self.new if bundle.id in printed]
        expect(printed == [bundle.id for bundle in kept], f"printed {printed}")
        acknowledged = [*self.held, *kept]
        if not self.held and not printed and rig.run("list").code == 66:
            pass  # the queue does not exist yet
        else:
            rows = rows_have_bytes(rig, "after the kill")
            holds(rig, *acknowledged, rows=rows, about="after the kill")
            self.judge_sources(rig, rows)
            only_strays(rig, "check after the kill")
            if number % 2:
                rig.run("check", "--repair").must(0, 15, about="check --repair")
                clean(rig, "after check --repair")
        self.again(rig)
        rows = clean(rig, "after the push again")
        expect(rows.keys() == {bundle.id for bundle in [*self.held, *self.new]}, f"lists {sorted(rows)}")
        holds(rig, *self.held, *self.new, rows=rows)
        gives(rig, self.new[-1])

    def judge_sources(self, rig, rows):
        """Checks that the sources are unchanged; a plain push touches none."""

    def again(self, rig):
        pushes(rig, *self.new, options=self.options)


class First(Push):
    before = 0


class Several(Push):
    count = 3


class Moved(Push):
    """With --move a source may be gone only if the queue holds its bytes."""

    count, options = 2, ("--move",)

    def source(self, rig, bundle):
        return rig.out / bundle.path.name

    def enter(self, rig):
        for bundle in self.new:
            self.source(rig, bundle).write_bytes(bundle.data)

    def judge_sources(self, rig, rows):
        for bundle in self.new:
            path = self.source(rig, bundle)
            if path.exists():
                expect(path.read_bytes() == bundle.data, "a source has changed")
            else:
                holds(rig, bundle, rows=rows, about="its source is gone")

    def again(self, rig):
        left = [bundle for bundle in self.new if self.source(rig, bundle).exists()]
        if left:
            result = rig.run("push", "--move", *(self.source(rig, bundle) for bundle in left)).must(0, about="again")
            expect(ids(result) == [bundle.id for bundle in left], f"pushed again: prints {result.out[:200]!r}")
        expect(not list(rig.out.iterdir()), f"--move leaves {os.listdir(rig.out)}")


class Named(Push):
    """A push on a file system without nameless files; the next check removes what a kill left in incoming/."""

    def run(self, rig, prefix=()):
        return rig.run(*self.words(rig), prefix=[*prefix, *without_nameless_files()])


def test(kind):
    return lambda bench: killed_everywhere(kind(bench))


SCENES = {"push of a bundle": test(Push), "push --move of two bundles": test(Moved),
          "the push that makes the queue": long(test(First)), "push of three bundles": long(test(Several)),
          "push without nameless files": long(test(Named))}
TESTS = [(f"{title}: a kill at any system call loses nothing and doubles nothing", function)
         for title, function in SCENES.items()]
