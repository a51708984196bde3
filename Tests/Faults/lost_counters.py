"""A lost counter stops all signing (78) until `key recover`, which never goes back."""
import os
import shutil

from Kit.disks import OVERLAY, mounted
from Kit.outcomes import every, expect
from Kit.records import counter_in, state_with
from Kit.tracing import require_strace, strace

TOP = 2 ** 32 - 1


def lost(bench):
    """Each way to lose the state gives 78 and a hint that works."""
    cases = {
        "missing": lambda path, data: path.unlink(),
        "cut to half": lambda path, data: path.write_bytes(data[:len(data) // 2]),
        "zeros": lambda path, data: path.write_bytes(bytes(len(data))),
        "a counter above the top": lambda path, data: path.write_bytes(state_with(data, TOP + 1)),
        "CRLF": lambda path, data: path.write_bytes(data.replace(b"\n", b"\r\n")),
    }

    def judge(name, spoil):
        rig = bench.copy(used)
        path = rig.keys / "device.key.state"
        spoil(path, path.read_bytes())
        if path.exists():
            path.chmod(0o600)
        spoilt = path.read_bytes() if path.exists() else None
        for words in (["pack", rig.raw, "-o", rig.out / "3.bundle"], ["key", "show"]):
            result = rig.run(*words).must(78, about=words[0]).naming(path, words[0])
            expect("key recover" in result.text, f"no hint of key recover: {result.text!r}")
        expect(not (rig.out / "3.bundle").exists(), "a bundle was made")
        expect((path.read_bytes() if path.exists() else None) == spoilt, "the state was touched")
        rig.run("key", "recover", "--counter", "2").must(0, about="key recover")
        expect(rig.state() == 2 and path.stat().st_mode & 0o777 == 0o600, "the state is not made anew")
        bundle = rig.bundle("3.bundle")
        expect(counter_in(bundle.read_bytes()) == 3, f"counter {counter_in(bundle.read_bytes())}, expected 3")

    used = bench.rig()
    for name in ("1.bundle", "2.bundle"):
        used.bundle(name)
    every(cases, judge)


def cut_while_replaced(bench):
    """Where a cut within a rename can take both names of a file, state and trust file are written again from a kept copy."""
    require_strace()
    rig = bench.rig()
    with mounted(rig, rig.folder / "disk", OVERLAY) as place:
        shutil.copytree(rig.home, place.inside / "home", dirs_exist_ok=True)
        rig.env["HOME"] = str(place.place / "home")
        keys, trust = (place.inside / path.relative_to(rig.folder) for path in (rig.keys, rig.trust))
        kill = strace("-e", "trace=renameat", "-e", "inject=renameat:signal=KILL")

        def cut(file, *words):
            """Kills a command where it replaces a file, and takes the file away, as the cut does."""
            done = rig.run(*words, prefix=[*place.prefix, *kill])
            expect(done.code in (-9, 137), f"{words[0]} was not killed: exit {done.code}")
            expect((file.parent / f".{file.name}.kept.tmp").exists(), f"no copy of {file.name} was kept")
            file.unlink()

        def run(*words, code=0):
            return rig.run(*words, prefix=place.prefix).must(code, about=" ".join(map(str, words)))

        run("pack", rig.raw, "-o", rig.out / "1.bundle")
        cut(keys / "device.key.state", "pack", rig.raw, "-o", rig.out / "2.bundle")
        run("pack", rig.raw, "-o", rig.out / "3.bundle")
        counter = counter_in((rig.out / "3.bundle").read_bytes())
        expect(counter == 3, f"counter {counter} after a cut at 2")
        cut(trust, "trust", "set", "rig", "--valid-after", "2020-01-01T00:00:00Z")
        run("verify", rig.out / "3.bundle")
        left = [path.name for folder in (keys, trust.parent) for path in folder.iterdir() if "kept" in path.name]
        expect(not left, f"left behind: {left}")


def not_back_when_open(bench):
    """A state with an open mode is still whole: its counter and its salt still count."""
    rig = bench.rig()
    rig.bundle()
    path = rig.keys / "device.key.state"
    path.write_bytes(state_with(path.read_bytes(), 700))
    before = path.read_bytes()
    path.chmod(0o644)
    result = rig.run("key", "recover", "--counter", "1")
    expect(result.code != 0 and path.read_bytes() == before,
           f"exit {result.code}: a sound state with mode 644 went from counter 700 back to {rig.state()}")


def wrong_numbers(bench):
    rig = bench.rig()
    for text in ("-1", "", "x", str(TOP + 1), "1.5", "9" * 40, "0x10"):
        rig.run("key", "recover", f"--counter={text}").must(64, about=f"--counter={text}")
    expect(rig.state() == 0, "the state was changed")


def odd_files(bench):
    """A folder, FIFO or link in the place of the state or the lock gives a message soon, and no link is followed."""
    makers = {"a folder": os.mkdir, "a dangling link": lambda path: path.symlink_to("nowhere"),
              "a FIFO": lambda path: os.mkfifo(path, 0o600), "a device": lambda path: path.symlink_to("/dev/zero")}

    def judge(_, case):
        end, make = case
        rig = bench.rig()
        path = rig.keys / f"device.key.{end}"
        path.unlink(missing_ok=True)
        make(path)
        rig.pack(rig.out / "x.bundle").must(*((66,) if end == "state" else (73,)), 74, 77, 78).naming(rig.keys)
        expect(not list(rig.out.iterdir()) and not (rig.keys / "nowhere").exists(), "something was written")

    every({f"{name} as the {end}": (end, make) for end in ("state", "lock") for name, make in makers.items()
           if end == "state" or "a F" not in name and "device" not in name}, judge)


def swapped_public_half(bench):
    """With another key's public half nothing is signed under a wrong name."""
    rig, other = bench.rig(), bench.rig(empty=True)
    other.run("key", "new").must(0)
    (rig.keys / "device.key.pub").write_bytes((other.keys / "device.key.pub").read_bytes())
    rig.run("key", "show").must(78, about="key show with another's public half")
    rig.verify(rig.bundle())


def swapped_encrypted(bench):
    """An encrypted key without its state: key recover opens the key, and refuses another key's public half."""
    rig, other = bench.rig(empty=True), bench.rig(empty=True)
    secret = rig.folder / "secret"
    secret.write_text("a passphrase\n")
    secret.chmod(0o600)
    rig.run("key", "new", "--passphrase-file", secret).must(0)
    other.run("key", "new").must(0)
    half = rig.keys / "device.key.pub"
    own = half.read_bytes()
    half.write_bytes((other.keys / "device.key.pub").read_bytes())
    (rig.keys / "device.key.state").unlink()
    recover = ("key", "recover", "--counter", "5", "--passphrase-file", secret)
    rig.run(*recover).must(78).naming("device.key.pub")
    expect(not (rig.keys / "device.key.state").exists(), "a state was made for another key")
    half.write_bytes(own)
    rig.run(*recover).must(0)


def foreign_state(bench):
    """A sound state of another key has that key's counter: it is refused, and key recover does not change it."""
    other = bench.rig(empty=True)
    other.run("key", "new").must(0)
    rig = bench.rig()
    path = rig.keys / "device.key.state"
    path.write_bytes((other.keys / "device.key.state").read_bytes())
    before = path.read_bytes()
    for arguments in (("key", "show"), ("key", "recover", "--counter", "9")):
        rig.run(*arguments).must(78)
    expect(path.read_bytes() == before, "key recover overwrote the state of another key")
    path.unlink()
    rig.run("key", "recover", "--counter", "9").must(0)


TESTS = [
    ("the state of another key: 78, and never overwritten", foreign_state),
    ("a lost or damaged state: 78, and key recover repairs it", lost),
    ("a power cut within a rename: state and trust file come back from a kept copy", cut_while_replaced),
    ("key recover does not go back over a sound state with wrong permissions", not_back_when_open),
    ("key recover refuses an invalid counter: 64", wrong_numbers),
    ("odd files in the place of the state or the lock", odd_files),
    ("another key's public half", swapped_public_half),
    ("another key's public half beside an encrypted key without a state", swapped_encrypted),
]
