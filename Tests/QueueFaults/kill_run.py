"""`run` to a folder is killed at each of its system calls: no capture is stuck, and no partial file is delivered."""
import json

from checks import expect
from invariants import clean, gives, holds
from kills import Scene, killed_everywhere


class Run(Scene):
    """Two captures are sent to a mounted disk."""

    count = 2

    def make(self, rig):
        rig.push(*self.bench.stock[:self.count])
        (rig.out / "disk").mkdir()

    def enter(self, rig):
        # The destination contains its path, so it cannot be copied with the rig.
        rig.run("dest", "add", "disk", "--kind", "folder", "--path", rig.out / "disk").must(0, about="dest add")

    def words(self, rig):
        return ["run"]

    def judge(self, rig, ended, _):
        sent = self.bench.stock[:self.count]
        disk = rig.out / "disk"
        rows = rig.rows(about="after the kill")
        holds(rig, *sent, rows=rows, about="after the kill")
        for bundle in sent:
            copy = disk / f"{bundle.id}.bundle"
            expect(not copy.exists() or copy.read_bytes() == bundle.data, "a partial copy is under the final name")
            state = rows[bundle.id]["state"]
            expect(state in ("pending", "uploading", "completed"), f"a delivery is {state} after the kill")
            expect(state != "completed" or copy.exists(), "completed without a copy")
        rig.run("run").must(0, about="run again")
        rows = clean(rig, "after run again")
        for bundle in sent:
            expect((disk / f"{bundle.id}.bundle").read_bytes() == bundle.data, "run again: another copy, or none")
            expect(rows[bundle.id]["state"] == "completed", f"run again leaves {rows[bundle.id]['state']}")
            delivery, = rows[bundle.id]["deliveries"]
            receipt = delivery["receipt"]
            receipt = json.loads(receipt) if isinstance(receipt, str) else receipt
            expect(receipt["sha256"] == bundle.sha256 and receipt["kind"] == "folder", f"the receipt is {receipt}")
            expect(1 <= delivery["attempts"] <= 2, f"{delivery['attempts']} attempts are counted")
        left = {path.name for path in disk.iterdir()} - {f"{bundle.id}.bundle" for bundle in sent}
        expect(left == {".capqueue-destination"}, f"the destination holds {sorted(left)} besides")
        gives(rig, sent[0])


def test(bench):
    killed_everywhere(Run(bench))


TESTS = [("run: a kill at any system call strands no capture in uploading, and leaves no half copy", test)]
