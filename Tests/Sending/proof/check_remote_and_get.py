"""check --remote and get: which bundles a server still has, which it lost, and which bytes get accepts from it."""
import json

from Kit.outcomes import IS_LONG, every, expect
from Kit.invariants import findings
from Kit.servers.capture_api import Answer
from Kit.servers.nginx import fresh
from Kit.servers.scripted import Reply, Scripted
from Sending.scenes import sending


def filled(bench, server, *bundles):
    """Returns a rig whose bundles are on the server."""
    rig = bench.rig()
    rig.dest("web", "put", "--url", server.template())
    rig.push(*bundles)
    rig.send(code=0)
    server.keeps(*bundles)
    return rig


def pruned(rig, *bundles):
    rig.aged(*bundles, days=8)
    rig.run("prune").must(0, about="prune")
    expect(not any(rig.spool_file(bundle).exists() for bundle in bundles), "prune keeps a delivered bundle")


def found(rig, *options):
    """Returns kind and id of what check --remote finds."""
    return sorted((line["kind"], line["id"]) for line in findings(rig.run("check", "--remote", "--json", *options)))


def fetched(bench):
    """get fetches a pruned bundle, and hashes it before it is released: other bytes, fewer or none are refused."""
    sound, *bundles = bench.stock[:7]
    with fresh(bench) as server:
        rig = filled(bench, server, sound, *bundles)
        pruned(rig, sound, *bundles)
        expect(rig.run("get", sound.id, "-o", "-").must(0, about="get").out == sound.data, "get gives other bytes")
        rig.run("get", sound.id, "-o", rig.out / "back.bundle").must(0, about="get -o")
        expect((rig.out / "back.bundle").read_bytes() == sound.data, "get -o writes other bytes")
        result = rig.run("get", sound.id, "--local", "-o", "-").must(66, about="get --local")
        expect(not result.out, "get --local gives bytes")
        expect(rig.spool() == {}, "get keeps the fetched bundle")
        spoilt = {"one bit": lambda data: data[:-600] + bytes([data[-600] ^ 1]) + data[-599:], "gone": None,
                  "cut": lambda data: data[:-512], "appended": lambda data: data + b"\0" * 512,
                  "another bundle": lambda data: sound.data, "nothing": lambda data: b""}

        def judge(name, case):
            spoil, bundle = case
            path, target = server.path(f"store/{bundle.sha256}.bundle"), rig.out / f"{bundle.id}.bundle"
            path.write_bytes(spoil(bundle.data)) if spoil else path.unlink()
            for where in ("-", target) if IS_LONG or name == "cut" else ("-",):
                result = rig.run("get", bundle.id, "-o", where).must(1, 2, 66, 74, about="get")
                expect(not result.out and not target.exists(), "bytes are given out")
                expect(result.text.strip(), "without a word")

        every({name: (spoil, bundle) for (name, spoil), bundle in zip(spoilt.items(), bundles)}, judge)


def lost(bench):
    """check --remote finds what the server lost or shortened, and it is sent again; everything else is left alone."""
    one, two, three = bench.stock[:3]
    with fresh(bench) as server:
        rig = filled(bench, server, one, two, three)
        rig.run("check", "--remote").must(0, about="check --remote with nothing lost")
        server.path(f"store/{two.sha256}.bundle").unlink()
        expect([name for _, name in found(rig, "--dry-run")] == [two.id], "--dry-run finds something else")
        expect(rig.delivery(two).state == "completed", "--dry-run changes a state")
        expect(found(rig) == [("lost", two.id)], "check finds something else")
        expect(rig.delivery(two).state == "pending", f"it is {rig.delivery(two).state}")
        expect(rig.delivery(one).state == rig.delivery(three).state == "completed", "others are sent again, too")
        rig.run("prune", "--older-than", "0s").must(0, about="prune")
        expect(rig.spool_file(two).exists(), "prune deletes the only copy")
        rig.send(code=0)
        server.keeps(one, two, three)
        expect((rig.delivery(two).state, rig.delivery(two).attempts <= 2) == ("completed", True), "not sent again")
        for data in (two.data[:1000], two.data[:-600] + bytes([two.data[-600] ^ 1]) + two.data[-599:]):
            server.path(f"store/{two.sha256}.bundle").write_bytes(data)
            expect(found(rig) == [("lost", two.id)], f"check takes {len(data)} other bytes for the bundle")
            rig.send(code=0)
            server.keeps(one, two, three)


