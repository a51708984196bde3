"""Lines that stand still are given up, and slow ones are not (Spec/upload.md section 4.6); and --bwlimit."""
import contextlib
import socket
import time
from signal import SIGTERM

from Kit.outcomes import IS_LONG, every, expect
from Kit.sending import AT_ONCE, wait_until
from Kit.servers.capture_api import CaptureAPI
from Kit.servers.fault_proxy import Fault, FaultProxy
from Kit.servers.sockets import SocketServer
from Sending.scenes import ENDED, sending

SECONDS = 20
SOON = "2s" if IS_LONG else "1s"
SHORT = ("--stall-timeout", SOON, "--answer-timeout", SOON)
# The expected result of each case: the state after one try, and whether the delivery is in doubt.
CASES = {
    "nothing is read of the body": (Fault(stall_after=100_000), SHORT, "failed", False),
    "accepted, and never a byte": (Fault(silent=True), SHORT, "failed", True),
    "no reply after the body": (Fault(reply_stall=0), SHORT, "failed", True),
    "half a head, and no more": (Fault(reply_stall=60), SHORT, "failed", True),
    "a reply of a byte a second": (Fault(reply_rate=1), SHORT, "failed", True),
}
SLOW = {
    "a reply that takes its time": (Fault(reply_rate=40), (), "completed", False),
    "a body that takes its time": (Fault(rate=600_000), (), "completed", False),
}
PIECE, PAUSE = 65536, 0.4  # 160 kB per second


class Sipping(SocketServer):
    """Reads a body slowly through a small buffer, so that it waits in the client's kernel, and answers 201."""

    seconds = 0

    def __enter__(self):
        super().__enter__()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, PIECE)
        return self

    def serve(self, client, number):
        data = b""
        while b"\r\n\r\n" not in data:
            data += client.recv(1)
        if data.startswith(b"HEAD"):
            client.sendall(b"HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n")
            return
        left = int(data.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        start = time.monotonic()
        while left and (part := client.recv(min(left, PIECE))):
            left -= len(part)
            time.sleep(PAUSE * len(part) / PIECE)
        self.seconds = time.monotonic() - start
        client.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def given_up(bench):
    """All cases share one run: each is a destination of one queue, so their waiting times overlap.

    The short form has only the cases that end soon.
    """
    cases = CASES | SLOW if IS_LONG else CASES
    rig, bundle = bench.rig(), bench.big()
    names = {case: f"d{number}" for number, case in enumerate(cases)}
    with contextlib.ExitStack() as stack:
        api = stack.enter_context(CaptureAPI(bench.public, buffer=65536))
        api.duplicates = "twice"  # each destination has its own key
        for case, (fault, options, _, _) in cases.items():
            proxy = stack.enter_context(FaultProxy(api.port))
            proxy.plan(otherwise=fault)
            rig.http(proxy.url, "--verify-url", "none", *options, name=names[case])
        rig.push(bundle, options=[word for name in names.values() for word in ("--dest", name)])
        if IS_LONG:
            # The kernel takes a body at once and sends it for ten seconds; then the two seconds for the answer begin.
            server = stack.enter_context(Sipping())
            rig.dest("slow", "put", "--url", server.url + "/{sha256}", "--retry", AT_ONCE, *SHORT)
            rig.push(bench.big(1_500_000), options=("--dest", "slow"))
            names["slow"], cases["slow"] = "slow", (server, (), "completed", False)
        rig.send("--once", code=15, seconds=200)

    def judged(case, wanted):
        fault, _, state, is_in_doubt = wanted
        row, = (row for row in rig.deliveries() if row.destination_name == names[case])
        expect((row.state, row.attempts) == (state, 1), f"is {row.state} after {row.attempts} attempts: "
               f"{row.error_code} {row.error_message}")
        expect(bool(row.in_doubt) == is_in_doubt, f"in doubt: {row.in_doubt}")
        if isinstance(fault, Sipping):
            expect(fault.seconds > 5, f"it was read within {fault.seconds:.1f} s: the test shows nothing")

    every(cases, judged)


def limited(bench):
    """--bwlimit of a run or of a destination limits the speed of a transfer; all bytes on the wire are counted."""
    bundle = bench.big(200_000)
    limit = ("--bwlimit", "150kB")
    for of_run, of_dest in ((limit, ()), ((), limit)) if IS_LONG else (((), limit),):
        with sending(bench, [bundle], *of_dest) as (rig, api):
            start = time.monotonic()
            rig.send(*of_run, code=0)
            seconds = time.monotonic() - start
            expect(seconds > 0.8, f"200 kB at 150 kB a second took {seconds:.2f} s")
            api.holds(bench.photo(bundle))
            last = rig.tries(bundle)[-1]
            expect(last.bytes_sent == api.requests[0].length, f"{last.bytes_sent} bytes are counted")


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


TESTS = [
    ("what stands still is given up, what is slow arrives", given_up),
    ("a transfer takes as long as --bwlimit demands", limited),
    ("http: --bwlimit and a signature", paced_and_signed),
]
