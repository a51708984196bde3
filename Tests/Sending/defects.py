"""The defects of other upload queues that concern sending, each as a test that is named after what it forbids."""
import hashlib
import time

from bench import PHOTO
from capture_api import Answer, CaptureAPI
from checks import every, expect
from fault_proxy import Fault, FaultProxy
from order import names, poisoned
from rigs import wait_until

TABLE = (0, 1, 2, 4, 8, 300, 300, 300, 300, 300)  # Spec/queue.md section 6


def the_table_itself(bench):
    """Defect 1: the table, not a formula that doubles on: 300 s from the sixth attempt, ten in all."""
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
    """What is due later is due now: nobody waits 300 s for a test."""
    with rig.database() as database:
        database.execute("UPDATE deliveries SET due = ? WHERE id = ?", (int(time.time() * 1000),
                                                                       rig.delivery(bundle).id))


def a_timer_each(bench):
    """Defect 2: the second failure cancels nobody's retry, and after a restart each still has its time."""
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


def retry_goes_to_the_back(bench):
    """Defect 3: a retry stands behind what was due before it."""
    rig, bundles = bench.rig(), bench.stock[:6]
    with CaptureAPI(bench.public) as api:
        poisoned(bench, api, bundles[0])
        poisoned(bench, api, bundles[1])
        rig.http(api.url, "--verify-url", "none", retry="0,0,0")
        rig.push(*bundles)
        rig.send("--until-empty", code=14)
        order = names(bench, api, bundles)
        expect(order == [0, 1, 2, 3, 4, 5, 0, 1, 0, 1], f"they came as {order}")


def an_hour_is_an_hour(bench):
    """Defect 4: Retry-After is not cut to five minutes, and a date that is none is no time at all."""
    for value, low, high in (("3600", 3500, 3600), ("Someday, 99 Foo 2026", -1, 60)):
        rig = bench.rig()
        with CaptureAPI(bench.public) as api:
            api.answer(Answer(429, headers={"Retry-After": value}))
            rig.http(api.url)
            rig.push(bench.stock[0])
            rig.send("--once", code=15)
        until = max(rig.destination().held_until or 0, rig.delivery(bench.stock[0]).due)
        expect(isinstance(until, int) and low <= until / 1000 - time.time() <= high, f"{value}: until {until}")


def no_status_is_ignored(bench):
    """Defect 5: whatever the status, nothing stays in `uploading`; the answer may come in pieces, or to a later run."""
    def settles(status, _):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api:
            api.answer(Answer(status))
            rig.http(api.url, "--verify-url", "none")
            rig.push(bundle)
            rig.send("--once", code=(14, 15))
            expect(rig.delivery(bundle).state in ("failed", "pending", "permanently_failed"), f"{rig.states()}")

    every({status: None for status in (400, 403, 404, 413, 429, 500, 503)}, settles)
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api, FaultProxy(api.port) as proxy:
        proxy.plan(Fault(reply_rate=100))
        rig.http(proxy.url)
        rig.push(bundle)
        rig.send(code=0)
        expect(rig.delivery(bundle).remote_id == api.stored[0].id, "an answer in pieces is not understood")


def retry_all_spares_what_landed(bench):
    """Defect 6: `retry --all` sends nothing again that has landed."""
    rig, bundles = bench.rig(), bench.stock[:4]
    with CaptureAPI(bench.public) as api:
        poisoned(bench, api, bundles[0], Answer(400))
        rig.http(api.url)
        rig.push(*bundles)
        rig.send("--until-empty", code=14)
        api.poison.clear()
        printed = rig.run("retry", "--all").must(0).out.decode().split()
        expect(printed == [bundles[0].id], f"retry --all takes up {printed}")
        rig.send("--until-empty", code=0)
        expect(len(api.seen()) == 5, f"{len(api.seen())} uploads instead of 5")
        api.holds(*map(bench.photo, bundles))


def in_work_is_not_done(bench):
    """Defect 7: what the server has not decided is not completed, and what is completed is kept for its days."""
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api:
        api.verdicts = ["processing", "complete"]
        rig.http(api.url)
        rig.push(bundle)
        rig.send("--once", code=15)
        expect(rig.delivery(bundle).state == "processing", f"is {rig.delivery(bundle).state}")
        rig.send("--until-empty", code=0)
    for words in (["prune"], ["run"], ["check", "--repair"], ["prune", "--older-than", "6d"]):
        rig.run(*words).must(0, about=" ".join(words))
        expect(rig.spool_file(bundle).read_bytes() == bundle.data, f"{' '.join(words)}: the bytes are gone")
    expect(rig.run("prune", "--older-than", "0s").must(0).out.decode().split() == [bundle.id], "is never let go")


