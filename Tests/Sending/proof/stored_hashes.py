"""Push hashes the bytes once. Sending compares a stored tag instead, and notices every byte that changed since."""
import contextlib
import hashlib
import json
import pathlib

from cryptography.hazmat.primitives import serialization

from capture_api import Answer, CaptureAPI
from checks import every, expect
from rigs import AT_ONCE, DEVICE, wait_until
from scripted import Reply, Scripted, in_json

SIZE = 300_000  # size of the photo: more than the bytes that are held back until the end


def column(rig, bundle, name):
    """Returns one column of a capture's row."""
    (value,), = rig.query(f"SELECT {name} FROM captures WHERE id = ?", bundle.id)
    return value


def change(rig, bundle, **columns):
    with rig.database() as database:
        for name, value in columns.items():
            database.execute(f"UPDATE captures SET {name} = ? WHERE id = ?", (value, bundle.id))


class Places:
    """A destination of each kind; `arrived` says whether anything complete has arrived there."""

    def __init__(self, bench, stack):
        self.api = stack.enter_context(CaptureAPI(bench.public))
        self.web = stack.enter_context(Scripted(self.answer))

    @staticmethod
    def answer(request):
        if request.method == "POST":
            return in_json({"data": {"capture_id": "7e57ab1e-0000-4000-8000-000000000001", "status": "complete"}}, 202)
        return Reply(201 if request.method == "PUT" else 405)

    def add(self, rig, kind):
        if kind == "put":
            rig.dest("there", "put", "--url", self.web.url + "/{sha256}", "--retry", AT_ONCE)
        elif kind == "folder":
            (rig.out / "disk").mkdir()
            rig.dest("there", "folder", "--path", rig.out / "disk")
        elif kind == "http":
            rig.dest("there", "http", "--url", self.web.url, "--verify-url", "none", "--retry", AT_ONCE)
        else:
            rig.http(self.api.url, name="there")

    def arrived(self, rig):
        """Whether any destination has a complete file or body."""
        whole = [one for one in self.web.requests if one.method in ("PUT", "POST")
                 and len(one.body) == int(one.headers["content-length"])]
        bodies = [one for one in self.api.seen() if one.digest is not None]
        return bool(whole or bodies or list((rig.out / "disk").glob("*.bundle")))


def flipped(path, at):
    """Changes one bit, as a faulty disk might."""
    with open(path, "r+b") as file:
        file.seek(at, 2 if at < 0 else 0)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 1]))


def judged(bench, kind, at, prepare=lambda rig, bundle: None):
    """Checks that a bundle with one changed bit is not sent completely, and is quarantined."""
    rig, bundle = bench.rig(), bench.big(SIZE)
    with contextlib.ExitStack() as stack:
        places = Places(bench, stack)
        places.add(rig, kind)
        rig.push(bundle)
        prepare(rig, bundle)
        flipped(rig.spool_file(bundle), at)
        rig.send("--until-empty", code=14)
        expect(not places.arrived(rig), f"{kind}: other bytes have arrived whole")
    expect(rig.delivery(bundle).state == "quarantined", f"{kind}: is {rig.delivery(bundle).state}")
    expect(column(rig, bundle, "holding") == "quarantined", f"{kind}: the bytes are not set aside")


