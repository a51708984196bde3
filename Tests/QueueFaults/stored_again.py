"""Push acknowledges only stored captures: a released one that is pushed again is stored again for its retention."""
import json
import shutil

from bench import PHOTO
from checks import expect
from invariants import clean, gives, holds
from queues import DAY, ids


def released(bench, rig, bundle, days=8):
    """Pushes a bundle, marks it as uploaded, and prunes it, so that the queue has only its receipt."""
    rig.push(bundle)
    rig.uploaded(bundle, days=days)
    expect(ids(rig.run("prune").must(0, about="prune")) == [bundle.id], "it is not released")
    rig.run("get", "--local", bundle.id, "-o", "-").must(66, about="get of a released capture")


def is_held(bench):
    """A capture that is pushed again has its old id and receipt, and its bytes; it is not sent again."""
    rig, bundle = bench.rig(), bench.stock[0]
    disk = rig.out / "disk"
    disk.mkdir()
    rig.run("dest", "add", "disk", "--kind", "folder", "--path", disk).must(0, about="dest add")
    released(bench, rig, bundle)
    said = rig.push(bundle)
    expect("stored again" in said.text and "--resend" in said.text, f"push says {said.text!r}")
    told = json.loads(rig.run("push", "--json", bundle.path).must(0, about="push --json").out)
    expect(told["outcome"] == "held-already", f"a third push reports {told['outcome']}")
    row = holds_delivered(rig, bundle)
    expect(len(clean(rig)) == 1 and row["deliveries"][0].get("receipt"), "the receipt is gone")
    rig.run("run").must(0, about="run")
    expect(not list(disk.glob("*.bundle")), "a delivered capture is sent again")


def holds_delivered(rig, bundle):
    row = rig.rows()[bundle.id]
    holds(rig, bundle)
    gives(rig, bundle)
    expect(row["state"] == "completed", f"it is {row['state']}")
    return row


def for_its_retention(bench):
    """The retention counts from the time of storing, if that is later than the delivery."""
    rig, bundle = bench.rig(), bench.stock[0]
    released(bench, rig, bundle, days=100)
    rig.push(bundle)
    expect(not ids(rig.run("prune").must(0)), "prune releases a capture that was stored just now")
    holds_delivered(rig, bundle)
    rig.aged(bundle, days=6.99)
    expect(not ids(rig.run("prune").must(0)), "prune releases a capture that was stored less than a week ago")
    rig.aged(bundle, days=0.02)
    expect(ids(rig.run("prune").must(0)) == [bundle.id], "prune keeps a capture that was stored a week ago")


def with_an_accepted_clock(bench):
    """After --accept-clock, a time of storing from a fast clock does not keep the capture for ever."""
    rig, bundle = bench.rig(), bench.stock[0]
    released(bench, rig, bundle)
    rig.push(bundle)
    with rig.database() as database:
        database.execute(f"UPDATE captures SET stored_at = stored_at + {400 * DAY}")
    expect(not ids(rig.run("prune", "--older-than", "0s").must(0)), "it is released before its time")
    expect(ids(rig.run("prune", "--accept-clock", "--older-than", "0s").must(0)) == [bundle.id], "it stays for ever")


def moved(bench):
    """push --move removes the file only after its bytes are in the spool."""
    rig, bundle = bench.rig(), bench.stock[0]
    released(bench, rig, bundle)
    own = rig.out / "own.bundle"
    shutil.copy(bundle.path, own)
    expect(ids(rig.run("push", "--move", own).must(0, about="push --move")) == [bundle.id], "no id")
    expect(not own.exists(), "the file stays")
    holds_delivered(rig, bundle)


def swept(bench):
    """adopt skips a released capture, because each run of adopt would otherwise fill the disk again."""
    rig, bundle = bench.rig(), bench.stock[0]
    released(bench, rig, bundle)
    folder = rig.out / "card"
    folder.mkdir()
    shutil.copy(bundle.path, folder / "1.bundle")
    expect(not ids(rig.run("adopt", folder).must(0, about="adopt")), "adopt takes it in again")
    expect(rig.rows()[bundle.id]["holding"] == "removed", "adopt stores it again")


def sent_again(bench):
    """--resend sends a capture again to the named destinations or to all; the others keep their receipts."""
    rig, bundle = bench.rig(), bench.stock[0]
    for name in ("one", "two"):
        (rig.out / name).mkdir()
        rig.run("dest", "add", name, "--kind", "folder", "--path", rig.out / name).must(0, about="dest add")
    rig.push(bundle, options=("--dest", "one", "--dest", "two"))
    rig.run("run").must(0, about="run")
    rig.aged(bundle, days=8)
    expect(ids(rig.run("prune").must(0)) == [bundle.id], "it is not released")
    for name in ("one", "two"):
        (rig.out / name / f"{bundle.id}.bundle").unlink()
    rig.push(bundle, options=("--resend", "--dest", "two"))
    rig.run("run").must(0, about="run")
    expect([name for name in ("one", "two") if (rig.out / name / f"{bundle.id}.bundle").exists()] == ["two"],
           "it was not sent again to the one that is named alone")
    rig.push(bundle, options=("--resend",))
    rig.run("run").must(0, about="run")
    expect((rig.out / "one" / f"{bundle.id}.bundle").read_bytes() == bundle.data, "it was not sent again")
    holds_delivered(rig, bundle)


