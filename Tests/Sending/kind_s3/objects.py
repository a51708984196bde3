"""s3: objects land and are read back, existing ones are not overwritten, and credentials come from the usual places."""
import base64
import hashlib
import json
import re

import seaweed
from checks import every, expect
from fault_proxy import Fault, FaultProxy
from rigs import wait_until
from s3_places import Place
from sigv4 import Keys


def completed(rig, *bundles, attempts=1):
    for bundle in bundles:
        row = rig.delivery(bundle)
        expect((row.state, row.attempts) == ("completed", attempts), f"{row.state} after {row.attempts} attempts: "
               f"{row.error_code} {row.error_message}")


def landed(bench):
    """The key contains the hash, the checksum is stored with the object, and the receipt says how it was confirmed."""
    place, bundle = Place(bench), bench.stock[0]
    rig = place.rig(bundle)
    result = rig.send(code=0)
    expect(result.out.decode().split() == [bundle.id, "s3", "completed"], f"run prints {result.out!r}")
    completed(rig, bundle)
    place.holds(bundle)
    headers = place.client.head(place.key(bundle))
    checksum = base64.b64encode(hashlib.sha256(bundle.data).digest()).decode()
    expect(headers.get("x-amz-checksum-sha256") == checksum, "the object has no checksum")
    receipt = rig.receipt(bundle)
    wanted = {"kind": "s3", "confirmed_by": "checksum", "bytes": len(bundle.data), "sha256": bundle.sha256,
              "url": f"{place.url}/{bundle.sha256}.bundle"}
    expect(wanted.items() <= receipt.items(), f"the receipt is {receipt}")
    expect(receipt["etag"].strip('"') == hashlib.md5(bundle.data).hexdigest(), f"the receipt is {receipt}")
    expect(rig.send(code=0).out == b"", "a second run sends it again")
    rig.run("dest", "test", "s3").must(0, about="dest test")


def templates(bench):
    """`{sha256}`, `{id}` and `{session}` in the key are filled in; without {sha256} the name is added."""
    place, bundle = Place(bench), bench.stock[1]
    rig = bench.rig()
    rig.env |= place.store.keys.environment
    keys = {"whole": ("/a%20b/{session}/{id}_{sha256}.x", f"a b/roof/{bundle.id}_{bundle.sha256}.x"),
            "part": ("/{session}/{id}", f"roof/{bundle.id}/{bundle.sha256}.bundle"),
            # Signatures percent-encode these characters, and URLs do not.
            "signs": ("/date=2026-03/a+b,c(d)", f"date=2026-03/a+b,c(d)/{bundle.sha256}.bundle")}
    for name, (path, _) in keys.items():
        rig.dest(name, "s3", "--url", place.url + path)
    rig.push(bundle, options=("--session", "roof", *(word for name in keys for word in ("--dest", name))))
    rig.send("--until-empty")
    for name, (_, key) in keys.items():
        expect(place.client.get(f"{place.prefix}/{key}") == bundle.data, f"{name}: nothing under {key}: "
               f"{rig.destination(name).blocked_message!r}")


def there_already(bench):
    """The same bytes under the key complete the capture, whatever their checksum, and the object stays untouched."""
    bundle = bench.stock[0]
    checksum = {"x-amz-checksum-sha256": base64.b64encode(hashlib.sha256(bundle.data).digest()).decode()}
    ways = {"checksum": lambda place, key: place.client.put(key, bundle.data, **checksum),
            "etag": lambda place, key: place.client.put(key, bundle.data),
            "bytes": lambda place, key: place.client.put_in_parts(key, bundle.data)}

    def judge(confirmed_by, put):
        place = Place(bench)
        expect(put(place, place.key(bundle)) == 200, "the object was not made")
        before = place.client.head(place.key(bundle))
        rig = place.rig(bundle)
        rig.send("--until-empty", code=0)
        completed(rig, bundle)
        expect(rig.receipt(bundle)["confirmed_by"] == confirmed_by, f"the receipt is {rig.receipt(bundle)}")
        after = place.client.head(place.key(bundle))
        expect(all(before[name] == after[name] for name in ("etag", "last-modified")), "the object was replaced")

    every(ways, judge)


