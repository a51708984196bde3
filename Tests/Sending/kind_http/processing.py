"""http: a server that has the capture but has not decided yet. Only its final word counts; the bytes stay here."""
import contextlib

from Kit.outcomes import IS_LONG, every, expect, long
from Kit.sending import wait_until
from Kit.servers.capture_api import Answer, CaptureAPI
from Sending.answers.tries import added, confirmed_by, is_left, sent, some

REASON = "the depth map is flat"


def side_by_side(bench, cases, prepare, judge):
    """Runs a queue for each case at the same time, since each waits a second or more before it polls."""
    with contextlib.ExitStack() as stack:
        begun = {}
        for name, case in cases.items():
            api = stack.enter_context(CaptureAPI(bench.public))
            prepare(api, case)
            rig = added(bench, "http", api.url)
            begun[name] = case, api, rig, stack.enter_context(rig.start("run", "--until-empty"))

        def ended(name, one):
            case, api, rig, running = one
            judge(case, api, rig, running.end())

        every(begun, ended)


def decided(bench):
    """Each word of the server has the meaning of Spec/upload.md section 4.3, polls continue until a final word, and the
    reason of a refusal is kept: data.reason, or else error.message."""
    error = Answer(200, body={"data": {"status": "error"}, "error": {"message": REASON}})
    cases = {"failed": ("permanently_failed", None), "whatever": ("completed", None),
             "error": ("permanently_failed", error), "complete": ("completed", None),
             "processing complete": ("completed", None),
             "Pending QUEUED verified": ("completed", None), "processing silent": ("completed", None)}

    def prepare(api, case):
        words, (_, answer) = case
        api.verdicts, api.reason = words.split(), REASON
        api.answer(answer, to="poll")

    def ends(case, api, rig, result):
        words, (state, _) = case
        result.must(0 if state == "completed" else 14)
        row = is_left(rig, state, 1)
        expect(len(api.seen()) == 1, "sent again while the server was at work")
        expect(len(api.seen("poll")) == len(words.split()), f"{len(api.seen('poll'))} polls")
        times = [poll.at for poll in api.seen("poll")]
        expect(all(two - one > 0.9 * 2 ** number for number, (one, two) in enumerate(zip(times, times[1:]), 1)),
               "polls without a growing pause")
        api.content()
        if state == "completed":
            confirmed_by(rig, "poll")
            expect(row.remote_id == api.stored[0].id and row.remote_url, "id or URL are lost")
        else:
            expect(REASON in row.error_message, f"the reason that is kept is {row.error_message!r}")
        states = [change.to_state for change in rig.changes(bench.stock[0])]
        expect("processing" in states and states[-1] == state, f"was {states}")

    side_by_side(bench, some({words: (words, case) for words, case in cases.items()}, 3), prepare, ends)


def refuses_all(bench):
    """A server that takes all with 202 and refuses all when it is asked blocks the destination after five, as one that
    refuses at once does: no capture fails for good. All land once it accepts."""
    with CaptureAPI(bench.public) as api:
        api.verdicts, api.reason, api.duplicates = ["failed"], REASON, "twice"
        rig = sent(bench, "http", api.url, bundles=bench.stock[:8], mode="--until-empty", code=15)
        place = rig.destination("it")
        expect(place.blocked_reason == "refusing" and REASON in place.blocked_message, f"{place.blocked_message!r}")
        expect(rig.states() <= {"pending", "processing"} and len(api.seen("poll")) == 5,
               f"{rig.states()} after {len(api.seen('poll'))} polls")
        expect(all(row.attempts == 0 for row in rig.deliveries() if row.state == "pending"), "attempts are used")
        api.verdicts = ["complete"]
        for turn in range(2):  # the trial is a poll of what was taken meanwhile: refused first, then accepted
            with rig.database() as database:
                database.execute("UPDATE destinations SET blocked_until = 1")
                database.execute("UPDATE deliveries SET due = 1 WHERE state = 'processing'")
            if turn:
                for capture in api.stored:
                    capture.verdicts = ["complete"]
            rig.send("--until-empty", code=0 if turn else 15)
            expect(turn or rig.destination("it").blocked_reason == "refusing", "a refused trial lifts the block")
        expect({(row.state, row.attempts) for row in rig.deliveries()} == {("completed", 1)}, f"{rig.states()}")


@contextlib.contextmanager
def in_work(bench):
    """A server that never decides, and a capture that it has accepted."""
    with CaptureAPI(bench.public) as api:
        api.verdicts = ["processing"]
        yield api, sent(bench, "http", api.url, code=15), bench.stock[0]


def for_ever(bench):
    """If the server never decides, the capture is not completed or sent again, and its bytes are never deleted."""
    with in_work(bench) as (api, rig, bundle):
        with rig.start("run", "--until-empty") as running:
            polls = 3 if IS_LONG else 1
            wait_until(lambda: len(api.seen("poll")) == polls, f"{polls} polls")
            running.stop()
        row = is_left(rig, "processing", 1)
        expect(row.polls >= polls - 1, f"{row.polls} polls are kept")
        rig.aged(bundle, days=4000)
        for options in ((), ("--older-than", "0s"), ("--cancelled", "--older-than", "0s")):
            expect(not rig.run("prune", *options).must(0).out, f"prune {' '.join(options)} lets it go")
        expect(rig.spool_file(bundle).read_bytes() == bundle.data, "the bytes are gone")
        expect(len(api.seen()) == 1, "sent again")


@long
def polls_fail(bench):
    """A failed poll decides nothing; the next poll does."""
    cases = {
        "500": Answer(500), "503 and Retry-After": Answer(503, headers={"Retry-After": "1"}), "502": Answer(502),
        "429 and Retry-After": Answer(429, headers={"Retry-After": "1"}), "cut": Answer(200, then="cut"),
        "a login page": Answer(200, body="<html>", type="text/html"), "half an answer": Answer(then="cut", only=150),
        "TIMESTAMP_EXPIRED": Answer(401, "TIMESTAMP_EXPIRED"), "garbage": Answer(raw=b"garbage\r\n", then="close"),
    }

    def goes_on(answer, api, rig, _):
        rig.run("resume", "--dest", "it").must(0)
        rig.send("--until-empty", code=0)
        is_left(rig, "completed", 1)
        expect(len(api.seen()) == 1, "sent again")

    def prepare(api, answer):
        api.verdicts = ["complete"]
        api.answer(answer, to="poll")

    side_by_side(bench, cases, prepare, goes_on)


def lost_by_the_server(bench):
    """After 404 to a poll the server has lost the capture, so it is sent once more with another key."""
    def judge(words, _):
        with CaptureAPI(bench.public) as api:
            api.verdicts = words.split()
            rig = added(bench, "http", api.url)
            with rig.start("run", "--until-empty") as running:
                wait_until(lambda: api.stored, "the server has it")
                api.verdicts = []
                running.end().must(0, about="run")
            api.holds(bench.photo(bench.stock[0]))
            row = rig.delivery(bench.stock[0])
            expect((row.state, row.remote_id) == ("completed", api.stored[0].id), f"is {row.state}, {row.remote_id}")
            expect(len({request.key for request in api.seen()}) == 2, "the key of the lost capture is used again")

    every(some({"gone": None, "processing gone": None}, 1), judge)


TESTS = [
    ("polled until the server has decided", decided),
    ("in work for ever: not completed, nothing let go", for_ever),
    ("a server that takes all and refuses all when asked is blocked", refuses_all),
    ("failed polls decide nothing", polls_fail),
    ("the server loses it", lost_by_the_server),
]
