"""put: HEAD must confirm each successful PUT, and a server that never shows the bytes is not trusted."""
import time

from checks import every, expect
from rigs import AT_ONCE, wait_until
from scripted import Reply, Scripted

SECONDS = 45


class Forgetful:
    """Answers 201 to PUT. Answers `refusal` to the first `misses` HEADs for a bundle, or with None to all of them."""

    def __init__(self, misses=None, refusal=404):
        self.misses, self.refusal, self.kept, self.asked = misses, refusal, {}, {}

    def __call__(self, request):
        if request.method == "PUT":
            self.kept[request.path] = request.body
            return Reply(201)
        self.asked[request.path] = self.asked.get(request.path, 0) + 1
        if self.misses is None or self.asked[request.path] <= self.misses:
            return Reply(self.refusal)
        return Reply(200, {"Content-Length": str(len(self.kept[request.path]))})


def filled(bench, server, *bundles, options=()):
    rig = bench.rig()
    rig.dest("web", "put", "--url", server.url + "/{sha256}", *options)
    rig.push(*bundles)
    return rig


def shown_late(bench):
    """After 404 or 410 to the HEAD after a PUT, HEAD is sent again after 1, 2 and 4 seconds, within one attempt."""
    bundle = bench.stock[0]

    def judge(name, case):
        status, misses = case
        with Scripted(Forgetful(misses, status)) as server:
            rig = filled(bench, server, bundle)
            rig.send("--once", code=0)
            heads = [request.at for request in server.seen("HEAD")]
            expect(len(server.seen("PUT")) == 1, "it is sent twice")
        row = rig.delivery(bundle)
        expect((row.state, row.attempts) == ("completed", 1), f"is {row.state} after {row.attempts}")
        expect(rig.receipt(bundle)["confirmed_by"] == "head", f"the receipt is {rig.receipt(bundle)}")
        pauses = [after - before for before, after in zip(heads, heads[1:])]
        expect(len(pauses) == misses, f"{len(pauses)} pauses, not {misses}")
        expect(all(pause > wanted - 0.05 for pause, wanted in zip(pauses, (1, 2, 4))), f"pauses of {pauses}")

    every({"404, once": (404, 1), "410, three times": (410, 3)}, judge)


def not_shown(bench):
    """If a server never shows what it accepted, the try is unclear, and the local bytes stay."""
    bundle = bench.stock[0]
    with Scripted(Forgetful()) as server:
        rig = filled(bench, server, bundle, options=("--retry", "0,600"))
        rig.send("--once", code=15)
        expect(len(server.seen("HEAD")) == 4, f"asked {len(server.seen('HEAD'))} times")
    row = rig.delivery(bundle)
    expect((row.state, row.error_code, row.in_doubt) == ("failed", "put.unproven", 1), f"is {row.state}, in doubt "
           f"{row.in_doubt}: {row.error_code} {row.error_message}")
    expect(rig.destination("web").blocked_reason is None, "one capture blocks the destination")
    rig.run("prune", "--older-than", "0s").must(0, about="prune")
    expect(rig.spool_file(bundle).exists(), "the only copy is gone")


def three_in_a_row(bench):
    """Three unproven captures block the destination; the message names the setting that makes the status the proof."""
    bundles = bench.stock[:4]
    with Scripted(Forgetful()) as server:
        rig = filled(bench, server, *bundles, options=("--retry", "0,600", "--concurrency", "3"))
        result = rig.send("--until-empty", code=15, seconds=120)
        expect("dest set web --proof status" in result.text, f"run says {result.text!r}")
        expect(rig.destination("web").blocked_reason == "unproven", f"blocked as {rig.destination('web').blocked_reason}")
        rows = rig.deliveries()
        expect(all(row.in_doubt for row in rows if row.error_code), "a capture that was taken is not in doubt")
        expect(sorted(row.attempts for row in rows) in ([0, 0, 1, 1], [0, 1, 1, 1]), f"{[row.attempts for row in rows]}")
        burned, sent = sum(row.attempts for row in rows), len(server.seen("PUT"))
        # A run from cron tries one more capture, uses no attempt, and leaves the destination blocked.
        rig.send("--once", code=15)
        expect(len(server.seen("PUT")) == sent + 1, f"{len(server.seen('PUT')) - sent} more are sent")
        expect(sum(row.attempts for row in rig.deliveries()) == burned, "the trial used an attempt")
        expect(rig.destination("web").blocked_reason == "unproven", "it is not blocked any more")
        rig.run("dest", "set", "web", "--proof", "status", "--retry", AT_ONCE).must(0, about="dest set")
        rig.run("retry", "--all").must(0, about="retry")
        asked = len(server.seen("HEAD"))
        rig.send("--until-empty", code=0)
        doubted = len(server.seen("HEAD")) - asked
    expect(doubted <= len(bundles), f"asked {doubted} times although the status is the proof")
    for bundle in bundles:
        expect(rig.receipt(bundle)["confirmed_by"] == "status", f"the receipt is {rig.receipt(bundle)}")


