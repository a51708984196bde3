"""check --remote and get: which bundles a server still has, which it lost, and which bytes get accepts from it."""
import json

from capture_api import Answer, CaptureAPI
from checks import every, expect
from nginx import fresh
from bench import PHOTO
from rigs import AT_ONCE, findings
from s3_places import Place
from scripted import Reply, Scripted


def filled(bench, server, *bundles, options=()):
    """Returns a rig whose bundles are on the server."""
    rig = bench.rig()
    rig.dest("web", "put", "--url", server.template(), *options)
    rig.push(*bundles)
    rig.send(code=0)
    server.keeps(*bundles)
    return rig


def pruned(rig, *bundles):
    rig.aged(*bundles, days=8)
    rig.run("prune").must(0, about="prune")
    expect(not any(rig.spool_file(bundle).exists() for bundle in bundles), "prune keeps a delivered bundle")


def fetched(bench):
    """get fetches a pruned bundle from the server, and hashes it before it is released."""
    with fresh(bench) as server:
        rig = filled(bench, server, *bench.stock[:2])
        pruned(rig, *bench.stock[:2])
        one = bench.stock[0]
        expect(rig.run("get", one.id, "-o", "-").must(0, about="get").out == one.data, "get gives other bytes")
        rig.run("get", one.id, "-o", rig.out / "back.bundle").must(0, about="get -o")
        expect((rig.out / "back.bundle").read_bytes() == one.data, "get -o writes other bytes")
        result = rig.run("get", one.id, "--local", "-o", "-").must(66, about="get --local")
        expect(not result.out, "get --local gives bytes")
        expect(rig.spool() == {}, "get keeps the fetched bundle")


def fetched_wrong(bench):
    """If the server has other bytes, fewer or none under the name, get refuses them and releases no byte."""
    bundle = bench.stock[0]
    spoilt = {"one bit": bundle.data[:-600] + bytes([bundle.data[-600] ^ 1]) + bundle.data[-599:],
              "cut": bundle.data[:-512], "appended": bundle.data + b"\0" * 512, "another bundle": bench.stock[1].data,
              "nothing": b"", "gone": None}

    def judge(name, data):
        with fresh(bench) as server:
            rig = filled(bench, server, bundle)
            pruned(rig, bundle)
            path = server.path(f"store/{bundle.sha256}.bundle")
            path.unlink() if data is None else path.write_bytes(data)
            for target in ("-", rig.out / "back.bundle"):
                result = rig.run("get", bundle.id, "-o", target).must(1, 2, 66, 74, about="get")
                expect(not result.out and not (rig.out / "back.bundle").exists(), "bytes are given out")
                expect(result.text.strip(), "without a word")

    every(spoilt, judge)


def lost(bench):
    """check --remote finds what the server lost, and it is sent again; everything else is left alone."""
    one, two, three = bench.stock[:3]
    with fresh(bench) as server:
        rig = filled(bench, server, one, two, three)
        rig.run("check", "--remote").must(0, about="check --remote with nothing lost")
        server.path(f"store/{two.sha256}.bundle").unlink()
        tried = rig.run("check", "--remote", "--dry-run", "--json").must(0, 1, 2, 14, 15, 66, 74, about="--dry-run")
        expect(rig.delivery(two).state == "completed", "--dry-run changes a state")
        expect([line["id"] for line in findings(tried)] == [two.id], f"--dry-run finds {findings(tried)}")
        found = findings(rig.run("check", "--remote", "--json"))
        expect([(line["kind"], line["id"]) for line in found] == [("lost", two.id)], f"check finds {found}")
        expect(rig.delivery(two).state == "pending", f"it is {rig.delivery(two).state}")
        expect(rig.delivery(one).state == rig.delivery(three).state == "completed", "others are sent again, too")
        rig.run("prune", "--older-than", "0s").must(0, about="prune")
        expect(rig.spool_file(two).exists(), "prune deletes the only copy")
        rig.send(code=0)
        server.keeps(one, two, three)
        row = rig.delivery(two)
        expect((row.state, row.attempts) == ("completed", 2) or row.attempts == 1, f"{row.state}, {row.attempts}")


def shortened(bench):
    """An object that lost its end does not count as the bundle."""
    bundle = bench.stock[0]
    with fresh(bench) as server:
        rig = filled(bench, server, bundle)
        server.path(f"store/{bundle.sha256}.bundle").write_bytes(bundle.data[:1000])
        found = findings(rig.run("check", "--remote", "--json"))
        expect([line["id"] for line in found] == [bundle.id], f"check finds {found}")
        expect(rig.spool_file(bundle).exists(), "the bytes are gone")


def unconfirmed(bench):
    """If a server cannot be asked or does not answer, this is reported and nothing is changed."""
    bundle = bench.stock[0]
    answers = {"HEAD is not allowed": 405, "refused": 403, "broken": 500}

    def judge(name, status):
        rig = bench.rig()
        with Scripted(lambda request: Reply(status if request.method == "HEAD" else 201)) as server:
            rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", AT_ONCE)
            rig.push(bundle)
            if status == 500:  # the first HEAD succeeds, so that the capture lands at all
                server.answer = lambda request: Reply(405 if request.method == "HEAD" else 201)
            rig.send("--until-empty", code=0)
            server.answer = lambda request: Reply(status if request.method == "HEAD" else 201)
            found = findings(rig.run("check", "--remote", "--json"))
        expect([(line["kind"], line["id"]) for line in found] == [("unconfirmed", bundle.id)], f"check finds {found}")
        found = findings(rig.run("check", "--remote", "--json"))
        expect([line["kind"] for line in found] == ["unconfirmed"], f"without a server check finds {found}")
        expect(rig.delivery(bundle).state == "completed", f"it is {rig.delivery(bundle).state}")

    every(answers, judge)


