"""Push hashes the bytes once. Sending compares a stored tag instead, and notices every byte that changed since."""
import hashlib

from Kit.outcomes import IS_LONG, every, expect
from Kit.sending import AT_ONCE, DEVICE
from Kit.servers.capture_api import Answer, CaptureAPI
from Kit.servers.scripted import Reply, Scripted, in_json
from Sending.kind_s3.stores import KEYS, Limited

SIZE = 300_000  # size of the photo: more than the bytes that are held back until the end


def column(rig, bundle, name):
    """Returns one column of a capture's row."""
    (value,), = rig.query(f"SELECT {name} FROM captures WHERE id = ?", bundle.id)
    return value


def change(rig, bundle, **columns):
    with rig.database() as database:
        for name, value in columns.items():
            database.execute(f"UPDATE captures SET {name} = ? WHERE id = ?", (value, bundle.id))


def answer(request):
    if request.method == "POST":
        return in_json({"data": {"capture_id": "7e57ab1e-0000-4000-8000-000000000001", "status": "complete"}}, 202)
    return Reply(201 if request.method == "PUT" else 405)


def flipped(path, at):
    """Changes one bit, as a faulty disk might."""
    with open(path, "r+b") as file:
        file.seek(at, 2 if at < 0 else 0)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 1]))


# What is done to a bundle after the push: the place of a changed bit (in a padding that no body contains, in the sent
# bytes, in the bytes that are held back, and in the last byte), and the tag of its row: right, wrong, or none, as in
# rows of version 2.
SPOILT = {"in the first header": (150, "right"), "in the photo": (SIZE // 2, "right"), "near the end": (-1200, "right"),
          "in the last byte": (-1, "right"), "in the photo, without a tag": (SIZE // 2, "none"),
          "sound, without a tag": (None, "none"), "sound, with a wrong tag": (None, "wrong")}


def judged(bench, kind):
    """Checks at one kind of destination that no changed byte arrives, and that all sound bundles do."""
    rig, bundles = bench.rig(), {name: bench.big(SIZE + number) for number, name in enumerate(SPOILT)}
    with CaptureAPI(bench.public) as api, Scripted(Limited() if kind == "s3" else answer) as web:
        url = web.url + {"put": "/{sha256}", "s3": "/bucket"}.get(kind, "")
        rig.env |= KEYS
        if kind == "signed http":
            rig.http(api.url)
        elif kind == "folder":
            (rig.out / "disk").mkdir()
            rig.dest("there", "folder", "--path", rig.out / "disk", "--retry", AT_ONCE)
        else:
            options = ("--verify-url", "none") if kind == "http" else ()
            rig.dest("there", kind, "--url", url, *options, "--retry", AT_ONCE)
        rig.push(*bundles.values())
        for name, (at, tag) in SPOILT.items():
            if at is not None:
                flipped(rig.spool_file(bundles[name]), at)
            known = column(rig, bundles[name], "tag")
            expect(len(known) == 48, f"the tag is {known!r}")
            if tag != "right":
                change(rig, bundles[name], tag=known[:-1] + bytes([known[-1] ^ 1]) if tag == "wrong" else None,
                       body_sha256=None, body_form=None)
        rig.send("--until-empty", code=14)
        whole = [one for one in web.requests if one.method in ("PUT", "POST")
                 and len(one.body) == int(one.headers["content-length"])]
        count = len(whole) + len(api.stored) + len(list((rig.out / "disk").glob("*.bundle")))
        bodies = [one for one in api.seen() if one.digest]
        expect(count == 2 and len(bodies) == len(api.stored), f"{count} arrived whole")
    for name, (at, tag) in SPOILT.items():
        row, bundle = rig.delivery(bundles[name]), bundles[name]
        state, holding = ("completed", "spool") if at is None else ("quarantined", "quarantined")
        expect((row.state, column(rig, bundle, "holding")) == (state, holding), f"{name}: is {row.state}")
        if at is None:
            # A wrong tag of sound bytes is dropped, and they are sent again.
            expect(row.attempts == (2 if tag == "wrong" else 1), f"{name}: {row.attempts} attempts")
            expect(tag == "none" or column(rig, bundle, "tag") is None, "a wrong tag is kept")


def changed_bytes(bench):
    """A changed bit is noticed at each kind of destination and in each part of a file, with and without a tag."""
    kinds = ("signed http", "put", "s3", "folder", "http")
    every({kind: kind for kind in (kinds if IS_LONG else kinds[:1])}, lambda _, kind: judged(bench, kind))


def body_hash_of(bench, bundle):
    return hashlib.sha256(bench.body(bundle)).digest(), "capture/1/0"


def body_hash(rig, bundle):
    return column(rig, bundle, "body_sha256"), column(rig, bundle, "body_form")


def made_when_needed(bench):
    """Push computes the hash of the body if one of its destinations signs; otherwise the first signed try does."""
    bundle, both, late = bench.stock[:3]
    with CaptureAPI(bench.public) as api:
        rig = bench.rig()
        rig.http(api.url, name="signs")
        rig.dest("plain", "http", "--url", api.url, "--retry", AT_ONCE)
        rig.push(bundle)
        rig.push(both, options=("--dest", "plain", "--dest", "signs"))
        rig.push(late, options=("--dest", "plain"))
        expect(body_hash(rig, late) == (None, None), "the hash is computed although it is not needed")
        for one in (bundle, both):
            wanted = body_hash_of(bench, one)
            expect(body_hash(rig, one) == wanted, f"the hash of the body is {body_hash(rig, one)}, expected {wanted}")
        rig.run("cancel", bundle.id, both.id).must(0, about="cancel")
        rig.run("dest", "set", "plain", "--key", rig.key, "--device-id", DEVICE).must(0, about="dest set")
        api.answer(Answer(503))
        rig.send("--once", code=15)
        expect(body_hash(rig, late) == body_hash_of(bench, late), "the first try keeps no hash")
        rig.send("--until-empty", code=0)
        api.content()
        expect([one.status for one in api.seen()] == [503, 202], f"answers {[one.status for one in api.seen()]}")


TESTS = [
    ("a byte that changed after the push does not arrive, with and without a tag", changed_bytes),
    ("the hash of the body is computed at push, or at the first signed try", made_when_needed),
]
