"""A key that others can read is refused, never overwritten, and has one state under all its names."""
import json
import os
import pathlib
import shutil
import subprocess

from bench import NOBODY
from checks import Skipped, every, expect


def everything(rig):
    """Returns the bytes of all key files except the lock."""
    return {path.name: path.read_bytes() for path in rig.keys.iterdir() if not path.name.endswith(".lock")}


def open_to_others(bench):
    for name in ("device.key", "device.key.state"):
        for mode in (0o640, 0o604, 0o620, 0o602, 0o666, 0o610):
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


def never_overwritten(bench):
    rig = bench.rig()
    rig.bundle()
    before = everything(rig)
    rig.run("key", "new").must(73).naming(rig.key, "key new")
    rig.run("key", "new", "--key", rig.key).must(73)
    expect(everything(rig) == before, "key new changed a key that was there")
    for name, make in (("link", lambda path: path.symlink_to("nowhere")), ("folder", lambda path: path.mkdir()),
                       ("fifo", os.mkfifo), ("file", lambda path: path.write_text("mine"))):
        path = rig.folder / name
        make(path)
        rig.run("key", "new", "--key", path).must(73, about=f"a {name} in the key's place")
    expect((rig.folder / "file").read_text() == "mine", "a file in the key's place was changed")


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


def foreign_names(bench):
    """key new replaces no file, and continues after an interrupted key new."""
    rig = bench.rig()
    used = (rig.keys / "device.key.state").read_bytes().replace(b"counter 0", b"counter 1")
    public = pathlib.Path(rig.key + ".pub").read_bytes()
    cases = {".pub": {"text": b"ssh-ed25519 AAAA mine", "empty": b"", "another key's": public},
             ".state": {"text": b"mine", "empty": b"", "a used one": used},
             ".lock": {"text": b"12345"}}

    def judge(_, case):
        end, content = case
        rig = bench.rig(empty=True)
        path = rig.out / f"alice{end}"
        for make, about in ((lambda: path.write_bytes(content), "a file"), (path.mkdir, "a folder"),
                            (lambda: os.mkfifo(path), "a FIFO"), (lambda: path.symlink_to("/nowhere"), "a link")):
            make()
            before = path.lstat()
            rig.run("key", "new", "--key", "alice", seconds=5).must(73, about=about).naming(path.name, about)
            expect(path.lstat() == before or path.is_dir(), f"{about} was changed")
            expect(os.listdir(rig.out) == [path.name], f"{about}: there is now {os.listdir(rig.out)}")
            path.rmdir() if about == "a folder" else path.unlink()

    every({f"{text} as alice{end}": (end, content) for end, contents in cases.items()
           for text, content in contents.items()}, judge)


def interrupted(bench):
    """key new continues with an unused state and its public half, and with a state alone."""
    rig = bench.rig()
    for left in ({".state", ".pub", ".lock"}, {".state", ".lock"}, {".state"}):
        folder = rig.folder / "".join(sorted(left))
        folder.mkdir()
        for end in left:
            shutil.copy(f"{rig.key}{end}", folder / f"device.key{end}")
        rig.run("key", "new", "--key", folder / "device.key").must(0, about=f"{left} left behind")
        rig.pack(rig.out / f"{folder.name}.bundle", "--key", folder / "device.key").must(0)
        ours = subprocess.run(["openssl", "pkey", "-in", folder / "device.key", "-pubout"], capture_output=True,
                              check=True).stdout
        expect((folder / "device.key.pub").read_bytes() == ours, f"{left}: the public half is another key's")


def counters(rig):
    found = [json.loads(rig.run("show", "--json", path).must(0).out)["device"]["counter"]
             for path in rig.out.glob("*.bundle")]
    expect(len(found) == len(set(found)), f"counters {sorted(found)}: one was used twice")
    return sorted(found)


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
    running = []
    for index in range(12):
        argv = rig.argv("pack", rig.raw, "-o", rig.out / f"{index}.bundle", "--key", places[index % 4])
        running.append(subprocess.Popen(argv, env=rig.env, stderr=subprocess.PIPE))
    for tool in running:
        text = tool.communicate(timeout=60)[1]
        expect(tool.returncode == 0, f"pack: exit {tool.returncode}: {text[:200]!r}")
    expect(counters(rig) == list(range(1, 13)), f"counters {counters(rig)} for 12 bundles")
    rig.verify(*rig.out.iterdir())


def hard_linked(bench):
    """A second name of the same file would have its own state, so both names are refused."""
    rig = bench.rig()
    other = rig.folder / "other"
    os.link(rig.key, other)
    for words in (["pack", rig.raw, "-o", rig.out / "x.bundle"], ["key", "recover", "--counter", "900"]):
        refused = rig.run(*words, "--key", other).must(78, about=f"{words[0]} without a state")
        expect("has 2 names" in refused.text and "lost" not in refused.text, f"{refused.text!r}")
    expect([path.name for path in rig.folder.glob("other*")] == ["other"], "a second state or lock was made")
    for how in (os.link, shutil.copy):
        how(f"{rig.key}.state", f"{other}.state")
        for path in (rig.key, other):
            rig.pack(rig.out / "x.bundle", "--key", path).must(78, about=how.__name__).naming(path)
        os.unlink(f"{other}.state")
    rig.run("key", "show").must(0)
    other.unlink()
    rig.bundle()


TESTS = [
    ("a key or state that others can read or write: 77", open_to_others),
    ("a key or state of another user: 77", of_another_user),
    ("a key is never overwritten: 73", never_overwritten),
    ("odd files in the key's place", odd_keys),
    ("a command that needs a missing key makes no file", leaves_no_lock),
    ("key new beside files of others: 73", foreign_names),
    ("key new after an interrupted one", interrupted),
    ("a key behind symbolic links has one counter", linked),
    ("a key that has hard links: 78", hard_linked),
]
