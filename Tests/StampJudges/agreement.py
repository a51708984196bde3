"""The table of stamps before all judges. Each stamp about which a judge differs from ours has its line in
Spec/time-stamps.md, section 7."""
import functools
import re

from Kit.outcomes import ROOT, expect
from StampJudges import made_elsewhere, table
from StampJudges.judges import NEW, OLD, OTHERS, capbundle
from StampJudges.stamps import GOOD


@functools.cache
def rows(bench):
    """Returns (what ours says, the bytes) by the names of the stamps."""
    found = table.table(bench.signers, bench.data) | made_elsewhere.rows(bench.signers, bench.data)
    expect(len(found) >= 150, f"the table has {len(found)} stamps")
    return found


def stamps(bench):
    return {name: stamp for name, (_, stamp) in rows(bench).items()}


def ours(bench, place):
    told = capbundle(bench, place, stamps(bench))
    wrong = [f"{name}: expected {wanted}, found {told[name]}" for name, (wanted, _) in rows(bench).items()
             if told[name] != wanted]
    expect(not wrong, "; ".join(wrong))


def differences(bench):
    """Both ways: a difference without a line, and a line without a difference."""
    found = {}
    for judge, verdicts in bench.others(stamps(bench)).items():
        expect(None in verdicts.values() and len(set(verdicts.values())) > 5, f"{judge} says the same of all stamps")
        for name, (wanted, _) in rows(bench).items():
            if (verdicts[name] is None) != wanted.startswith(GOOD):
                found.setdefault(name, (wanted, set()))[1].add(judge)
    lines = listed((ROOT / "Spec/time-stamps.md").read_text())
    wrong = [f"{name}: found {shown(found.get(name))}, the page has {shown(lines.get(name))}"
             for name in sorted(found.keys() | lines.keys()) if found.get(name) != lines.get(name)]
    expect(not wrong, "; ".join(wrong))


def shown(difference):
    if difference is None:
        return "no difference"
    return f"{difference[0]} here, otherwise {', '.join(sorted(difference[1]))}"


def listed(text):
    """Returns (what ours says, the judges that differ) by the names of the stamps, from the tables of section 7."""
    section = text.partition("\n## 7. ")[2].partition("\n## ")[0]
    expect(section, "Spec/time-stamps.md has no section 7")
    found = {}
    for line in re.findall(r"^\| (?!Stamps|---)(.*) \|$", section, re.M):
        names, here, judges, reason = line.split(" | ")
        expect(re.search(r"RFC \d+ \d|X\.690 \d", reason), f"{names}: no sentence of a standard in {reason!r}")
        chosen = {judge for part in judges.split(", ") for judge in ((OLD, NEW) if part == "OpenSSL" else (part,))}
        expect(chosen <= set(OTHERS), f"{names}: unknown judges {chosen - set(OTHERS)}")
        for name in names.split("; "):
            expect(name not in found, f"{name} has two lines")
            found[name] = (here, chosen)
    return found


TESTS = [
    (f"what ours says of each stamp of the table, with {OLD}", lambda bench: ours(bench, bench.here)),
    (f"what ours says of each stamp of the table, with {NEW}", lambda bench: ours(bench, bench.newer)),
    ("each difference of the others has its line in Spec/time-stamps.md", differences),
]
