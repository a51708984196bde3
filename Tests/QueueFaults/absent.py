"""Folders that are absent, as on a disk that is not mounted: nothing is given up, and nothing is put in their place."""
import json

from Kit.outcomes import expect
from Kit.invariants import clean, holds, refused
from Kit.queues import ids


def references(bench):
    """References below a folder that is missing or empty wait, all of them after one try; check looks again."""
    for name, is_left_empty in {"an empty mount point": True, "no mount point": False}.items():
        rig = bench.rig()
        there, card = rig.to_folder(), rig.out / "card"
        (card / "2026/may").mkdir(parents=True)
        bundles = bench.stock[:3]
        paths = [card / "2026/may/0.bundle", card / "2026/1.bundle", card / "2.bundle"]
        for bundle, path in zip(bundles, paths):
            path.write_bytes(bundle.data)
        rig.run("push", "--reference", *paths).must(0, about="push --reference")
        rig.push(bench.stock[3])
        card.rename(rig.out / "unmounted")
        if is_left_empty:
            card.mkdir()
        ended = rig.run("run", "--until-empty", "--json").must(15, about=f"{name}: run")
        events = [json.loads(line) for line in ended.out.splitlines()]
        tried = [event for event in events if event["event"] == "attempt"]
        expect(len(tried) == 2, f"{name}: {len(tried)} attempts instead of one and one for the folder")
        expect(any(event.get("code") == "source.absent" and str(card) in event["message"] for event in events), "no reason")
        expect({(row["state"], row["holding"]) for row in rig.rows().values()}
               == {("pending", "reference"), ("completed", "spool")}, f"{name}: after run")
        said = rig.run("status", "--check").must(15, about=f"{name}: status --check").out
        expect(b"3 captures for disk" in said and said.endswith(b"capqueue check\n"), f"status prints {said!r}")
        found = rig.run("check").must(74, about=f"{name}: check").out
        expect(found.count(b"absent: ") == 3 and str(paths[0]).encode() in found, f"check prints {found!r}")
        if is_left_empty:
            card.rmdir()
        (rig.out / "unmounted").rename(card)
        found = rig.run("check").must(0, about=f"{name}: check with the disk").out
        expect(found.count(b"repaired: ") == 3, f"check prints {found!r}")
        rig.run("run").must(0, about=f"{name}: run with the disk")
        expect(len(list(there.glob("*.bundle"))) == 4, f"{name}: not all arrived")
        expect(rig.query("SELECT max(attempts) FROM deliveries") == [(1,)], f"{name}: attempts are burned")
        # A file that alone is gone is missing, until check finds it again.
        (rig.out / "there").mkdir()
        for bundle in bench.stock[4:6]:
            (rig.out / f"there/{bundle.id}").write_bytes(bundle.data)
        gone = rig.out / f"there/{bench.stock[4].id}"
        rig.run("push", "--reference", gone).must(0)
        gone.rename(rig.out / "elsewhere")
        rig.run("run").must(14, about=f"{name}: run without the file")
        found = rig.run("check").must(74, about=f"{name}: check without the file").out
        expect(str(gone).encode() in found and b"spool" not in found, f"check prints {found!r}")
        (rig.out / "elsewhere").rename(gone)
        rig.run("check").must(0, about=f"{name}: check with the file")
        rig.run("run").must(0, about=f"{name}: run with the file")


def on_a_card(bench, *options):
    """A queue with one reference, to a bundle in a folder of its own; returns the folder too."""
    rig = bench.rig()
    rig.to_folder()
    card = rig.out / "card"
    card.mkdir()
    (card / "a.bundle").write_bytes(bench.stock[0].data)
    rig.run("push", "--reference", card / "a.bundle", *options).must(0, about="push --reference")
    return rig, card


def back_for_the_next_run(bench):
    """A run looks once at each folder when it starts: what is there again is sent, and a --not-before still counts."""
    rig, card = on_a_card(bench)
    (card / "b.bundle").write_bytes(bench.stock[1].data)
    rig.run("push", "--reference", card / "b.bundle", "--not-before", "+1h").must(0, about="push --not-before")
    card.rename(rig.out / "away")
    for about in ("run without the disk", "another one"):
        rig.run("run").must(15, about=about)
    expect(rig.query("SELECT count(*) FROM attempts") == [(1,)], "a run tried it although its folder is away")
    (rig.out / "away").rename(card)
    rig.run("run").must(15, about="run with the disk")
    states = [rig.rows()[bundle.id]["state"] for bundle in bench.stock[:2]]
    expect(states == ["completed", "pending"], f"with the disk: {states}")
    expect(rig.query("SELECT count(*) FROM deliveries WHERE error_code IS NOT NULL") == [(0,)], "it still looks absent")


