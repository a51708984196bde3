"""Other users give a queue bundles through its inbox; none of them can use the queue, or make it send other files."""
import os
import shutil
import subprocess

from Kit.disks import without_nameless_files
from Kit.invariants import clean, gives, holds
from Kit.outcomes import Skipped, expect, long
from Kit.rigs import NOBODY
from Kit.sending import wait_until

OTHER = {"user": NOBODY, "group": NOBODY, "extra_groups": []}


def with_inbox(bench):
    rig = bench.rig()
    place = rig.folder / "inbox"
    place.mkdir()
    if os.geteuid() == 0:
        os.chown(place, 0, NOBODY)
    place.chmod(0o3770)
    rig.run("config", "inbox", place).must(0, about="config inbox")
    return rig, place


def send(rig, bundle, place, name="x"):
    """Puts a bundle into the inbox as Spec/queue.md section 14 says."""
    script = 'cp "$0" "$1/.$2.tmp" && mv -n "$1/.$2.tmp" "$1/$2.bundle"'
    who = OTHER if os.geteuid() == 0 else {}
    rig.call("sh", "-c", script, bundle.path, place, name, **who).must(0, about="putting a file into the inbox")
    return place / f"{name}.bundle"


def of_another_user(bench):
    """The hint of 77 leads to the inbox; what another user puts there is stored, and its file is gone then."""
    if os.geteuid() != 0:
        raise Skipped("needs another user")
    rig, place = with_inbox(bench)
    said = rig.run("push", bench.stock[0].path, **OTHER).must(77, about="push of another user").text
    expect("another user: root" in said and "config inbox FOLDER" in said, f"push says {said!r}")
    files = [send(rig, bundle, place, f"n{number}") for number, bundle in enumerate(bench.stock[:3])]
    expect(files[0].stat().st_uid == NOBODY, "the file is not of the other user")
    rig.run("run").must(0, 15, about="run")
    expect(not list(place.iterdir()), f"left: {list(place.iterdir())}")
    holds(rig, *bench.stock[:3], rows=clean(rig))


def still_open(bench):
    """A sender that still has the file open changes nothing that the queue holds, whether it clones or copies."""
    rig, place = with_inbox(bench)
    for number, prefix in enumerate(((), without_nameless_files())):
        bundle = bench.stock[number]
        with open(send(rig, bundle, place), "r+b") as file:
            rig.run("run", prefix=prefix).must(0, 15, about="run")
            expect(not list(place.iterdir()), "not taken")
            file.write(b"changed" * 99)
        gives(rig, bundle)
    rig.run("check", "--read-data").must(0, about="check")


def links(bench):
    """Neither kind of link in the inbox makes the queue send a file that its sender may not read."""
    rig, place = with_inbox(bench)
    secret = rig.folder / "secret.bundle"
    shutil.copy(bench.stock[0].path, secret)
    secret.chmod(0o600)
    (place / "link.bundle").symlink_to(secret)
    os.link(secret, place / "second.bundle")
    os.mkfifo(place / "pipe.bundle")
    for _ in range(2):
        said = rig.run("run").must(0, 15, about="run").text
        expect(said.count("left in the inbox") == 3 and not rig.rows(), f"run says {said!r}")
    expect(len(list(place.iterdir())) == 3 and secret.stat().st_nlink == 2, "a file was changed")


def renamed_over(bench):
    """A file that gets the name of another one while that is being deleted stays. strace delays the deletion."""
    if not shutil.which("strace"):
        raise Skipped("strace is missing")
    rig, place = with_inbox(bench)
    first, second = bench.stock[:2]
    file = send(rig, first, place)
    delay = ("strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=unlinkat,renameat2",
             "-e", "inject=unlinkat,renameat2:delay_enter=300000")
    with subprocess.Popen([*delay, *rig.argv("run")], env=rig.env, stdin=subprocess.DEVNULL) as run:
        wait_until(lambda: first.id in rig.rows(), "not taken")
        shutil.copy(second.path, place / ".second")
        (place / ".second").rename(file)
        run.wait()
    rig.run("run").must(0, 15, about="run")
    holds(rig, first, second, rows=clean(rig))


def watched(bench):
    """run --watch takes what comes, sends it, and names a bad file once."""
    rig, place = with_inbox(bench)
    rig.to_folder("disk")
    (place / "bad.bundle").write_bytes(bench.stock[0].data[:-600])
    with rig.begin("run", "--watch") as tool:
        for number, bundle in enumerate(bench.stock[:3]):
            file = send(rig, bundle, place, f"n{number}")
            wait_until(lambda file=file: not file.exists(), f"{file.name} is not taken")
            # A run that is not told of it looks again after a minute.
            wait_until(lambda id=bundle.id: rig.rows()[id]["state"] == "completed", f"{file.name} is not sent", 40)
        tool.terminate()
        said = tool.communicate()[1].decode()
    expect(said.count("bad.bundle") == 1, f"run says {said!r}")
    holds(rig, *bench.stock[:3], rows=clean(rig))


TESTS = [
    ("another user gets 77 and the way to the inbox; run takes what is put there", of_another_user),
    ("a sender that still has the file open changes nothing", still_open),
    ("links and pipes in the inbox stay there, and are named", links),
    ("a file that gets the name of another one while that is deleted is not lost", long(renamed_over)),
    ("run --watch takes what comes, sends it, and names a bad file once", long(watched)),
]
