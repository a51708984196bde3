"""Plays the recorded commands of each release, in their order, and compares results and vectors."""
import json

from Kit.outcomes import ROOT, expect
from Released import make
from Released.data import differences, releases, vectors

# What a later version does otherwise on purpose: the difference, and why.
CHANGED = {
    "capqueue list --json --queue queue: .json[7].holding is spool, was removed":
        "prune keeps what 1.0 sent to a folder until a run has read the copy: FAT and btrfs may have lost it",
}
NO_INPUT = {"capbundle key new", "capqueue init"}  # they read nothing that an earlier version wrote


def reads(tools):
    for data in releases():
        place = tools.unpack(data, data.name)
        problems = []
        for step in json.loads((data / "results.json").read_text()):
            words = step.pop("run")
            today, done = tools.play(place, words)
            found = [one for one in differences(step, today) if f"{' '.join(words)}: {one}" not in CHANGED]
            problems += [f"{' '.join(words)}: {'; '.join(found[:3])}: {done.text.strip()[:200]}"] if found else []
        expect(not problems, f"{data.name}, {len(problems)} commands: {' | '.join(problems[:4])}")


def each_command(tools):
    """No command that reads something is missing among the recorded ones of the newest release."""
    steps = json.loads((releases()[-1] / "results.json").read_text())
    played = {" ".join(step["run"]) for step in steps}
    for tool, binary in tools.tools.items():
        tree = json.loads(tools.call(binary, "--experimental-dump-help").must(0).out)["command"]
        missing = [name for name in make.commands(tree, tool) if name not in NO_INPUT
                   and not any(f"{line} ".startswith(f"{name} ") for line in played)]
        expect(not missing, f"no recorded command for {', '.join(missing)}")


def keeps_vectors(_):
    """Each vector of a release still has the same bytes under the same name."""
    today = vectors()
    for data in releases():
        kept = dict(reversed(line.split("  ")) for line in (data / "vectors").read_text().splitlines())
        changed = [name for name, sha256 in kept.items() if today.get(name) != sha256]
        expect(not changed, f"{len(changed)} vectors of {data.name} were changed: {', '.join(changed[:5])}")


def has_this_version(_):
    version = make.version()
    expect((ROOT / "Tests/Data" / version.rpartition(".")[0]).is_dir(), f"Tests/Data has nothing of {version}")
    heads = [line for line in (ROOT / ".github/CHANGELOG.md").read_text().splitlines() if line.startswith("## ")]
    expect(heads[0].split()[1] == version, f"the changelog begins with {heads[0]!r}, and this is {version}")


TESTS = [
    ("today's tools read what each release wrote, with the recorded results", reads),
    ("the recorded results have each command", each_command),
    ("no vector of a release was changed", keeps_vectors),
    ("Tests/Data and the changelog have this version", has_this_version),
]
