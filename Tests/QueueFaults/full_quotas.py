"""Disks that are full in ways that the free space does not show: inodes, quotas, and blocks that are kept for root."""
import contextlib
import signal

from Kit.disks import FULL, mounted, small
from Kit.invariants import words_for_people
from Kit.outcomes import PATIENCE, expect, long
from Kit.queues import ids
from Kit.rigs import NOBODY
from QueueFaults.full_disks import medium

AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
EXT4 = ('truncate -s 24M "$0.img" && mkfs.ext4 -q -m 5 {made} "$0.img" && mount -o loop{options} "$0.img" "$0" && '
        f'install -d -m 700 -o {NOBODY} "$0/user" && ')
QGROUP = ('truncate -s 160M "$0.img" && mkfs.btrfs -q "$0.img" > /dev/null && mount -o loop "$0.img" "$0" && '
          '{ btrfs quota enable "$0" && btrfs subvolume create "$0/user"; } > /dev/null && chmod 700 "$0/user"')
INODES = 'mkdir "$0/../x"; i=0; while touch "$0/../x/$i" 2> /dev/null; do i=$((i + 1)); done'
# The second part takes what is left when the first was too large a piece.
BYTES = 'for size in 65536 1024; do dd if=/dev/zero of="$0/../x$size" bs=$size 2> /dev/null; sync -f "$0"; done'


class Queue:
    """A queue in the folder `user/queue` of a disk, with two uploaded bundles and one that waits."""

    def __init__(self, rig, disk, bench, user):
        self.place, self.user, self.bundles = disk.below("user/queue"), user, medium(bench)
        self.tool("config", "free-floor", "none").must(0, about="config")
        there = rig.out / "there"
        there.mkdir()
        there.chmod(0o777)
        self.tool("dest", "add", "f", "--kind", "folder", "--path", there).must(0, about="dest add")
        self.tool("push", *(bundle.path for bundle in self.bundles[:2])).must(0, about="push")
        self.tool("run").must(0, about="run")
        self.tool("push", self.bundles[2].path).must(0, about="push")
        self.shell = self.place.shell

    def tool(self, *words, **how):
        return self.place.run(*words, prefix=self.user, **how)

    def says(self, code, *wanted, about):
        said = self.tool("status", "--check").must(code, about=f"{about}: status --check").out.decode()
        expect(all(word in said for word in wanted), f"{about}: status --check says {said!r}")

    def reads(self, about):
        """Commands that only read work, also if there is no other disk for temporary files."""
        rows = self.tool("list", "--json", env={"TMPDIR": str(self.place.place)}).must(0, about=f"{about}: list").out
        expect(len(rows.splitlines()) == 3, f"{about}: lists {rows!r}")
        out = self.tool("get", self.bundles[2].id, "-o", "-").must(0, about=f"{about}: get").out
        expect(out == self.bundles[2].data, f"{about}: get gives other bytes")
        self.tool("check", "--read-data").must(0, about=f"{about}: check")

    def refuses(self, *words, about):
        result = words_for_people(self.tool(*words).must(74, about=f"{about}: {words[0]}"), about=about)
        expect(FULL.search(result.text), f"{about}: {words[0]} does not say what is full: {result.text!r}")
        return result.text

    def prunes(self, about):
        gone = ids(self.tool("prune", "--older-than", "0s").must(0, about=f"{about}: prune"))
        expect(sorted(gone) == sorted(bundle.id for bundle in self.bundles[:2]), f"{about}: prune prints {gone}")


@contextlib.contextmanager
def queue(bench, mount, user=()):
    rig = bench.rig()
    rig.env["CAPQUEUE_DIR"] = str(rig.folder / "disk/user/queue")
    rig.folder.chmod(0o755)
    with mounted(rig, rig.folder / "disk", mount) as disk:
        yield Queue(rig, disk, bench, user)


def no_inode(bench):
    """Below 1,000 inodes the disk is a concern; without one, prune takes those of the reserve."""
    with queue(bench, small("8m", ",nr_inodes=44") + ' && mkdir -m 700 "$0/user"') as full:
        full.says(13, "further files", "prune", about="44 inodes")
        full.shell(INODES)
        full.says(13, "only 0 further files", "prune", about="no inode")
        full.reads("no inode")
        full.refuses("push", full.bundles[3].path, about="no inode")
        full.prunes("no inode")
        full.shell('rm -r "$0/../x"')
        full.tool("push", full.bundles[3].path).must(0, about="push with inodes again")
    with queue(bench, small("8m", ",nr_inodes=0") + ' && mkdir -m 700 "$0/user"') as free:
        free.says(0, about="a file system without a table of inodes")


def full_quota(bench, mount, fill, user, *words):
    with queue(bench, mount, user) as full:
        full.says(0, about="with room")
        full.shell(fill)
        full.says(13, *words, "prune --older-than", about="full")
        full.reads("full")
        full.refuses("push", full.bundles[3].path, about="full")
        full.prunes("full")
        full.shell('rm "$0"/../x*; sync -f "$0"')
        full.tool("push", full.bundles[3].path).must(0, about="push with room again")
        full.tool("run").must(0, about="run with room again")
        full.tool("check", "--read-data").must(0, about="check")


def user_quota(bench):
    mount = EXT4.format(made="-O quota -E quotatype=usrquota", options=",usrquota")
    fill = f"{' '.join(AS_NOBODY)} sh -c '{BYTES}' \"$0\""
    full_quota(bench, mount + f'setquota -u {NOBODY} 3000 3000 0 0 "$0"', fill, AS_NOBODY, "quota")