def across_runs(bench):
    """Three calls of `run --once`, as from cron, each with one unproven capture, block the destination."""
    bundles = bench.stock[:3]
    with Scripted(Forgetful()) as server:
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", "0,600")
        found = []
        for bundle in bundles:
            rig.push(bundle)
            rig.send("--once", code=15)
            found.append(rig.destination("web").blocked_reason)
    expect(found == [None, None, "unproven"], f"after each run it is blocked as {found}")
    row = rig.delivery(bundles[2])
    expect((row.state, row.attempts, bool(row.in_doubt)) == ("pending", 0, True), f"is {row.state}, {row.attempts}")


def a_proof_between(bench):
    """Proven captures between unproven ones keep the destination unblocked."""
    bundles = bench.stock[:5]
    hidden = {f"/{bundle.sha256}" for bundle in bundles[::2]}

    def answer(request):
        if request.method == "PUT":
            return Reply(201)
        length = next(len(bundle.data) for bundle in bundles if request.path == f"/{bundle.sha256}")
        return Reply(404) if request.path in hidden else Reply(200, {"Content-Length": str(length)})

    with Scripted(answer) as server:
        rig = filled(bench, server, *bundles, options=("--retry", "0,600"))
        rig.send("--once", code=15, seconds=120)
    expect(rig.destination("web").blocked_reason is None, f"blocked as {rig.destination('web').blocked_reason}")
    expect([row.state for row in rig.deliveries()] == ["failed", "completed", "failed", "completed", "failed"],
           f"{[row.state for row in rig.deliveries()]}")


def stopped(bench):
    """A run stopped between two HEADs ends at once; the capture is in doubt and lands in the next run."""
    bundle = bench.stock[0]
    with Scripted(Forgetful(2)) as server:
        rig = filled(bench, server, bundle)
        with rig.start("run", "--grace", "0s") as running:
            wait_until(lambda: len(server.seen("HEAD")) == 2, "the second look")
            start = time.monotonic()
            running.stop()
            seconds = time.monotonic() - start
        expect(seconds < 1.5, f"it ends after {seconds:.1f} s")
        row = rig.delivery(bundle)
        expect((row.state, row.attempts, row.in_doubt) == ("pending", 0, 1), f"is {row.state}, {row.attempts}")
        rig.send(code=0)
    expect(rig.delivery(bundle).state == "completed", f"then it is {rig.delivery(bundle).state}")


def by_status(bench):
    """With --proof status no HEAD is sent, unless a digest in the answer shows that other bytes arrived."""
    bundle = bench.stock[0]
    wrong = {"Repr-Digest": "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"}

    def judge(name, headers):
        with Scripted(lambda request: Reply(201, headers)) as server:
            rig = filled(bench, server, bundle, options=("--proof", "status", "--retry", "0,600"))
            rig.send("--once", code=15 if headers else 0)
            expect(not server.seen("HEAD"), "it looks")
        row = rig.delivery(bundle)
        expect(row.state == ("failed" if headers else "completed"), f"is {row.state}")
        if not headers:
            expect(rig.receipt(bundle)["confirmed_by"] == "status", f"the receipt is {rig.receipt(bundle)}")

    every({"nothing told": {}, "another digest": wrong}, judge)
    bench.rig().dest("web", "put", "--url", "http://127.0.0.1:9/{sha256}", "--proof", "faith", code=78)


FAMILY = [
    ("a server that shows an accepted bundle late is asked again", shown_late),
    ("a server that does not show an accepted bundle proves nothing", not_shown),
    ("three unproven captures in a row block the destination, and the message names the setting",
     three_in_a_row),
    ("unproven captures are counted across runs", across_runs),
    ("proven captures between unproven ones prevent a block", a_proof_between),
    ("a run that is stopped between two HEADs ends at once", stopped),
    ("--proof status accepts the status as proof", by_status),
]
