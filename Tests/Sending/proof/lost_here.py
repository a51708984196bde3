"""Rows are lost here after a capture was sent: the destination is asked, and nothing is sent again unasked."""
from Kit.outcomes import every, expect
from Kit.queues import few
from Kit.servers.scripted import Scripted
from Sending.order.blocked_destinations import sent
from Sending.order.repairs import lost
from Sending.proof.adopted_spools import Store


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


TESTS = [
    ("push of what lies in the spool without its row is asked for", pushed_again),
    ("push of what was never in the spool is not in doubt", not_in_doubt),
]
