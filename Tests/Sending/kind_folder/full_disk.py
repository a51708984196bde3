"""folder: a drop folder on a full disk."""
from Kit.outcomes import expect
from Kit.disks import mounted, small


def full_folder(bench):
    """A full disk blocks the destination and uses no attempt; once the disk has room, the capture lands."""
    rig, bundle = bench.rig(), bench.big(200_000)
    folder = rig.folder / "disk"
    with mounted(rig, folder, small("1m")) as place:
        options = ("--kind", "folder", "--path", folder, "--concurrency", "3")
        place.run("dest", "add", "disk", *options).must(0, about="dest add")
        place.shell('head -c 9999999 /dev/zero > "$0/filler"')
        rig.push(bundle)
        place.run("run", "--once", seconds=60).must(15, about="run")
        row, held = rig.delivery(bundle), rig.destination("disk")
        expect((row.state, row.attempts) == ("pending", 0), f"is {row.state} after {row.attempts} attempts: "
               f"{row.error_code} {row.error_message}")
        expect(held.blocked_reason == "full" and held.blocked_message,
               f"blocked as {held.blocked_reason}: {held.blocked_message!r}")
        names = {path.name for path in place.inside.iterdir()}
        expect(names == {".capqueue-destination", "filler"}, f"the folder has {names}")
        place.shell('rm "$0/filler"').must(0, about="rm")
        place.run("resume", "--dest", "disk").must(0, about="resume")
        place.run("run", "--until-empty", seconds=60).must(0, about="run with room")
        expect((place.inside / f"{bundle.id}.bundle").read_bytes() == bundle.data, "other bytes are there")


TESTS = [
    ("a folder on a full disk", full_folder),
]