def counted(bench):
    """check --remote says how many uploads it asked for, how many it did not, and why."""
    one, two, other = bench.stock[:3]

    def says(asked, others, *lines):
        text = rig.run("check", "--remote").must(0, about="check --remote").out.decode()
        expect(text.splitlines() == list(lines), f"it says {text!r}")
        summary = json.loads(rig.run("check", "--remote", "--json").out.splitlines()[-1])
        expect((summary.get("asked"), summary.get("not_asked")) == (asked, others), f"the summary is {summary}")

    with fresh(bench) as server:
        rig = filled(bench, server, one, two)
        says(2, 0, "2 uploads looked up at the destinations", "2 captures: all is well")
        pruned(rig, one)
        asked = "1 upload looked up at the destinations; not looked up: 1 whose bytes the queue no longer has"
        says(1, 1, asked, "2 captures: all that was checked is well")
    rig = bench.rig()
    rig.push(other)
    (rig.out / "receipt").write_text(other.sha256)
    rig.run("mark-uploaded", other.id, "--receipt", rig.out / "receipt").must(0, about="mark-uploaded")
    says(0, 1, "0 uploads looked up at the destinations; not looked up: 1 recorded without a destination",
         "1 capture: all that was checked is well")
    summary = json.loads(rig.run("check", "--json").out.splitlines()[-1])
    expect("asked" not in summary and "not_asked" not in summary, f"without --remote the summary is {summary}")


def unconfirmed(bench):
    """If a server never confirmed, cannot be asked or is away, this is reported and counted, and nothing is changed."""
    bundles, status = bench.stock[:2], [405]
    wanted = sorted(("unconfirmed", bundle.id) for bundle in bundles)
    rig = bench.rig()
    with Scripted(lambda request: Reply(status[0] if request.method == "HEAD" else 201)) as server:
        rig.dest("web", "put", "--url", server.url + "/{sha256}", "--proof", "status")
        rig.push(*bundles)
        rig.send(code=0)
        for status[0] in (405, 403, 500, 404) if IS_LONG else (403, 404):
            result = rig.run("check", "--remote", "--json")
            there = sorted((line["kind"], line["id"]) for line in findings(result))
            expect(there == wanted, f"after {status[0]} check finds {there}")
        summary = json.loads(result.out.splitlines()[-1])
        expect(summary["findings"] == 2, f"the summary is {summary}")
        text = rig.run("check", "--remote").out.decode()
        expect("2 findings" in text, f"it says {text!r}")
        rig.send(code=0)
        expect(rig.states() == {"completed"} and len(server.seen("PUT")) == 2, "they are sent again")
    expect(found(rig) == wanted, "without a server check finds something else")
    expect(rig.states() == {"completed"}, f"they are {rig.states()}")


def remote_http(bench):
    """check --remote: only `no_record` means lost; a service that is missing or refuses proves nothing."""
    page = {"body": "<html>not found</html>", "type": "text/html"}
    answers = {"404": Answer(404, **page), "401": Answer(401), "405": Answer(405), "403": Answer(403, **page)}
    bundle = bench.stock[0]
    with sending(bench, [bundle]) as (rig, api):
        rig.send(code=0)

        def judge(_, answer):
            api.always(answer, to="verify")
            expect(found(rig) == [("unconfirmed", bundle.id)], "it finds something else")
            expect(rig.delivery(bundle).state == "completed", f"is {rig.delivery(bundle).state}")

        every(answers, judge)
        rig.send(code=0)
        expect(len(api.seen()) == 1, "it is sent again")
        api.always(None, to="verify")
        api.forget()
        expect(found(rig) == [("lost", bundle.id)], "a lost copy is not found")
        rig.send(code=0)
        api.holds(bench.photo(bundle))


TESTS = [
    ("get fetches a pruned bundle, and refuses other bytes", fetched),
    ("check --remote finds what the server lost or shortened", lost),
    ("check --remote counts what it does not look up", counted),
    ("check --remote where the server cannot be asked", unconfirmed),
    ("check --remote of http", remote_http),
]
