"""A queue on small disks that are really full."""
import contextlib
import json

from Kit.rigs import PHOTO
from Kit.outcomes import IS_LONG, expect, long
from Kit.invariants import words_for_people
from Kit.disks import FULL, mounted, small
from Kit.queues import DAY, few, ids

SIZES = ("768k", "400k", "256k", "512k", "1m", "1500k", "2m")


def medium(bench):
    """Returns bundles of about 60 kB: their photos would compress well, but a bundle contains its photo unchanged."""
    if not hasattr(bench, "medium"):
        bench.medium = [bench.packed(f"medium{number}", PHOTO[:-2] + bytes([number + 1]) * 60_000 + PHOTO[-2:])
                        for number in range(24 if IS_LONG else 10)]
    return bench.medium


def listed(place, about):
    result = place.run("list", "--json").must(0, about=f"{about}: list")
    return {row["id"]: row for row in map(json.loads, result.out.splitlines())}


def intact(place, held, about):
    """Checks that the rows are those that were acknowledged, and that the spool has exactly their bytes."""
    rows = listed(place, about)
    expect(rows.keys() == {bundle.id for bundle in held}, f"{about}: lists {len(rows)} of {len(held)}")
    for bundle in held:
        path = place.inside / "spool" / bundle.sha256[:2] / f"{bundle.sha256}.bundle"
        expect(path.read_bytes() == bundle.data, f"{about}: other bytes of {bundle.id}")
    spooled = {path.name for path in place.inside.glob("spool/*/*.bundle")}
    expect(len(spooled) == len(held), f"{about}: {len(spooled)} files for {len(held)} captures")
    left = list((place.inside / "incoming").iterdir()) if (place.inside / "incoming").exists() else []
    expect(not left, f"{about}: leaves {[path.name for path in left]} in incoming")


def sound(place, bundle, about):
    place.run("check", "--read-data").must(0, about=f"{about}: check")
    out = place.run("get", bundle.id, "-o", "-").must(0, about=f"{about}: get").out
    expect(out == bundle.data, f"{about}: get gives other bytes")


def refuses(result, bundle, about):
    """Checks that a push has failed, and names the bundle, what is full, and what to do."""
    words_for_people(result.must(74, about=about), about=about).naming(bundle.path, about)
    expect(FULL.search(result.text), f"{about}: does not say that the disk is full: {result.text!r}")
    expect(not result.out, f"{about}: prints {result.out[:100]!r}")
    expect("--reference" in result.text, f"{about}: does not name --reference: {result.text!r}")


def fills_up(bench):
    """Bundles are pushed one by one until the disk is full, on disks of several sizes."""
    for size in few(SIZES, 2):
        rig = bench.rig()
        with mounted(rig, rig.queue, small(size)) as place:
            held = []
            if place.run("config", "free-floor", "none").code:
                continue  # not even the queue itself had room
            for bundle in medium(bench):
                result = place.run("push", bundle.path)
                if result.code:
                    break
                expect(ids(result) == [bundle.id], f"{size}: prints {result.out!r}")
                held.append(bundle)
            refuses(result, bundle, size)
            intact(place, held, size)
            refuses(place.run("push", bundle.path), bundle, f"{size}, again")
            intact(place, held, f"{size}, again")
            if held:
                sound(place, held[0], size)
                place.run("push", "--reference", bundle.path).must(0, 74, about=f"{size}: push --reference")


def with_folder(rig, place):
    """Adds a destination that is a folder on another disk."""
    there = rig.out / "disk"
    there.mkdir()
    place.run("dest", "add", "disk", "--kind", "folder", "--path", there).must(0, about="dest add")
    return there