def failure_is_no_success(bench):
    """Defect 11: an answer that merely is not empty, or that names our own file, is no receipt."""
    path = "file:///tmp/a.bundle"

    def refused(_, answer):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api:
            api.can_verify = False
            api.always(answer)
            rig.http(api.url, retry="0,0")
            rig.push(bundle)
            rig.send("--until-empty", code=14)
            row = rig.delivery(bundle)
            expect(row.state == "permanently_failed" and not row.receipt, f"is {row.state} with {row.receipt}")

    every({"a path": Answer(200, body=path), "a path in 202": Answer(202, body=path, type="text/plain"),
           "an error in 202": Answer(202, body={"error": {"code": "X", "message": "no"}}),
           "an error beside an id": Answer(500, body={"data": {"capture_id": "x"}})}, refused)


def pushed_meanwhile(bench):
    """Defect 12: what is pushed while a slow run goes on is neither lost nor forgotten, and nobody is dropped."""
    rig, bundles = bench.rig(), bench.bundles(24)
    with CaptureAPI(bench.public) as api, FaultProxy(api.port) as proxy:
        proxy.plan(otherwise=Fault(rate=40_000))
        rig.http(proxy.url)
        rig.push(*bundles[:4])
        with rig.start("run", "--until-empty") as running:
            for bundle in bundles[4:]:
                rig.push(bundle)
            running.end().must(0)
        rig.send("--until-empty", code=0)
        api.holds(*map(bench.photo, bundles))
        expect(len(rig.deliveries()) == 24, f"{len(rig.deliveries())} deliveries")


def killed_ones_run_again(bench):
    """Defect 13: what was under way at a kill is taken up by the next run, at once."""
    rig, bundles = bench.rig(), bench.stock[:4]
    with CaptureAPI(bench.public) as api:
        api.answer(*[Answer(202, then="hang")] * 4)
        rig.http(api.url, "--concurrency", "4")
        rig.push(*bundles)
        with rig.start("run") as running:
            wait_until(lambda: len([one for one in api.seen() if one.digest]) == 4, "all four are under way")
            running.kill()
        expect(rig.states() == {"uploading"}, f"after the kill: {rig.states()}")
        rig.send("--until-empty", code=0)
        api.holds(*map(bench.photo, bundles))


def alike_is_sent(bench):
    """Defect 14: a photo that differs by a byte, or the same one with other metadata, is a capture of its own."""
    photo = PHOTO[:-2] + b"\x44" * 4000 + PHOTO[-2:]
    other = photo[:2500] + b"\x43" + photo[2501:]
    bundles = [bench.packed("sent-alike1", photo), bench.packed("sent-alike2", other),
               bench.packed("sent-alike3", photo, device_model="Rig 2")]
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.duplicates = "twice"
        rig.http(api.url)
        rig.push(*bundles)
        rig.send("--until-empty", code=0)
        expect({one.digest for one in api.stored} == {hashlib.sha256(bench.body(bundle)).hexdigest()
                                                      for bundle in bundles}, "not all three have arrived")


def nothing_is_made_up(bench):
    """Defect 14: bytes on the wire are counted where they are, and progress is not invented."""
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api:
        rig.http(api.url)
        rig.push(bundle)
        rig.send(code=0)
        last = rig.tries(bundle)[-1]
        expect(last.bytes_sent == api.requests[0].length, f"{last.bytes_sent} bytes are counted")


def classes_differ(bench):
    """Defect 15: 403, 408, 409, 425, 501 and 507 are not all `unknown, try again`."""
    def ends(status, wanted):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api:
            api.answer(Answer(status))
            rig.http(api.url)
            rig.push(bundle)
            rig.send("--once", code=(14, 15))
            row = rig.delivery(bundle)
            found = (row.state, rig.destination().held_code, len(api.seen("verify")))
            expect(found == wanted, f"state, hold and questions are {found}, not {wanted}")

    every({403: ("permanently_failed", None, 0), 408: ("failed", None, 0), 409: ("failed", None, 1),
           425: ("failed", None, 0), 501: ("permanently_failed", None, 0), 507: ("pending", "full", 0)}, ends)


FAMILY = [
    ("defect 1: no formula in place of the table", the_table_itself),
    ("defect 2: no shared retry timer, no retry lost by a restart", a_timer_each),
    ("defect 3: no retry goes to the front", retry_goes_to_the_back),
    ("defect 4: no Retry-After cut to five minutes, no date that is no number", an_hour_is_an_hour),
    ("defect 5: no status that is not looked at, no answer in fragments", no_status_is_ignored),
    ("defect 6: no upload again of what has landed", retry_all_spares_what_landed),
    ("defect 7: no completion while the server is at work, no deletion at once", in_work_is_not_done),
    ("defect 11: no failure stored as a success", failure_is_no_success),
    ("defect 12: no push lost beside a slow run", pushed_meanwhile),
    ("defect 13: no upload stranded by a kill", killed_ones_run_again),
    ("defect 14: no skipping of what is merely alike", alike_is_sent),
    ("defect 14: no invented progress", nothing_is_made_up),
    ("defect 15: no unknown class for known answers", classes_differ),
]
