"""A delivery has a destination from the start, and only the user cancels deliveries."""

from Kit.outcomes import expect
from Kit.invariants import clean
from QueueFaults.monitoring import rig_to


def goes(rig, bundle):
    """Returns the destinations of its deliveries with their states."""
    return {each.get("destination", ""): each["state"] for each in rig.rows()[bundle.id]["deliveries"]}


def default(rig):
    return rig.run("dest", "default").must(0, about="dest default").out.decode().strip()


def renamed(bench):
    """Captures, history and sidecars of a renamed destination follow the new name. No other destination can take a
    former name, so a name in a sidecar means one destination."""
    rig, sent, waiting = rig_to(bench, "a", "b"), *bench.stock[:2]
    rig.push(sent)
    rig.run("run").must(0)
    rig.push(waiting)
    rig.run("dest", "default", "b").must(0)
    rig.run("dest", "rename", "a", "b").must(64, about="rename to a name that is taken")
    rig.run("dest", "rename", "a", "attic").must(0, about="rename")
    rig.run("dest", "show", "a").must(78, about="show of the former name")
    expect("formerly" in rig.run("dest", "show", "attic").must(0).out.decode(), "show does not name the former one")
    expect((goes(rig, sent), goes(rig, waiting)) == ({"attic": "completed"}, {"attic": "pending"}), "it stays")
    for words in (("rename", "b", "a"), ("add", "a", "--kind", "folder", "--path", rig.out / "b")):
        said = rig.run("dest", *words).must(64, about=f"dest {words[0]} to a former name").text
        expect("attic had this name before" in said and "choose another name" in said, f"dest {words[0]} says {said!r}")
    rig.run("run").must(0, about="run")
    for one, other in (("attic", "a"), ("a", "attic"), ("attic", "cellar")):
        rig.run("dest", "rename", one, other).must(0, about=f"rename from {one} to {other}")
    rig.run("salvage", "--force", "--release").must(0, about="salvage")
    expect((goes(rig, sent), goes(rig, waiting)) == ({"cellar": "pending"}, {"cellar": "pending"}),
           f"after a salvage they go to {goes(rig, sent)}, {goes(rig, waiting)}")


def retired(bench):
    """A retired destination accepts no further captures, and those that wait are still sent to it."""
    rig = rig_to(bench, "a", "b")
    rig.push(bench.stock[0])
    rig.run("dest", "retire", "a").must(0, about="retire")
    expect(default(rig) == "b", f"the default is {default(rig)!r}")
    result = rig.run("push", "--dest", "a", bench.stock[1].path).must(78, about="push to it")
    expect("retired" in result.text and not rig.spool_file(bench.stock[1]).exists(), f"push says {result.text!r}")
    rig.run("dest", "default", "a").must(78, about="dest default of it")
    rig.push(bench.stock[1])
    rig.run("run").must(0, about="run")
    expect((goes(rig, bench.stock[0]), goes(rig, bench.stock[1])) == ({"a": "completed"}, {"b": "completed"}),
           "they are not where they were to go")
    listed = rig.run("dest", "list").out.decode()
    expect("retired" in listed, f"dest list says {listed!r}")
    rig.run("salvage", "--force").must(0, about="salvage")
    rig.run("push", "--dest", "a", bench.stock[2].path).must(78, about="push to it after a salvage")


def moved(bench):
    """--to moves waiting and held deliveries, but none that may have landed; one cancelled at the target is held."""
    rig = rig_to(bench, "a", "b")
    waits, held, doubt, both, cancelled, done = bench.stock[:6]
    rig.push(done)
    rig.run("run").must(0)
    rig.push(waits, held, doubt)
    rig.push(cancelled, both, options=("--dest", "a", "--dest", "b"))
    rig.run("hold", held.id).must(0)
    rig.change("UPDATE deliveries SET in_doubt = 1 WHERE capture = (SELECT seq FROM captures WHERE id = ?)", doubt.id)
    # `cancel` takes captures or a destination, so the test cancels one of several deliveries in the database.
    rig.change("UPDATE deliveries SET state = 'cancelled' WHERE destination = 2 AND capture = "
               "(SELECT seq FROM captures WHERE id = ?)", cancelled.id)
    rig.run("dest", "retire", "a", "--to", "a").must(64, about="retire to itself")
    rig.run("dest", "retire", "a", "--to", "nowhere").must(78, about="retire to a missing destination")
    expect(default(rig) == "a", "a retire that was refused changed something")
    said = rig.run("dest", "retire", "a", "--to", "b").must(0, about="retire --to").text
    expect("3 waiting captures moved" in said and "1 capture still to be sent to a" in said, f"it says {said!r}")
    wanted = [(waits, {"b": "pending"}), (held, {"b": "held"}), (doubt, {"a": "pending"}),
              (both, {"a": "cancelled", "b": "pending"}), (cancelled, {"a": "cancelled", "b": "held"}),
              (done, {"a": "completed"})]
    for bundle, where in wanted:
        expect(goes(rig, bundle) == where, f"{goes(rig, bundle)} instead of {where}")
    rig.run("run").must(0, 15, about="run")
    expect(sorted(path.stem for path in (rig.out / "b").glob("*.bundle")) == sorted([waits.id, both.id]), "b differs")
    clean(rig)


def never_revived(bench):
    """A push of a capture that was cancelled at a retired destination goes to the named destination, or the default."""
    rig = rig_to(bench, "a", "b", "c")
    plain, named, last = bench.stock[:3]
    rig.push(plain, named, last)
    rig.run("cancel", plain.id, named.id, last.id).must(0, about="cancel")
    rig.run("dest", "retire", "a").must(0, about="retire")
    said = rig.push(plain).text
    expect("goes to b" in said, f"push says {said!r}")
    rig.push(plain)
    rig.push(named, options=("--dest", "c"))
    expect(goes(rig, plain) == {"a": "cancelled", "b": "pending"}, f"it goes to {goes(rig, plain)}")
    expect(goes(rig, named) == {"a": "cancelled", "c": "pending"}, f"the named one goes to {goes(rig, named)}")
    rig.run("run").must(0, about="run")
    expect(not list((rig.out / "a").glob("*.bundle")), "the retired destination gets it")
    for name in ("b", "c"):
        rig.run("dest", "retire", name).must(0, about="retire")
    rig.push(last)
    said = rig.run("run").must(15, about="run without a destination").text
    expect("are retired" in said and "dest add" in said, f"run says {said!r}")
    rig.to_folder("e")
    rig.run("run").must(0, about="run with a new one")
    expect(goes(rig, last) == {"a": "cancelled", "e": "completed"}, f"it goes to {goes(rig, last)}")


TESTS = [
    ("dest rename: captures follow, salvage knows the former names, and nothing else gets them", renamed),
    ("dest retire: no further captures, and waiting ones are still sent", retired),
    ("dest retire --to moves waiting deliveries, unless they are in doubt", moved),
    ("a push sends nothing to a retired destination", never_revived),
]
