"""Files in the queue that no row names are reported, never lost, and adopted by `check --repair`."""
import json
import os
import subprocess

from Kit.outcomes import PATIENCE, every, expect
from Kit.invariants import check_says, clean, gives, holds, nothing_left_over
from Kit.disks import OVERLAY, mounted, without_nameless_files
from Kit.queues import few
from QueueFaults.signals_and_streams import wait_for_pipe


def bundles(bench):
    """A whole stray file is adopted, with or without its sidecar."""
    for sidecar in few([False, True]):
        rig = bench.rig()
        rig.push(bench.stock[0])
        rig.stray(bench.stock[1], sidecar)
        about = "with its sidecar" if sidecar else "without a sidecar"
        for options in ((), ("--dry-run",)):
            found = check_says(rig, 15, options=options, about=about)
            expect(len(found) == 1 and "stray" in found[0]["kind"], f"{about}: {options} finds {found}")
            expect(rig.spool_file(bench.stock[1]).exists(), f"{about}: check takes it away")
        rig.run("check", "--repair").must(0, 15, about=f"{about}: check --repair")
        holds(rig, *bench.stock[:2], rows=clean(rig, about), about=about)
        gives(rig, bench.stock[1], about=about)


def of_a_backup(bench):
    """With a database from a backup, check --repair adds what was pushed since, held: nothing is sent that was
    cancelled, held or sent before, and status says why."""
    rig = bench.rig()
    rig.to_folder()
    rig.push(bench.stock[0])
    backup = {path: path.read_bytes() for path in [rig.queue / "queue.sqlite"]}
    since = bench.stock[1:5]
    rig.push(*since)
    rig.run("cancel", since[0].id).must(0)
    rig.run("hold", since[1].id).must(0)
    rig.run("run").must(0, 15)
    for path, data in backup.items():
        path.write_bytes(data)
    said = rig.run("check", "--repair").must(0, about="check --repair").text
    expect("4 captures added and held" in said and "capqueue release" in said, f"check says {said!r}")
    rows = clean(rig)
    expect({rows[bundle.id]["state"] for bundle in since} == {"held"}, "not all are held")
    said = rig.run("status", "--check").must(15).out
    expect(b"4 captures for disk are held by salvage, check --repair or adopt" in said, f"status prints {said!r}")
    events = rig.run("run", "--json").must(15, about="run").out
    expect(all(bundle.id.encode() not in events for bundle in since), "a run sends what is held")


def used_by_a_push(bench):
    """The next push of the same bundle uses the stray file, or replaces it if it is damaged."""
    def judge(name, spoil):
        rig = bench.rig()
        rig.push(bench.stock[0])
        rig.stray(bench.stock[1], sidecar=name != "no sidecar")
        spoil(rig.spool_file(bench.stock[1]))
        rig.push(bench.stock[1])
        gives(rig, bench.stock[1])
        holds(rig, *bench.stock[:2])
        expect(len(rig.rows()) == 2, f"{len(rig.rows())} captures")

    every(few({"no sidecar": lambda path: None, "cut": lambda path: path.write_bytes(path.read_bytes()[:-1]),
               "whole": lambda path: None, "empty": lambda path: path.write_bytes(b"")}, 2), judge)


def no_bundles(bench):
    """A file that is not a bundle is reported each time, and never deleted."""
    rig = bench.rig()
    rig.push(bench.stock[0])
    shard = rig.queue / "spool/ab"
    shard.mkdir(exist_ok=True, mode=0o700)
    odd = {"spool/notes.txt": b"mine", "spool/ab/photo.jpg": b"\xff\xd8\xff",
           f"spool/ab/ab{'0' * 62}.bundle": b"no bundle",
           f"spool/ab/ab{'1' * 62}.bundle": bench.stock[1].data,
           "spool/ab/\x1b[2Jx": b"control", "notes.txt": b"mine"}
    for name, data in odd.items():
        (rig.queue / name).write_bytes(data)
        (rig.queue / name).chmod(0o600)
    for options in ((), ("--repair", "--read-data")):
        found = check_says(rig, 1, 2, 15, 74, options=options, about=f"check {' '.join(options)}")
        expect(found, f"check {' '.join(options)} finds nothing")
        moved = [one["path"] for one in found if "moved to quarantine/" in one["message"]]
        expect(len(moved) == 2 * len(options[:1]), f"check {' '.join(options)} says that it moved {moved}")
        kept = sorted(rig.spool().values()) + [(rig.queue / "notes.txt").read_bytes()]
        for name, data in odd.items():
            expect(data in kept, f"check {' '.join(options)}: the bytes of {name!r} are gone")
    gives(rig, bench.stock[0])
    rig.prune("--older-than", "0s")
    expect((rig.queue / "notes.txt").exists(), "prune deletes a foreign file")


def left_in_incoming(bench):
    """The next check removes what a kill left in incoming/."""
    rig = bench.rig()
    rig.push(bench.stock[0])
    (rig.queue / "incoming/left-over.tmp").write_bytes(bench.stock[1].data[:700])
    rig.run("check").must(0, 15, about="check")
    nothing_left_over(rig, "after check")


