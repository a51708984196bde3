"""`redact` and `restore`: their bytes against archives that Python cuts, and kills at each of their system calls.

They promise that the new bundle is complete or missing, that the bundles which they read stay as they are, and that no
file is left behind, except a hidden one beside a bundle that is being replaced.
"""
import functools
import itertools
import re

from checks import expect
from injection import prefix, report, since, sweep, trace, without_unnamed_files

NAMES = ("depth.f32.gz", "location.json", "photo.jpg")
MODES = {"": (), ", replacing a file": ("--force",), ", without O_TMPFILE": ("named",)}


def members(data):
    """Yields (name, whole member) of an archive, and at last (None, the end mark)."""
    position = 0
    while data[position]:
        name = data[position:position + 100].rstrip(b"\0").decode()
        size = int(data[position + 124:position + 135], 8)
        end = position + 512 + -(-size // 512) * 512
        yield name, data[position:end]
        position = end
    yield None, data[position:]


def without(names, data):
    return b"".join(member for name, member in members(data) if name not in names)


def marked(rig):
    """Packs a bundle of which everything but the metadata can be withheld."""
    target = rig.out / "whole.bundle"
    rig.pack(target, "--withholdable", "photo,depth").must(0, about="pack")
    return target


def every_subset(bench):
    rig = bench.rig()
    whole = marked(rig)
    data = whole.read_bytes()
    kept = rig.folder / "kept"
    rig.run("extract", whole, "-o", kept).must(0, about="extract")
    for count in range(1, len(NAMES) + 1):
        for names in itertools.combinations(NAMES, count):
            cut, back = rig.out / "cut.bundle", rig.out / "back.bundle"
            rig.run("redact", whole, "--withhold", ",".join(names), "-o", cut, "--force").must(0, about="redact")
            expect(cut.read_bytes() == without(names, data), f"redact --withhold {names} differs from the archive that Python cut")
            rig.verify(cut, code=4, about=f"verify without {names}")
            rig.run("verify", "--allow-withheld", cut).must(0, about=f"verify --allow-withheld without {names}")
            rig.run("restore", cut, *(kept / name for name in names), "-o", back, "--force").must(0, about="restore")
            expect(back.read_bytes() == data, f"restore of {names} does not give the original")


def killed(command, words, bench):
    named, options = "named" in words, [word for word in words if word.startswith("--")]

    def make():
        rig = bench.rig()
        whole = marked(rig)
        cut = rig.out / "cut.bundle"
        cut.write_bytes(without(("location.json", "photo.jpg"), whole.read_bytes()))
        if options:
            (rig.out / "x.bundle").write_bytes(b"old")
        return rig

    def arguments(rig):
        target = ["-o", rig.out / "x.bundle", *options]
        if command == "redact":
            return ["redact", rig.out / "whole.bundle", "--withhold", "location.json,photo", *target]
        return ["restore", rig.out / "cut.bundle", rig.out / "whole.bundle", *target]

    rig, extra = make(), ()
    calls = trace(rig, *arguments(rig))
    if named:
        extra, rig = without_unnamed_files(calls), make()
        calls = trace(rig, *arguments(rig), extra=extra)
    hidden = r"\.x\.bundle\.\w+\.tmp" if named or options else "nothing"

    def trial(call):
        rig = make()
        inputs = {path: path.read_bytes() for path in (rig.out / "whole.bundle", rig.out / "cut.bundle")}
        whole, cut = inputs.values()
        result = rig.run(*arguments(rig), prefix=prefix(call, "signal=KILL", extra))
        problems = [] if result.code in (-9, 137) else [f"was not killed: exit {result.code}"]
        problems += [f"{path.name} was changed" for path, data in inputs.items() if path.read_bytes() != data]
        target = rig.out / "x.bundle"
        data = target.read_bytes() if target.exists() else None
        if data not in (cut if command == "redact" else whole, b"old" if options else None):
            problems.append("the target is neither complete nor as before")
        left = [name for name in rig.strays() if not re.fullmatch(hidden, name)]
        if left:
            problems.append(f"leaves {', '.join(left)}")
        return [f"killed at {call}: {text}" for text in problems]

    first = "whole.bundle" if command == "redact" else "cut.bundle"
    report(sweep(since(calls, first), trial))


TESTS = [("each subset is cut out as Python cuts it, and put back", every_subset)]
TESTS += [(f"{command}{mode}: a kill at any system call leaves the new bundle complete or missing",
           functools.partial(killed, command, words))
          for command in ("redact", "restore") for mode, words in MODES.items()]
