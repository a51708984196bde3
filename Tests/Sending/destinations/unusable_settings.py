"""Settings that cannot be used: `dest add` refuses them, and stored ones block their destination and no other."""
import json

from Kit.outcomes import every, expect
from Kit.servers.nginx import fresh
from Sending.answers.tries import some


def blocked(bench):
    """Settings of another version, or edited by hand, block only their destination. `dest set` repairs it."""
    good = {"url": "http://127.0.0.1:9/{sha256}"}
    # Several captures can share an id (a redacted copy has the id of its original), so a URL needs the hash.
    shared = {"url": "http://127.0.0.1:9/{id}"}
    cases = {"a URL with the id, of an older version": ("put", shared, "{sha256}", "address"),
             "a setting of a newer version": ("put", good | {"priority": "7"}, "priority", "local"),
             "another kind": ("carrier-pigeon", {"loft": "roof"}, "carrier-pigeon", "local"),
             "no URL": ("put", {"part": "photo"}, "url-command", "local"),
             "a fragment": ("put", {"url": good["url"] + "#x"}, "#", "local"),
             "no number": ("put", good | {"concurrency": "many"}, "concurrency", "local"),
             "a header": ("s3", {"url": "http://127.0.0.1:9/b", "header": "nothing"}, "header", "local"),
             "no UUID": ("http", {"url": "http://127.0.0.1:9", "device-id": "7"}, "UUID", "local"),
             "a folder without its marker": ("folder", {"path": "/nonexistent"}, "marker", "local")}

    def judge(name, case):
        kind, settings, word, reason = case
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
                wanted = [word] if settings is shared else [word, "settings cannot be used"]
                expect(all(text in result.text for text in wanted), f"run says {result.text!r}")
            server.keeps(bundle)
            row, place = rig.delivery(bundle, "bad"), rig.destination("bad")
            expect((row.state, row.attempts) == ("pending", 0), f"is {row.state} after {row.attempts} attempts")
            expect(rig.delivery(bundle, "good").state == "completed", "the other destination was stopped")
            expect(place.blocked_reason == reason, f"blocked as {place.blocked_reason}")
            rig.run("dest", "test", "bad").must(78, about="dest test")
            for words in (("dest", "list"), ("dest", "show", "bad"), ("status", "--json")):
                rig.run(*words).must(0, about=" ".join(words))
            if settings is shared:
                expect("dest set bad" in result.text, f"run says {result.text!r}")
                rig.run("dest", "set", "bad", "--url", server.template()).must(0, about="dest set")
                rig.send("--until-empty", code=0)
                expect(rig.states() == {"completed"}, f"then they are {rig.states()}")

    every(some(cases, 2), judge)


def umlauts(bench):
    """A URL with an umlaut is refused, and the message says what to write."""
    rig = bench.rig()
    for url, words in (("https://nas.example/K\u00f6ln/{sha256}", "write https://nas.example/K%C3%B6ln/{sha256}"),
                       ("https://m\u00fcller.example/{sha256}", "write its name as xn--")):
        said = rig.run("dest", "add", "it", "--kind", "put", "--url", url).must(78, about="dest add").text
        expect(words in said, f"dest add says {said!r}")


TESTS = [
    ("an umlaut in a URL: the message says what to write", umlauts),
    ("a destination with unusable settings is blocked until it is changed, and the others continue", blocked),
]
