"""A receipt counts for what was sent: a photo alone never releases a bundle, even after a change of settings."""
import json

from checks import expect
from invariants import holds
from queues import ids


def receipt(rig, bundle, part, *options):
    text = json.dumps({"kind": "put", "part": part, "sha256": bundle.sha256} if part else {"sha256": bundle.sha256})
    (rig.out / "receipt").write_text(text)
    rig.run("mark-uploaded", bundle.id, "--receipt", rig.out / "receipt", *options).must(0, about="mark-uploaded")


def status(rig):
    return json.loads(rig.run("status", "--json").must(0, about="status").out)


def photo_stays(bench):
    rig = bench.rig()
    photo, body, whole, plain = bench.stock[:4]
    rig.push(photo, body, whole, plain)
    for bundle, part in ((photo, "photo"), (body, "body"), (whole, "bundle"), (plain, None)):
        receipt(rig, bundle, part)
    rig.aged(photo, body, whole, plain, days=400)
    for options in ((), ("--older-than", "0s"), ("--cancelled", "--older-than", "0s")):
        expect(photo.id not in ids(rig.run("prune", *options).must(0)),
               f"prune {options} releases a bundle of which only the photo "
               "was delivered")
        holds(rig, photo)
    rows = rig.rows()
    left = [name for name, row in rows.items() if row["holding"] == "spool"]
    expect(left == [photo.id], f"in the spool stay {left}")
    expect(status(rig)["parts_only"] == {"bytes": len(photo.data), "captures": 1}, f"status: {status(rig)}")
    expect("(the photo, or what RealityCam takes)" in rig.run("status").out.decode(), "status does not say it to people")
    rig.run("get", body.id, "-o", "-").must(66)


def accepted(bench):
    """--accept-parts releases the capture when it is old enough."""
    rig, photo = bench.rig(), bench.stock[0]
    rig.push(photo)
    receipt(rig, photo, "photo")
    expect(not ids(rig.run("prune", "--accept-parts").must(0)), "prune --accept-parts releases a new capture")
    rig.aged(photo, days=8)
    expect(ids(rig.run("prune", "--accept-parts", "--dry-run").must(0)) == [photo.id], "a dry run does not name it")
    expect(ids(rig.run("prune", "--accept-parts").must(0)) == [photo.id], "prune --accept-parts keeps it")
    expect("parts_only" not in status(rig), "status still says it")


def beside_a_whole_one(bench):
    """A photo at one destination and the bundle at another are enough to release the capture."""
    rig, bundle = bench.rig(), bench.stock[0]
    for name in ("one", "two"):
        (rig.out / name).mkdir()
        rig.run("dest", "add", name, "--kind", "folder", "--path", rig.out / name).must(0, about="dest add")
    rig.push(bundle, options=("--dest", "one", "--dest", "two"))
    receipt(rig, bundle, "photo", "--dest", "one")
    rig.aged(bundle, days=8)
    expect(not ids(rig.run("prune").must(0)), "it is released before the second delivery")
    rig.run("cancel", bundle.id).must(0, about="cancel of the second")
    rig.aged(bundle, days=8)
    expect(not ids(rig.run("prune").must(0)), "with the second cancelled it is released")
    rig.run("retry", bundle.id).must(0, about="retry")
    receipt(rig, bundle, "bundle", "--dest", "two")
    rig.aged(bundle, days=8)
    expect(ids(rig.run("prune").must(0)) == [bundle.id], "it is kept with a receipt for the whole of it")


TESTS = [
    ("a receipt for the photo alone never releases a bundle", photo_stays),
    ("prune --accept-parts releases captures that were delivered in part", accepted),
    ("a receipt for the whole bundle counts beside one for the photo", beside_a_whole_one),
]
