"""The order of a session outlives repairs: sidecars keep the order of the pushes, and of the bundles in a push."""
import json

from Kit.outcomes import IS_LONG, every, expect
from Kit.servers.scripted import Reply, Scripted
from Sending.order.blocked_destinations import sent, taking


def rig_to(bench, server, *options):
    rig = bench.rig()
    rig.dest("web", "put", "--url", server.url + "/{sha256}", *options)
    return rig


def pushed_together(rig, bundles):
    rig.push(*bundles, options=("--session", "roof"))


def pushed_apart(rig, bundles):
    """Pushes bundles one by one under a clock that is behind what the queue has seen, so that all have one stamp."""
    rig.change("UPDATE clock SET last_seen = last_seen + 86400000, latest = last_seen + 86400000")
    for bundle in bundles:
        rig.push(bundle, options=("--session", "roof"))
    stamps = rig.query("SELECT count(DISTINCT pushed_at) FROM captures")
    expect(stamps == [(1,)], f"the clock gave {stamps} stamps")


def salvaged(rig, *options):
    (rig.queue / "queue.sqlite").unlink()
    return rig.run("salvage", *options).must(0, about="salvage").text


def without_order(rig, bundles, year="2026"):
    """Takes from sidecars what 1.0 did not write, and sets the year of their pushes."""
    for bundle in bundles:
        path = rig.spool_file(bundle, "json")
        members = json.loads(path.read_bytes())
        members.pop("order", None)
        members["pushed_at"] = year + members["pushed_at"][4:]
        path.write_text(json.dumps(members, sort_keys=True, separators=(",", ":")))


def goes_in_order(server, bundles):
    expected = [bundle.sha256 for bundle in bundles]
    wrong = [place for place, (one, other) in enumerate(zip(sent(server), expected)) if one != other]
    expect(len(sent(server)) == len(expected) and not wrong, f"{len(sent(server))} were sent, out of place are {wrong}")


def after_salvage(bench):
    """After `salvage`, members go in the order of their pushes, and those that are pushed then go last."""
    def judge(name, case):
        push, count = case
        bundles = bench.bundles(count + 2)
        with Scripted(taking) as server:
            rig = rig_to(bench, server)
            push(rig, bundles[:count])
            said = salvaged(rig, "--release")
            expect("earlier version" not in said, f"salvage says {said!r}")
            rig.push(bundles[count], options=("--session", "roof"))
            # Rows of the first queue were lost, so this one counts on from the sidecars.
            salvaged(rig, "--release")
            rig.push(bundles[count + 1], options=("--session", "roof"))
            rig.send("--until-empty", code=0)
            goes_in_order(server, bundles)

    every({"one push": (pushed_together, 200 if IS_LONG else 9), "several pushes with one stamp": (pushed_apart, 4)}, judge)


def pruned_before(bench):
    """Many captures were pushed and deleted before. What is pushed after a salvage still goes behind what it found."""
    bundles = bench.stock[:20]
    with Scripted(taking) as server:
        rig = rig_to(bench, server)
        rig.push(*bundles[:16])
        rig.run("cancel", "--all").must(0, about="cancel")
        rig.prune("--cancelled")
        pushed_together(rig, bundles[16:18])
        salvaged(rig, "--release")
        for bundle in bundles[18:]:
            rig.push(bundle, options=("--session", "roof"))
        rig.send("--until-empty", code=0)
        goes_in_order(server, bundles[16:])


def of_an_earlier_version(bench):
    """Members without an order go by the times of their pushes, before those with one, and salvage says that. So it is
    if the clock was ahead at their pushes."""
    bundles = bench.stock[:4]
    with Scripted(taking) as server:
        rig = rig_to(bench, server)
        for bundle in bundles:
            rig.push(bundle, options=("--session", "roof"))
        without_order(rig, bundles[:3], year="2199")
        said = salvaged(rig, "--release")
        expect("3 captures" in said and "earlier version" in said, f"salvage says {said!r}")
        rig.send("--until-empty", code=0)
        goes_in_order(server, bundles)


