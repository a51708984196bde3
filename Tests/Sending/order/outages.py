"""A server that fails five times, with several captures, is blocked for a while."""
from capture_api import Answer, CaptureAPI
from checks import expect
from rigs import wait_until


def blocked(bench):
    """After five failures of several captures nothing is sent for 15 s; then one lands, and so do the others."""
    rig, bundles = bench.rig(), bench.stock[:8]
    with CaptureAPI(bench.public) as api:
        api.always(Answer(503))
        rig.http(api.url)
        rig.push(*bundles)
        with rig.start("run", "--until-empty", "--json") as running:
            wait_until(lambda: running.saw("blocked", code="failing", destination="api"), "the destination is blocked")
            shown = {line["name"]: line.get("blocked") for line in rig.status()["destinations"]}["api"]
            expect(shown and shown["reason"] == "failing" and shown["until"], f"status shows {shown}")
            count = len(api.seen())
            expect(count == 5, f"{count} uploads before the destination was blocked")
            api.always(None)
            running.end().must(0)
            expect(running.saw("ready", destination="api"), "no event says that it continues")
        times = [request.at for request in api.seen()]
        expect(times[5] - times[4] > 14, f"the next one was sent after {times[5] - times[4]:.1f} s")
        api.holds(*map(bench.photo, bundles))


def blocked_for_once(bench):
    """A run with --once ends when the destination is blocked; the captures that it did not try used no attempt."""
    rig, bundles = bench.rig(), bench.stock[:8]
    with CaptureAPI(bench.public) as api:
        api.always(Answer(503))
        rig.http(api.url)
        rig.push(*bundles)
        rig.send("--once", code=15)
        attempts = sorted(row.attempts for row in rig.deliveries())
        expect(attempts == [0, 0, 0, 1, 1, 1, 1, 1], f"attempts are {attempts}")


def blocked_alone(bench):
    """An outage of one destination does not block another."""
    rig, bundles = bench.rig(), bench.stock[:8]
    with CaptureAPI(bench.public) as broken, CaptureAPI(bench.public) as good:
        broken.always(Answer(503))
        rig.http(broken.url, name="broken")
        rig.http(good.url, name="good")
        rig.push(*bundles, options=("--dest", "broken", "--dest", "good"))
        rig.send("--once", code=15)
        good.holds(*map(bench.photo, bundles))


FAMILY = [
    ("an outage: five failures, 15 seconds, one trial", blocked),
    ("an outage ends a run that tries once", blocked_for_once),
    ("an outage of one destination blocks no other", blocked_alone),
]