def qgroup(bench):
    full_quota(bench, QGROUP + ' && btrfs qgroup limit 4m "$0/user" && sync -f "$0"', BYTES, (), "quota")


def qgroup_with_little_room(bench):
    """Snapshots of a queue get little room, of several sizes, in which all commands end without SIGBUS."""
    with queue(bench, QGROUP) as place:
        for room in (32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256, 288, 320, 384, 448):
            for words in (["run"], ["prune", "--older-than", "0s"], ["hold", "--all"], ["status", "--check"],
                          ["push", place.bundles[3].path]):
                about = f"{room} KiB: {words[0]}"
                limited = place.place.rig.folder / "disk/limited/queue"
                made = place.shell(
                    'cd "$0/../.." && btrfs subvolume snapshot user limited && sync -f . && id=$(stat -c %i limited) && '
                    'set -- $(btrfs qgroup show --raw limited | awk -v id="0/$(btrfs inspect-internal rootid limited)" '
                    f'"\\$1 == id") && btrfs qgroup limit $(($2 + {room * 1024})) limited')
                made.must(0, about=f"{about}: limit")
                result = place.tool(*words, "--queue", limited).must(0, 13, 15, 74, about=about)
                expect(room < 128 or words[0] == "push" or "SIGBUS" not in result.text, f"{about}: {result.text!r}")
                place.shell('cd "$0/../.." && btrfs qgroup limit none limited').must(0, about=f"{about}: no limit")
                place.tool("check", "--read-data", "--queue", limited).must(0, 15, about=f"{about}: check")
                acknowledged = {bundle.id for bundle in place.bundles[:3]} | set(ids(result) if words[0] == "push" else [])
                rows = place.tool("list", "--queue", limited).must(0, about=f"{about}: list").out.decode()
                expect(all(id in rows for id in acknowledged), f"{about}: lists {rows!r}")
                place.shell('cd "$0/../.." && btrfs subvolume delete -c limited').must(0, about="delete")


def bus_error(bench):
    """What no check foresees: a store for which there is no room ends the tool with 74."""
    rig = bench.rig()
    rig.push(bench.stock[0])
    with rig.begin("run", "--watch", "--json") as run:
        expect(b"started" in run.stdout.readline(), "the run does not start")
        run.send_signal(signal.SIGBUS)
        err = run.communicate(timeout=PATIENCE)[1]
    expect(run.returncode == 74 and b"capqueue: error: the disk of the queue has no room" in err
           and err.endswith(b" is stored\n"), f"exit {run.returncode}, {err!r}")
    rig.run("check", "--read-data").must(0, about="check")


def kept_for_root(bench):
    """Root fills the disk into the blocks that are kept for root. Nothing that the user deletes would help."""
    with queue(bench, EXT4.format(made="", options="") + "true", AS_NOBODY) as full:
        full.shell('head -c 99999999 /dev/zero > "$0/../../log"; truncate -s -600K "$0/../../log"; sync -f "$0"')
        expect(full.place.free() == 0, f"{full.place.free()} bytes are free")
        full.says(13, "root", "tune2fs -m", about="filled by root")
        full.reads("filled by root")
        for words in (["push", full.bundles[3].path], ["prune", "--older-than", "0s"], ["run"], ["hold", "--all"]):
            expect("tune2fs -m" in full.refuses(*words, about="filled by root"), f"{words[0]} does not name tune2fs")
        expect({"reserve", "reserve.2"} <= set(full.place.names()), "the reserve is given up in vain")
        full.shell('truncate -s -3M "$0/../../log"; sync -f "$0"')
        full.prunes("with room")
        full.tool("run").must(0, about="run with room")


def filled_by_the_user(bench):
    """The user itself fills an ext4 disk: here the reserve helps, although as much is kept for root."""
    with queue(bench, EXT4.format(made="", options="") + "true", AS_NOBODY) as full:
        full.shell(f"{' '.join(AS_NOBODY)} sh -c '{BYTES}' \"$0\"")
        full.says(13, "prune --older-than", about="filled by the user")
        full.reads("filled by the user")
        full.refuses("push", full.bundles[3].path, about="filled by the user")
        full.prunes("filled by the user")


def less_kept_for_root(bench):
    """The owner of the disk has followed the advice to keep less for root. Then the user fills it: the reserve helps."""
    with queue(bench, EXT4.format(made="", options="") + "true", AS_NOBODY) as full:
        full.shell('tune2fs -m 1 "$(findmnt -no SOURCE "$0/../..")"').must(0, about="tune2fs")
        full.tool("prune").must(0, about="prune")
        full.shell(f"{' '.join(AS_NOBODY)} sh -c '{BYTES}' \"$0\"")
        full.says(13, "prune --older-than", about="filled by the user")
        full.prunes("filled by the user")


TESTS = [
    ("without an inode reading and prune work, and status --check says so", no_inode),
    ("a user's quota that other files use up", user_quota),
    ("a btrfs qgroup at its limit: reading and prune work, and status --check says so", qgroup),
    ("a btrfs qgroup with a little room: no SIGBUS, and nothing is lost", long(qgroup_with_little_room)),
    ("a bus error ends the tool with 74", bus_error),
    ("a disk that root has filled into what is kept for root", kept_for_root),
    ("a disk that the user has filled up to what is kept for root", filled_by_the_user),
    ("a full disk that keeps less for root than when the queue was made", less_kept_for_root),
]
