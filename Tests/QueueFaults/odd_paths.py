"""Unusual paths: links, slashes at the end, combining marks, bytes that are not UTF-8."""
import os
import shutil

from checks import expect

MARK = "\u0301"


def links_are_not_followed(bench):
    """adopt follows no link below the named folder, even if it is the last entry; only that folder may be a link."""
    rig = bench.rig()
    (rig.out / "victim").mkdir()
    shutil.copy(bench.stock[0].path, rig.out / "victim/x.bundle")
    place = rig.out / "place/below"
    place.mkdir(parents=True)
    (place / "zz").symlink_to(rig.out / "victim")
    (place / "zzz").symlink_to(".")
    result = rig.run("adopt", rig.out / "place").must(0)
    expect(not result.out, f"something was stored: {result.out!r}")
    (rig.out / "link").symlink_to("victim")
    expect(rig.run("adopt", rig.out / "link").must(0).out, "a link that was named is followed")


def slash_is_a_folder(bench):
    """`--move FILE/` does not mean FILE."""
    rig = bench.rig()
    file = rig.out / "x.bundle"
    shutil.copy(bench.stock[0].path, file)
    rig.run("push", "--move", f"{file}/").must(66)
    expect(file.exists(), "the file is gone")


def destination_is_kept(bench):
    """Files in the folder of a destination stay, whatever their names begin with."""
    rig = bench.rig()
    place = rig.out / "dest"
    place.mkdir()
    rig.run("dest", "add", "disk", "--kind", "folder", "--path", place).must(0)
    file = place / f"{MARK}x.bundle"
    shutil.copy(bench.stock[0].path, file)
    rig.run("push", "--move", file).must(0)
    expect(file.exists(), "the destination's file was removed")


def odd_bytes(bench):
    """A path that SQLite or a setting cannot hold unchanged is refused before anything is made."""
    rig = bench.rig()
    odd = os.fsencode(rig.out) + b"/odd\xff"
    os.mkdir(odd)
    (rig.out / "link").symlink_to(os.fsdecode(odd))
    rig.push(bench.stock[0])
    rig.run("dest", "add", "disk", "--kind", "folder", "--path", rig.out / "link").must(73)
    expect(os.listdir(odd) == [], f"left in it: {os.listdir(odd)}")
    result = rig.run("push", bench.stock[1].path, env={"CAPQUEUE_DIR": os.fsdecode(odd + b"/queue")})
    expect(result.code in (73, 74), f"exit {result.code}")
    expect("UTF-8" in result.text, f"says {result.text!r}")
    expect(os.listdir(odd) == [], f"left in it: {os.listdir(odd)}")


TESTS = [("links below a folder are not followed by adopt", links_are_not_followed),
         ("a slash at the end of a file's name", slash_is_a_folder),
         ("push --move in a destination, with a combining mark", destination_is_kept),
         ("paths that are not UTF-8", odd_bytes)]