def other_bytes(bench):
    """Other bytes under the key are a conflict: they are neither overwritten nor accepted as ours."""
    bundle = bench.stock[0]
    others = {"of the same length": bundle.data[:-600] + bytes([bundle.data[-600] ^ 1]) + bundle.data[-599:],
              "shorter": bundle.data[:-512], "none at all": b"", "of another bundle": bench.stock[1].data}

    def judge(name, data):
        for put in ("put", "put_in_parts"):
            if put == "put_in_parts" and not data:
                continue
            place = Place(bench)
            getattr(place.client, put)(place.key(bundle), data)
            rig = place.rig(bundle)
            rig.send("--until-empty", code=14)
            expect(rig.delivery(bundle).state == "conflict", f"{put}: it is {rig.delivery(bundle).state}")
            expect(place.client.get(place.key(bundle)) == data, f"{put}: the object was replaced")
            expect(rig.spool_file(bundle).exists(), "the bytes are gone")

    every(others, judge)


def race(bench):
    """Two queues send the same bundles at once: one of them writes each object, and both record it as completed."""
    place, bundles = Place(bench), bench.stock[:12]
    rigs = [place.rig(*bundles, options=("--concurrency", "4")) for _ in range(2)]
    with rigs[0].start("run", "--until-empty") as one, rigs[1].start("run", "--until-empty") as two:
        for running in (one, two):
            running.end().must(0, about="run")
    for rig in rigs:
        completed(rig, *bundles)
    place.holds(*bundles)


def four_at_once(bench):
    place, bundles = Place(bench), bench.stock[:24]
    rig = place.rig(*bundles, options=("--concurrency", "4"))
    rig.send(code=0)
    completed(rig, *bundles)
    place.holds(*bundles)


def down(bench):
    """A store that cannot be reached is offline and costs no attempt; when it is back, all captures land."""
    place, bundles = Place(bench), bench.stock[:2]
    with FaultProxy(place.store.port) as proxy:
        rig = place.rig(*bundles, port=proxy.port)
        proxy.down()
        rig.send(code=15)
        expect(rig.destination("s3").blocked_reason == "offline", f"blocked as {rig.destination('s3').blocked_reason}")
        expect({(row.state, row.attempts) for row in rig.deliveries()} == {("pending", 0)}, "an attempt was used")
        proxy.up()
        rig.send(code=0)
    completed(rig, *bundles)
    place.holds(*bundles)


def killed_amid(bench):
    """kill -9 in the middle of the body leaves no object; the next run sends the whole body."""
    place, bundle = Place(bench), bench.big()
    with FaultProxy(place.store.port) as proxy:
        rig = place.rig(bundle, port=proxy.port, options=("--bwlimit", "4MB"))
        with rig.start("run") as running:
            wait_until(lambda: any(one.up > 500_000 for one in proxy.connections), "the transfer to begin")
            running.kill()
        expect(place.client.head(place.key(bundle)) is None, "a partial object exists")
        rig.run("dest", "set", "s3", "--bwlimit", "").must(0, about="dest set")
        rig.send("--until-empty", code=0)
    expect(rig.delivery(bundle).state == "completed" and rig.delivery(bundle).attempts <= 2, "not completed")
    place.holds(bundle)


def killed_before_the_answer(bench):
    """After kill -9 between the last byte and the answer, the next run finds the object and reads it back."""
    place, bundle = Place(bench), bench.stock[3]
    with FaultProxy(place.store.port) as proxy:
        rig = place.rig(bundle, port=proxy.port)
        proxy.plan(otherwise=Fault(reply_stall=0))
        with rig.start("run") as running:
            wait_until(lambda: place.client.get(place.key(bundle)), "the object to be there")
            running.kill()
        before = place.client.head(place.key(bundle))
        expect(rig.delivery(bundle).state == "uploading", f"it is {rig.delivery(bundle).state}")
        proxy.cut()
        proxy.plan()
        rig.send("--until-empty", code=0)
    expect(rig.delivery(bundle).state == "completed", f"it is {rig.delivery(bundle).state}")
    expect(rig.receipt(bundle)["confirmed_by"] == "checksum", f"the receipt is {rig.receipt(bundle)}")
    expect(place.client.head(place.key(bundle))["last-modified"] == before["last-modified"], "it was written again")


def lost_reply(bench):
    """If the answer to the PUT is lost, the store is asked before anything is sent again."""
    place, bundle = Place(bench), bench.stock[3]
    with FaultProxy(place.store.port) as proxy:
        rig = place.rig(bundle, port=proxy.port)
        proxy.plan(Fault(reply="lose"))
        rig.send("--until-empty", code=0)
        sent = sum(one.up for one in proxy.connections)
    expect(rig.delivery(bundle).state == "completed" and rig.delivery(bundle).attempts <= 2, "not completed")
    expect(sent < 2 * len(bundle.data), f"{sent} bytes for a bundle of {len(bundle.data)}: it was sent twice")
    place.holds(bundle)