def floor(bench):
    """Without any setting, push leaves 5 % of a small disk free, and status --check says that it refuses. What is there
    is still sent and pruned. A queue without the row has the default too, and `none` allows to fill the disk."""
    rig = bench.rig()
    with mounted(rig, rig.queue, small("4m")) as place:
        with_folder(rig, place)
        printed = ids(place.run("push", *(bundle.path for bundle in medium(bench)[:2])).must(0))
        place.run("status", "--check").must(0, about="status --check with room")
        place.shell(f'head -c {place.free() - 290_000} /dev/zero > "$0/spool/filler"')
        refused = place.run("push", *(bundle.path for bundle in medium(bench))).must(12, about="push at the floor")
        expect("--reference" in refused.text and "config free-floor" in refused.text, f"says {refused.text!r}")
        printed = dict.fromkeys([*printed, *ids(refused)])
        intact(place, [bundle for bundle in medium(bench) if bundle.id in printed], "at the floor")
        expect(place.free() >= 4 * 2 ** 20 // 20, f"{place.free()} bytes are left free")
        said = place.run("status", "--check").must(13, about="status --check at the floor").out
        expect(b"must stay free" in said and b"refuses" in said, f"status --check prints {said!r}")
        place.run("push", "--reference", medium(bench)[-1].path).must(0, about="push --reference at the floor")
        place.execute("DELETE FROM settings")
        place.run("push", medium(bench)[-2].path).must(12, about="push into a queue without the row")
        place.run("config", "free-floor", "none").must(0, about="config")
        expect("free-floor" not in place.run("push", medium(bench)[-3].path).must(0).text, "warns after all")
        said = place.run("status", "--check").must(13, about="status --check without a floor").out
        expect(said.startswith(b"only ") and b"refuses" not in said, f"status --check prints {said!r}")
        place.run("config", "--unset", "free-floor").must(0, about="config --unset")
        place.run("push", bench.stock[0].path).must(12, about="push with the floor again")
        place.run("run").must(0, about="run at the floor")
        expect(len(ids(place.run("prune", "--older-than", "0s").must(0))) == len(printed) + 2, "prune keeps some")


def outcome_has_room(bench):
    """Whatever room a full disk has left, a run does not send what it cannot record: no capture is sent twice."""
    for room in few([0, 4, 16, 40, 80, 120, 200, 300], 4):
        with filler(bench, "2m") as (rig, place):
            there, held = with_folder(rig, place), medium(bench)[:4]
            place.run("push", *(bundle.path for bundle in held)).must(0, about="push")
            full_to_the_last_byte(place)
            place.shell(f'truncate -s -{room}k "$0/../filler/x"; rm -f "$0/reserve"; test {room} != 80 || '
                        'head -c 262144 /dev/zero > "$0/reserve"')
            events = []
            for number in range(3):
                result = place.run("run", "--json").must(0, 15, 74, about=f"{room}k: run {number}")
                words_for_people(result, about=f"{room}k: run {number}")
                events += [json.loads(line) for line in result.out.splitlines()]
            sent = [event["id"] for event in events if event["event"] == "attempt"]
            expect(len(sent) == len(set(sent)), f"{room}k: {len(sent)} attempts for {len(set(sent))} captures")
            landed = {path.stem for path in there.glob("*.bundle")}
            place.shell('rm "$0"/../filler/*')
            done = {id for id, row in listed(place, f"{room}k").items() if row["state"] == "completed"}
            expect(done == landed == set(sent), f"{room}k: {len(landed)} landed, {len(done)} are recorded")
            place.run("run").must(0, about=f"{room}k: run with room")


@contextlib.contextmanager
def filler(bench, size):
    """A queue on a disk with room for other files, which can fill it."""
    rig = bench.rig()
    disk = rig.folder / "disk"
    rig.queue = disk / "queue"
    rig.env["CAPQUEUE_DIR"] = str(rig.queue)
    with mounted(rig, disk, small(size) + ' && mkdir -m 700 "$0/filler"') as outer:
        place = outer.below("queue")
        place.run("config", "free-floor", "none").must(0, about="config")
        yield rig, place


def full_to_the_last_byte(place):
    place.shell('head -c 99999999 /dev/zero > "$0/../filler/x"; true')
    place.shell('dd if=/dev/zero of="$0/../filler/y" bs=512 2> /dev/null; true')
    expect(place.free() == 0, f"the disk still has {place.free()} bytes")


def small_blocks(bench):
    """Where blocks are smaller than a page, as mkfs.ext4 makes them on small disks, no command dies of its shared memory."""
    rig = bench.rig()
    disk = rig.folder / "disk"
    rig.queue = disk / "queue"
    rig.env["CAPQUEUE_DIR"] = str(rig.queue)
    mount = ('truncate -s 24M "$0.img" && mkfs.ext4 -q -b 1024 -m 0 "$0.img" && mount -o loop "$0.img" "$0" && '
             'mkdir -m 700 "$0/filler"')
    with mounted(rig, disk, mount) as outer:
        place = outer.below("queue")
        place.run("config", "free-floor", "none").must(0, about="config")
        place.run("push", *(bundle.path for bundle in medium(bench)[:2])).must(0, about="push")
        for room in (1, 5, 9, 10, 16, 24, 40, 64):
            place.shell(f'head -c 99999999 /dev/zero > "$0/../filler/x" 2> /dev/null; truncate -s -{room}k "$0/../filler/x"')
            for words, codes in (["status"], (0,)), (["list"], (0,)), (["hold", "--all"], (0, 74)), (["prune"], (0, 74)):
                result = place.run(*words).must(*codes, about=f"{room}k: {words[0]}")
                expect("SIGBUS" not in result.text, f"{room}k: {words[0]} says {result.text!r}")
            place.shell('rm "$0/../filler/x"')
        place.run("release", "--all").must(0, about="release with room again")


def prune_makes_room(bench):
    """prune and list work on a disk without a free byte; afterwards there is room for a push."""
    with filler(bench, "1500k") as (rig, place):
        gone, kept, new = medium(bench)[:6], medium(bench)[6:8], medium(bench)[8]
        place.run("push", *(bundle.path for bundle in gone + kept)).must(0, about="push")
        for bundle in gone:
            (rig.folder / "receipt").write_text(bundle.sha256)
            place.run("mark-uploaded", bundle.id, "--receipt", rig.folder / "receipt").must(0, about="mark-uploaded")
        place.execute(f"UPDATE captures SET finished_at = finished_at - {8 * DAY}, "
                      f"stored_at = stored_at - {8 * DAY}",
                      f"UPDATE deliveries SET completed_at = completed_at - {8 * DAY}")
        full_to_the_last_byte(place)
        refuses(place.run("push", new.path), new, "push on a full disk")
        refuses(place.run("push", kept[0].path), kept[0], "push on a full disk of what is held")
        result = place.run("prune").must(0, about="prune on a full disk")
        expect(sorted(ids(result)) == sorted(bundle.id for bundle in gone), f"prune prints {result.out!r}")
        expect(place.free() >= 5 * 60_000, f"prune frees {place.free()} bytes")
        rows = listed(place, "after prune")
        expect({rows[bundle.id]["holding"] for bundle in gone} == {"removed"}, "not all are removed")
        expect(ids(place.run("push", new.path).must(0, about="push after prune")) == [new.id], "push prints another id")
        sound(place, kept[0], "after prune")
        expect((place.inside / "reserve").stat().st_blocks * 512 >= 262_144, "the reserve is not made again")


def other_commands(bench):
    """On a disk without a free byte reading commands work, and every other one does its work or exits with 74."""
    with filler(bench, "1200k") as (rig, place):
        held = medium(bench)[:4]
        place.run("push", *(bundle.path for bundle in held)).must(0, about="push")
        full_to_the_last_byte(place)
        for words in few([["list"], ["get", held[0].id, "-o", "-"], ["status"], ["show", held[1].id],
                          ["history", held[1].id], ["export", "--manifest", "-"]], 2):
            result = place.run(*words).must(0, about=words[0])
            expect(words[0] != "get" or result.out == held[0].data, "other bytes")
        (rig.folder / "receipt").write_text(held[0].sha256)
        for words in few([["cancel", held[2].id], ["hold", held[1].id], ["config", "retention", "3d"],
                          ["mark-uploaded", held[0].id, "--receipt", rig.folder / "receipt"], ["prune", "--cancelled"],
                          ["check", "--repair"], ["run"], ["retry", "--all"], ["check"]], 7):
            result = place.run(*words).must(0, 15, 74, about=" ".join(map(str, words)))
            words_for_people(result, about=words[0])
        place.shell('rm "$0"/../filler/*')
        rows = listed(place, "with room again")
        expect(len(rows) == len(held), f"with room again: {len(rows)} captures instead of {len(held)}")
        for bundle in held:
            path = place.inside / "spool" / bundle.sha256[:2] / f"{bundle.sha256}.bundle"
            there = path.exists() and path.read_bytes() == bundle.data
            # The third one may have been cancelled and released.
            gone = bundle is held[2] and rows[bundle.id]["holding"] in ("removing", "removed")
            expect(there or gone, f"with room again: {bundle.id} is {rows[bundle.id]['holding']}")
        sound(place, held[3], "with room again")


def no_inode(bench):
    """The disk has room but no inode left."""
    for count in few([16, 8, 12, 20]):
        rig = bench.rig()
        with mounted(rig, rig.queue, small("8m", f",nr_inodes={count}")) as place:
            held = []
            place.run("config", "free-floor", "none")
            for bundle in medium(bench):
                result = place.run("push", bundle.path)
                if result.code:
                    break
                held.append(bundle)
            result.must(73, 74, about=f"{count} inodes")
            words_for_people(result, about=f"{count} inodes")
            if held:
                intact(place, held, f"{count} inodes")


TESTS = [
    ("a full disk with small blocks kills no command", long(small_blocks)),
    ("disks of several sizes fill up: 74 and --reference, nothing is half written", fills_up),
    ("without a setting push leaves room, with 12, and status --check says so", floor),
    ("a run does not send what it has no room to record", outcome_has_room),
    ("prune works on a disk without a free byte, and makes room", prune_makes_room),
    ("every command ends on a disk without a free byte", other_commands),
    ("a disk without a free inode: no partial file", no_inode),
]
