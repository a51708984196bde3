"""The same folder gives the same bytes, except the assertion, in any place, by any means and for any user."""
import os
import shutil
import tarfile

from Kit.rigs import NOBODY
from Kit.outcomes import IS_LONG, Skipped, expect
from Kit.records import without_assertion

GERMAN = {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8", "LANGUAGE": "de"}
ENVIRONMENTS = [{"TZ": "Asia/Kolkata"}, {"TZ": "America/St_Johns"}, {"TZ": ":/nonsense"}, {"LC_ALL": "C"}, GERMAN,
                {"LC_ALL": "tr_TR.UTF-8"}, {"OPENSSL_CONF": "/nonexistent"}, {"OPENSSL_CONF": "/etc/passwd"},
                {"TMPDIR": "/nonexistent"}, {"COLUMNS": "3", "TERM": "dumb"}]


def same_as(first, other, about):
    expect(without_assertion(first) == without_assertion(other), f"other bytes: {about}")
    with tarfile.open(first, "r:") as one, tarfile.open(other, "r:") as two:
        names = one.getnames()
        expect(names == two.getnames(), f"other members: {about}")
        for name in names:
            same = one.extractfile(name).read() == two.extractfile(name).read()
            expect(same or name == "assertion.cbor", f"{name} differs: {about}")


def environments(bench):
    rig = bench.rig()
    first = rig.bundle()
    for index, env in enumerate(ENVIRONMENTS if IS_LONG else ENVIRONMENTS[::3]):
        other = rig.bundle(f"{index}.bundle", env=env)
        same_as(first, other, str(env))
        rig.run("verify", other, env=env).must(0, about=str(env))


def places(bench):
    """Other working folders, spellings of the raw folder, file times and outputs do not change the bytes."""
    rig = bench.rig()
    first = rig.bundle()
    shutil.copytree(rig.raw, rig.out / "moved")
    for path in (rig.out / "moved").iterdir():
        os.utime(path, (1, 1))
        path.chmod(0o400)
    (rig.out / "link").symlink_to("moved")
    raws = {"moved": rig.out, "./moved/": rig.out, "link": rig.out, "out/moved": rig.folder, ".": rig.out / "moved",
            "../out/moved/../moved//": rig.home, str(rig.out / "moved"): "/"}
    for index, (raw, cwd) in enumerate(raws.items()):
        same_as(first, rig.bundle(f"{index}.bundle", raw=raw, cwd=cwd), f"raw folder {raw} from {cwd}")
    piped = rig.out / "piped.bundle"
    piped.write_bytes(rig.pack("-").must(0).out)
    same_as(first, piped, "a pipe")
    rig.verify(piped)
    rig.run("pack", rig.raw, "-o", "relative.bundle").must(0)
    same_as(first, rig.out / "relative.bundle", "a relative target")
    with open(rig.out / "file.bundle", "wb") as sink:
        rig.run("pack", rig.raw, "-o", "-", stdout=sink).must(0)
    same_as(first, rig.out / "file.bundle", "standard output that is a file")


def umasks(bench):
    """A bundle is an ordinary file; a key is private with any umask."""
    for umask in (0o000, 0o027, 0o077) if IS_LONG else (0o000,):
        rig = bench.rig(empty=True)
        about = f"umask {umask:03o}"
        rig.run("key", "new", umask=umask).must(0, about=about)
        rig.run("trust", "add", "rig", rig.key + ".pub", umask=umask).must(0, about=about)
        target = rig.out / "x.bundle"
        for options in ((), ("--force",)):
            rig.pack(target, *options, umask=umask).must(0, about=about)
            mode = target.stat().st_mode & 0o777
            expect(mode == 0o666 & ~umask, f"{about}: the bundle has mode {mode:03o}")
            for path in rig.keys.iterdir():
                mode = path.stat().st_mode & 0o777
                expected = 0o644 & ~umask if path.name.endswith(".pub") else 0o600
                expect(mode == expected, f"{about}: {path.name} has mode {mode:03o}, expected {expected:03o}")
        folder = rig.keys.stat().st_mode & 0o777
        expect(folder == 0o700, f"{about}: the key's folder has mode {folder:03o}")


def other_user(bench):
    if os.geteuid() != 0:
        raise Skipped("only root can become another user")
    rig = bench.rig()
    first = rig.bundle()
    for folder, _, names in os.walk(rig.folder):
        for name in [".", *names]:
            os.chown(os.path.join(folder, name), NOBODY, NOBODY)
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    other = rig.bundle("nobody.bundle", **who)
    same_as(first, other, "another user")
    rig.run("verify", other, **who).must(0, about="verify as another user")
    expect(other.stat().st_uid == NOBODY, "the bundle belongs to another user")


TESTS = [
    ("time zones, languages, OpenSSL's and other variables", environments),
    ("working folders, spellings, file times, pipe and file", places),
    ("another user", other_user),
    ("the umask determines the bundle's mode and never opens a key", umasks),
]