def given_back(bench):
    """get fetches and verifies what was pruned, and refuses other bytes; check --remote finds lost objects."""
    place, (one, two, three) = Place(bench), bench.stock[:3]
    rig = place.rig(one, two, three)
    rig.send(code=0)
    place.client.delete(place.key(three))
    found = [json.loads(line) for line in rig.run("check", "--remote", "--json").out.splitlines()]
    expect([line["id"] for line in found if line.get("kind") == "lost"] == [three.id], f"check finds {found}")
    rig.send(code=0)
    place.holds(one, two, three)
    rig.aged(one, two, days=8)
    rig.run("prune").must(0, about="prune")
    expect(not rig.spool_file(one).exists(), "prune keeps a delivered bundle")
    expect(rig.run("get", one.id, "-o", "-").must(0, about="get").out == one.data, "get gives other bytes")
    place.client.put(place.key(two), two.data[:-600] + bytes([two.data[-600] ^ 1]) + two.data[-599:])
    result = rig.run("get", two.id, "-o", "-").must(1, 2, 66, 74, about="get of other bytes")
    expect(not result.out, "bytes are given out")


def refused_credentials(bench):
    """Wrong or missing credentials block the destination, use no attempt and are not shown; right ones end that."""
    bundles = bench.stock[:2]
    right = seaweed.shared(bench).keys
    wrong = {"a wrong secret": Keys(right.id, "0123456789abcdefWRONG").environment,
             "an unknown key": Keys("AKNOBODY", "0123456789abcdefWRONG").environment, "none": {}}

    def judge(name, environment):
        place = Place(bench)
        rig = place.rig(*bundles)
        for variable in right.environment:
            del rig.env[variable]
        rig.env |= environment
        said = [rig.send("--until-empty", code=(15, 78))]
        held = rig.destination("s3")
        expect(held.blocked_reason in ({"credentials", "local"} if name == "none" else {"credentials"}),
               f"blocked as {held.blocked_reason}: {held.blocked_message!r}")
        expect({(row.state, row.attempts) for row in rig.deliveries()} == {("pending", 0)}, "an attempt was used")
        said += [rig.run("dest", "test", "s3").must(78, about="dest test"), rig.run("dest", "show", "s3"),
                 rig.run("status", "--json"), rig.run("history", bundles[0].id)]
        expect(not any(b"WRONG" in one.out + one.err for one in said), "the secret is shown")
        rig.env |= right.environment
        rig.run("resume", "--dest", "s3").must(0, about="resume")
        rig.send("--until-empty", code=0)
        completed(rig, *bundles)
        place.holds(*bundles)
        for path in map(rig.queue.joinpath, rig.names()):
            expect(right.secret.encode() not in path.read_bytes(), f"the secret is in {path.name}")

    every(wrong, judge)


def no_bucket(bench):
    """If the bucket does not exist, the URL is wrong, and all captures wait."""
    place = Place(bench)
    rig = bench.rig()
    rig.env |= place.store.keys.environment
    rig.dest("s3", "s3", "--url", place.store.url + "-nobody/prefix")
    rig.push(bench.stock[0])
    rig.send("--until-empty", code=15)
    expect(rig.destination("s3").blocked_reason == "endpoint", f"blocked as {rig.destination('s3').blocked_reason}")
    expect(rig.delivery(bench.stock[0]).attempts == 0, "an attempt was used")
    result = rig.run("dest", "test", "s3").must(78, about="dest test")
    expect(re.search(r"bucket|404", result.text + result.out.decode()), f"dest test says {result.text!r}")


FAMILY = [
    ("an object lands, is read back, and the receipt says how", landed),
    ("templates of keys", templates),
    ("the same bytes exist already", there_already),
    ("other bytes exist already: a conflict", other_bytes),
    ("two queues at once", race),
    ("four at once", four_at_once),
    ("a store that is down", down),
    ("kill -9 in the middle of the body", killed_amid),
    ("kill -9 between the last byte and the answer", killed_before_the_answer),
    ("the answer is lost", lost_reply),
    ("get and check --remote", given_back),
    ("refused credentials", refused_credentials),
    ("no such bucket", no_bucket),
]