def remote_http(bench):
    """check --remote: only `no_record` means lost; a service that is missing or refuses proves nothing."""
    page = {"body": "<html>not found</html>", "type": "text/html"}
    answers = {"404": Answer(404, **page), "401": Answer(401), "405": Answer(405), "403": Answer(403, **page)}

    def judge(name, says):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api:
            rig.http(api.url)
            rig.push(bundle)
            rig.send(code=0)
            api.always(says, to="verify")
            found = findings(rig.run("check", "--remote", "--json"))
            expect([(line["kind"], line["id"]) for line in found] == [("unconfirmed", bundle.id)], f"it finds {found}")
            rig.send(code=0)
            expect(rig.delivery(bundle).state == "completed" and len(api.seen()) == 1, "it is sent again")
            api.always(None, to="verify")
            api.forget()
            found = findings(rig.run("check", "--remote", "--json"))
            expect([line["kind"] for line in found] == ["lost"], f"for a lost copy it finds {found}")
            rig.send(code=0)
            api.holds(bench.photo(bundle))

    every(answers, judge)


def remote_put(bench):
    """put: a server that never confirmed with HEAD cannot lose anything by it; two findings are counted as two."""
    bundles = bench.stock[:2]
    with Scripted(lambda request: Reply(404 if request.method == "HEAD" else 201)) as server:
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.url + "/{sha256}", "--proof", "status")
        rig.push(*bundles)
        rig.send(code=0)
        result = rig.run("check", "--remote", "--json")
        found = [(line["kind"], line["id"]) for line in findings(result)]
        expect(sorted(found) == sorted(("unconfirmed", bundle.id) for bundle in bundles), f"it finds {found}")
        summary = json.loads(result.out.splitlines()[-1])
        expect(summary["findings"] == 2, f"the summary is {summary}")
        text = rig.run("check", "--remote").out.decode()
        expect("2 findings" in text, f"it says {text!r}")
        rig.send(code=0)
        expect(rig.states() == {"completed"} and len(server.seen("PUT")) == 2, "they are sent again")


def copies(bench, name):
    """Returns two copies of one capture, packed at two times: same id and photo, other assertion and hash."""
    photo = PHOTO[:-2] + name.encode() * 400 + PHOTO[-2:]
    first, second = (bench.packed(f"{name}-{number}", photo) for number in (1, 2))
    expect(first.id == second.id and first.sha256 != second.sha256, "the two are not copies of one capture")
    return first, second


def second_copy_held(rig, first, second):
    """Delivers and prunes the first copy, and pushes the second, which the queue then holds."""
    rig.send(code=0)
    pruned(rig, first)
    rig.run("push", second.path).must(0, about="push of another copy")
    expect(rig.spool_file(second).exists() and not rig.spool_file(first).exists(), "the second copy is not held")


def judged(rig, lose):
    """Checks that check --remote finds the delivered copy, and no longer does after `lose`."""
    found = rig.run("check", "--remote", "--json").must(0, about="check --remote of an existing copy")
    expect(not findings(found), f"for an existing copy it finds {findings(found)}")
    lose()
    found = findings(rig.run("check", "--remote", "--dry-run", "--json"))
    expect([line["kind"] for line in found] == ["lost"], f"for a lost copy it finds {found}")


def copy_at_put(bench):
    """put: the queue holds another copy by now, but asks for the one that was delivered."""
    first, second = copies(bench, "copyput")
    for part in ("bundle", "photo"):
        with fresh(bench) as server:
            rig = bench.rig()
            rig.dest("web", "put", "--url", server.template(), "--part", part)
            rig.push(first)
            path = server.path(f"store/{first.sha256}.bundle")
            if part == "photo":
                rig.send(code=0)
                rig.aged(first, days=8)
                rig.run("prune", "--accept-parts").must(0, about="prune")
                rig.run("push", second.path).must(0, about="push of another copy")
            else:
                second_copy_held(rig, first, second)
            judged(rig, lambda: path.write_bytes(path.read_bytes()[:-512]))


def copy_at_s3(bench):
    """s3: the queue asks for the delivered copy, with a checksum and by reading it back."""
    for options in ((), ("--checksum", "md5")):
        first, second = copies(bench, "copys3" + "".join(options)[-3:])
        place = Place(bench)
        rig = place.rig(first, options=options)
        second_copy_held(rig, first, second)
        judged(rig, lambda: place.client.put(place.key(first), first.data[:-1] + b"x"))


def copy_at_http(bench):
    """http: the queue asks the service for the photo, which is the same in both copies."""
    first, second = copies(bench, "copyhttp")
    with CaptureAPI(bench.public) as api:
        rig = bench.rig()
        rig.http(api.url)
        rig.push(first)
        second_copy_held(rig, first, second)
        judged(rig, api.forget)


FAMILY = [
    ("get fetches a pruned bundle", fetched),
    ("get refuses other bytes of the server", fetched_wrong),
    ("check --remote finds what the server lost", lost),
    ("check --remote finds what the server shortened", shortened),
    ("check --remote where the server cannot be asked", unconfirmed),
    ("check --remote of http", remote_http),
    ("check --remote of put, and how findings are counted", remote_put),
    ("check --remote of put asks for the copy that was delivered", copy_at_put),
    ("check --remote of s3 asks for the copy that was delivered", copy_at_s3),
    ("check --remote of http if the queue holds another copy", copy_at_http),
]
