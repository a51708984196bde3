"""Rows or bytes are lost here after a capture was sent: the destination is asked, and nothing is sent again unasked."""
from Kit.outcomes import every, expect
from Kit.queues import few
from Kit.servers.scripted import Reply, Scripted
from Kit.servers.sigv4 import Keys
from Sending.order.blocked_destinations import sent
from Sending.order.repairs import lost
from Sending.proof.adopted_spools import Store


class Shown(Store):
    """A store that also returns what it has."""

    def __call__(self, request):
        if request.method == "GET":
            return Reply(200, {}, self.kept[request.path]) if request.path in self.kept else Reply(404)
        return super().__call__(request)


def pushed_again(bench):
    """A push finds a bundle and its sidecar in the spool, and no row. It is asked for; only what is missing there is sent."""
    def judge(_, push):
        store = Store()
        with Scripted(store) as server:
            rig = bench.rig()
            rig.dest("web", "put", "--url", server.url + "/{sha256}")
            there, missing, killed = bench.stock[:3]
            rig.push(there, missing)
            rig.send("--until-empty", code=0)
            del store.kept["/" + missing.sha256]
            for bundle in (there, missing):
                lost(rig, bundle)
            rig.stray(killed)
            push(rig, (there, missing, killed))
            expect({row.in_doubt for row in rig.deliveries()} == {1}, "not all are in doubt")
            before = len(sent(server))
            rig.send("--until-empty", code=0)
            expect(sent(server)[before:] == [missing.sha256, killed.sha256], f"sent were {sent(server)[before:]}")

    def damaged(rig, bundles):
        rig.spool_file(bundles[0]).write_bytes(b"damaged")
        rig.push(*bundles)

    every(few({"pushed": lambda rig, bundles: rig.push(*bundles), "the stray file is damaged": damaged}), judge)


def not_in_doubt(bench):
    """What the spool does not know is sent without a question: a new capture, and a bundle without a sidecar."""
    rig = bench.rig()
    rig.push(bench.stock[0])
    rig.stray(bench.stock[1], sidecar=False)
    rig.push(bench.stock[1])
    expect({row.in_doubt for row in rig.deliveries()} == {0}, "in doubt")


def bytes_gone(bench):
    """The bytes of a capture in doubt are missing or damaged here. A destination that proves that it has them completes
    its delivery, and gets nothing again; without a proof they are set aside."""
    bundle = bench.stock[0]

    def judge(_, case):
        spoil, is_there = case
        store = Shown()
        with Scripted(store) as server:
            rig = bench.rig()
            rig.env |= Keys("one", "secret").environment
            rig.dest("web", "put", "--url", server.url + "/put/{sha256}")
            rig.dest("bucket", "s3", "--url", server.url + "/bucket")
            copy = rig.to_folder() / f"{bundle.id}.bundle"
            rig.push(bundle, options=[word for name in ("web", "bucket", "disk") for word in ("--dest", name)])
            rig.send("--until-empty", code=0)
            rig.run("salvage", "--force", "--release").must(0, about="salvage")
            spoil(rig.spool_file(bundle))
            if not is_there:
                store.kept.clear()
                copy.unlink()
            puts = len(sent(server))
            rig.send("--until-empty", code=0 if is_there else 14)
            expect(rig.states() == {"completed" if is_there else "quarantined"}, f"the deliveries are {rig.states()}")
            expect(len(sent(server)) == puts or not is_there, "sent again")
            expect(copy.exists() == is_there and is_there == bool(store.kept), "damaged bytes arrived")

    every(few({"missing": (lambda file: file.unlink(), True), "missing everywhere": (lambda file: file.unlink(), False),
               "damaged": (lambda file: file.write_bytes(bundle.data[:-1] + b"x"), True)}, 2), judge)


TESTS = [
    ("push of what lies in the spool without its row is asked for", pushed_again),
    ("push of what was never in the spool is not in doubt", not_in_doubt),
    ("bytes that are gone here are asked for, if they may have landed", bytes_gone),
]
