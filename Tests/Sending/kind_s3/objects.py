"""s3 at a real store, SeaweedFS: objects land, existing ones are not overwritten, and refusals cost no attempt."""
import base64
import hashlib

from Kit.outcomes import IS_LONG, every, expect
from Kit.sending import AT_ONCE, completed
from Kit.servers import seaweed
from Kit.servers.fault_proxy import Fault, FaultProxy
from Kit.servers.s3_places import Place
from Kit.servers.sigv4 import Keys


def checksum(data):
    return base64.b64encode(hashlib.sha256(data).digest()).decode()


def spoilt(data):
    """Returns other bytes of the same length."""
    return data[:-600] + bytes([data[-600] ^ 1]) + data[-599:]


def landed(bench):
    """The key contains the hash, the checksum is stored with the object, and the receipt says how it was confirmed."""
    place, bundle = Place(bench), bench.stock[0]
    rig = place.rig(bundle)
    result = rig.send(code=0)
    expect(result.out.decode().split() == [bundle.id, "s3", "completed"], f"run prints {result.out!r}")
    completed(rig, bundle)
    place.holds(bundle)
    expect(place.client.head(place.key(bundle)).get("x-amz-checksum-sha256") == checksum(bundle.data), "no checksum")
    receipt = rig.receipt(bundle)
    wanted = {"kind": "s3", "confirmed_by": "etag", "bytes": len(bundle.data), "sha256": bundle.sha256,
              "url": f"{place.url}/{bundle.sha256}.bundle"}
    expect(wanted.items() <= receipt.items(), f"the receipt is {receipt}")
    expect(receipt["etag"].strip('"') == hashlib.md5(bundle.data).hexdigest(), f"the receipt is {receipt}")
    expect(rig.send(code=0).out == b"", "a second run sends it again")
    rig.run("dest", "test", "s3").must(0, about="dest test")
    rig.run("prune", "--older-than", "0s").must(0, about="prune")
    expect(not rig.spool_file(bundle).exists(), "prune keeps a delivered bundle")
    expect(rig.run("get", bundle.id, "-o", "-").must(0, about="get").out == bundle.data, "get gives other bytes")


def templates(bench):
    """`{sha256}`, `{id}` and `{session}` in the key are filled in; without {sha256} the name is added.

    Own headers are signed in the order of their names and with single spaces, as the store demands.
    """
    place, bundle = Place(bench), bench.stock[1]
    rig = bench.rig()
    rig.env |= place.store.keys.environment
    lines = {"x-amz-meta-site": "a", "x-amz-meta-site-name": "b", "x-amz-meta-note": "two  blanks"}
    headers = [word for line in lines.items() for word in ("--header", ": ".join(line))]
    keys = {"whole": ("/a%20b/{session}/{id}_{sha256}.x", f"a b/roof/{bundle.id}_{bundle.sha256}.x", ()),
            "part": ("/{session}/{id}", f"roof/{bundle.id}/{bundle.sha256}.bundle", headers),
            # Signatures percent-encode these characters, and URLs do not.
            "signs": ("/date=2026-03/a+b,c(d)", f"date=2026-03/a+b,c(d)/{bundle.sha256}.bundle", ())}
    for name, (path, _, options) in keys.items():
        rig.dest(name, "s3", "--url", place.url + path, *options)
    rig.push(bundle, options=("--session", "roof", *(word for name in keys for word in ("--dest", name))))
    rig.send("--until-empty")
    for name, (_, key, _) in keys.items():
        expect(place.client.get(f"{place.prefix}/{key}") == bundle.data, f"{name}: nothing under {key}: "
               f"{rig.destination(name).blocked_message!r}")
    told = place.client.head(f"{place.prefix}/{keys['part'][1]}")
    expect(all(" ".join(told.get(name, "").split()) == " ".join(value.split()) for name, value in lines.items()),
           f"the store has {told}")


