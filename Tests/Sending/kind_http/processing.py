"""http: a server that has the capture but has not decided yet. Only its final word counts; the bytes stay here."""
import contextlib
import functools
import threading
import time

from capture_api import Answer, CaptureAPI
from checks import every, expect
from rigs import wait_until

SECONDS = 80


def decided(bench):
    """Each word of the server has the meaning of Spec/upload.md section 4.3, and polls continue until a final word."""
    cases = {
        "complete": "completed", "processing complete": "completed", "pending queued verified": "completed",
        "processing silent": "completed", "whatever": "completed", "failed": "permanently_failed",
        "processing rejected": "permanently_failed", "queued error": "permanently_failed",
    }

    def ends(words, state):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api:
            api.verdicts = words.split()
            rig.http(api.url)
            rig.push(bundle)
            rig.send("--until-empty", code=0 if state == "completed" else 14)
            row = rig.delivery(bundle)
            expect((row.state, row.attempts) == (state, 1), f"is {row.state} after {row.attempts} attempts")
            expect(len(api.seen()) == 1, "sent again while the server was at work")
            expect(len(api.seen("poll")) == len(words.split()), f"{len(api.seen('poll'))} polls")
            times = [poll.at for poll in api.seen("poll")]
            expect(all(two - one > 0.9 * 2 ** number for number, (one, two) in enumerate(zip(times, times[1:]), 1)),
                   "polls without a growing pause")
            api.content()
            if state == "completed":
                expect(rig.receipt(bundle)["confirmed_by"] == "poll", f"{rig.receipt(bundle)}")
                expect(row.remote_id == api.stored[0].id and row.remote_url, "id or URL are lost")
            states = [change.to_state for change in rig.changes(bundle)]
            expect("processing" in states and states[-1] == state, f"was {states}")

    every(cases, ends)


def reasons(bench):
    """The reason of a refusal is stored: data.reason, or else error.message."""
    for name, answer, reason in (
            ("data.reason", None, "a flat depth map"),
            ("error.message", Answer(200, body={"data": {"status": "failed"}, "error": {"message": "no depth"}}),
             "no depth")):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api:
            api.verdicts, api.reason = ["failed"], "a flat depth map"
            api.answer(answer, to="poll")
            rig.http(api.url)
            rig.push(bundle)
            rig.send("--until-empty", code=14)
        message = rig.delivery(bundle).error_message
        expect(reason in message, f"{name}: the reason that is kept is {message!r}")


@contextlib.contextmanager
def in_work(bench):
    """A server that never decides, and a capture that it has accepted."""
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api:
        api.verdicts = ["processing"]
        rig.http(api.url)
        rig.push(bundle)
        rig.send("--once", code=15)
        yield api, rig, bundle


def for_ever(bench):
    """If the server never decides, the capture is not completed or sent again, and its bytes are never deleted."""
    with in_work(bench) as (api, rig, bundle):
        with rig.start("run", "--until-empty") as running:
            wait_until(lambda: len(api.seen("poll")) == 3, "three polls")
            running.stop()
        row = rig.delivery(bundle)
        expect((row.state, row.attempts) == ("processing", 1), f"is {row.state} after {row.attempts} attempts")
        expect(row.polls >= 2, f"{row.polls} polls are kept")
        rig.aged(bundle, days=4000)
        for options in ((), ("--older-than", "0s"), ("--cancelled", "--older-than", "0s")):
            expect(not rig.run("prune", *options).must(0).out, f"prune {' '.join(options)} lets it go")
        expect(rig.spool_file(bundle).read_bytes() == bundle.data, "the bytes are gone")
        expect(len(api.seen()) == 1, "sent again")


