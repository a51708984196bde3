"""Captures that were released long ago take little room: their history is condensed, and the proofs stay."""
import json

from Kit.outcomes import expect


def sent(bench):
    """Returns a queue with two captures that were released 31 days ago; one was held before it was sent."""
    rig = bench.rig()
    rig.to_folder()
    bundles = bench.stock[:2]
    rig.push(*bundles)
    rig.run("hold", bundles[0].id).must(0)
    rig.run("release", bundles[0].id).must(0)
    later(rig, bench.stock[9])
    rig.aged(*bundles, days=39)
    expect(sorted(rig.prune()) == sorted(bundle.id for bundle in bundles), "they are not released")
    return rig, bundles


def later(rig, bundle):
    """Adds a later capture, because condensing always keeps the last row of a table, so that its number stays used."""
    rig.push(bundle)
    rig.run("run").must(0, about="run")


def events(rig, bundle):
    return [json.loads(line) for line in rig.run("history", bundle.id, "--json").must(0).out.splitlines()]


def condensed(bench):
    rig, bundles = sent(bench)
    full = {bundle.id: events(rig, bundle) for bundle in bundles}
    expect(any("attempt" in each for each in full[bundles[0].id]), "condensed when it is released")
    receipts = {bundle.id: rig.rows()[bundle.id]["deliveries"][0]["receipt"] for bundle in bundles}
    rig.aged(*bundles, days=29)
    rig.prune()
    expect(all(events(rig, bundle) == full[bundle.id] for bundle in bundles), "condensed before 30 days are over")
    rig.aged(*bundles, days=2)
    rig.run("prune", "--dry-run").must(0)
    expect(all(events(rig, bundle) == full[bundle.id] for bundle in bundles), "a dry run condenses")
    rig.run("prune").must(0)
    first = events(rig, bundles[0])
    expect([each.get("event") for each in first] == ["push", "complete"], f"left is {first}")
    expect(not any("attempt" in each for each in first), "attempts are left")
    for bundle in bundles:
        delivery = rig.rows()[bundle.id]["deliveries"][0]
        expect(delivery["receipt"] == receipts[bundle.id] and delivery["state"] == "completed", "the receipt is cut")
    tried = rig.query("SELECT count(*) FROM deliveries WHERE was_tried = 1")
    expect(tried == [(2,)], f"whether they were tried is lost: {tried}")


def again(bench):
    """A capture that is stored again gets a new history, with greater numbers than any row had, which is condensed in
    turn."""
    rig, bundles = sent(bench)
    last = {table: rig.query(f"SELECT max(id) FROM {table}")[0][0] for table in ("transitions", "attempts")}
    rig.aged(*bundles, days=31)
    rig.prune()
    rig.push(bundles[0], options=("--resend",))
    rig.run("run").must(0, about="run")
    later(rig, bench.stock[8])
    for table, number in last.items():
        new = rig.query(f"SELECT min({table}.id) FROM {table} JOIN deliveries ON deliveries.id = delivery "
                        "WHERE capture = (SELECT seq FROM captures WHERE id = ?)", bench.stock[8].id)[0][0]
        expect(new > number, f"{table}: number {new} was used before, up to {number}")
    expect(len(events(rig, bundles[0])) > 3, "the second time has no history")
    rig.aged(bundles[0], days=8)
    rig.prune()
    rig.aged(bundles[0], days=31)
    rig.prune()
    expect(len(events(rig, bundles[0])) == 2, f"left is {events(rig, bundles[0])}")


TESTS = [
    ("30 days after its release a capture keeps its receipt, and the first and last change of its state", condensed),
    ("a capture that is stored again is condensed again, and row numbers are never reused", again),
]
