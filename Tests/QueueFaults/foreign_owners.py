"""A queue that other users can write or own, or that has links instead of files, is refused (77) and not changed."""
import os

from Kit.rigs import NOBODY
from Kit.outcomes import Skipped, every, expect
from Kit.invariants import gives, refused, words_for_people
from Kit.queues import few

COMMANDS = (["push", "NEW"], ["list"], ["prune"], ["hold", "ID"], ["get", "ID", "-o", "-"])
# What others can write, or could read although it may contain secrets. Commands that only read do not need incoming/.
OPEN = {"the queue, by its group": (".", 0o770), "the queue, by all": (".", 0o1777), "the spool": ("spool", 0o702),
        "incoming": ("incoming", 0o720), "the database, to write": ("queue.sqlite", 0o620),
        "the database, to read": ("queue.sqlite", 0o604), "the settings": ("settings.json", 0o640)}


def filled(bench):
    rig = bench.rig()
    rig.push(*bench.stock[:2])
    return rig


def tried(rig, place, about, commands=COMMANDS):
    names = {"ID": rig.bench.stock[0].id, "NEW": rig.bench.stock[5].path}
    for words in few(commands, 2):
        result = rig.run(*(names.get(word, word) for word in words))
        refused(result, 77, about=f"{about}: {words[0]}").naming(place, f"{about}: {words[0]}")


def open_to_others(bench):
    """Whatever others can write is refused; so is a database or a copy of the settings that they can read."""
    origin = filled(bench)
    origin.run("config", "retention", "9d").must(0, about="config")

    def judge(name, case):
        place, mode = case
        rig = bench.rig().like(origin)
        before, private = rig.names(), (rig.queue / place).stat().st_mode
        (rig.queue / place).chmod(mode)
        tried(rig, rig.queue / place if place.endswith("json") else rig.queue, name,
              COMMANDS[:1] if place == "incoming" else COMMANDS)
        expect(rig.names() == before, f"changed: {set(rig.names()) ^ set(before)}")
        (rig.queue / place).chmod(private)
        rig.push(bench.stock[5])

    every(OPEN, judge)


def harmless(bench):
    """A shard with mode 0777 below closed folders, a queue that others can only list, and one behind a link work."""
    rig = filled(bench)
    rig.spool_file(bench.stock[0]).parent.chmod(0o777)
    words_for_people(rig.run("push", bench.stock[0].path).must(0, 77, about="push of a bundle in an open shard"))
    words_for_people(rig.run("check").must(0, 15, 77, about="check"), lines=10)
    rig.spool_file(bench.stock[0]).parent.chmod(0o700)
    rig.queue.rename(rig.folder / "elsewhere")
    rig.queue.symlink_to(rig.folder / "elsewhere")
    for mode in (0o700, 0o755, 0o711):
        rig.queue.chmod(mode)
        rig.push(bench.stock[5])
    gives(rig, *bench.stock[:2], bench.stock[5])
    rig.run("check", "--read-data").must(0, about="check")


def made_private(bench):
    """With any umask, folders have mode 0700 and files 0600."""
    for umask in (0o000, 0o077):
        rig = bench.rig()
        rig.run("push", bench.stock[0].path, umask=umask).must(0, about=f"umask {umask:03o}")
        rig.run("push", bench.stock[1].path, umask=umask).must(0, about=f"umask {umask:03o}")
        for path in (rig.queue, *rig.queue.rglob("*")):
            mode = path.stat().st_mode & 0o777
            wanted = 0o700 if path.is_dir() else 0o600
            expect(mode == wanted, f"umask {umask:03o}: {path.name} has mode {mode:03o}, expected {wanted:03o}")


def of_another_user(bench):
    """Root refuses what belongs to somebody else, and somebody else cannot use the queue of root."""
    if os.geteuid() != 0:
        raise Skipped("only root can give files away")
    rig = filled(bench)
    for name in (".", "spool", "queue.sqlite"):
        os.chown(rig.queue / name, NOBODY, NOBODY)
        tried(rig, rig.queue, f"{name} of another user")
        os.chown(rig.queue / name, 0, 0)
    rig.out.chmod(0o777)
    for words in (["list"], ["push", bench.stock[5].path], ["get", bench.stock[0].id, "-o", "-"]):
        refused(rig.run(*words, user=NOBODY, group=NOBODY, extra_groups=[]), 77, about=f"another user: {words[0]}")
    rig.push(bench.stock[5])


def links_in_place(bench):
    """A symbolic link instead of a file or folder of the queue is refused; its target is not changed, nor made."""
    origin = filled(bench)
    origin.run("config", "retention", "9d").must(0, about="config")

    def judge(name, target):
        rig = bench.rig().like(origin)
        place, victim = rig.queue / name, rig.folder / "victim"
        if place.exists():
            place.rename(victim)
        else:
            victim.write_bytes(b"not yours")
        before = victim.read_bytes() if victim.is_file() else sorted(victim.iterdir())
        place.symlink_to(rig.folder / target)
        commands = {"settings.json": [["config", "retention", "3d"]]}.get(name, [["push", bench.stock[5].path]])
        commands += [["list"]] if name in ("spool", "queue.sqlite") and target == "victim" else []
        for words in commands:
            refused(rig.run(*words), 77, *((74,) if target == "nowhere" else ()), about=f"{name}: {words[0]}")
        expect(before == (victim.read_bytes() if victim.is_file() else sorted(victim.iterdir())),
               f"the target of the link in place of {name} has changed")
        expect(place.is_symlink(), f"the link in place of {name} is gone")
        expect(not (rig.folder / "nowhere").exists(), f"a file was made through the link in place of {name}")

    cases = [("queue.sqlite", "victim"), ("queue.lock", "nowhere"), ("spool", "victim"), ("settings.json", "victim"),
             ("queue.sqlite-wal", "nowhere"), ("queue.sqlite-wal", "victim"), ("queue.sqlite-shm", "victim"),
             ("queue.lock", "victim"), ("incoming", "victim"), ("spool", "nowhere"), ("incoming", "nowhere")]
    every({f"{name} to {target}": (name, target) for name, target in few(cases, 5)}, lambda _, case: judge(*case))


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


def no_place(bench):
    """If a queue cannot be made, the exit code is 73 and the message names its path."""
    rig = bench.rig()
    (rig.folder / "file").write_text("mine")
    for place in few([rig.folder / "file", "/proc/queue", rig.folder / "file/below", rig.folder / ("n" * 300)], 2):
        result = rig.run("init", "--queue", place)
        refused(result, 73, 74, 77, about=f"queue in {str(place)[-20:]}")
    expect((rig.folder / "file").read_text() == "mine", "a file was changed")
    refused(rig.run("push", "--queue", "", bench.stock[0].path), 64, 66, 73, about="a queue without a name")
    for words in few([["list"], ["run"], ["prune"], ["check"], ["get", "abcd", "-o", "-"], ["status"]], 2):
        refused(rig.run(*words), 66, about=f"{words[0]} without a queue")
        expect(not rig.queue.exists(), f"{words[0]} makes a queue")


TESTS = [
    ("folders and files that others can write, and secrets that they can read: 77, untouched", open_to_others),
    ("an open shard below closed folders, a readable queue, a link to a queue: used", harmless),
    ("a queue is private with any umask", made_private),
    ("a folder or database of another user: 77", of_another_user),
    ("symbolic links in place of the queue's files: 77, not followed", links_in_place),
    ("a link under a bundle's name is not followed", links_in_the_spool),
    ("a queue that cannot be made or is missing", no_place),
]
