"""What must hold for the bundles of a chain, whatever happened while they were packed (Spec section 9.3)."""
import re

from Kit.outcomes import expect
from Kit.records import fields_of_state, links_in


class Chain:
    """All links that were ever seen in the folder of a rig, and what the tool said about them.

    `known` is a rig with links that were seen before.
    """

    def __init__(self, rig, known=None):
        self.rig, self.texts = rig, []
        self.links = set(links_in(known.out).values()) if known else set()

    def look(self, *results):
        """Remembers the links that the folder has now, and the messages of runs."""
        self.links |= set(links_in(self.rig.out).values())
        self.texts += [result.text for result in results]

    def state(self):
        return fields_of_state((self.rig.keys / "device.key.state").read_bytes())

    def missing(self):
        """Returns the links up to the last one that no bundle has."""
        last = max([self.state()["seq"], *(link.seq for link in self.links)])
        return set(range(1, last + 1)) - {link.seq for link in self.links}

    def judge(self, may_have_gaps=False):
        """No fork; the links follow each other; counters rise with them; the tool named each missing link."""
        self.look()
        manifests = {}
        for link in self.links:
            other = manifests.setdefault(link.seq, link)
            expect(other.manifest == link.manifest, f"fork: two manifests have link {link.seq}")
        for seq, link in manifests.items():
            before = manifests.get(seq - 1)
            expect((link.prev is None) == (seq == 1), f"link {seq} has prev {link.prev}")
            if before:
                expect(link.prev == before.manifest, f"link {seq} does not follow link {seq - 1}")
                expect(link.counter > before.counter, f"link {seq}: counter {link.counter} after {before.counter}")
        state = self.state()
        expect(not state["pending"], f"links are still pending: {state['pending']}")
        expect(state["seq"] >= max(manifests, default=0), f"the state ends at link {state['seq']}")
        if state["seq"] in manifests:
            expect(state["last"] == manifests[state["seq"]].manifest, "the state has another manifest for its link")
        told = {int(seq) for text in self.texts for seq in re.findall(r"link (\d+) was given out", text)}
        missing = self.missing()
        expect(missing <= told, f"no bundle has the links {sorted(missing - told)}, and the tool did not say so")
        expect(may_have_gaps or not missing, f"no bundle has the links {sorted(missing)}")