KINDS = ("put", "folder", "http", "signed http")
# In a padding that no body contains, in the sent bytes, in the bytes that are held back, and in the last byte.
POSITIONS = {"in the first header": 150, "in the photo": SIZE // 2, "near the end": -1200, "in the last byte": -1}


def flipped_byte(bench):
    """A changed bit is noticed at each kind of destination and in each part of a file."""
    def judge(name, case):
        judged(bench, *case)

    every({f"{kind}, {where}": (kind, at) for kind in KINDS for where, at in POSITIONS.items()}, judge)


def flipped_byte_without_tag(bench):
    """Rows of version 2 have no tag, so the SHA-256 is compared."""
    def judge(name, kind):
        judged(bench, kind, SIZE // 2, lambda rig, bundle: change(rig, bundle, tag=None))

    every({kind: kind for kind in KINDS}, judge)


def lands(bench, prepare, kinds=KINDS):
    """Checks that a bundle lands at each kind of destination after `prepare`; returns rigs and bundles."""
    def judge(name, kind):
        rig, bundle = bench.rig(), bench.big(SIZE)
        with contextlib.ExitStack() as stack:
            places = Places(bench, stack)
            places.add(rig, kind)
            rig.push(bundle)
            prepare(rig, bundle)
            rig.send("--until-empty", code=0)
            expect(places.arrived(rig), f"{kind}: nothing has arrived")
            expect(rig.delivery(bundle).state == "completed", f"{kind}: is {rig.delivery(bundle).state}")
        rigs.append((rig, bundle))

    rigs = []
    every({kind: kind for kind in kinds}, judge)
    return rigs


def without_tag(bench):
    """Rows of version 2 are still sent."""
    for rig, bundle in lands(bench, lambda rig, bundle: change(rig, bundle, tag=None, body_sha256=None, body_form=None)):
        expect(rig.delivery(bundle).attempts == 1, f"{rig.delivery(bundle).attempts} attempts")


def wrong_tag(bench):
    """If the tag is wrong but the SHA-256 is right, the tag is dropped, and nothing is quarantined."""
    def prepare(rig, bundle):
        tag = column(rig, bundle, "tag")
        expect(len(tag) == 48, f"the tag is {tag!r}")
        change(rig, bundle, tag=tag[:-1] + bytes([tag[-1] ^ 1]))

    for rig, bundle in lands(bench, prepare):
        expect(column(rig, bundle, "tag") is None, "a wrong tag is kept")
        expect(column(rig, bundle, "holding") == "spool", f"the bytes are {column(rig, bundle, 'holding')}")
        expect(not list((rig.queue / "quarantine").iterdir()), "sound bytes are set aside")
        expect(rig.delivery(bundle).attempts == 2, f"{rig.delivery(bundle).attempts} attempts instead of 2")


def body_hash_of(bench, bundle):
    return hashlib.sha256(bench.body(bundle)).digest()


def made_at_push(bench):
    """Push computes the hash of the body only if one of its destinations signs."""
    bundle = bench.stock[0]
    with CaptureAPI(bench.public) as api:
        rig = bench.rig()
        rig.http(api.url, name="signs")
        rig.dest("plain", "http", "--url", api.url)
        rig.push(bundle)
        rig.push(bench.stock[1], options=("--dest", "plain"))
        rig.push(bench.stock[2], options=("--dest", "plain", "--dest", "signs"))
        for one, is_made in ((bundle, True), (bench.stock[1], False), (bench.stock[2], True)):
            wanted = (body_hash_of(bench, one), "capture/1/0") if is_made else (None, None)
            found = column(rig, one, "body_sha256"), column(rig, one, "body_form")
            expect(found == wanted, f"the hash of the body is {found}, expected {wanted}")


def made_at_first_try(bench):
    """If a destination signs only since after the push, its first try computes the hash and stores it."""
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api:
        rig.dest("api", "http", "--url", api.url, "--retry", AT_ONCE)
        rig.push(bundle)
        expect(column(rig, bundle, "body_sha256") is None, "the hash is computed although it is not needed")
        rig.run("dest", "set", "api", "--key", rig.key, "--device-id", DEVICE).must(0, about="dest set")
        api.answer(Answer(503))
        rig.send("--once", code=15)
        expect(column(rig, bundle, "body_sha256") == body_hash_of(bench, bundle), "the first try keeps no hash")
        expect(column(rig, bundle, "body_form") == "capture/1/0", f"its form is {column(rig, bundle, 'body_form')}")
        rig.send("--until-empty", code=0)
        api.content()
        expect([one.status for one in api.seen()] == [503, 202], f"answers {[one.status for one in api.seen()]}")


def another_key(bench):
    """The hash does not depend on the key, so the first signature after a change of the key is right."""
    rig, bundle = bench.rig(), bench.stock[0]
    other = rig.folder / "other.key"
    made = bench.template.run("key", "new", "--key", other).must(0, about="key new")
    expect(other.exists(), f"no key: {made.text!r}")
    with CaptureAPI(bench.public) as api:
        rig.http(api.url)
        rig.push(bundle)
        stored = column(rig, bundle, "body_sha256")
        rig.run("dest", "set", "api", "--key", other).must(0, about="dest set")
        api.devices.keys[DEVICE] = serialization.load_pem_public_key(pathlib.Path(f"{other}.pub").read_bytes())
        rig.send("--once", code=0)
        expect([one.status for one in api.seen()] == [202], f"answers {[one.status for one in api.seen()]}")
        expect(column(rig, bundle, "body_sha256") == stored, "another hash of the same body")
        expect(json.loads(rig.delivery(bundle).receipt)["body_sha256"] == stored.hex(), "the receipt has another")


def another_form(bench):
    """The hash of a body in another form is not signed; it is computed again."""
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api:
        rig.http(api.url)
        rig.push(bundle)
        change(rig, bundle, body_sha256=bytes(32), body_form="capture/0/0")
        rig.send("--once", code=0)
        expect([one.status for one in api.seen()] == [202], f"answers {[one.status for one in api.seen()]}")
    expect(column(rig, bundle, "body_sha256") == body_hash_of(bench, bundle), "the old hash is kept")
    expect(column(rig, bundle, "body_form") == "capture/1/0", f"the form is {column(rig, bundle, 'body_form')}")


def read_once(bench):
    """A signed upload reads the bytes once if the hash of the body is stored, and twice if not."""
    bundle = bench.big()

    def read(name, case):
        columns, least, most = case
        rig = bench.rig()
        with CaptureAPI(bench.public) as api:
            rig.http(api.url)
            rig.push(bundle)
            change(rig, bundle, **columns)
            with rig.start("run", "--watch") as running:
                wait_until(lambda: rig.delivery(bundle).state == "completed", "the upload to land")
                facts = pathlib.Path(f"/proc/{running.pid}/io").read_text()
        parts = int(facts.split("rchar:")[1].split()[0]) / len(bundle.data)
        expect(least < parts < most, f"{parts:.2f} times the bundle's bytes were read")

    every({"stored": ({}, 0.9, 1.5), "not stored": ({"body_sha256": None, "body_form": None}, 1.9, 2.5)}, read)


FAMILY = [
    ("a byte that changed after the push is noticed during the transfer", flipped_byte),
    ("a changed byte is noticed without a tag", flipped_byte_without_tag),
    ("a capture without a tag is sent", without_tag),
    ("a wrong tag of sound bytes is dropped", wrong_tag),
    ("push computes the hash of the body if a destination signs", made_at_push),
    ("otherwise the first signed try computes it", made_at_first_try),
    ("the signature is right after the key was changed", another_key),
    ("the stored hash of a body in another form is not used", another_form),
    ("a signed upload reads the bytes once", read_once),
]
