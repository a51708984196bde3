"""mypy finds nothing in the package, and sees its types in a program that uses it."""
import sys

from Kit.outcomes import expect, long

from Python.suite import PACKAGE

PROGRAM = """
import capbundle
with capbundle.open("x.bundle", trust=b"", require=["depth"]) as bundle:
    reveal_type(bundle.verdict)
    reveal_type(bundle.depth)
    reveal_type(bundle.intrinsics)
    reveal_type(bundle.pose)
for bundle in capbundle.iterate("folder", verify=False):
    reveal_type(bundle.photo)
capbundle.open("x.bundle", trusts="")
"""
SEEN = ["capbundle.bundle.Verdict | None", "_32Bit", "fallback=capbundle.bundle.Intrinsics] | None", "tuple[tuple[float", "bytes | None",
        'Unexpected keyword argument "trusts"']


@long
def types(place):
    config = ["--config-file", PACKAGE / "pyproject.toml", "--cache-dir", place.folder / "mypy"]
    done = place.rig.call(sys.executable, "-m", "mypy", *config, PACKAGE / "src")
    expect(done.code == 0, f"{done.out.decode()[-900:]}")
    program = place.folder / "program.py"
    program.write_text(PROGRAM)
    done = place.rig.call(sys.executable, "-m", "mypy", *config, program, env={"MYPYPATH": f"{PACKAGE}/src"})
    missing = [words for words in SEEN if words not in done.out.decode()]
    expect(not missing, f"mypy does not see {missing}: {done.out.decode()}")


TESTS = [("strict types", types)]
