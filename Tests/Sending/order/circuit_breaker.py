"""The circuit breaker rests a broken server, after five failures of several captures."""
from capture_api import Answer, CaptureAPI
from checks import expect
from rigs import wait_until


def breaker(bench):
    """Five failures of several captures: nothing is sent for 15 s, then one; it arrives, and so does all else."""
    rig, bundles = bench.rig(), bench.stock[:8]
    with CaptureAPI(bench.public) as api:
        api.always(Answer(503))
        rig.http(api.url)
        rig.push(*bundles)
        with rig.start("run", "--until-empty", "--json") as running:
            wait_until(lambda: running.saw("blocked", code="failing", destination="api"), "the breaker opens")
            held = {line["name"]: line.get("blocked") for line in rig.status()["destinations"]}["api"]
            expect(held and held["reason"] == "failing" and held["until"], f"status shows {held}")
            count = len(api.seen())
            expect(count == 5, f"{count} uploads before the breaker opened")
            api.always(None)
            running.end().must(0)
            expect(running.saw("ready", destination="api"), "no event says that it goes on")
        times = [request.at for request in api.seen()]
        expect(times[5] - times[4] > 14, f"the next one was sent after {times[5] - times[4]:.1f} s")
        api.holds(*map(bench.photo, bundles))


def breaker_for_once(bench):
    """A run that tries each once is done when the breaker opens: the rest was not tried, and burned nothing."""
    rig, bundles = bench.rig(), bench.stock[:8]
    with CaptureAPI(bench.public) as api:
        api.always(Answer(503))
        rig.http(api.url)
        rig.push(*bundles)
        rig.send("--once", code=15)
        attempts = sorted(row.attempts for row in rig.deliveries())
        expect(attempts == [0, 0, 0, 1, 1, 1, 1, 1], f"attempts are {attempts}")


def breaker_of_one(bench):
    """The breaker of one destination is no other's."""
    rig, bundles = bench.rig(), bench.stock[:8]
    with CaptureAPI(bench.public) as broken, CaptureAPI(bench.public) as good:
        broken.always(Answer(503))
        rig.http(broken.url, name="broken")
        rig.http(good.url, name="good")
        rig.push(*bundles, options=("--dest", "broken", "--dest", "good"))
        rig.send("--once", code=15)
        good.holds(*map(bench.photo, bundles))


FAMILY = [
    ("the breaker: five failures, 15 seconds, one trial", breaker),
    ("the breaker ends a run that tries once", breaker_for_once),
    ("a breaker is of one destination", breaker_of_one),
]
