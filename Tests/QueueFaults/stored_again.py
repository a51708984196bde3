"""Push acknowledges only stored captures: a released one that is pushed again is stored again for its retention.

LifeTests shows how long it is then kept, and that it is not sent again; here are other ways to it, and other copies.
"""
import shutil

from Kit.rigs import PHOTO
from Kit.outcomes import expect
from Kit.invariants import gives, holds
from Kit.queues import DAY, ids


def released(rig, bundle):
    """Pushes a bundle, marks it as uploaded 8 days ago, and prunes it, so that the queue has only its receipt."""
    rig.push(bundle)
    rig.uploaded(bundle, days=8)
    goes(rig, bundle)
    rig.run("get", "--local", bundle.id, "-o", "-").must(66, about="get of a released capture")


def goes(rig, bundle):
    expect(rig.prune() == [bundle.id], "it is not released")


def holds_delivered(rig, bundle):
    row = rig.rows()[bundle.id]
    holds(rig, bundle)
    gives(rig, bundle)
    expect(row["state"] == "completed", f"it is {row['state']}")


def other_ways(bench):
    """push --move removes the file after its bytes are stored; adopt skips it, or each run would fill the disk."""
    rig, bundle = bench.rig(), bench.stock[0]
    released(rig, bundle)
    own = rig.out / "own.bundle"
    shutil.copy(bundle.path, own)
    expect(not ids(rig.run("adopt", rig.out).must(0, about="adopt")), "adopt takes it in again")
    expect(rig.rows()[bundle.id]["holding"] == "removed", "adopt stores it again")
    said = rig.run("push", "--move", own).must(0, about="push --move")
    expect(ids(said) == [bundle.id] and "stored again" in said.text and "--resend" in said.text, f"says {said.text!r}")
    expect(not own.exists(), "the file stays")
    holds_delivered(rig, bundle)


def with_an_accepted_clock(bench):
    """After --accept-clock, a time of storing from a fast clock does not keep the capture for ever."""
    rig, bundle = bench.rig(), bench.stock[0]
    released(rig, bundle)
    rig.push(bundle)
    rig.change("UPDATE captures SET stored_at = stored_at + ?", 400 * DAY)
    expect(not rig.prune("--older-than", "0s"), "it is released before its time")
    expect(rig.prune("--accept-clock", "--older-than", "0s") == [bundle.id], "it stays for ever")


def without_a_destination(bench):
    """A capture that was marked as uploaded before there was a destination is sent to the one that is named, once."""
    rig, bundle = bench.rig(), bench.stock[0]
    rig.push(bundle)
    rig.uploaded(bundle)
    place = rig.to_folder("one")
    rig.run("push", "--resend", "--dest", "one", bundle.path).must(0, about="push --resend --dest")
    rig.run("run").must(0, about="run")
    expect((place / f"{bundle.id}.bundle").read_bytes() == bundle.data, "it was not sent")
    found = [one.get("destination") for one in rig.rows()[bundle.id]["deliveries"]]
    expect(found == ["one"], f"the deliveries are {found}")


def sent_again(bench):
    """--resend sends a capture again to the named destinations or to all; the others keep their receipts."""
    rig, bundle = bench.rig(), bench.stock[0]
    copies = [rig.to_folder(name) / f"{bundle.id}.bundle" for name in ("one", "two")]
    rig.push(bundle, options=("--dest", "one", "--dest", "two"))
    rig.run("run").must(0, about="run")
    rig.aged(bundle, days=8)
    goes(rig, bundle)
    for copy in copies:
        copy.unlink()
    rig.push(bundle, options=("--resend", "--dest", "two"))
    rig.run("run").must(0, about="run")
    expect([copy.exists() for copy in copies] == [False, True], "it was not sent again to the one that is named alone")
    rig.push(bundle, options=("--resend",))
    rig.run("run").must(0, about="run")
    expect(copies[0].read_bytes() == bundle.data, "it was not sent again")
    holds_delivered(rig, bundle)


def two_packings(bench, mark):
    """Packs one capture twice: each bundle has its own assertion, so the hashes differ."""
    photo = PHOTO[:-2] + mark.encode() * 400 + PHOTO[-2:]
    first, second = bench.packed(f"{mark} 1", photo), bench.packed(f"{mark} 2", photo)
    expect(first.id == second.id and first.sha256 != second.sha256, "the two are not copies of one capture")
    return first, second


def refused_the_second_time(bench):
    """If --resend sends another copy, it conflicts with the first copy in the folder, whose receipt stays."""
    first, second = two_packings(bench, "twice")
    rig = bench.rig()
    copy = rig.to_folder() / f"{first.id}.bundle"
    rig.push(first)
    rig.run("run").must(0, about="run")
    receipt = rig.query("SELECT receipt FROM deliveries")
    rig.aged(first, days=8)
    goes(rig, first)
    rig.run("push", "--resend", second.path).must(0, about="push --resend of another copy")
    rig.run("run").must(14, about="run")
    expect(copy.read_bytes() == first.data, "the copy in the folder was replaced")
    expect(rig.query("SELECT receipt FROM deliveries") == receipt, "the receipt of the first delivery is gone")
    expect(rig.rows()[first.id]["state"] == "conflict", "the second copy counts as delivered")
    expect(not rig.prune("--older-than", "0s"), "the only second copy is released")


def amid_a_deletion(bench):
    """If prune was killed before it deleted the first copy, a push of another copy removes the first one."""
    first, second = two_packings(bench, "amid")
    rig = bench.rig()
    rig.push(first)
    rig.uploaded(first, days=8)
    rig.change("UPDATE captures SET holding = 'removing'")
    rig.run("push", second.path).must(0, about="push of another copy")
    expect(not rig.spool_file(first).exists(), "the first copy stays, and no row names it")
    expect(rig.spool_file(second).read_bytes() == second.data, "the second copy is not stored")
    rig.run("check").must(0, about="check")


def of_another_hash(bench):
    """Another copy is stored under its own hash, and the queue asks the destination for the copy that was delivered.
    A text as receipt stands for the hash that it names."""
    for mark in ("again", "texts"):
        first, second = two_packings(bench, mark)
        rig = bench.rig()
        disk = rig.to_folder()
        if mark == "texts":
            shutil.copy(first.path, disk / f"{first.id}.bundle")
            released(rig, first)
        else:
            rig.push(first)
            rig.run("run").must(0, about="run")
            rig.aged(first, days=8)
            goes(rig, first)
        rig.run("push", second.path).must(0, about="push of another copy")
        found = rig.run("check", "--remote").must(0, about="check --remote")
        expect(b"lost" not in found.out, f"check --remote says {found.out!r}")
        holds_delivered(rig, second)
        rig.aged(first, days=8)
        goes(rig, first)
        out = rig.run("get", first.id, "-o", "-").must(0, about="get from the destination").out
        expect(out == first.data, f"{mark}: get gives other bytes than were delivered")


TESTS = [
    ("push --move stores a released capture again, and adopt skips it", other_ways),
    ("--accept-clock also corrects the time of storing", with_an_accepted_clock),
    ("push --resend sends a delivered capture again", sent_again),
    ("push --resend --dest after a receipt without a destination", without_a_destination),
    ("a receipt stays if the second delivery is refused", refused_the_second_time),
    ("a copy that is pushed during a deletion replaces the first one", amid_a_deletion),
    ("a copy with another hash is stored, and destinations are asked for the hash of their receipt", of_another_hash),
]
