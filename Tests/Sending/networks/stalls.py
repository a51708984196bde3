"""Servers and lines that stand still are given up, and slow ones are not (Spec/upload.md section 4.6).

All cases share one run: each is a destination of one queue, so their waiting times overlap.
"""
from capture_api import CaptureAPI
from checks import every, expect
from fault_proxy import Fault, FaultProxy

SECONDS = 20
SHORT = ("--stall-timeout", "3s", "--answer-timeout", "4s")
# The expected result of each case: the state after one try, and whether the delivery is in doubt.
CASES = {
    "nothing is read of the body": (Fault(stall_after=100_000), SHORT, "failed", False),
    "accepted, and never a byte": (Fault(silent=True), SHORT, "failed", True),
    "no reply after the body": (Fault(reply_stall=0), SHORT, "failed", True),
    "half a head, and no more": (Fault(reply_stall=60), SHORT, "failed", True),
    "a reply of a byte a second": (Fault(reply_rate=1), SHORT, "failed", True),
    "a reply that takes its time": (Fault(reply_rate=40), (), "completed", False),
    "a body that takes its time": (Fault(rate=600_000), (), "completed", False),
}


def given_up(bench):
    rig, bundle = bench.rig(), bench.big()
    names = {case: f"d{number}" for number, case in enumerate(CASES)}
    with CaptureAPI(bench.public, buffer=65536) as api:
        api.duplicates = "twice"  # each destination has its own key
        proxies = {case: FaultProxy(api.port) for case in CASES}
        try:
            for case, proxy in proxies.items():
                fault, options, _, _ = CASES[case]
                proxy.__enter__().plan(otherwise=fault)
                rig.http(proxy.url, "--verify-url", "none", *options, name=names[case])
            rig.push(bundle, options=[word for name in names.values() for word in ("--dest", name)])
            rig.send("--once", code=15, seconds=200)
        finally:
            for proxy in proxies.values():
                proxy.__exit__()

    def judged(case, wanted):
        _, _, state, is_in_doubt = wanted
        row = rig.delivery(bundle, names[case])
        expect((row.state, row.attempts) == (state, 1), f"is {row.state} after {row.attempts} attempts: "
               f"{row.error_code} {row.error_message}")
        expect(bool(row.in_doubt) == is_in_doubt, f"in doubt: {row.in_doubt}")

    every(CASES, judged)


FAMILY = [
    ("what stands still is given up, what is slow arrives", given_up),
]