def there_already(bench):
    """The same bytes under the key complete the capture, and are not replaced. Other bytes are damaged, and are.

    Each case is a destination of one queue.
    """
    bundle = bench.stock[0]
    same, other, look = bundle.data, spoilt(bundle.data), ("--no-condition",)
    cases = {"with a checksum": (same, (), "etag"), "with an ETag": (same, (), "etag"),
             "in parts": (same, (), "bytes"), "looked for first": (same, look, "etag"),
             "others of the same length": (other, (), "etag"), "others, looked for first": (other, look, "etag"),
             "shorter": (same[:-512], (), "etag"), "nothing": (b"", (), "etag"), "others in parts": (other, (), "etag")}
    places = {name: Place(bench) for name in cases}
    rig, before = places["nothing"].rig(), {}
    for number, (name, (data, options, _)) in enumerate(cases.items()):
        place, key = places[name], places[name].key(bundle)
        if "in parts" in name:
            place.client.put_in_parts(key, data)
        else:
            place.client.put(key, data, **({"x-amz-checksum-sha256": checksum(data)} if "checksum" in name else {}))
        before[name] = place.client.head(key)
        rig.dest(f"d{number}", "s3", "--url", place.url, *options)
    rig.push(bundle, options=[word for number in range(len(cases)) for word in ("--dest", f"d{number}")])
    rig.send("--until-empty", code=0)

    def judge(name, case):
        data, _, confirmed_by = case
        row = f"d{list(cases).index(name)}"
        found = rig.delivery(bundle, row)
        expect((found.state, found.attempts) == ("completed", 1), f"is {found.state} after {found.attempts}")
        expect(rig.receipt(bundle, row)["confirmed_by"] == confirmed_by, "confirmed otherwise")
        after = places[name].client.head(places[name].key(bundle))
        is_kept = all(before[name][one] == after[one] for one in ("etag", "last-modified"))
        expect(is_kept == (data == same), f"replaced: {not is_kept}")
        expect(places[name].client.get(places[name].key(bundle)) == same, "the store has other bytes")

    every(cases, judge)


def repaired(bench):
    """An object that was damaged after it landed is replaced once `check --remote` has found it."""
    place, bundles = Place(bench), bench.stock[:2]
    rig = place.rig(*bundles)
    rig.send(code=0)
    place.client.put(place.key(bundles[0]), spoilt(bundles[0].data))
    rig.run("check", "--remote").must(15, about="check --remote")
    rig.send("--until-empty", code=0)
    place.holds(*bundles)
    expect(rig.states() == {"completed"}, f"{rig.states()}")


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


def refused(bench):
    """Wrong or missing credentials and a missing bucket block the destination, use no attempt, and show no secret."""
    bundle, right = bench.stock[0], seaweed.shared(bench).keys
    wrong = {"a wrong secret": (Keys(right.id, "0123456789abcdefWRONG").environment, "", "credentials"),
             "no such bucket": (right.environment, "-nobody", "endpoint"), "no credentials": ({}, "", "local")}

    def judge(name, case):
        environment, suffix, reason = case
        place, rig = Place(bench), bench.rig()
        rig.env |= environment
        rig.dest("s3", "s3", "--url", f"{place.store.url}{suffix}/{place.prefix}", "--retry", AT_ONCE)
        rig.push(bundle)
        said = [rig.send("--until-empty", code=(15, 78)), rig.run("dest", "test", "s3").must(78, about="dest test")]
        if "secret" in name:
            said += [rig.run("dest", "show", "s3"), rig.run("status", "--json"), rig.run("history", bundle.id)]
        held = rig.destination("s3")
        expect(held.blocked_reason == reason, f"blocked as {held.blocked_reason}: {held.blocked_message!r}")
        row = rig.delivery(bundle)
        expect((row.state, row.attempts) == ("pending", 0), f"is {row.state} after {row.attempts} attempts")
        expect(not any(b"WRONG" in one.out + one.err for one in said), "the secret is shown")
        if reason == "credentials":
            rig.env |= right.environment
            rig.run("resume", "--dest", "s3").must(0, about="resume")
            rig.send("--until-empty", code=0)
            completed(rig, bundle)
            place.holds(bundle)
        for path in map(rig.queue.joinpath, rig.names()):
            expect(right.secret.encode() not in path.read_bytes(), f"the secret is in {path.name}")

    every(wrong if IS_LONG else dict(list(wrong.items())[:2]), judge)


TESTS = [
    ("an object lands, is read back, and the receipt says how", landed),
    ("templates of keys, and own headers", templates),
    ("an object exists already: the same bytes stay, and others are replaced", there_already),
    ("a copy that was damaged later is replaced", repaired),
    ("the answer is lost", lost_reply),
    ("refused credentials, and no such bucket", refused),
]
