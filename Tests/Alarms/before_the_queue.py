"""Bundles that the queue refuses, and files that stay in its inbox."""
from Alarms.lines import Causes
from Kit.disks import mounted, small
from Kit.outcomes import expect
from Kit.rigs import NOBODY
from QueueFaults.full_quotas import BYTES, INODES, QGROUP, queue

line = Causes()


def waiting(scene):
    scene.folder()
    return scene.push()


@line("the spool is at its `limit`")
def at_limit(scene):
    waiting(scene)
    scene.run("config", "limit", "1kB").must(0)
    scene.is_refused(12)
    scene.judge()


@line("quarantine fills the `limit`")
def quarantine_at_limit(scene):
    bundle, = waiting(scene)
    scene.rig.spool_file(bundle).write_bytes(bundle.data[:-1] + b"\1")
    scene.run("run").must(14, about="run")
    scene.run("cancel", "--all").must(0)
    scene.run("config", "limit", "1kB").must(0)
    scene.is_refused(12)
    scene.judge()


@line("the disk has less room than `free-floor`")
def at_floor(scene):
    waiting(scene)
    scene.run("config", "free-floor", "9000TB").must(0)
    scene.is_refused(12)
    scene.judge()


@line("the disk is full")
def full_disk(scene):
    with scene.on_a_disk(small("4m")):
        scene.run("config", "free-floor", "none").must(0)
        scene.place.shell('dd if=/dev/zero of="$0/x" bs=1k 2> /dev/null')
        scene.is_refused(74)
        scene.judge()


@line("the disk is full, and so is what `reserve` kept")
def no_reserve(scene):
    with scene.on_a_disk(small("4m")):
        scene.run("config", "free-floor", "none").must(0)
        scene.place.shell('rm "$0"/queue/reserve*; dd if=/dev/zero of="$0/x" bs=1k 2> /dev/null')
        scene.judge()


@line("the disk has no inodes left")
def no_inodes(scene):
    with scene.on_a_disk(small("64m", ",nr_inodes=44")):
        scene.place.below("queue").shell(INODES)
        scene.is_refused(74)
        scene.judge()


@line("a quota is used up")
def quota(scene):
    with queue(scene.bench, QGROUP + ' && btrfs qgroup limit 4m "$0/user" && sync -f "$0"') as full:
        scene.rig, scene.place = full.place.rig, full.place
        full.shell(BYTES)
        scene.is_refused(74)
        scene.judge()


@line("the disk is read-only")
def read_only(scene):
    with scene.on_a_disk(small("16m")):
        scene.place.shell('mount -o remount,ro "$0"').must(0, about="remount")
        scene.is_refused(73, 74)
        scene.judge()


@line("the user may not write `incoming/` or `spool/`")
def not_writable(scene):
    waiting(scene)
    user, run = scene.own_to(NOBODY - 91), scene.rig.run
    scene.run = lambda *words, **how: run(*words, prefix=user, **how)
    for folder in "spool", "incoming":
        place = scene.rig.queue / folder
        place.chmod(0o500)
        scene.is_refused(73, 74, 77)
        said = scene.run("status", "--check").must(15, about=f"status --check, {folder}").out.decode()
        expect(str(place) in said, f"status --check says {said!r}")
        place.chmod(0o500 if folder == "incoming" else 0o700)
    scene.judge()


@line("the disk is not encrypted, and `require-encrypted` is on")
def not_encrypted(scene):
    waiting(scene)
    scene.run("config", "require-encrypted", "on").must(0)
    scene.is_refused(12)
    scene.judge()


@line("the spool is a mount of its own")
def spool_apart(scene):
    waiting(scene)
    spool = scene.rig.queue / "spool"
    copy = 'cp -a "$0" "$0.kept" && mount -t tmpfs -o mode=700 none "$0" && cp -a "$0.kept/." "$0" && rm -r "$0.kept"'
    with mounted(scene.rig, spool, copy) as scene.place:
        scene.is_refused(73, 74)
        scene.judge()


def inbox(scene):
    """Makes an inbox, and returns the name under which a bundle in it would be taken."""
    place = scene.rig.folder / "inbox"
    place.mkdir()
    scene.folder()
    scene.run("config", "inbox", place).must(0, about="config inbox")
    return place / "x.bundle"


@line("nothing takes what lies in the inbox", quick=True)
def left(scene):
    inbox(scene).write_bytes(scene.bench.stock[0].data)
    scene.judge()


@line("a file in the inbox is damaged")
def damaged(scene):
    inbox(scene).write_bytes(scene.bench.stock[0].data[:-600])
    scene.judge()


@line("a file in the inbox is a link")
def a_link(scene):
    inbox(scene).symlink_to(scene.bench.stock[0].path)
    scene.judge()


@line("a bundle in the inbox is not trusted, and `require-trusted` is on")
def untrusted(scene):
    inbox(scene).write_bytes(scene.bench.stock[0].data)
    scene.run("config", "require-trusted", "yes").must(0)
    scene.rig.trust.unlink()
    scene.judge()


@line("the inbox cannot be read")
def no_inbox(scene):
    inbox(scene).parent.rmdir()
    scene.judge()


TESTS = line.tests
