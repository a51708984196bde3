"""When a failed capture is tried again: the retry table, a separate time for each capture, and the last attempt."""
import json
import time

from capture_api import Answer, CaptureAPI
from captures import refuse
from checks import expect
from rigs import wait_until

TABLE = (0, 1, 2, 4, 8, 300, 300, 300, 300, 300)  # Spec/queue.md section 6


def the_table_itself(bench):
    """The waits follow the table, which does not double for ever: 300 s from the sixth attempt, ten attempts in all."""
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api:
        api.always(Answer(503))
        rig.http(api.url, "--verify-url", "none", retry=None)
        rig.push(bundle)
        for number, delay in enumerate((*TABLE[1:], None), 1):
            rig.send("--once", code=14 if delay is None else 15)
            row, last = rig.delivery(bundle), rig.tries(bundle)[-1]
            expect(row.attempts == number, f"{row.attempts} attempts after {number} runs")
            if delay is None:
                expect(row.state == "permanently_failed", f"is {row.state} after ten attempts")
                continue
            waits = (row.due - last.ended_at) / 1000
            expect(row.state == "failed" and delay <= waits <= delay + 5, f"attempt {number + 1} waits {waits} s")
            overdue(rig, bundle)
        rig.send("--once", code=14)
        expect(len(api.seen()) == 10, f"{len(api.seen())} uploads")


def overdue(rig, bundle):
    """Makes all later retries due now, so that no test waits 300 s."""
    with rig.database() as database:
        database.execute("UPDATE deliveries SET due = ? WHERE id = ?", (int(time.time() * 1000),
                                                                       rig.delivery(bundle).id))


def a_timer_each(bench):
    """A second failure does not cancel another capture's retry, and after a restart each capture keeps its time."""
    rig, bundles = bench.rig(), bench.stock[:2]
    with CaptureAPI(bench.public) as api:
        api.answer(*[Answer(503)] * 4)
        rig.http(api.url, "--verify-url", "none", retry="0,1,2,2")
        rig.push(*bundles)
        rig.send("--until-empty", code=0)
        expect([row.attempts for row in rig.deliveries()] == [3, 3], f"{rig.deliveries()}")
        api.answer(*[Answer(503)] * 2)
        more = bench.stock[2:4]
        rig.push(*more)
        with rig.start("run", "--until-empty") as running:
            wait_until(lambda: all(rig.delivery(bundle).state == "failed" for bundle in more), "both fail")
            running.kill()
        rig.send("--until-empty", code=0)
        api.holds(*map(bench.photo, [*bundles, *more]))


def retry_all_spares_what_landed(bench):
    """`retry --all` does not send captures again that have landed."""
    rig, bundles = bench.rig(), bench.stock[:4]
    with CaptureAPI(bench.public) as api:
        refuse(bench, api, bundles[0], Answer(400))
        rig.http(api.url)
        rig.push(*bundles)
        rig.send("--until-empty", code=14)
        api.poison.clear()
        printed = rig.run("retry", "--all").must(0).out.decode().split()
        expect(printed == [bundles[0].id], f"retry --all takes up {printed}")
        rig.send("--until-empty", code=0)
        expect(len(api.seen()) == 5, f"{len(api.seen())} uploads instead of 5")
        api.holds(*map(bench.photo, bundles))


def lifetime(bench):
    """A try that fails after --lifetime, counted from push or `retry`, is the last, whatever the table says."""
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api:
        api.always(Answer(503))
        rig.http(api.url, "--lifetime", "1h", "--jitter", "20%")
        rig.push(bundle)
        rig.send("--once", code=15)
        rig.aged(bundle, days=1)
        rig.send("--once", code=14)
        row = rig.delivery(bundle)
        expect((row.state, row.attempts) == ("permanently_failed", 2), f"is {row.state} after {row.attempts} attempts")
        rig.run("retry", bundle.id).must(0, about="retry")
        rig.send("--once", code=15)
        row = rig.delivery(bundle)
        expect((row.state, row.attempts) == ("failed", 1), f"after retry is {row.state} after {row.attempts} attempts")


def state_of_a_failure(bench):
    """A failed try has the event `failed`, however soon the next one follows."""
    bundle = bench.stock[0]
    for words in (["--json"], []):
        rig = bench.rig()
        with CaptureAPI(bench.public) as api:
            api.always(Answer(503))
            rig.http(api.url, "--verify-url", "none", retry="0,0,0,0,0,0")
            rig.push(bundle)
            result = rig.send("--until-empty", *words, code=14)
        if words:
            events = [event for event in map(json.loads, result.out.splitlines()) if event.get("id") == bundle.id]
            told = [(event["event"], event["state"]) for event in events if event["event"] != "attempt"]
            wanted = [("failed", "failed")] * 5 + [("permanently_failed",) * 2]
        else:
            told = [tuple(line.split()) for line in result.out.decode().splitlines()]
            wanted = [(bundle.id, "api", "failed")] * 5 + [(bundle.id, "api", "permanently_failed")]
        expect(told == wanted, f"run {' '.join(words)} tells {told}")


FAMILY = [
    ("the table of waiting times, and not a formula", the_table_itself),
    ("each capture has its own retry time, even after a restart", a_timer_each),
    ("retry --all does not send delivered captures again", retry_all_spares_what_landed),
    ("a lifetime that has expired", lifetime),
    ("a failed try has the event failed", state_of_a_failure),
]