def over_restarts(bench):
    """After a kill while the server processes the capture, the next run polls the same id and sends nothing."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.verdicts = ["processing", "processing", "complete"]
        rig.http(api.url)
        rig.push(*bench.stock[:3])
        with rig.start("run", "--until-empty") as running:
            wait_until(lambda: rig.states() == {"processing"}, "all three are in work")
            running.kill()
        rig.send("--until-empty", code=0)
        expect(rig.states() == {"completed"}, f"after the restart: {rig.states()}")
        api.holds(*map(bench.photo, bench.stock[:3]))
        expect(len(api.seen()) == 3, f"{len(api.seen())} uploads of three")


def polls_fail(bench):
    """A failed poll decides nothing; the next poll does."""
    cases = {
        "500": Answer(500), "503 and Retry-After": Answer(503, headers={"Retry-After": "1"}), "502": Answer(502),
        "429 and Retry-After": Answer(429, headers={"Retry-After": "1"}), "cut": Answer(200, then="cut"),
        "a login page": Answer(200, body="<html>", type="text/html"), "half an answer": Answer(then="cut", only=150),
        "TIMESTAMP_EXPIRED": Answer(401, "TIMESTAMP_EXPIRED"), "garbage": Answer(raw=b"garbage\r\n", then="close"),
    }

    def goes_on(name, answer):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api:
            api.verdicts = ["complete"]
            api.answer(answer, to="poll")
            rig.http(api.url)
            rig.push(bundle)
            rig.send("--until-empty", code=(0, 15))
            rig.run("resume", "--dest", "api").must(0)
            rig.send("--until-empty", code=0)
            row = rig.delivery(bundle)
            expect((row.state, row.attempts) == ("completed", 1), f"is {row.state} after {row.attempts} attempts")
            expect(len(api.seen()) == 1, "sent again")

    every(cases, goes_on)


def lost_by_the_server(word, bench):
    """After 404 to a poll the server has lost the capture, so it is sent once more with another key."""
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api:
        api.verdicts = word.split()
        rig.http(api.url)
        rig.push(bundle)
        with rig.start("run", "--until-empty") as running:
            wait_until(lambda: api.stored, "the server has it")
            api.verdicts = []
            running.end().must(0, about="run")
        api.holds(bench.photo(bundle))
        row = rig.delivery(bundle)
        expect((row.state, row.remote_id) == ("completed", api.stored[0].id), f"is {row.state} with {row.remote_id}")
        expect(len({request.key for request in api.seen()}) == 2, "the key of the lost capture is used again")


def by_one(bench):
    """While one of four transfers waits for the answer to a poll, the other three do not poll and do not spin."""
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api:
        api.verdicts = ["complete"]
        gate = threading.Event()
        api.always(Answer(gate=gate), to="poll")
        rig.http(api.url, "--concurrency", "4")
        rig.push(bundle)
        with rig.start("run", "--until-empty") as running:
            wait_until(lambda: api.seen("poll"), "a poll")
            rig.push(bench.stock[1])  # wakes the others
            wait_until(lambda: len(api.stored) == 2 or len(api.seen("poll")) > 1, "the others to do something")
            before = running.cpu_seconds
            time.sleep(2)
            polls, spent = len(api.seen("poll")), running.cpu_seconds - before
            gate.set()
            running.end().must(0, about="run")
        expect(polls == 1, f"{polls} polls at once")
        expect(spent < 0.5, f"{spent:.1f} s of processor time in 2 s of waiting")
        expect(rig.delivery(bundle).state == "completed", f"is {rig.delivery(bundle).state}")


def user_words(bench):
    """A capture that the server processes cannot be held, but can be cancelled, and is shown."""
    with in_work(bench) as (api, rig, bundle):
        shown, = rig.rows()[bundle.id]["deliveries"]
        expect(shown["state"] == "processing" and shown["remote_id"] == api.stored[0].id, f"list shows {shown}")
        rig.run("hold", bundle.id).must(64, about="hold")
        rig.run("retry", bundle.id).must(64, about="retry")
        rig.run("cancel", bundle.id).must(0, about="cancel")
        before = len(api.requests)
        rig.send("--until-empty", code=0)
        expect(rig.delivery(bundle).state == "cancelled" and len(api.requests) == before, "a cancelled one is polled")


ID = "7e57ab1e-0000-4000-8000-000000000051"


def refused_in_the_first_answer(bench):
    """A `status` of rejected in a 202 is final, with the server's reason, as in a poll."""
    reason = "the depth map is flat"
    cases = {"failed": {"reason": reason}, "rejected": {"reason": reason}, "error": {"error": {"message": reason}},
             "Failed": {"reason": reason}, "REJECTED": {"reason": reason}}

    def judge(status, members):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api:
            api.answer(Answer(202, body={"data": {"capture_id": ID, "status": status} | members}))
            rig.http(api.url)
            rig.push(bundle)
            rig.send("--until-empty", code=14)
            expect(len(api.seen()) == 1, f"{len(api.seen())} uploads")
        row = rig.delivery(bundle)
        expect((row.state, row.receipt) == ("permanently_failed", None), f"is {row.state} with {row.receipt}")
        expect(reason in (row.error_message or ""), f"the reason is {row.error_message!r}")

    every(cases, judge)


def words_in_capitals(bench):
    """`PROCESSING` means processing, and `Rejected` in a poll is a rejection: case does not matter."""
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api:
        api.answer(Answer(202, body={"data": {"capture_id": ID, "status": "PROCESSING"}}))
        api.answer(Answer(200, body={"data": {"capture_id": ID, "status": "Rejected", "reason": "flat"}}), to="poll")
        rig.http(api.url)
        rig.push(bundle)
        rig.send("--once", code=15)
        expect(rig.delivery(bundle).state == "processing", f"is {rig.delivery(bundle).state}")
        rig.send("--until-empty", code=14)
        row = rig.delivery(bundle)
        expect((row.state, row.receipt) == ("permanently_failed", None), f"then {row.state} with {row.receipt}")


def in_work_is_not_done(bench):
    """A capture that the server has not decided is not completed; a completed one is kept for its retention."""
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
    expect(rig.run("prune", "--older-than", "0s").must(0).out.decode().split() == [bundle.id], "it is never released")


FAMILY = [
    ("polled until the server has decided", decided),
    ("the reason of a refusal is kept", reasons),
    ("in work for ever: not completed, nothing let go", for_ever),
    ("polls continue after a restart", over_restarts),
    ("one of four transfers polls a capture", by_one),
    ("failed polls decide nothing", polls_fail),
    *((f"the server loses it: {word}", functools.partial(lost_by_the_server, word)) for word in ("gone",
                                                                                            "processing gone")),
    ("hold, retry and cancel while the server processes the capture", user_words),
    ("http: 202 that says failed, rejected or error", refused_in_the_first_answer),
    ("http: words of the server in capitals", words_in_capitals),
    ("not completed while the server processes it, and not deleted at once", in_work_is_not_done),
]
