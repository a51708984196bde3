"""What a queue needs of its file system is tried when it is made; what the file system cannot promise is said."""
import contextlib
import json
import os
import re
import shutil

from Kit.disks import mounted, small
from Kit.invariants import holds, refused, words_for_people
from Kit.outcomes import every, expect, long
from Kit.queues import few
from Kit.tracing import require_strace, strace

# The second part of each is the word in the message.
REFUSALS = {
    "no flock": ("flock:error=ENOLCK", "files cannot be locked (flock: no locks available)"),
    "flock keeps nobody out": ("flock:retval=0", "files cannot be locked (two have the lock)"),
    "no lock of bytes": ("fcntl:error=ENOLCK:when={shared}", "parts of files cannot be locked (fcntl: no locks available)"),
    "a shared lock stays shared, as over SMB": (
        "fcntl:error=EACCES:when={exclusive}", "parts of files cannot be locked (fcntl: permission denied)"),
    "a lock of bytes keeps nobody out": ("fcntl:retval=0", "parts of files cannot be locked (two have the lock)"),
    "no shared memory": ("pread64:error=EFAULT:when={map}", "processes cannot share memory (mmap: bad address)"),
    "no sync": ("fsync:error=EINVAL", "nothing can be synced (fsync: invalid argument)"),
    "no rename": ("?renameat,?renameat2:error=EIO", "files cannot be renamed (rename: input/output error)"),
}
IMAGE = 'truncate -s 12M "$0.img" && {make} "$0.img" > /dev/null && mount -o loop{options} "$0.img" "$0" && chmod 700 "$0"'
EXT4 = "mkfs.ext4 -q -F"
RCLONE = 'mkdir "$0.there" && rclone mount --daemon {options} "$0.there" "$0" 2> /dev/null'


def number(calls, name, pattern):
    """Returns which call of this name is the first that matches, as strace counts."""
    named = [line for line in calls if f" {name}(" in line]
    return 1 + next(place for place, line in enumerate(named) if re.search(pattern, line))


def refuses(bench):
    """Where a call of the trial fails, no queue is made, the message names what is missing, and nothing is left."""
    require_strace()
    rig = bench.rig()
    place, log = rig.out / "queue", rig.folder / "trace"
    rig.run("init", "--queue", place, prefix=strace("-e", "trace=fcntl,pread64", log=log)).must(0, about="init")
    shutil.rmtree(place)
    calls = log.read_text().splitlines()
    numbers = {"shared": number(calls, "fcntl", "F_SETLK,.*F_RDLCK"), "exclusive": number(calls, "fcntl", "F_SETLK,.*F_WRLCK"),
               "map": number(calls, "pread64", '"capqueue"')}
    for about, (effect, wanted) in REFUSALS.items():
        names = effect.partition(":")[0]
        result = rig.run("init", "--queue", place, prefix=strace(
            "-e", f"trace={names}", "-e", "inject=" + effect.format(**numbers))).must(73, about=about)
        words_for_people(result, about=about)
        expect(f"{place}: the file system cannot keep a queue: {wanted}" in result.text, f"{about}: says {result.text!r}")
        expect(not os.listdir(rig.out), f"{about}: leaves {os.listdir(rig.out)}")


def concerns(place, about):
    status = json.loads(place.run("status", "--queue", place.place / "q", "--json").must(0, about=about).out)
    return [concern["code"] for concern in status["concerns"]], status["disk"].get("kind")


def made(rig, place, about, *wanted):
    """Makes a queue; the messages have the words, or there is only that it was made."""
    said = place.run("init", "--queue", place.place / "q").must(0, about=about).text
    expect(all(word in said for word in wanted) and len(said.splitlines()) == 1 + len(wanted), f"{about}: says {said!r}")
    expect(not list(place.inside.rglob(".*")), f"{about}: leaves {list(place.inside.rglob('.*'))}")


def journals(bench):
    """A queue on ext2 or on ext4 without a journal works, and is a concern; with a journal, also an external one, it is not."""
    for about, make, journal in (
            ("ext4", EXT4, True), ("ext4 without a journal", f"{EXT4} -O ^has_journal", False), ("ext2", "mkfs.ext2 -q -F", False)):
        rig = bench.rig()
        with mounted(rig, rig.out / "disk", IMAGE.format(make=make, options="")) as place:
            made(rig, place, about, *() if journal else ["warning: the queue is on ext2, or ext4 without a journal"])
            found = concerns(place, about)
            expect(found == (([], None) if journal else (["disk.journal"], "no-journal")), f"{about}: status has {found}")
            queue = ("--queue", place.place / "q")
            place.run("status", "--check", *queue).must(0 if journal else 15, about=f"{about}: status --check")
            place.shell('mkdir "$0/there"').must(0)
            said = place.run("dest", "add", "d", "--kind", "folder", "--path", place.place / "there", *queue).must(0).text
            expect(("without a journal" in said) != journal, f"{about}: dest add says {said!r}")
            place.run("push", bench.stock[0].path, *queue).must(0, about=f"{about}: push")
            place.run("run", *queue).must(0, about=f"{about}: run")


def in_memory(bench):
    rig = bench.rig()
    with mounted(rig, rig.out / "disk", small("16m")) as place:
        made(rig, place, "tmpfs", "nothing is left after a restart")
        expect(concerns(place, "tmpfs") == ([], "memory"), f"status has {concerns(place, 'tmpfs')}")
        said = place.run("status", "--queue", place.place / "q").must(0).out.decode()
        expect("nothing is left after a restart" in said, f"status says {said!r}")