def session(bench):
    """A run does not wait for members of a session behind one that is absent, and sends them once it is there again."""
    rig, card = on_a_card(bench, "--session", "monday")
    rig.push(bench.stock[1], options=("--session", "monday"))
    card.rename(rig.out / "away")
    rig.run("run", "--until-empty").must(15, about="run without the disk")
    (rig.out / "away").rename(card)
    rig.run("check").must(0, about="check with the disk")
    rig.run("run", "--until-empty").must(0, about="run with the disk")


def changed(bench):
    """A reference that is there again with other bytes has not come back: check says that it was changed."""
    rig, card = on_a_card(bench)
    card.rename(rig.out / "away")
    rig.run("run").must(15, about="run without the disk")
    said = rig.run("get", bench.stock[0].id, "-o", "x").must(66, about="get without the disk").text
    expect("is its disk mounted?" in said and "push" not in said, f"get says {said!r}")
    (rig.out / "away").rename(card)
    (card / "a.bundle").write_bytes(bench.stock[0].data[:-1] + b"\1")
    found = rig.run("check").must(74, about="check").out
    expect(b"changed" in found and b"again" not in found, f"check prints {found!r}")
    listed = rig.run("list").must(0).out
    expect(b"(missing or changed)" in listed, f"list prints {listed!r}")
    (card / "a.bundle").write_bytes(bench.stock[0].data)
    rig.run("check").must(0, about="check with the right bytes")
    rig.run("run").must(0, about="run")


def spool(bench):
    """A spool that is empty though bundles are stored: push, run, prune change nothing. check --repair gives it up, and
    a later check takes back what is there again."""
    rig = bench.rig()
    rig.to_folder()
    rig.push(*bench.stock[:2])
    before = rig.query("SELECT * FROM deliveries")
    place, away = rig.queue / "spool", rig.queue.parent / "away"
    place.rename(away)
    place.mkdir(mode=0o700)
    for words in (["push", bench.stock[2].path], ["run"], ["prune", "--older-than", "0s"], ["adopt", bench.folder / "stock"]):
        result = rig.run(*words).must(74, about=words[0])
        expect("is its disk mounted?" in result.text and not result.out, f"{words[0]} says {result.text!r}")
    rig.run("check").must(74, about="check")
    said = rig.run("get", bench.stock[0].id, "-o", rig.out / "x").must(66, about="get").text
    expect("is its disk mounted?" in said and "push" not in said, f"get says {said!r}")
    expect(b"capqueue check" in rig.run("status", "--check").must(15).out, "status does not name check")
    expect(rig.query("SELECT * FROM deliveries") == before and not list(place.iterdir()), "something was changed")
    rig.run("check", "--repair").must(74, about="check --repair")
    expect({row["holding"] for row in rig.rows().values()} == {"missing"}, "the bytes are not given up")
    rig.push(bench.stock[2])
    # The capture that was pushed meanwhile may have made one of the folders.
    for path in [path for path in away.rglob("*") if path.is_file()]:
        there = place / path.relative_to(away)
        there.parent.mkdir(mode=0o700, exist_ok=True)
        path.rename(there)
    rig.run("check").must(0, about="check with the spool")
    holds(rig, *bench.stock[:3], rows=clean(rig))
    rig.run("run").must(0)


def named(bench):
    """In a folder that --queue or CAPQUEUE_DIR names, push and adopt make no queue, even if it is there and empty."""
    rig = bench.rig()
    for number, maker in enumerate((["init"], ["config", "retention", "8d"],
                                    ["dest", "add", "disk", "--kind", "folder", "--path", rig.out])):
        place = rig.folder / f"mount {number}"
        for how in ({}, {"env": {"CAPQUEUE_DIR": str(place)}}):
            option = [] if how else ["--queue", place]
            for words in (["push", bench.stock[0].path], ["adopt", bench.folder / "stock"], ["run"], ["list"], ["config"]):
                said = refused(rig.run(*words, *option, **how), 66, about=words[0]).text
                expect("mounted" in said and f"capqueue init --queue '{place}'" in said, f"{words[0]} says {said!r}")
            expect(not place.exists() or not list(place.iterdir()), "something was made")
            place.mkdir(exist_ok=True)
        rig.run(*maker, "--queue", place).must(0, about=maker[0])
        rig.run("init", "--queue", place).must(0, about="init again")
        expect(ids(rig.run("push", "--queue", place, bench.stock[0].path).must(0)) == [bench.stock[0].id], "push differs")
    rig.push(bench.stock[0])


TESTS = [
    ("references on a disk that is not mounted wait, and check takes them back", references),
    ("references on a disk that is back when the next run starts", back_for_the_next_run),
    ("run --until-empty does not wait for members of a session behind an absent reference", session),
    ("a reference that is there again with other bytes is reported as changed", changed),
    ("without its spool a queue changes nothing until it is there again", spool),
    ("a named folder without a queue: only init, dest add and config make one", named),
]
