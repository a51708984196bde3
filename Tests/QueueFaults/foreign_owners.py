"""A queue that other users can write or own, or that has links instead of files, is refused (77) and not changed."""
import os

from bench import NOBODY
from checks import Skipped, every, expect
from invariants import clean, gives, refused, words_for_people

OPEN = (0o770, 0o720, 0o702, 0o777, 0o1777)
FOLDERS = (".", "spool", "incoming")
COMMANDS = (["push", "NEW"], ["list"], ["prune"], ["hold", "ID"], ["get", "ID", "-o", "-"])


def filled(bench):
    rig = bench.rig()
    rig.push(*bench.stock[:2])
    return rig


def tried(rig, place, about, commands=COMMANDS):
    names = {"ID": rig.bench.stock[0].id, "NEW": rig.bench.stock[5].path}
    for words in commands:
        result = rig.run(*(names.get(word, word) for word in words))
        refused(result, 77, about=f"{about}: {words[0]}").naming(place, f"{about}: {words[0]}")


def open_folders(bench):
    cases = {f"{folder} with mode {mode:o}": (folder, mode) for folder in FOLDERS for mode in OPEN}

    def judge(name, case):
        folder, mode = case
        rig = filled(bench)
        before = rig.names()
        (rig.queue / folder).chmod(mode)
        # Commands that only read do not need incoming/.
        tried(rig, rig.queue, name, COMMANDS[:1] if folder == "incoming" else COMMANDS)
        expect(rig.names() == before, f"changed: {set(rig.names()) ^ set(before)}")
        (rig.queue / folder).chmod(0o700)
        rig.push(bench.stock[5])
        clean(rig)

    every(cases, judge)


def open_shard(bench):
    """A shard with mode 0777 does no harm, because the folders above it are closed to other users."""
    rig = filled(bench)
    rig.spool_file(bench.stock[0]).parent.chmod(0o777)
    words_for_people(rig.run("push", bench.stock[0].path).must(0, 77, about="push of a bundle in an open shard"))
    words_for_people(rig.run("check").must(0, 15, 77, about="check"), lines=10)
    gives(rig, bench.stock[1])


def open_database(bench):
    def judge(name, mode):
        rig = filled(bench)
        (rig.queue / "queue.sqlite").chmod(mode)
        tried(rig, rig.queue, name)
        (rig.queue / "queue.sqlite").chmod(0o600)
        gives(rig, bench.stock[0])

    every({f"mode {mode:o}": mode for mode in (0o620, 0o602, 0o666, 0o640, 0o604)}, judge)


def open_settings(bench):
    """An open settings.json is refused, because it contains headers and presigned URLs of destinations."""
    for mode in (0o644, 0o640, 0o660):
        rig = filled(bench)
        rig.run("config", "retention", "9d").must(0, about="config")
        (rig.queue / "settings.json").chmod(mode)
        tried(rig, rig.queue / "settings.json", f"settings.json with mode {mode:o}")
        (rig.queue / "settings.json").chmod(0o600)
        rig.push(bench.stock[5])


def only_readable(bench):
    """The user may let others list the queue's folder; its files stay closed to them."""
    for mode in (0o750, 0o755, 0o711):
        rig = filled(bench)
        rig.queue.chmod(mode)
        rig.push(bench.stock[5])
        rig.run("list").must(0, about=f"mode {mode:o}")


def made_private(bench):
    """With any umask, folders have mode 0700 and files 0600."""
    for umask in (0o000, 0o022, 0o027, 0o077):
        rig = bench.rig()
        rig.run("push", bench.stock[0].path, umask=umask).must(0, about=f"umask {umask:03o}")
        rig.run("push", bench.stock[1].path, umask=umask).must(0, about=f"umask {umask:03o}")
        for path in (rig.queue, *rig.queue.rglob("*")):
            mode = path.stat().st_mode & 0o777
            wanted = 0o700 if path.is_dir() else 0o600
            expect(mode == wanted, f"umask {umask:03o}: {path.name} has mode {mode:03o}, expected {wanted:03o}")


def of_another_user(bench):
    if os.geteuid() != 0:
        raise Skipped("only root can give files away")
    for name in (".", "spool", "queue.sqlite"):
        rig = filled(bench)
        os.chown(rig.queue / name, NOBODY, NOBODY)
        tried(rig, rig.queue, f"{name} of another user")
        os.chown(rig.queue / name, 0, 0)
        rig.push(bench.stock[5])


