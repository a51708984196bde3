"""Family 5a: a key that others can read is refused, a passphrase is asked for, and a key is never overwritten."""
import os
import shutil

from bench import NOBODY
from checks import Skipped, every, expect

SECRET = "correct horse"


def everything(rig):
    """The bytes of all key files but the lock."""
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


def passphrase(bench):
    rig = bench.rig(empty=True)
    files = {"right": SECRET + "\nsecond line\n", "crlf": SECRET + "\r\n", "bare": SECRET, "wrong": SECRET + " \n",
             "empty": "", "blank": "\nx\n"}
    paths = {}
    for name, text in files.items():
        paths[name] = rig.folder / name
        paths[name].write_text(text)
    rig.run("key", "new", "--passphrase-file", paths["empty"]).must(77, about="key new, empty passphrase")
    expect(not rig.keys.exists() or not (rig.keys / "device.key").exists(), "a key was made without its passphrase")
    rig.run("key", "new", "--passphrase-file", paths["right"]).must(0)
    head = (rig.keys / "device.key").read_text()
    expect(head.startswith("-----BEGIN ENCRYPTED PRIVATE KEY-----"), f"not encrypted: {head[:40]!r}")
    rig.run("trust", "add", "rig", rig.key + ".pub").must(0, about="trust add")
    rig.run("key", "show").must(0, about="key show needs no passphrase")

    def attempt(code, words=(), about="", **env):
        target = rig.out / f"{about}.bundle"
        result = rig.pack(target, *words, env=env).must(code, about=about)
        expect(target.exists() == (code == 0), f"{about}: exit {code}, target there: {target.exists()}")
        expect(SECRET not in result.text, f"{about}: the passphrase is printed")
        return result

    option = "--passphrase-file"
    attempt(77, about="no passphrase").naming(rig.key, "no passphrase")
    attempt(77, (option, paths["wrong"]), "wrong passphrase").naming(rig.key, "wrong passphrase")
    attempt(77, (option, paths["empty"]), "empty passphrase file")
    attempt(77, (option, paths["blank"]), "empty first line")
    attempt(66, (option, rig.folder / "nowhere"), "missing passphrase file").naming("nowhere")
    attempt(66, (option, rig.folder), "a folder as passphrase file")
    attempt(0, (option, paths["right"]), "option")
    attempt(0, (option, paths["bare"]), "no line end")
    attempt(0, (option, paths["crlf"]), "CRLF")
    attempt(0, (), "environment", CAPBUNDLE_PASSPHRASE_FILE=str(paths["right"]))
    attempt(77, (option, paths["wrong"]), "option before environment", CAPBUNDLE_PASSPHRASE_FILE=str(paths["right"]))
    expect(rig.state() == 4, f"{rig.state()} counters for 4 bundles: a refused passphrase uses one")
    rig.verify(*rig.out.iterdir())


def surplus_passphrase(bench):
    """A passphrase for a key that has none is no reason to fail."""
    rig = bench.rig()
    secret = rig.folder / "secret"
    secret.write_text(SECRET)
    rig.bundle(env={"CAPBUNDLE_PASSPHRASE_FILE": str(secret)})


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
    """Whatever else stands in the key's place ends in words, 77 or 78, soon and without a bundle."""
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
    """Asking for a key that is not there makes nothing."""
    rig = bench.rig(empty=True)
    for words in (["key", "show"], ["key", "public"], ["key", "recover", "--counter", "3"]):
        rig.run(*words, "--key", "nowhere").must(78, about=" ".join(words))
        expect(not list(rig.out.iterdir()), f"{' '.join(words)} leaves {[path.name for path in rig.out.iterdir()]}")
    rig.pack("x.bundle", "--key", "nowhere").must(78)
    expect(not list(rig.out.iterdir()), f"pack leaves {[path.name for path in rig.out.iterdir()]}")


def linked(bench):
    """A key file that is a symbolic link works, and its state stays beside the link."""
    rig = bench.rig()
    os.rename(rig.key, rig.folder / "vault.key")
    os.symlink(rig.folder / "vault.key", rig.key)
    rig.verify(rig.bundle())


TESTS = [
    ("a key or state that others can read or write: 77", open_to_others),
    ("a key or state of another user: 77", of_another_user),
    ("passphrases: right, wrong, missing, by option and environment", passphrase),
    ("a passphrase that is not needed", surplus_passphrase),
    ("a key is never overwritten: 73", never_overwritten),
    ("odd files in the key's place", odd_keys),
    ("asking for a missing key makes no file", leaves_no_lock),
    ("a key file that is a symbolic link", linked),
]
