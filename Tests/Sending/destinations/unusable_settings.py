"""A destination whose stored settings cannot be used is blocked, and does not stop the others."""
import json

from checks import every, expect
from nginx import fresh
from rigs import completed


def blocked(bench):
    """Settings of another version, or edited by hand, block only their destination, and `dest set` repairs it."""
    good = {"url": "http://127.0.0.1:9/{sha256}"}
    cases = {"a setting of a newer version": ("put", good | {"priority": "7"}, "priority"),
             "no URL": ("put", {"part": "photo"}, "--url"), "a fragment": ("put", {"url": good["url"] + "#x"}, "#"),
             "no number": ("put", good | {"concurrency": "many"}, "concurrency"),
             "a header": ("s3", {"url": "http://127.0.0.1:9/b", "header": "nothing"}, "header"),
             "no UUID": ("http", {"url": "http://127.0.0.1:9", "device-id": "7"}, "UUID"),
             "a folder without its marker": ("folder", {"path": "/nonexistent"}, "marker"),
             "another kind": ("carrier-pigeon", {"loft": "roof"}, "carrier-pigeon")}

    def judge(name, case):
        kind, settings, word = case
        rig, bundle = bench.rig(), bench.stock[0]
        with fresh(bench) as server:
            rig.dest("bad", "put", "--url", server.template())
            rig.dest("good", "put", "--url", server.template())
            rig.push(bundle, options=("--dest", "bad", "--dest", "good"))
            with rig.database() as database:
                database.execute("UPDATE destinations SET kind = ?, settings = ? WHERE name = 'bad'",
                                 (kind, json.dumps(settings, separators=(",", ":"), sort_keys=True)))
            for mode in ("--once", "--until-empty"):
                result = rig.send(mode, code=15)
                expect("settings cannot be used" in result.text and word in result.text, f"run says {result.text!r}")
            server.keeps(bundle)
        row = rig.delivery(bundle, "bad")
        expect((row.state, row.attempts) == ("pending", 0), f"is {row.state} after {row.attempts} attempts")
        expect(rig.delivery(bundle, "good").state == "completed", "the other destination was stopped")
        expect(rig.destination("bad").blocked_reason == "local", f"blocked as {rig.destination('bad').blocked_reason}")
        rig.run("dest", "test", "bad").must(78, about="dest test")
        for words in (("dest", "list"), ("dest", "show", "bad"), ("status", "--json"), ("push", bench.stock[1].path)):
            rig.run(*words).must(0, about=" ".join(map(str, words)))

    every(cases, judge)


def mended(bench):
    """`dest set` with a correct value lets the destination continue."""
    rig, bundle = bench.rig(), bench.stock[0]
    with fresh(bench) as server:
        rig.dest("web", "put", "--url", server.template())
        rig.push(bundle)
        with rig.database() as database:
            database.execute("UPDATE destinations SET settings = ?", (json.dumps({"url": server.template() + "#x"}),))
        result = rig.send("--until-empty", code=15)
        expect("dest set web" in result.text, f"run says {result.text!r}")
        rig.run("dest", "set", "web", "--url", server.template()).must(0, about="dest set")
        rig.send("--until-empty", code=0)
        server.keeps(bundle)
    completed(rig, bundle)


def paced_folder(bench):
    """A folder destination keeps its settings for retries and concurrency."""
    rig = bench.rig()
    place = rig.home / "nas"
    place.mkdir(parents=True)
    rig.dest("nas", "folder", "--path", place, "--concurrency", "3", "--retry", "0,5")
    shown = json.loads(rig.run("dest", "show", "nas", "--json").must(0, about="dest show").out)["settings"]
    expect((shown.get("concurrency"), shown.get("retry")) == ("3", "0,5"), f"its settings are {shown}")


FAMILY = [
    ("a destination with unusable settings is blocked, and the others continue", blocked),
    ("dest set repairs unusable settings", mended),
    ("a folder keeps its settings for retries and concurrency", paced_folder),
]