def links_in_place(bench):
    """A symbolic link instead of a file or folder of the queue is refused, and its target is not changed."""
    names = ["queue.sqlite", "queue.sqlite-wal", "queue.sqlite-shm", "queue.lock", "settings.json", "spool", "incoming"]

    def judge(name, _):
        rig = filled(bench)
        rig.run("config", "retention", "9d").must(0, about="config")
        place = rig.queue / name
        victim = rig.folder / "victim"
        if place.exists():
            place.rename(victim)
        else:
            victim.write_bytes(b"not yours")
        before = victim.read_bytes() if victim.is_file() else sorted(victim.iterdir())
        place.symlink_to(victim)
        writing = ["config", "retention", "3d"] if name == "settings.json" else ["push", bench.stock[5].path]
        refused(rig.run(*writing), 77, about=f"{name}: {writing[0]}")
        if name == "spool" or name == "queue.sqlite":
            refused(rig.run("list"), 77, about=f"{name}: list")
        expect(before == (victim.read_bytes() if victim.is_file() else sorted(victim.iterdir())),
               f"the target of the link in place of {name} has changed")
        expect(place.is_symlink(), f"the link in place of {name} is gone")

    every({name: name for name in names}, judge)


def links_to_nowhere(bench):
    """The tool does not write through a dangling link."""
    def judge(name, _):
        rig = filled(bench)
        place = rig.queue / name
        if place.is_dir():
            place.rename(rig.folder / "aside")
        else:
            place.unlink(missing_ok=True)
        place.symlink_to(rig.folder / "nowhere")
        refused(rig.run("push", bench.stock[5].path), 74, 77, about="push")
        expect(not (rig.folder / "nowhere").exists(), "a file was made through the link")

    every({name: name for name in ("queue.lock", "queue.sqlite-wal", "spool", "incoming")}, judge)


def links_in_the_spool(bench):
    """A link under a bundle's name is not followed, because the queue has no bytes there."""
    rig = filled(bench)
    bundle = bench.stock[0]
    place, victim = rig.spool_file(bundle), rig.folder / "victim"
    place.unlink()
    victim.write_bytes(bench.stock[3].data)
    place.symlink_to(victim)
    result = rig.run("get", bundle.id, "-o", "-").must(1, 2, 66, 74, 77, about="get")
    expect(not result.out, "get returns a link's target")
    words_for_people(rig.run("check", "--read-data").must(1, 15, 74, 77, about="check"), lines=10)
    rig.uploaded(bench.stock[1])
    rig.run("prune", "--older-than", "0s").must(0, 74, 77, about="prune")
    expect(victim.read_bytes() == bench.stock[3].data, "a link's target has changed")


def linked_queue(bench):
    """The queue's own path may be a link, because users move folders to other disks."""
    rig = filled(bench)
    rig.queue.rename(rig.folder / "elsewhere")
    rig.queue.symlink_to("elsewhere")
    rig.push(bench.stock[5])
    gives(rig, bench.stock[0], bench.stock[5])
    rig.run("check", "--read-data").must(0, about="check")


def no_place(bench):
    """If a queue cannot be made, the exit code is 73 and the message names its path."""
    rig = bench.rig()
    (rig.folder / "file").write_text("mine")
    for place in (rig.folder / "file", rig.folder / "file/below", "/proc/queue", rig.folder / ("n" * 300)):
        result = rig.run("push", "--queue", place, bench.stock[0].path)
        refused(result, 73, 74, 77, about=f"queue in {str(place)[-20:]}")
    expect((rig.folder / "file").read_text() == "mine", "a file was changed")
    refused(rig.run("push", "--queue", "", bench.stock[0].path), 64, 66, 73, about="a queue without a name")
    for words in (["list"], ["prune"], ["check"], ["get", "abcd", "-o", "-"], ["run"], ["status"]):
        refused(rig.run(*words), 66, about=f"{words[0]} without a queue")
        expect(not rig.queue.exists(), f"{words[0]} makes a queue")


TESTS = [
    ("folders that others can write: 77, untouched", open_folders),
    ("a shard of the spool that others can write does no harm", open_shard),
    ("a database that others can write or read: 77", open_database),
    ("a copy of the settings that others can read: 77", open_settings),
    ("folders that others can only read are used", only_readable),
    ("a queue is private with any umask", made_private),
    ("a folder or database of another user: 77", of_another_user),
    ("symbolic links in place of the queue's files: 77, not followed", links_in_place),
    ("dangling links in place of the queue's files: no file is made through them", links_to_nowhere),
    ("a link under a bundle's name is not followed", links_in_the_spool),
    ("the queue itself behind a link", linked_queue),
    ("a queue that cannot be made or is missing", no_place),
]
