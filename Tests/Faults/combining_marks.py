"""Names with combining marks, which join a slash or a quote and the character before it into one Character."""
import json
import subprocess

from bench import write_raw
from checks import expect

MARK = "\u0301"
KELVIN = "\u212a"  # equal to the letter K in Swift's string comparison


def hints_can_be_pasted(bench):
    """The command in a hint works on the right file, and runs nothing else."""
    rig = bench.rig()
    name = f"x'{MARK};touch PWNED;: '{MARK}.bundle"
    bundle = rig.bundle(name)
    rig.trust.unlink()
    said = rig.run("verify", bundle.name, cwd=bundle.parent).must(3).text
    hints = [line.split(": ", 3)[-1] for line in said.splitlines() if "capbundle trust add" in line]
    expect(len(hints) == 1, f"one hint with a command: {said!r}")
    command = hints[0][hints[0].index("capbundle trust add"):].replace("capbundle", f"'{bench.binary}'", 1)
    done = subprocess.run(["sh", "-c", command.replace(" NAME ", " rig ")], cwd=bundle.parent, env=rig.env,
                          capture_output=True)
    expect(not (bundle.parent / "PWNED").exists(), f"the hint ran another command: {command!r}")
    expect(done.returncode == 0, f"the hint does not work: {command!r}: {done.stderr!r}")


def packs_into_the_folder(bench):
    rig = bench.rig()
    (rig.folder / "place").mkdir()
    write_raw(rig.folder / f"{MARK}evil")
    rig.run("pack", f"../{MARK}evil", "--out-dir", "out", cwd=rig.folder / "place").must(0)
    inside = [path.name for path in (rig.folder / "place/out").iterdir()]
    expect(inside == [f"{MARK}evil.bundle"], f"in the folder: {inside}")
    outside = [path.name for path in (rig.folder / "place").iterdir()] + [path.name for path in rig.folder.iterdir()]
    expect(not [name for name in outside if name.endswith(".bundle")], f"outside it: {outside}")


def replaces_in_the_folder(bench):
    rig = bench.rig()
    target = rig.out / f"{MARK}x.bundle"
    for words in ([], ["--force"], ["--force"]):
        rig.run("pack", rig.raw, "-o", f"out/{MARK}x.bundle", *words, cwd=rig.folder).must(0)
    rig.run("verify", target).must(0)
    expect([path.name for path in rig.out.iterdir()] == [target.name], f"left: {list(rig.out.iterdir())}")


def tells_names_apart(bench):
    """Two names that look alike are two captures; U+212A does not count as K."""
    rig = bench.rig()
    for name in ("\u00e9", "e\u0301", "K", KELVIN):
        write_raw(rig.folder / "all" / name)
    names = sorted(path.name for path in (rig.folder / "all").iterdir())
    rig.run("pack", *(rig.folder / "all" / name for name in names), "--out-dir", rig.out).must(0)
    expect(len(list(rig.out.iterdir())) == 4, f"made: {list(rig.out.iterdir())}")


def warns_of_a_member_with_a_dot(bench):
    rig = bench.rig()
    raw = write_raw(rig.folder / "dotted", **{"location.raw": {"latitude": 1}})
    said = rig.run("pack", raw, "-o", rig.out / "x.bundle", "--location", "omit").must(0).text
    expect("location.raw" in said, f"no warning: {said!r}")
    report = rig.run("verify", "--json", rig.out / "x.bundle").must(0)
    expect("location.raw" in json.dumps(json.loads(report.out)), "verify does not warn")


def slash_is_a_folder(bench):
    """`x.bundle/` is not the file `x.bundle`, and no trust file or key with such a name is made."""
    rig = bench.rig()
    bundle = rig.bundle()
    rig.run("verify", f"{bundle}/").must(66)
    rig.run("trust", "list", "--trust", f"{rig.trust}/").must(66)
    rig.run("trust", "add", "other", rig.key + ".pub", "--trust", f"{rig.out}/new/").must(73)
    rig.run("key", "new", "--key", f"{rig.out}/new/").must(73)
    rig.run("pack", rig.raw, "-o", f"{rig.out}/new/").must(73)
    expect(sorted(path.name for path in rig.out.iterdir()) == [bundle.name], f"left: {list(rig.out.iterdir())}")


def hyphens(bench):
    """A hint works for a name that begins with a hyphen; a name that cannot be shown gets no hint."""
    rig = bench.rig()
    for name, count in (("-x.bundle", 1), ("e\x1b[31m.bundle", 0)):
        bundle = rig.bundle(name)
        rig.trust.unlink()
        said = rig.run("verify", "--", name, cwd=bundle.parent).must(3).text
        found = [line for line in said.splitlines() if "capbundle trust add" in line]
        expect(len(found) == count, f"{name}: {said!r}")
        expect(not found or "--from ./-x.bundle" in found[0], f"{name}: {said!r}")
        rig = bench.rig()


TESTS = [("a slash at the end of a file's name", slash_is_a_folder),
         ("hints for odd names", hyphens),
         ("pasted hints run the command that they show", hints_can_be_pasted),
         ("--out-dir contains the packed bundles", packs_into_the_folder),
         ("a name is made and replaced", replaces_in_the_folder),
         ("names that look alike", tells_names_apart),
         ("a location.raw causes a warning", warns_of_a_member_with_a_dot)]
