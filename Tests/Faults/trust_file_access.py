"""A trust file that others could change: the usual one is refused (77), a named one causes a warning."""
import functools
import os
import shutil

from Kit.rigs import NOBODY
from Kit.outcomes import Skipped, every, expect

OPEN_FILES = (0o664, 0o646)
OPEN_FOLDERS = (0o775, 0o757)


def uses(rig):
    """Returns the commands that read the trust file, each with its normal exit code."""
    bundle = rig.out / "x.bundle"
    body = rig.out / "body.bundle"
    return {"verify": (["verify", bundle], 0), "trust list": (["trust", "list"], 0),
            "trust add": (["trust", "add", "other", rig.folder / "other.pub"], 0),
            "trust revoke": (["trust", "revoke", "rig"], 0),
            "from-body": (["from-body", body, "-o", rig.out / "again.bundle"], 0)}


def prepared(bench):
    return bench.copy(_prepared(bench))


@functools.cache
def _prepared(bench):
    rig = bench.rig()
    rig.bundle()
    rig.run("multipart", rig.out / "x.bundle", "-o", rig.out / "body.bundle").must(0, about="multipart")
    rig.run("key", "new", "--key", rig.folder / "other").must(0)
    return rig


def refused(bench, spoil, place):
    """Checks each use of the usual trust file after `spoil(rig)`; the message must name `place(rig)`."""
    for name, (words, code) in uses(prepared(bench)).items():
        rig = prepared(bench)
        words = uses(rig)[name][0]
        spoil(rig)
        before = rig.trust.read_bytes() if rig.trust.exists() else b""
        result = rig.run(*words).must(77, about=name)
        result.naming(place(rig), name)
        expect((rig.trust.read_bytes() if rig.trust.exists() else b"") == before, f"{name}: the trust file was changed")
        os.chmod(place(rig), 0o755 if os.path.isdir(place(rig)) else 0o644)
        rig.run(*words).must(code, about=f"{name}, repaired")


def open_files(bench):
    every({f"mode {mode:o}": mode for mode in OPEN_FILES},
          lambda _, mode: refused(bench, lambda rig: rig.trust.chmod(mode), lambda rig: rig.trust))


def open_folders(bench):
    every({f"mode {mode:o}": mode for mode in OPEN_FOLDERS},
          lambda _, mode: refused(bench, lambda rig: rig.trust.parent.chmod(mode), lambda rig: rig.trust.parent))


def no_file_yet(bench):
    """If others can write to the folder, they can also replace the file."""
    rig = prepared(bench)
    rig.trust.unlink()
    rig.trust.parent.chmod(0o777)
    rig.run("verify", rig.out / "x.bundle").must(77).naming(rig.trust.parent)
    rig.trust.parent.chmod(0o1777)
    rig.run("verify", rig.out / "x.bundle").must(3, about="as in /tmp, other users may not replace our file there")


def linked(bench):
    """The trust file is a link to a file, or into a folder, that others can write."""
    def link(rig, mode, folder_mode):
        folder = rig.folder / "elsewhere"
        folder.mkdir(exist_ok=True)
        shutil.move(rig.trust, folder / "trusted")
        rig.trust.symlink_to(folder / "trusted")
        (folder / "trusted").chmod(mode)
        folder.chmod(folder_mode)

    refused(bench, lambda rig: link(rig, 0o666, 0o755), lambda rig: rig.folder / "elsewhere/trusted")
    refused(bench, lambda rig: link(rig, 0o644, 0o777), lambda rig: rig.folder / "elsewhere")
    rig = prepared(bench)
    link(rig, 0o644, 0o755)
    rig.verify(rig.out / "x.bundle")
    # A link lies in a folder that everybody can write, between two folders of ours.
    shared = rig.folder / "shared"
    shared.mkdir()
    rig.trust.rename(shared / "hop")
    rig.trust.symlink_to(shared / "hop")
    rig.verify(rig.out / "x.bundle")
    shared.chmod(0o777)
    rig.run("verify", rig.out / "x.bundle").must(77).naming(shared, "verify")


def of_another_user(bench):
    if os.geteuid() != 0:
        raise Skipped("only root can give files away")
    for place in (lambda rig: rig.trust, lambda rig: rig.trust.parent):
        rig = prepared(bench)
        os.chown(place(rig), NOBODY, NOBODY)
        rig.run("verify", rig.out / "x.bundle").must(77, about="of another user").naming(place(rig))
        os.chown(place(rig), 0, 0)
        rig.verify(rig.out / "x.bundle")


def named(bench):
    """A named file causes one warning with a hint, and the verdict does not change; a pipe causes none."""
    for name, (words, code) in uses(prepared(bench)).items():
        rig = prepared(bench)
        words = uses(rig)[name][0]
        mine = rig.folder / "who we trust"
        shutil.copy(rig.trust, mine)
        mine.chmod(0o666)
        for how in (dict(env={"CAPBUNDLE_TRUST": str(mine)}), dict()):
            result = rig.run(*words, *([] if how else ["--trust", mine, *again(name)]), **how).must(code, about=name)
            expect(result.text.count("warning") == 1 and "mode 666" in result.text, f"{name}: {result.text!r}")
            expect(f"chmod go-w '{mine}'" in result.text, f"{name}: no hint in {result.text!r}")
            # A command that changes the file writes a new one, whose mode the umask limits, so restore the mode.
            shutil.copy(rig.trust, mine)
            mine.chmod(0o666)
    rig = prepared(bench)
    pipe = ["sh", "-c", f'cat "{rig.trust}" | "$@"', "sh"]
    text = rig.run("verify", rig.out / "x.bundle", "--trust", "/dev/stdin", prefix=pipe).must(0, about="a pipe").text
    expect(not text, f"a pipe: {text!r}")


def again(name):
    """Returns the options for the second run of a command, whose output file already exists."""
    return ["--force"] if name == "from-body" else []


TESTS = [
    ("the usual trust file, which others can write: 77", open_files),
    ("the folder of the usual trust file, which others can write: 77", open_folders),
    ("a folder that others can write, without a trust file", no_file_yet),
    ("a trust file that is a symbolic link", linked),
    ("a trust file of another user: 77", of_another_user),
    ("a named trust file: a warning", named),
]
