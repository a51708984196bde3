"""A lost counter stops all signing (78) until `key recover`, which never goes back."""
import os

from checks import every, expect
from records import counter_in, state_with

TOP = 2 ** 32 - 1


def lost(bench):
    """Each way to lose the state gives 78 and a hint that works."""
    cases = {
        "missing": lambda path, data: path.unlink(),
        "empty": lambda path, data: path.write_bytes(b""),
        "cut short": lambda path, data: path.write_bytes(data[:-1]),
        "cut to half": lambda path, data: path.write_bytes(data[:len(data) // 2]),
        "zeros": lambda path, data: path.write_bytes(bytes(len(data))),
        "longer": lambda path, data: path.write_bytes(data + b"\n"),
        "a lower counter, old checksum": lambda path, data: path.write_bytes(data.replace(b"counter 2", b"counter 1")),
        "a counter above the top": lambda path, data: path.write_bytes(state_with(data, TOP + 1)),
        "a negative counter": lambda path, data: path.write_bytes(state_with(data, -1)),
        "CRLF": lambda path, data: path.write_bytes(data.replace(b"\n", b"\r\n")),
        "not text": lambda path, data: path.write_bytes(b"\xff" * len(data)),
    }

    def judge(name, spoil):
        rig = bench.rig()
        path = rig.keys / "device.key.state"
        rig.bundle("1.bundle")
        rig.bundle("2.bundle")
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
        rig.verify(bundle)

    every(cases, judge)


def not_back(bench):
    rig = bench.rig()
    rig.bundle()
    path = rig.keys / "device.key.state"
    path.write_bytes(state_with(path.read_bytes(), 700))
    before = path.read_bytes()
    for counter in ("0", "1", "699"):
        rig.run("key", "recover", "--counter", counter).must(78, 64, about=f"from 700 to {counter}")
        expect(path.read_bytes() == before, f"from 700 to {counter}: the state was changed")
    rig.run("key", "recover", "--counter", "700").must(0)
    expect(path.read_bytes() == before, "recovering to the same counter changed the salt")
    rig.run("key", "recover", "--counter", "800").must(0)
    expect(rig.state() == 800, "recovering forward did not")
    expect(path.read_bytes() == state_with(before, 800), "recovering forward changed the salt")


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
    rig.run("key", "recover").must(64)
    expect(rig.state() == 0, "the state was changed")


def used_up(bench):
    """The last counter is used once; then the key gives 78 for ever."""
    rig = bench.rig()
    path = rig.keys / "device.key.state"
    path.write_bytes(state_with(path.read_bytes(), TOP - 1))
    bundle = rig.bundle("last.bundle")
    expect(counter_in(bundle.read_bytes()) == TOP, f"counter {counter_in(bundle.read_bytes())}, expected {TOP}")
    rig.verify(bundle)
    for _ in range(2):
        rig.pack(rig.out / "more.bundle").must(78).naming(path, "used up")
    expect(not (rig.out / "more.bundle").exists() and rig.state() == TOP, "it continues after the last counter")
    rig.run("key", "show").must(0)


def recovering_to_the_top(bench):
    rig = bench.rig()
    result = rig.run("key", "recover", "--counter", str(TOP)).must(0, 64, 78)
    expect(str(TOP + 1) not in result.text, f"promises a counter that no bundle can have: {result.text!r}")


def odd_state_files(bench):
    """A folder, FIFO or link in the state's place gives a message soon."""
    cases = {"a folder": os.mkdir, "a FIFO": lambda path: os.mkfifo(path, 0o600),
             "a device": lambda path: os.symlink("/dev/zero", path),
             "a dangling link": lambda path: os.symlink("nowhere", path)}

    def judge(name, make):
        rig = bench.rig()
        path = rig.keys / "device.key.state"
        path.unlink()
        make(path)
        rig.pack(rig.out / "x.bundle").must(66, 74, 77, 78).naming(rig.keys, name)
        expect(not list(rig.out.iterdir()), "something was written")

    every(cases, judge)


def odd_locks(bench):
    """A link in the lock's place is not followed, because it could point to a file of another user."""
    rig = bench.rig()
    lock = rig.keys / "device.key.lock"
    lock.unlink(missing_ok=True)
    victim = rig.folder / "victim"
    lock.symlink_to(victim)
    rig.pack(rig.out / "x.bundle").must(73, 74, 77, 78, about="lock is a link").naming(lock, "lock is a link")
    expect(not victim.exists(), "the link was followed")
    lock.unlink()
    lock.mkdir()
    rig.pack(rig.out / "x.bundle").must(73, 74, 77, 78, about="lock is a folder").naming(lock, "lock is a folder")
    lock.rmdir()
    rig.bundle()


def swapped_public_half(bench):
    """With another key's public half nothing is signed under a wrong name."""
    rig, other = bench.rig(), bench.rig(empty=True)
    other.run("key", "new").must(0)
    (rig.keys / "device.key.pub").write_bytes((other.keys / "device.key.pub").read_bytes())
    rig.run("key", "show").must(78, about="key show with another's public half")
    rig.verify(rig.bundle())


def foreign_state(bench):
    """A sound state of another key has that key's counter: it is refused, and key recover does not change it."""
    other = bench.rig(empty=True)
    other.run("key", "new").must(0)
    rig = bench.rig()
    path = rig.keys / "device.key.state"
    path.write_bytes((other.keys / "device.key.state").read_bytes())
    before = path.read_bytes()
    for arguments in (("key", "show"), ("key", "recover", "--counter", "9")):
        done = rig.run(*arguments)
        done.must(78)
    expect(path.read_bytes() == before, "key recover overwrote the state of another key")
    path.unlink()
    rig.run("key", "recover", "--counter", "9").must(0)


TESTS = [
    ("the state of another key: 78, and never overwritten", foreign_state),
    ("a lost or damaged state: 78, and key recover repairs it", lost),
    ("key recover never goes back", not_back),
    ("key recover does not go back over a sound state with wrong permissions", not_back_when_open),
    ("key recover refuses an invalid counter: 64", wrong_numbers),
    ("the last counter, and none after it: 78", used_up),
    ("after key recover to the highest counter there is no further one", recovering_to_the_top),
    ("odd files in the state's place", odd_state_files),
    ("odd files in the lock's place", odd_locks),
    ("another key's public half", swapped_public_half),
]
