"""Without a command, or without a command line that Swift's runtime can find, the tool never reports success."""
import os
import subprocess

from Kit.clocks import shifted
from Kit.injection import preloaded
from Kit.outcomes import Skipped, expect, long

SHIM = '#include <stdlib.h>\n__attribute__((constructor)) static void early(void) { setenv("EARLY", "1", 1); }\n'


def early(bench):
    """A library whose constructor calls setenv, which moves the environment away from the arguments."""
    return preloaded(bench, "early", SHIM)


def spoilt(rig):
    data = bytearray(rig.bundle().read_bytes())
    data[data.index(b"\x12\x34" * 8)] ^= 1
    path = rig.out / "spoilt.bundle"
    path.write_bytes(data)
    return path


def judge_words(rig, **how):
    """Returns what the tool prints for arguments of all kinds."""
    bad = spoilt(rig)
    rig.run("verify", bad, **how).must(1, about="verify of an altered bundle")
    rig.run("verify", rig.out / "x.bundle", **how).must(0, about="verify of a sound bundle")
    rig.run("verify", *[bad] * 200, **how).must(1, about="200 names")
    rig.run("verify", "", **how).must(64, 66, about="an empty name")
    rig.run("verify", "--", "", bad, "", **how).must(66, about="empty names round a bad one")
    rig.run("verify", os.fsdecode(b"x\xff.bundle"), **how).must(64, about="a name that is not UTF-8")
    result = rig.run("key", "new", "--nonsense", **how).must(64, about="an unknown option")
    expect("see capbundle key new --help" in result.text, f"the hint: {result.text!r}")
    expect(rig.run("--version", **how).must(0).out.strip(), "--version prints nothing")


def hidden_by_setenv(bench):
    judge_words(bench.rig(), env=early(bench))


def under_faketime(bench):
    judge_words(bench.rig(), prefix=shifted("+1d"))


def without_proc(bench):
    """If neither the runtime nor the tool can find the arguments, a message says so."""
    rig = bench.rig()
    hide = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if os.geteuid() != 0 or subprocess.run([*hide, "true"], capture_output=True, check=False).returncode != 0:
        raise Skipped("only root can hide /proc")
    for words in ([], ["--version"], ["verify", spoilt(rig)]):
        result = rig.run(*words, prefix=hide).must(70, about=f"{words} without /proc")
        expect(not result.out, f"{words} without /proc: something on standard output")
        result.naming("/proc/self/cmdline")


def no_name(bench):
    """A process can be started even without a name for itself; Linux gives it an empty one since 5.18."""
    for env in ({}, early(bench)):
        tool = subprocess.run([""], executable=bench.binary, env=bench.rig().env | env, capture_output=True,
                              timeout=20, check=False)
        expect(tool.returncode == 64, f"exit {tool.returncode}, expected 64: {tool.stderr[:200]!r}")


TESTS = [
    ("arguments that a preloaded library hides", hidden_by_setenv),
    ("arguments under faketime", long(under_faketime)),
    ("arguments that cannot be found: 70", without_proc),
    ("an empty name of the program", no_name),
]
