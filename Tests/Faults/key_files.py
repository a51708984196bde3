"""A key that others can read is refused, never overwritten, and has one state under all its names."""
import os
import pathlib
import shutil

from Faults.concurrent_runs import all_zero, together
from Kit.outcomes import Skipped, every, expect
from Kit.records import counter_in
from Kit.rigs import NOBODY


def open_to_others(bench):
    for name in ("device.key", "device.key.state"):
        for mode in (0o640, 0o602):
            rig = bench.rig()
            path = rig.keys / name
            path.chmod(mode)
            about = f"{name} with mode {mode:03o}"
            rig.pack(rig.out / "x.bundle").must(77, about=about).naming(path, about)
            expect(not list(rig.out.iterdir()), f"{about}: something was written")
            path.chmod(0o600)
            expect(rig.state() == 0, f"{about}: a counter was used")
            rig.bundle()
    rig = bench.rig()
    (rig.keys / "device.key").chmod(0o400)
    rig.bundle()


def of_another_user(bench):
    if os.geteuid() != 0:
        raise Skipped("only root can give files away")
    for name in ("device.key", "device.key.state"):
        rig = bench.rig()
        os.chown(rig.keys / name, NOBODY, NOBODY)
        rig.pack(rig.out / "x.bundle").must(77, about=f"{name} of another user").naming(rig.keys / name, name)
    rig = bench.rig()
    for folder in (rig.home, rig.home / ".local", rig.home / ".local/share", rig.keys):
        folder.chmod(0o755)
    rig.out.chmod(0o777)
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    result = rig.pack(rig.out / "x.bundle", **who).must(66, 77, about="a key that may not be read")
    result.naming(rig.key, "a key that may not be read")
    rig.run("key", "public", **who).must(0, about="the public half is public")


def odd_keys(bench):
    """Anything else in the key's place gives a message and 77 or 78, soon and without a bundle."""
    cases = {"nothing": (lambda path: path.unlink(), (78,)), "empty": (lambda path: path.write_text(""), (78,)),
             "text": (lambda path: path.write_text("hello"), (78,)),
             "the public half": (lambda path: shutil.copy(f"{path}.pub", path), (78,)),
             "cut short": (lambda path: path.write_bytes(path.read_bytes()[:120]), (78,)),
             "2 MiB": (lambda path: path.write_bytes(b"-" * (2 << 20)), (66, 74, 78)),
             "a folder": (lambda path: (path.unlink(), path.mkdir()), (66, 77, 78)),
             "a FIFO": (lambda path: (path.unlink(), os.mkfifo(path, 0o600)), (66, 77, 78)),
             "a device": (lambda path: (path.unlink(), path.symlink_to("/dev/zero")), (66, 77, 78))}

    def judge(name, case):
        spoil, codes = case
        rig = bench.rig()
        path = rig.keys / "device.key"
        spoil(path)
        if path.is_file():
            path.chmod(0o600)
        rig.pack(rig.out / "x.bundle").must(*codes).naming(path, name)
        expect(not list(rig.out.iterdir()), "something was written")

    every(cases, judge)


def leaves_no_lock(bench):
    """A command that needs a missing key makes no file."""
    rig = bench.rig(empty=True)
    for words in (["key", "show"], ["key", "public"], ["key", "recover", "--counter", "3"]):
        rig.run(*words, "--key", "nowhere").must(78, about=" ".join(words))
        expect(not list(rig.out.iterdir()), f"{' '.join(words)} leaves {[path.name for path in rig.out.iterdir()]}")
    rig.pack("x.bundle", "--key", "nowhere").must(78)
    expect(not list(rig.out.iterdir()), f"pack leaves {[path.name for path in rig.out.iterdir()]}")


def facts(path):
    status = path.lstat()  # without the time of the last read
    return status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns


def foreign_names(bench):
    """key new replaces no file, and continues after an interrupted key new."""
    rig = bench.rig()
    used = (rig.keys / "device.key.state").read_bytes().replace(b"counter 0", b"counter 1")
    public = pathlib.Path(rig.key + ".pub").read_bytes()
    cases = {"": {"text": b"mine"}, ".pub": {"text": b"ssh-ed25519 AAAA mine", "empty": b"", "another key's": public},
             ".state": {"text": b"mine", "empty": b"", "a used one": used},
             ".lock": {"text": b"12345"}}

    def judge(_, case):
        end, content = case
        rig = bench.rig(empty=True)
        path = rig.out / f"alice{end}"
        for make, about in ((lambda: path.write_bytes(content), "a file"), (path.mkdir, "a folder"),
                            (lambda: os.mkfifo(path), "a FIFO"), (lambda: path.symlink_to("/nowhere"), "a link")):
            make()
            before = facts(path)
            rig.run("key", "new", "--key", "alice", seconds=5).must(73, about=about).naming(path.name, about)
            expect(facts(path) == before, f"{about} was changed")
            expect(os.listdir(rig.out) == [path.name], f"{about}: there is now {os.listdir(rig.out)}")
            path.rmdir() if about == "a folder" else path.unlink()

    every({f"{text} as alice{end}": (end, content) for end, contents in cases.items()
           for text, content in contents.items()}, judge)


def linked(bench):
    """A key that is reached by symbolic links has the state and the lock of the real file."""
    rig = bench.rig()
    vault = rig.folder / "vault"
    vault.mkdir()
    for end in ("", ".pub", ".state"):
        os.rename(f"{rig.key}{end}", vault / f"real{end}")
    os.symlink(vault / "real", rig.key)
    os.symlink(rig.key, rig.folder / "second")
    # The attack is to have a separate state for each path.
    for path in (rig.key, rig.folder / "second"):
        shutil.copy(vault / "real.state", f"{path}.state")
    folder = rig.folder / "link"
    folder.symlink_to(vault)
    places = [rig.key, rig.folder / "second", vault / "real", folder / "real"]
    all_zero(together(rig, [["pack", rig.raw, "-o", rig.out / f"{index}.bundle", "--key", places[index % 4]]
                            for index in range(12)]), "12 packs")
    counters = sorted(counter_in(path.read_bytes()) for path in rig.out.iterdir())
    expect(counters == list(range(1, 13)), f"counters {counters} for 12 bundles")
    rig.verify(*rig.out.iterdir())


TESTS = [
    ("a key or state that others can read or write: 77", open_to_others),
    ("a key or state of another user: 77", of_another_user),
    ("odd files in the key's place", odd_keys),
    ("a command that needs a missing key makes no file", leaves_no_lock),
    ("key new beside files of others: 73", foreign_names),
    ("a key behind symbolic links has one counter", linked),
]