def twins_in_incoming(bench):
    """Where a rename is not one step, a hidden file with the bytes of a stored one is named and stays: they may share them."""
    rig = bench.rig()
    with mounted(rig, rig.queue, OVERLAY) as place:
        rig.before = place.prefix
        rig.run("config", "retention", "8d").must(0, about="config")
        stored = bench.stock[0]
        rig.push(stored)
        incoming, spooled = place.inside / "incoming", place.inside / "spool" / stored.sha256[:2]
        sidecar = (spooled / f"{stored.sha256}.json").read_bytes()
        (incoming / "bundle.tmp").write_bytes(stored.data)
        (incoming / "sidecar.tmp").write_bytes(sidecar)
        (incoming / "other.tmp").write_bytes(bench.stock[1].data)
        (place.inside / ".settings.json.new.tmp").write_bytes(b"{")
        rig.run("config", "retention", "9d").must(0, about="config beside a hidden file")
        found = [json.loads(line) for line in rig.run("check", "--json").must(15, about="check").out.splitlines()]
        told = {finding["path"].rpartition("/")[2]: finding["message"] for finding in found if finding["kind"] == "leftover"}
        for name, ending in (("bundle.tmp", "bundle"), ("sidecar.tmp", "json")):
            expect(f"{stored.sha256}.{ending}" in told[name] and "fsck" in told[name], f"check says {told[name]!r}")
        expect("settings.json" in told[".settings.json.new.tmp"], f"check says {told}")
        names = {path.name for path in incoming.iterdir()}
        expect(names == {"bundle.tmp", "sidecar.tmp"}, f"incoming/ has {names}")
        expect((spooled / f"{stored.sha256}.bundle").read_bytes() == stored.data, "the stored bundle was changed")


def check_beside_a_push(bench):
    """Files in incoming/ of a push that still runs are not removed, even if they have names."""
    bundle = bench.stock[1]
    for named in few([True, False]):
        rig = bench.rig()
        rig.push(bench.stock[0])
        rig.before = without_nameless_files() if named else []
        with rig.begin("push", "-", stdin=subprocess.PIPE) as tool:
            rig.before = []
            try:
                tool.stdin.write(bundle.data[:2000])
                tool.stdin.flush()
                wait_for_pipe(tool)
                expect(not named or list((rig.queue / "incoming").iterdir()), "nothing has a name in incoming/")
                rig.run("check").must(0, 15, about="check beside a push")
                out, err = tool.communicate(bundle.data[2000:], timeout=PATIENCE)
            finally:
                tool.kill()
        expect(tool.returncode == 0, f"the push ends with {tool.returncode}: {err[:200]!r}")
        expect(out.decode().split() == [bundle.id], f"the push prints {out!r}")
        clean(rig)
        gives(rig, bundle)


def adopted(bench):
    """adopt stores each bundle of a folder once, also beside another adopt. It follows no link, skips other files, names
    what is called a bundle and is no file, and says that nothing is new only if nothing was refused."""
    rig = bench.rig()
    place = rig.out / "old"
    (place / "deep/er").mkdir(parents=True)
    known = bench.stock[:3]
    paths = [place / ("deep/er" if number % 2 else ".") / f"{number}.bundle" for number in range(len(known))]
    for path, bundle in zip(paths, known):
        path.write_bytes(bundle.data)
    (place / "twin.bundle").write_bytes(known[0].data)
    (place / "cut.bundle").write_bytes(bench.stock[6].data[:-700])
    (place / "link.bundle").symlink_to(bench.stock[7].path)
    (place / "loop").symlink_to(".")
    os.mkfifo(place / "fifo.bundle")
    for tool in [rig.begin("adopt", place) for _ in range(2)]:
        tool.communicate(timeout=PATIENCE)
        expect(tool.returncode in (1, 2, 66), f"adopt beside adopt: exit {tool.returncode}")
    rows = clean(rig, "after adopt")
    expect(rows.keys() == {bundle.id for bundle in known}, f"adopt stores {len(rows)}")
    said = rig.run("adopt", place).must(66, about="adopt again").text
    expect("cut.bundle" in said and "nothing new" not in said, f"adopt says {said!r}")
    expect("link.bundle: is a symbolic link" in said and "fifo.bundle: is not a regular file" in said and
           "loop" not in said, f"adopt says {said!r}")
    expect([path.read_bytes() for path in paths] == [bundle.data for bundle in known], "adopt touches a file")
    (place / "cut.bundle").unlink()
    (place / "fifo.bundle").unlink()
    said = rig.run("adopt", place).must(66, about="adopt of stored bundles, and of a link").text
    expect("link.bundle: is a symbolic link" in said and "nothing new" not in said, f"adopt says {said!r}")
    (place / "link.bundle").unlink()
    (place / "dangling.bundle").symlink_to("nowhere")
    rig.run("adopt", place).must(66, about="adopt of a dangling link")
    (place / "dangling.bundle").unlink()
    said = rig.run("adopt", place).must(0, about="adopt of stored bundles").text
    expect("nothing new" in said and len(rig.rows()) == len(known), f"adopt says {said!r}")


TESTS = [
    ("a whole bundle that no row names: 15, and --repair takes it in", bundles),
    ("a database from a backup: check --repair holds what it adds", of_a_backup),
    ("a push uses a stray file, and replaces an incomplete one", used_by_a_push),
    ("a file that is not a bundle is reported and never deleted", no_bundles),
    ("what a kill left in incoming/ goes with the next check", left_in_incoming),
    ("a hidden file that may share its bytes with a stored one stays, and check says fsck", twins_in_incoming),
    ("check beside a push removes none of its files", check_beside_a_push),
    ("adopt: each bundle once, links are not followed", adopted),
]
