"""A queue on small disks that are really full."""
import json

from bench import PHOTO
from checks import every, expect
from invariants import words_for_people
from mounts import mounted, small
from queues import DAY, ids

SIZES = ("256k", "400k", "512k", "768k", "1m", "1500k", "2m")


def medium(bench):
    """Returns bundles of about 60 kB: their photos would compress well, but a bundle contains its photo unchanged."""
    if not hasattr(bench, "medium"):
        bench.medium = [bench.packed(f"medium{number}", PHOTO[:-2] + bytes([number + 1]) * 60_000 + PHOTO[-2:])
                        for number in range(24)]
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


def refuses(result, about):
    words_for_people(result.must(74, about=about), about=about)
    expect(not result.out, f"{about}: prints {result.out[:100]!r}")
    expect("--reference" in result.text, f"{about}: does not name --reference: {result.text!r}")


def fills_up(bench):
    """Bundles are pushed one by one until the disk is full, on disks of several sizes."""
    for size in SIZES:
        rig = bench.rig()
        with mounted(rig, rig.queue, small(size)) as place:
            held = []
            for bundle in medium(bench):
                result = place.run("push", bundle.path)
                if result.code:
                    break
                expect(ids(result) == [bundle.id], f"{size}: prints {result.out!r}")
                held.append(bundle)
            if not held and result.code == 73:
                continue  # not even the queue itself had room
            refuses(result, size)
            if place.run("list").code == 66 and not held:
                continue
            intact(place, held, size)
            refuses(place.run("push", bundle.path), f"{size}, again")
            intact(place, held, f"{size}, again")
            if held:
                place.run("check", "--read-data").must(0, about=f"{size}: check")
                out = place.run("get", held[0].id, "-o", "-").must(0, about=f"{size}: get").out
                expect(out == held[0].data, f"{size}: get gives other bytes")
                small_bundle = place.run("push", "--reference", bundle.path)
                small_bundle.must(0, 74, about=f"{size}: push --reference on a full disk")


def many_at_once(bench):
    """If a batch does not fit, the queue has what it acknowledged, and nothing else."""
    for size in ("512k", "1m", "1500k"):
        rig = bench.rig()
        with mounted(rig, rig.queue, small(size)) as place:
            bundles = medium(bench)
            result = place.run("push", *(bundle.path for bundle in bundles)).must(74, about=size)
            expect("--reference" in result.text, f"{size}: does not name --reference: {result.text[:300]!r}")
            known = {bundle.id: bundle for bundle in bundles}
            if place.run("list").code != 66:
                intact(place, [known[name] for name in ids(result)], size)


def full_to_the_last_byte(place):
    place.shell('head -c 99999999 /dev/zero > "$0/../filler/x"; true')
    place.shell('dd if=/dev/zero of="$0/../filler/y" bs=512 2> /dev/null; true')
    expect(place.free() == 0, f"the disk still has {place.free()} bytes")


def prune_makes_room(bench):
    """prune and list work on a disk without a free byte; afterwards there is room for a push."""
    rig = bench.rig()
    disk = rig.folder / "disk"
    rig.queue = disk / "queue"
    rig.env["CAPQUEUE_DIR"] = str(rig.queue)
    with mounted(rig, disk, small("3m") + ' && mkdir -m 700 "$0/filler"') as outer:
        outer.run("push", *(bundle.path for bundle in medium(bench)[:12])).must(0, about="push")
        gone, kept, new = medium(bench)[:6], medium(bench)[6:12], medium(bench)[12]
        for bundle in gone:
            (rig.folder / "receipt").write_text(bundle.sha256)
            outer.run("mark-uploaded", bundle.id, "--receipt", rig.folder / "receipt").must(0, about="mark-uploaded")
        place = outer.below("queue")
        place.execute(f"UPDATE captures SET finished_at = finished_at - {8 * DAY}, "
                      f"stored_at = stored_at - {8 * DAY}",
                      f"UPDATE deliveries SET completed_at = completed_at - {8 * DAY}")
        full_to_the_last_byte(place)
        refuses(place.run("push", new.path), "push on a full disk")
        result = place.run("prune").must(0, about="prune on a full disk")
        expect(sorted(ids(result)) == sorted(bundle.id for bundle in gone), f"prune prints {result.out!r}")
        expect(place.free() >= 5 * 60_000, f"prune frees {place.free()} bytes")
        rows = listed(place, "after prune")
        expect({rows[bundle.id]["holding"] for bundle in gone} == {"removed"}, "not all are removed")
        result = place.run("push", new.path).must(0, about="push after prune")
        expect(ids(result) == [new.id], f"push after prune prints {result.out!r}")
        place.run("check", "--read-data").must(0, about="check")
        out = place.run("get", kept[0].id, "-o", "-").must(0, about="get").out
        expect(out == kept[0].data, "get gives other bytes")
        expect((place.inside / "reserve").stat().st_blocks * 512 >= 262_144, "the reserve is not made again")


def reading_commands(bench):
    """Commands that only read need no room."""
    rig = bench.rig()
    disk = rig.folder / "disk"
    rig.queue = disk / "queue"
    rig.env["CAPQUEUE_DIR"] = str(rig.queue)
    with mounted(rig, disk, small("2m") + ' && mkdir -m 700 "$0/filler"') as outer:
        place = outer.below("queue")
        held = medium(bench)[:3]
        place.run("push", *(bundle.path for bundle in held)).must(0, about="push")
        full_to_the_last_byte(place)

        def judge(_, words):
            result = place.run(*words).must(0)
            expect(words[0] != "get" or result.out == held[0].data, "other bytes")

        every({words[0]: words for words in (["list"], ["status"], ["show", held[1].id], ["history", held[1].id],
                                             ["get", held[0].id, "-o", "-"], ["export", "--manifest", "-"])}, judge)


def other_commands(bench):
    """On a disk without a free byte every command does its work or exits with 74, and loses nothing."""
    rig = bench.rig()
    disk = rig.folder / "disk"
    rig.queue = disk / "queue"
    rig.env["CAPQUEUE_DIR"] = str(rig.queue)
    with mounted(rig, disk, small("2m") + ' && mkdir -m 700 "$0/filler"') as outer:
        place = outer.below("queue")
        held = medium(bench)[:5]
        place.run("push", *(bundle.path for bundle in held)).must(0, about="push")
        full_to_the_last_byte(place)
        (rig.folder / "receipt").write_text(held[0].sha256)
        for words in (["hold", held[1].id], ["cancel", held[2].id], ["retry", "--all"], ["config", "retention", "3d"],
                      ["mark-uploaded", held[0].id, "--receipt", rig.folder / "receipt"], ["prune", "--cancelled"],
                      ["check"], ["check", "--repair"], ["run"], ["show", held[3].id], ["history", held[3].id]):
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
        place.run("check", "--read-data").must(0, about="check with room again")
        out = place.run("get", held[3].id, "-o", "-").must(0, about="get").out
        expect(out == held[3].data, "get gives other bytes")


def no_inode(bench):
    """The disk has room but no inode left."""
    for count in (8, 12, 16, 20):
        rig = bench.rig()
        with mounted(rig, rig.queue, small("8m", f",nr_inodes={count}")) as place:
            held = []
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
    ("disks of several sizes fill up: 74 and --reference, nothing is half written", fills_up),
    ("a batch that does not fit: only acknowledged captures are stored", many_at_once),
    ("prune works on a disk without a free byte, and makes room", prune_makes_room),
    ("reading commands work on a disk without a free byte", reading_commands),
    ("every command ends on a disk without a free byte", other_commands),
    ("a disk without a free inode: no partial file", no_inode),
]
