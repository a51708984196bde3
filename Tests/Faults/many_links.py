"""chain needs little memory for many bundles, because it sorts their links in temporary files."""
import os
import pathlib
import resource
import signal

from checks import expect
from memory import frugal, measured

SIDES = pathlib.Path(__file__).resolve().parents[2] / "Spec/Vectors/side"
# More than twice the number of links that are sorted in memory (65,536). More would take minutes on a busy machine.
LINKS = 140_000
# A million links may take 200 MB. Most of what is measured here is the same for any number of links.
LIMIT = 64 << 20


def _names(rig, count):
    """Writes a list of names for --from0: the links 1 to 3 of a chain, each under many long names."""
    folder = rig.folder / ("d" * 200)
    folder.mkdir()
    for seq in (1, 2, 3):
        (folder / str(seq)).write_bytes((SIDES / f"chain_{seq}").read_bytes())
    path = rig.folder / "names"
    with open(path, "wb") as file:
        for index in range(count):
            file.write(b"%s/%s%d\0" % (os.fsencode(folder), b"./" * (index % 7), 1 + index % 3))
    return path


def little_memory(bench):
    """The links of 140,000 names are sorted in 64 MiB."""
    rig = bench.rig()
    for words in ((), ("--json",)):
        with open(_names(rig, LINKS) if not words else rig.folder / "names", "rb") as names:
            frugal(measured(rig, "chain", "--from0", *words, stdin=names), 0, LIMIT, f"chain {' '.join(words)}")
    with open(rig.folder / "names", "rb") as names:
        done = rig.run("chain", "--from0", stdin=names).must(0, about="chain")
    found = done.out.decode()
    expect(f"links 1 to 3\n  3 links in {LINKS} files, no fault\n  newest: link 3 in " in found
           and f"\n{LINKS} bundles: {LINKS} in 1 chain; no fault" in found, f"found {found}")


def full_disk(bench):
    """A temporary file that cannot grow ends the command with 74, and no result is printed."""
    rig = bench.rig()

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    with open(_names(rig, 100_000), "rb") as names:
        done = rig.run("chain", "--from0", stdin=names, restore_signals=False, preexec_fn=limit)
    expect(done.code == 74, f"exit {done.code}: {done.text}")
    expect("TMPDIR" in done.text, f"the error does not name TMPDIR: {done.text}")
    expect(not done.out, f"printed {done.out}")


def missing_temporary_folder(bench):
    """A folder for temporary files that does not exist is 73."""
    rig = bench.rig()
    done = rig.run("chain", SIDES / "chain_1", env={"TMPDIR": str(rig.folder / "missing")})
    expect(done.code == 73, f"exit {done.code}: {done.text}")


TESTS = [
    ("the links of 140,000 names in 64 MiB", little_memory),
    ("the temporary file of the links cannot grow", full_disk),
    ("the folder for temporary files is missing", missing_temporary_folder),
]
