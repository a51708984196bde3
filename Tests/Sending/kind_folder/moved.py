"""folder: a disk that is mounted elsewhere, such as /run/media in place of /media."""
import shutil

from Kit.outcomes import expect
from Kit.sending import completed


def moved(bench):
    """`dest set --path` takes a folder with the marker of this destination, and no other. What waits lands there, and
    receipts from before stay good."""
    rig, (first, second) = bench.rig(), bench.stock[:2]
    old, new, other = (rig.folder / name for name in ("media", "run-media", "other"))
    old.mkdir()
    other.mkdir()
    rig.dest("stick", "folder", "--path", old)
    rig.dest("other", "folder", "--path", other)
    rig.push(first, options=("--dest", "stick"))
    rig.send(code=0)
    old.rename(new)
    rig.push(second, options=("--dest", "stick"))
    rig.send("--dest", "stick", code=15)
    empty = rig.folder / "empty"
    empty.mkdir()
    for path, words in (other, "of another destination"), (empty, "has no .capqueue-destination"):
        said = rig.run("dest", "set", "stick", "--path", path).must(78, about=f"dest set --path {path}").text
        expect(words in said and str(path) in said, f"dest set says {said!r}")
    rig.run("dest", "set", "stick", "--path", new).must(0, about="dest set --path")
    said = rig.run("dest", "set", "stick", "--path", old).must(78, about="dest set --path of the old mount").text
    expect("no such file" in said, f"dest set says {said!r}")
    rig.send("--dest", "stick", code=0)
    completed(rig, first, second)
    expect((new / f"{second.id}.bundle").read_bytes() == second.data, "it holds other bytes")
    rig.run("check", "--remote").must(0, about="check --remote")


def pace(bench):
    """The pace can be set, also while the disk is away, and the folder is still known by its marker."""
    rig = bench.rig()
    folder = rig.folder / "drop"
    folder.mkdir()
    rig.dest("stick", "folder", "--path", folder)
    shutil.rmtree(folder)
    changes = {"retry": "0,1,2", "bwlimit": "1MB", "concurrency": "2", "jitter": "20%", "lifetime": "30d"}
    for name, value in changes.items():
        rig.run("dest", "set", "stick", f"--{name}", value).must(0, about=f"dest set --{name}")
    shown = rig.run("dest", "show", "stick").must(0).out.decode()
    expect(all(value in shown for name, value in changes.items()) and str(folder) in shown, f"{shown!r}")


TESTS = [
    ("a folder whose disk is mounted elsewhere: dest set --path", moved),
    ("dest set of the pace, without the disk", pace),
]
