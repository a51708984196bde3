"""`salvage` is killed at each of its system calls: the next one rebuilds everything."""
from checks import expect
from invariants import clean, gives, holds
from kills import Scene, killed_everywhere


class Salvage(Scene):
    """Five captures, and a database whose first page is overwritten."""

    def make(self, rig):
        rig.push(*self.bench.stock[:5])
        with open(rig.queue / "queue.sqlite", "r+b") as database:
            database.write(self.bench.chance("salvage").randbytes(4096))

    def words(self, rig):
        return ["salvage"]

    def judge(self, rig, ended, _):
        held = self.bench.stock[:5]
        for bundle in held:
            expect(rig.spool_file(bundle).read_bytes() == bundle.data, "bytes are lost or changed")
            expect(rig.spool_file(bundle, "json").exists(), "a sidecar is gone")
        before = self.origin.queue / "queue.sqlite"
        kept = [path for path in rig.queue.iterdir() if path.is_file() and path.read_bytes() == before.read_bytes()]
        expect(kept, "the damaged database is nowhere")
        listed = rig.run("list", "--json")
        listed.must(0, 66, 74, about="list after the kill")
        expect(listed.code or len(listed.out.splitlines()) in (0, 5), "list works but shows only a part")
        # If the killed salvage finished, the database is sound, and salvage refuses to replace that.
        rig.run("salvage").must(64 if listed.code == 0 and listed.out else 0, about="salvage again")
        rows = clean(rig, "after salvage again")
        holds(rig, *held, rows=rows, about="after salvage again")
        gives(rig, held[0], held[-1])
        pushed = rig.bench.stock[6]
        rig.push(pushed)
        holds(rig, *held, pushed, about="after another push")


def test(bench):
    killed_everywhere(Salvage(bench))


TESTS = [("salvage: a kill at any system call loses nothing, and the next one rebuilds all", test)]
