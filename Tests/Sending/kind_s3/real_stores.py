"""s3 at stores that nobody here wrote, behind a proxy that flips a bit, cuts, delays and loses answers: nothing is
completed over other bytes, and nothing fails for good that a second try mends."""
import functools

from Kit.outcomes import every, expect, long
from Kit.sending import AT_ONCE
from Kit.servers import object_stores, seaweed
from Kit.servers.fault_proxy import Fault, FaultProxy

AT = 60_000  # the byte of a connection at which a fault begins; the bundles are larger
FAULTS = {"none": (), "a bit changes, sent again": (Fault(flip_at=AT),),
          "bits change twice, sent again": (Fault(flip_at=AT),) * 2,
          "cut, sent again": (Fault(cut_after=AT),), "cut behind the proxy, sent again": (Fault(end_after=AT),),
          "reset, sent again": (Fault(cut_after=AT, reset=True),), "late": (Fault(rate=200_000),),
          "the line dies": (Fault(stall_after=AT),), "the answer is lost": (Fault(reply="lose"),),
          "the answer is cut": (Fault(reply_cut=9),)}


def played(bench, kind):
    sent = [bench.big(size) for size in (150_000, 160_000)]
    with kind(bench.folder / f"store{next(bench.numbers)}") as store, FaultProxy(store.port) as proxy:
        def judge(name, faults):
            rig, prefix = bench.rig(), name.replace(", ", "-").replace(" ", "-")
            rig.env |= store.keys.environment
            rig.dest("s3", "s3", "--url", f"http://127.0.0.1:{proxy.port}/{object_stores.BUCKET}/{prefix}", "--retry",
                     AT_ONCE, "--stall-timeout", "4s", "--answer-timeout", "15s", *store.options)
            rig.push(*sent)
            # The first connection may only ask; a fault begins late enough to meet the upload.
            proxy.plan(*faults)
            rig.send("--until-empty", code=0)
            for bundle in sent:
                row = rig.delivery(bundle)
                expect(row.state == "completed" and row.attempts <= 4, f"{row.state} after {row.attempts}")
                kept = store.client().get(f"{prefix}/{bundle.sha256}.bundle")
                expect(kept == bundle.data, f"the store has other bytes: {rig.receipt(bundle)}")
            # A changed bit or a broken line must have met an upload. After a reset libcurl may send again by itself, if the
            # connection had carried the HEAD before. moto answers an upload that was cut behind the proxy with a page: an
            # outage, which burns no attempt.
            met = any(one.fault in faults and one.up >= AT for one in proxy.connections)
            again = max(row.attempts for row in rig.deliveries()) > 1 or "reset" in name or "behind" in name
            expect("again" not in name or met and again, "no fault met an upload")
            proxy.plan()
            rig.run("check", "--remote").must(0, about="check --remote")

        every(FAULTS, judge)


class Seaweed:
    """The SeaweedFS of the suite in the form of the others."""

    options = ()

    def __init__(self, folder, bench):
        self.store = seaweed.shared(bench)
        self.port, self.keys = self.store.port, self.store.keys
        self.client = self.store.client

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def at(kind):
    return long(functools.partial(played, kind=kind))


@long
def at_seaweed(bench):
    played(bench, functools.partial(Seaweed, bench=bench))


TESTS = [
    ("SeaweedFS, over bad lines", at_seaweed),
    ("rclone serve s3, over bad lines", at(object_stores.Rclone)),
    ("moto, over bad lines", at(object_stores.Moto)),
    ("the gateway of JuiceFS, over bad lines", at(object_stores.JuiceFS)),
    ("OpenStack Swift, over bad lines", at(object_stores.Swift)),
]