def written_again(bench):
    """A sidecar that is written again, by a push that brings bytes back or by `check --repair`, keeps the order."""
    bundles = bench.stock[:3]
    with Scripted(taking) as server:
        rig = rig_to(bench, server)
        pushed_together(rig, bundles)
        rig.spool_file(bundles[1]).write_bytes(b"damaged")
        rig.push(bundles[1])
        rig.spool_file(bundles[2], "json").unlink()
        rig.run("check", "--repair").must(0, about="check --repair")
        salvaged(rig, "--release")
        rig.send("--until-empty", code=0)
        goes_in_order(server, bundles)


def repaired(bench):
    """`check --repair` puts a member back into its place: before later ones that are open, and it names those that have gone."""
    first, second, third, fourth = bundles = bench.stock[:4]
    with Scripted(taking) as server:
        rig = rig_to(bench, server)
        pushed_together(rig, bundles)
        lost(rig, second)
        rig.run("hold", fourth.id).must(0, about="hold")
        rig.send("--until-empty", code=15)
        rig.push(bench.stock[4], options=("--session", "roof"))
        said = rig.run("check", "--repair").must(0, about="check --repair").out.decode()
        expect(third.id in said and first.id not in said and fourth.id not in said, f"check says {said!r}")
        for bundle in (fourth, second):
            rig.run("release", bundle.id).must(0, about="release")
        rig.send("--until-empty", code=0)
        goes_in_order(server, [first, third, second, fourth, bench.stock[4]])


def repaired_without_order(bench):
    """`check --repair` puts a member that an earlier version pushed last, and says so."""
    bundles = bench.stock[:3]
    with Scripted(taking) as server:
        rig = rig_to(bench, server)
        pushed_together(rig, bundles)
        without_order(rig, bundles)
        lost(rig, bundles[1])
        said = rig.run("check", "--repair").must(0, about="check --repair").out.decode()
        expect("is the last of its session" in said, f"check says {said!r}")
        rig.run("release", bundles[1].id).must(0, about="release")
        rig.send("--until-empty", code=0)
        goes_in_order(server, [bundles[0], bundles[2], bundles[1]])


def lost(rig, bundle):
    """Takes the rows of a capture away, as a database of an earlier time lacks them."""
    delivery = "(SELECT id FROM deliveries WHERE capture = (SELECT seq FROM captures WHERE id = ?))"
    rig.change("UPDATE counts SET number = number - 1, bytes = bytes - ? WHERE subject = 'spool' OR "
               "subject IN ('capture', 'delivery') AND kind = (SELECT state FROM captures WHERE id = ?)",
               len(bundle.data), bundle.id)
    rig.change(f"DELETE FROM transitions WHERE delivery = {delivery}", bundle.id)
    rig.change("DELETE FROM deliveries WHERE capture = (SELECT seq FROM captures WHERE id = ?)", bundle.id)
    rig.change("DELETE FROM captures WHERE id = ?", bundle.id)


def into_an_ended_session(bench):
    """A member that `check --repair` finds does not reopen its session: the end waits for it, and is reported."""
    first, second = bench.stock[:2]
    with Scripted(lambda request: Reply({"PUT": 201, "POST": 200}.get(request.method, 405))) as server:
        rig = rig_to(bench, server, "--session-end-url", server.url + "/sessions/roof")
        pushed_together(rig, (first, second))
        rig.run("session", "end", "roof").must(0, about="session end")
        lost(rig, second)
        rig.run("check", "--repair").must(0, about="check --repair")
        rig.send("--until-empty", code=15)
        expect(not server.seen("POST"), "reported although a member is held")
        rig.run("release", second.id).must(0, about="release")
        rig.send("--until-empty", code=0)
        expect(len(server.seen("POST")) == 1, f"reported {len(server.seen('POST'))} times")


TESTS = [
    ("after salvage --release, members go in the order of their pushes", after_salvage),
    ("what is pushed after a salvage goes last", pruned_before),
    ("sidecars of an earlier version: by the times of the pushes, and a note", of_an_earlier_version),
    ("a sidecar that is written again keeps the order", written_again),
    ("check --repair puts a member into its place", repaired),
    ("check --repair and a sidecar of an earlier version", repaired_without_order),
    ("check --repair does not reopen a session", into_an_ended_session),
]