def two_packings(bench, mark):
    """Packs one capture twice: each bundle has its own assertion, so the hashes differ."""
    photo = PHOTO[:-2] + mark.encode() * 400 + PHOTO[-2:]
    first, second = bench.packed(f"{mark} 1", photo), bench.packed(f"{mark} 2", photo)
    expect(first.id == second.id and first.sha256 != second.sha256, "the two are not copies of one capture")
    return first, second


def with_disk(rig):
    """Makes the folder of a new destination."""
    disk = rig.out / "disk"
    disk.mkdir()
    rig.run("dest", "add", "disk", "--kind", "folder", "--path", disk).must(0, about="dest add")
    return disk


def refused_the_second_time(bench):
    """If --resend sends another copy, it conflicts with the first copy in the folder, whose receipt stays."""
    first, second = two_packings(bench, "twice")
    rig = bench.rig()
    disk = with_disk(rig)
    rig.push(first)
    rig.run("run").must(0, about="run")
    receipt, = rig.query("SELECT receipt FROM deliveries")
    rig.aged(first, days=8)
    expect(ids(rig.run("prune").must(0)) == [first.id], "it is not released")
    rig.run("push", "--resend", second.path).must(0, about="push --resend of another copy")
    rig.run("run").must(14, about="run")
    expect((disk / f"{first.id}.bundle").read_bytes() == first.data, "the copy in the folder was replaced")
    expect(rig.query("SELECT receipt FROM deliveries") == [receipt], "the receipt of the first delivery is gone")
    expect(rig.rows()[first.id]["state"] == "conflict", "the second copy counts as delivered")
    expect(ids(rig.run("prune", "--older-than", "0s").must(0)) == [], "the only second copy is released")


def amid_a_deletion(bench):
    """If prune was killed before it deleted the first copy, a push of another copy removes the first one."""
    first, second = two_packings(bench, "amid")
    rig = bench.rig()
    rig.push(first)
    rig.uploaded(first, days=8)
    with rig.database() as database:
        database.execute("UPDATE captures SET holding = 'removing'")
    rig.run("push", second.path).must(0, about="push of another copy")
    expect(not rig.spool_file(first).exists(), "the first copy stays, and no row names it")
    expect(rig.spool_file(second).read_bytes() == second.data, "the second copy is not stored")
    rig.run("check").must(0, about="check")


def of_another_hash(bench):
    """Another copy is stored under its own hash, and the queue asks the destination for the copy that was delivered."""
    first, second = two_packings(bench, "again")
    rig = bench.rig()
    disk = with_disk(rig)
    rig.push(first)
    rig.run("run").must(0, about="run")
    rig.aged(first, days=8)
    expect(ids(rig.run("prune").must(0)) == [first.id], "it is not released")
    rig.run("push", second.path).must(0, about="push of another copy")
    holds_delivered(rig, second)
    found = rig.run("check", "--remote").must(0, about="check --remote")
    expect(b"lost" not in found.out, f"check --remote says {found.out!r}")
    expect(rig.rows()[first.id]["state"] == "completed", "check --remote sends it again")
    rig.aged(first, days=8)
    expect(ids(rig.run("prune").must(0)) == [first.id], "the second copy is not released")
    out = rig.run("get", first.id, "-o", "-").must(0, about="get from the destination").out
    expect(out == first.data, "get gives other bytes than were delivered")


def of_a_text(bench):
    """A text as receipt stands for the hash that it names, whichever copy is stored later."""
    first, second = two_packings(bench, "texts")
    rig = bench.rig()
    disk = with_disk(rig)
    shutil.copy(first.path, disk / f"{first.id}.bundle")
    released(bench, rig, first)
    rig.run("push", second.path).must(0, about="push of another copy")
    found = rig.run("check", "--remote").must(0, about="check --remote")
    expect(b"lost" not in found.out, f"check --remote says {found.out!r}")
    holds_delivered(rig, second)
    rig.aged(second, days=8)
    expect(ids(rig.run("prune").must(0)) == [first.id], "the second copy is not released")
    out = rig.run("get", first.id, "-o", "-").must(0, about="get from the destination").out
    expect(out == first.data, "get gives other bytes than were delivered")


TESTS = [
    ("a released capture that is pushed again is stored again, and not sent again", is_held),
    ("a capture that is stored again is kept for its retention", for_its_retention),
    ("--accept-clock also corrects the time of storing", with_an_accepted_clock),
    ("push --move of a released capture leaves its bytes in the spool", moved),
    ("adopt skips released captures", swept),
    ("push --resend sends a delivered capture again", sent_again),
    ("a receipt stays if the second delivery is refused", refused_the_second_time),
    ("a copy that is pushed during a deletion replaces the first one", amid_a_deletion),
    ("a copy with another hash is stored, and destinations are asked for the hash of their receipt", of_another_hash),
    ("a text as receipt means the hash that it names", of_a_text),
]
