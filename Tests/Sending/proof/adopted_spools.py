"""`adopt OLD/spool` after a restore: what the sidecars know is kept, and nothing that was sent since is sent again unasked."""
import base64
import hashlib
import json
import shutil

from Kit.outcomes import every, expect
from Kit.queues import few
from Kit.servers.scripted import Scripted, Shelf
from Sending.order.blocked_destinations import sent

class Store(Shelf):
    """A store that tells the digest of what it has."""

    def __call__(self, request):
        reply = super().__call__(request)
        if request.method == "HEAD" and reply.status == 200:
            digest = hashlib.sha256(self.kept[request.path]).digest()
            reply.headers["Repr-Digest"] = f"sha-256=:{base64.b64encode(digest).decode()}:"
        return reply


LATER = "2099-01-01T00:00:00.000Z"


class Lost:
    """A queue whose disk failed: a backup of it was restored, and its old spool is still there."""

    def __init__(self, bench, server):
        self.rig = rig = bench.rig()
        self.before, self.cancelled, self.later, *self.members = bench.stock[:8]
        self.since = [self.cancelled, self.later, *self.members]
        rig.dest("web", "put", "--url", server.url + "/{sha256}")
        rig.push(self.before)
        rig.run("backup", rig.out / "backup").must(0, about="backup")
        rig.push(*self.members, options=("--session", "roof", "--priority", "4"))
        rig.push(self.cancelled)
        rig.run("cancel", self.cancelled.id).must(0, about="cancel")
        rig.push(self.later, options=("--not-before", LATER, "--priority", "-3"))
        rig.send("--once", code=15)
        self.old = rig.queue.rename(rig.out / "old")
        shutil.copytree(rig.out / "backup", rig.queue, copy_function=shutil.copy2)
        rig.run("restore").must(0, about="restore")

    def adopt(self, *options):
        result = self.rig.run("adopt", self.old / "spool", *options).must(0, about="adopt")
        expect(len(result.out.split()) == len(self.since), f"adopt adds {len(result.out.split())}")
        return result.text


def keeps(bench):
    """Session, order, priority and times are those of the first push; all are held, and a concern says by what."""
    with Scripted(Store()) as server:
        lost = Lost(bench, server)
        rig, puts = lost.rig, len(sent(server))
        said = lost.adopt("--session", "other")
        expect("7 captures" in said and "capqueue release ID" in said, f"adopt says {said!r}")
        rows = rig.rows()
        for bundle in lost.since:
            row, old = rows[bundle.id], json.loads((lost.old / "spool" / bundle.sha256[:2] / f"{bundle.sha256}.json").read_bytes())
            expect(row["state"] == "held", f"is {row['state']}")
            for name in ("pushed_at", "priority", "session", "not_before"):
                expect(row.get(name) == old.get(name), f"{name} is {row.get(name)}, was {old.get(name)}")
            new = json.loads(rig.spool_file(bundle, "json").read_bytes())
            expect(new == old, f"the sidecar is {new}, was {old}")
            cause = [one.cause for one in rig.changes(bundle)]
            expect(cause == ["adopted"], f"the cause is {cause}")
        found = json.loads(rig.run("status", "--check", "--json").must(15, about="status --check").out)["concerns"]
        expect([(one["code"], one["count"]) for one in found] == [("captures.salvaged", 7)], f"the concerns are {found}")
        rig.send("--until-empty", code=15)
        expect(len(sent(server)) == puts, "adopted captures were sent")
        said = rig.run("adopt", lost.old / "spool").must(0, about="adopt again").text
        expect("nothing new" in said, f"adopt again says {said!r}")


def asks(bench):
    """Released, they are asked for: what the destination has is not sent again, the rest goes in its order."""
    def judge(_, release):
        shelf = Store()
        with Scripted(shelf) as server:
            lost = Lost(bench, server)
            rig, missing = lost.rig, lost.members[1:4]
            before = len(sent(server))
            for bundle in missing:
                del shelf.kept["/" + bundle.sha256]
            release(lost)
            rig.send("--once", code=15)
            again = sent(server)[before:]
            expect(again == [bundle.sha256 for bundle in [*missing, lost.cancelled]] or
                   again == [lost.cancelled.sha256, *(bundle.sha256 for bundle in missing)], f"sent were {again}")
            states = [rig.delivery(bundle).state for bundle in lost.since]
            expect(states == ["completed", "pending", *["completed"] * 5], f"the states are {states}")

    def in_two_steps(lost):
        lost.adopt()
        lost.rig.run("release", "--all").must(0, about="release")

    every(few({"in two steps": in_two_steps, "at once": lambda lost: lost.adopt("--release")}), judge)


