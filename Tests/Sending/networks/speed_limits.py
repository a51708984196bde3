"""Tests of --bwlimit, and of the count of sent bytes."""
import time
from signal import SIGTERM

from capture_api import CaptureAPI
from checks import expect
from nginx import fresh
from rigs import completed, wait_until
from scenes import ENDED


def limited(bench):
    """--bwlimit of a run or of a destination limits the speed of a transfer."""
    bundle = bench.big(200_000)
    for of_run, of_dest in ((("--bwlimit", "100kB"), ()), ((), ("--bwlimit", "100kB"))):
        rig = bench.rig()
        with CaptureAPI(bench.public) as api:
            rig.http(api.url, *of_dest)
            rig.push(bundle)
            start = time.monotonic()
            rig.send(*of_run, code=0)
            seconds = time.monotonic() - start
            expect(seconds > 1, f"200 kB at 100 kB a second took {seconds:.2f} s")
            api.holds(bench.photo(bundle))


def bandwidth(bench):
    """2 MB at 1 MB per second take about two seconds, whether the limit is the destination's or the run's."""
    bundle = bench.big(2_000_000)
    with fresh(bench) as server:
        for name, of_dest, of_run in (("of the destination", ("--bwlimit", "1MB"), ()),
                                      ("of the run", (), ("--bwlimit", "1MB"))):
            rig = bench.rig()
            rig.dest("web", "put", "--url", server.template(), *of_dest)
            rig.push(bundle)
            start = time.monotonic()
            rig.send(*of_run, code=0)
            spent = time.monotonic() - start
            expect(spent > 1.2, f"the limit {name}: 2 MB in {spent:.2f} s")
            completed(rig, bundle, about=name)
            server.keeps(bundle)


def paced_and_signed(bench):
    """--bwlimit limits only what is sent: hashing 8 MB for a signature is neither slowed down nor counted as sent."""
    bundle, rate = bench.big(), 20_000
    with CaptureAPI(bench.public, buffer=65536) as api:
        rig = bench.rig()
        rig.http(api.url, "--bwlimit", "20kB")
        rig.push(bundle)
        with rig.start("run", "--once", "--grace", "1s") as running:
            # Hashing at that rate would take nearly seven minutes.
            expect(len(bundle.data) > rate * 300, "too small to tell")
            wait_until(api.seen, "the head of the request")
            running.stop().must(14, 15, *ENDED[SIGTERM], about="run")
    count = sum(row.bytes_sent for row in rig.tries(bundle))
    lines = [line for line in rig.run("status", "--prometheus").must(0).out.decode().splitlines()
             if line.startswith("capqueue_sent_bytes_total")]
    expect(count < len(bundle.data) / 2, f"{count} bytes of {len(bundle.data)} are recorded as sent")
    expect(sum(float(line.rpartition(" ")[2]) for line in lines) == count, f"{count} bytes, and status says {lines}")


def nothing_is_made_up(bench):
    """The count is of bytes that have left for the network, and progress is never invented."""
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api:
        rig.http(api.url)
        rig.push(bundle)
        rig.send(code=0)
        last = rig.tries(bundle)[-1]
        expect(last.bytes_sent == api.requests[0].length, f"{last.bytes_sent} bytes are counted")


FAMILY = [
    ("--bwlimit", limited),
    ("a transfer takes as long as --bwlimit demands", bandwidth),
    ("http: --bwlimit and a signature", paced_and_signed),
    ("only bytes on the wire are counted", nothing_is_made_up),
]
