"""kill -9 of runs: every bundle lands, a server that knows keys has each once, and the queue records it."""
import threading
import time

from Kit.servers.capture_api import Answer, CaptureAPI
from Kit.outcomes import IS_LONG, expect, long
from Kit.invariants import clean
from Kit.sending import wait_until

SECONDS = 30
KILLS, BUNDLES = (200, 100) if IS_LONG else (10, 10)
WATCHED = 2000


def killed_often(bench):
    """In the long form 200 kills; there are a hundred bundles at first, and more whenever all have landed."""
    chance = bench.chance("kills of runs")
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        # The usual number of attempts, so that the test fails if kills use attempts; but without long waits.
        rig.http(api.url, "--concurrency", "2", retry="0x10")
        sent = storm(bench, rig, api, chance, KILLS, BUNDLES)
        settled(bench, rig, api, sent)


def storm(bench, rig, api, chance, kills, count):
    """Starts runs and kills each after a random time; returns the bundles that were pushed."""
    sent = bench.bundles(count)
    rig.push(*sent, seconds=60)
    longest = 0.05
    for number in range(kills):
        with rig.start("run", "--until-empty") as running:
            end = time.monotonic() + chance.uniform(0, longest)
            while time.monotonic() < end and running.is_alive:
                time.sleep(0.001)
            is_over = not running.is_alive
        # On a slow machine the kills would always hit the start of the tool. So wait longer until bundles arrive.
        longest *= 0.97 if is_over else 1.05 if len(api.stored) * kills < number * len(sent) else 1
        if is_over and {"completed"} == rig.states():
            more = bench.bundles(10, start=len(sent))
            rig.push(*more)
            sent = sent + more
    return sent


def settled(bench, rig, api, sent):
    """Checks that a run without a kill delivers all remaining bundles."""
    rig.send("--until-empty", code=0, seconds=120, about="the last run")
    rows = {row.bundle: row for row in rig.deliveries()}
    for bundle in sent:
        row = rows[bundle.id]
        expect((row.state, row.in_doubt) == ("completed", 0), f"{bundle.id} is {row.state}, in doubt {row.in_doubt}")
        expect(row.remote_id in {capture.id for capture in api.stored}, "an id that the server does not know")
    api.holds(*map(bench.photo, sent))
    expect(len({capture.digest for capture in api.stored}) == len(sent), "a body that was never pushed")
    api.content()
    clean(rig)
    expect(rig.send("--until-empty", code=0).out == b"", "one more run finds something to do")


@long
def killed_watching(bench):
    """`run --watch`, four transfers at a time to each of three destinations, while other processes push."""
    chance = bench.chance("kills of watching runs")
    rig, sent = bench.rig(), bench.bundles(WATCHED // 2)
    with CaptureAPI(bench.public) as one, CaptureAPI(bench.public) as two:
        for name, api in (("one", one), ("two", two)):
            rig.http(api.url, "--concurrency", "4", name=name, retry="0x10")
        disk = rig.out / "disk"
        disk.mkdir()
        rig.dest("disk", "folder", "--path", disk, "--concurrency", "4", "--retry", "0x10")
        everywhere = [word for name in ("one", "two", "disk") for word in ("--dest", name)]
        for number in range(WATCHED):
            with rig.start("run", "--watch") as running:
                if number % 2:
                    rig.push(sent[number // 2], options=everywhere)
                time.sleep(chance.uniform(0, 0.2))
                expect(running.is_alive, f"run number {number} ended by itself")
                running.kill()
        begun = len(one.stored) + len(two.stored)
        expect(begun > WATCHED / 2, f"only {begun} captures landed during the kills")
        rig.send("--until-empty", code=0, seconds=300, about="the last run")
        rows = {(row.bundle, row.destination_name): (row.state, row.in_doubt, row.attempts) for row in rig.deliveries()}
        wrong = {key: row for key, row in rows.items() if row != ("completed", 0, 1)}
        expect(len(rows) == 3 * len(sent) and not wrong, f"{len(rows)} deliveries, of which {str(wrong)[:500]}")
        for api in (one, two):
            api.holds(*map(bench.photo, sent))
        expect({path.read_bytes() for path in disk.rglob("*.bundle")} == {bundle.data for bundle in sent}, "other files on the disk")
        rig.run("status", "--check").must(0, about="status")
    clean(rig)


def killed_half_sent(bench):
    """After a kill in the middle of the body the next run sends it again at once, under the same key."""
    rig, bundle = bench.rig(), bench.big()
    with CaptureAPI(bench.public, buffer=65536) as api:
        gate = threading.Event()
        api.answer(Answer(gate=gate, reads=200_000))
        rig.http(api.url)
        rig.push(bundle)
        with rig.start("run") as running:
            wait_until(lambda: api.requests and api.requests[0].length == 200_000, "the first part arrives")
            running.kill()
        gate.set()
        rig.send("--until-empty", code=0)
        api.holds(bench.photo(bundle))
        row = rig.delivery(bundle)
        expect(row.state == "completed" and row.attempts == 1, f"is {row.state} after {row.attempts} attempts")
        expect(len({request.key for request in api.seen()}) == 1, "another key after the kill")
        expect(len(rig.tries(bundle)) >= 1, "no attempt is recorded")


TESTS = [
    ("kills at random moments of runs: each lands once", killed_often),
    (f"{WATCHED} kills of run --watch, with three destinations and pushes beside it", killed_watching),
    ("killed while half is sent", killed_half_sent),
]