def references(bench):
    """Of a capture by reference the old spool has only the sidecar. Its file is named until this queue has it."""
    with Scripted(Shelf()) as server:
        lost = Lost(bench, server)
        rig, other = lost.rig, bench.stock[9]
        file = rig.out / "own.bundle"
        shutil.copy(other.path, file)
        rig.queue.rename(rig.out / "restored")
        lost.old.rename(rig.queue)
        rig.run("push", "--reference", file).must(0, about="push --reference")
        rig.queue.rename(lost.old)
        (rig.out / "restored").rename(rig.queue)
        said = lost.adopt()
        expect(f"capqueue push --reference {file}" in said, f"adopt says {said!r}")
        rig.run("push", "--reference", file).must(0, about="push --reference")
        said = rig.run("adopt", lost.old / "spool").must(0, about="adopt again").text
        expect("nothing new" in said and "reference" not in said, f"adopt again says {said!r}")


def strangers(bench):
    """A bundle without a sidecar, with one of another bundle, or with one that is no sidecar, is pushed as ever."""
    one, other, third, fourth = bench.stock[:4]
    with Scripted(Shelf()) as server:
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.url + "/{sha256}")
        rig.push(fourth, options=("--session", "roof"))
        place = rig.out / "place"
        place.mkdir()
        for bundle in (one, other, third):
            (place / f"{bundle.id}.bundle").write_bytes(bundle.data)
        (place / f"{other.id}.json").write_bytes(rig.spool_file(fourth, "json").read_bytes())
        (place / f"{third.id}.json").write_bytes(b'{"format":"capqueue/sidecar/1"}')
        rig.run("adopt", place, "--priority", "2").must(0, about="adopt")
        rows = rig.rows()
        for bundle in (one, other, third):
            row = rows[bundle.id]
            expect((row["state"], row["priority"], row.get("session")) == ("pending", 2, None), f"is {row}")


def odd_sidecars(bench):
    """A sidecar is data of others: what the queue cannot take of it is left out, and nothing leaves its folder."""
    bundles = bench.stock[:5]
    rig = bench.rig()
    rig.push(*bundles)
    place = rig.out / "place"
    place.mkdir()
    odd = [{"id": f"{bundles[0].id}/../../../odd"}, {"session": "../odd"}, {"order": {"after": 2**62, "position": -1}},
           {"destinations": ["elsewhere", "../odd"]}, {"order": {"after": 2**40 - 1, "position": 2**40 - 1}}]
    for bundle, members in zip(bundles, odd):
        (place / f"{bundle.id}.bundle").write_bytes(bundle.data)
        sidecar = json.loads(rig.spool_file(bundle, "json").read_bytes()) | members
        (place / f"{bundle.id}.json").write_text(json.dumps(sidecar))
    other = bench.rig()
    disk = other.to_folder()
    other.run("adopt", place, "--release").must(0, about="adopt")
    rows = other.rows()
    expect(rows.keys() == {bundle.id for bundle in bundles}, f"the ids are {sorted(rows)}")
    expect(not any("session" in row for row in rows.values()), "the session has an odd name")
    other.push(bench.stock[5])
    other.send("--until-empty", code=0)
    expect(len(list(disk.glob("*.bundle"))) == 6, f"{list(disk.iterdir())} were sent")
    other.run("check", "--read-data").must(0, about="check")


TESTS = [
    ("adopt of an old spool keeps what the sidecars know, and holds all", keeps),
    ("adopt of an old spool: what is released is asked for", asks),
    ("adopt of an old spool: a warning names what it kept by reference", references),
    ("adopt of bundles without a sidecar of theirs", strangers),
    ("adopt of bundles with odd sidecars", odd_sidecars),
]