def on_fat(bench):
    """FAT is refused; a queue that was made there by an earlier version is a concern, and a folder there gets a note."""
    rig = bench.rig()
    rig.push(bench.stock[0])
    with mounted(rig, rig.out / "disk", IMAGE.format(make="mkfs.vfat", options=",umask=077") + ' && mkdir "$0/there"') as place:
        result = place.run("init", "--queue", place.place / "new").must(73, about="init")
        expect("is on FAT" in result.text, f"says {result.text!r}")
        expect(os.listdir(place.inside) == ["there"], f"leaves {os.listdir(place.inside)}")
        shutil.copytree(rig.queue, place.inside / "q", copy_function=shutil.copyfile)
        expect(concerns(place, "FAT") == (["disk.fat", "captures.unassigned"], "fat"), f"status has {concerns(place, 'FAT')}")
        said = rig.run("dest", "add", "d", "--kind", "folder", "--path", place.place / "there", prefix=place.prefix).must(0)
        expect("without a journal (fat): a receipt says" in said.text, f"dest add says {said.text!r}")


@contextlib.contextmanager
def rclone(rig, options):
    with mounted(rig, rig.out / "disk", RCLONE.format(options=options)) as place:
        try:
            yield place
        finally:
            place.shell('umount -l "$0"')  # which ends rclone


def on_rclone(bench):
    """A mount without a cache cannot keep a queue; one with a cache can, and its limits are said."""
    rig = bench.rig()
    with rclone(rig, "--vfs-cache-mode off") as place:
        result = place.run("init", "--queue", place.place / "q").must(73, about="init without a cache")
        wanted = ("new files have the mode 644, expected 600", "processes cannot share memory (mmap: bad address)",
                  "the mode full (rclone)", "umask=077")
        expect(all(word in result.text for word in wanted), f"says {result.text!r}")
        expect(not os.listdir(place.inside), f"leaves {os.listdir(place.inside)}")
    rig = bench.rig()
    with rclone(rig, "--vfs-cache-mode full --umask 077") as place:
        made(rig, place, "rclone", "note: the queue is on a FUSE mount")
        expect(concerns(place, "rclone") == ([], "fuse"), f"status has {concerns(place, 'rclone')}")
        place.shell('mkdir "$0/there"').must(0)
        queue = ("--queue", place.place / "q")
        said = place.run("dest", "add", "d", "--kind", "folder", "--path", place.place / "there", *queue).must(0).text
        expect("is a FUSE mount: a receipt says" in said and "is not kept out" in said, f"dest add says {said!r}")
        said = place.run("dest", "test", "d", *queue).must(0).out.decode()
        expect("is a FUSE mount: a receipt says" in said and "is not kept out" not in said, f"dest test says {said!r}")
        place.run("push", bench.stock[0].path, *queue).must(0, about="push")
        place.run("run", *queue).must(0, about="run")
        there = sorted(os.listdir(place.inside / "there"))
        expect(there == [".capqueue-destination", f"{bench.stock[0].id}.bundle"], f"the folder has {there}")


def on_two_mounts(bench):
    """A folder of the queue on a mount of its own: refused for a new queue, named with a way out for an old one."""
    bound = 'mount --bind "$0" "$0"'  # of the same device, as a btrfs subvolume is of the same disk

    def new(name, mount):
        rig = bench.rig()
        for folder in (rig.queue, rig.queue / name):
            folder.mkdir(parents=True, mode=0o700)
        with mounted(rig, rig.queue / name, mount) as place:
            result = refused(place.run("init"), 73, about="init")
            for word in (str(rig.queue / name), "a mount of its own", f"mv ELSEWHERE/* {rig.queue / name}"):
                result.naming(word, "init")
            expect(not (rig.queue / "queue.sqlite").exists(), "a queue was made")

    def old(name, mount):
        rig, (first, second) = bench.rig(), bench.stock[:2]
        rig.push(first)
        with mounted(rig, rig.queue / name, mount) as place:
            advice = f"mv ELSEWHERE/* {rig.queue / name}"
            found = [json.loads(line) for line in place.run("check", "--json").must(74, about="check").out.splitlines()]
            expect([line["path"] for line in found if line["kind"] == "mount"] == [str(rig.queue / name)], f"{found}")
            for words, code in ((("check",), 74), (("status", "--check"), 15)):
                said = place.run(*words).must(code, about=words[0]).out.decode()
                expect(advice in said, f"{words[0]} says {said!r}")
            so = "damage cannot be set aside" if name == "quarantine" else "push refuses new captures"
            expect(so in said, f"status says {said!r}")
            place.run("list").must(0, about="list")
            pushed = second
            if name == "quarantine":  # a push of damaged bytes moves them there
                rig.spool_file(first).write_bytes(bytes(len(first.data)))
                pushed = first
            refused(place.run("push", pushed.path), 74, about="push").naming(advice, "push")
        rig.push(first)
        rig.push(second)
        holds(rig, first, second)

    every(few({"spool": small("4m"), "incoming": bound, "quarantine": bound}), new)
    every(few({name: bound for name in ("spool", "quarantine", "incoming")}, 2), old)


TESTS = [
    ("what a file system lacks is named when a queue is made, and nothing is left", refuses),
    ("no journal: a concern, and a run ends with 0", journals),
    ("a queue in memory: a note", in_memory),
    ("a folder of the queue on a mount of its own: refused, and named with the way out", on_two_mounts),
    ("FAT: refused for a new queue, a concern for an old one", on_fat),
    ("rclone mount: refused without a cache, and its limits are said with one", long(on_rclone)),
]
