"""Which one goes next: sessions keep their order, poison blocks nobody, the circuit breaker rests a broken server."""
import hashlib

from capture_api import Answer, CaptureAPI
from checks import expect
from rigs import wait_until


def names(bench, api, bundles):
    """The places of the bundles whose bodies came, in the order of their arrival."""
    known = {hashlib.sha256(bench.body(bundle)).hexdigest(): place for place, bundle in enumerate(bundles)}
    return [known[request.digest] for request in api.seen() if request.digest]


def poisoned(bench, api, bundle, answer=Answer(503)):
    api.poison[hashlib.sha256(bench.body(bundle)).hexdigest()] = answer


def sessions(bench):
    """Four transfers at once, a first member that fails twice: the session arrives in its order, others do not wait."""
    rig, bundles = bench.rig(), bench.stock[:12]
    with CaptureAPI(bench.public) as api:
        rig.http(api.url, "--concurrency", "4", retry="0,1,1,1")
        rig.push(*bundles[:6], options=("--session", "monday"))
        rig.push(*bundles[6:])
        poisoned(bench, api, bundles[0])
        with rig.start("run", "--until-empty") as running:
            wait_until(lambda: len(api.stored) == 6, "those without a session arrive")
            expect(not set(names(bench, api, bundles)) & set(range(1, 6)), "a later member overtook the first")
            api.poison.clear()
            running.end().must(0)
        order = [capture.photo for capture in api.stored[6:]]
        expect(order == [bench.photo(bundle) for bundle in bundles[:6]], "the session arrived in another order")


def stepped_over(bench):
    """Members that failed for good, are held or cancelled do not keep the rest of a session back."""
    rig, bundles = bench.rig(), bench.stock[:6]
    with CaptureAPI(bench.public) as api:
        rig.http(api.url)
        rig.push(*bundles, options=("--session", "monday"))
        rig.run("hold", bundles[0].id).must(0)
        rig.run("cancel", bundles[2].id).must(0)
        poisoned(bench, api, bundles[3], Answer(400))
        rig.send("--until-empty", code=(14,))
        expect(names(bench, api, bundles) == [1, 3, 4, 5], f"they came as {names(bench, api, bundles)}")


def poison(bench):
    """One that always fails: all others arrive, no breaker opens, and it is given up after its own attempts."""
    rig, bundles = bench.rig(), bench.stock[:20]
    with CaptureAPI(bench.public) as api:
        rig.http(api.url)
        rig.push(*bundles)
        poisoned(bench, api, bundles[0])
        result = rig.send("--until-empty", "--json", code=14)
        api.holds(*map(bench.photo, bundles[1:]))
        row = rig.delivery(bundles[0])
        expect((row.state, row.attempts) == ("permanently_failed", 10), f"is {row.state} after {row.attempts}")
        expect(b'"breaker"' not in result.out, "one bad capture opened the breaker")


def breaker(bench):
    """Five failures of several captures: nothing is sent for 15 s, then one; it arrives, and so does all else."""
    rig, bundles = bench.rig(), bench.stock[:8]
    with CaptureAPI(bench.public) as api:
        api.always(Answer(503))
        rig.http(api.url)
        rig.push(*bundles)
        with rig.start("run", "--until-empty", "--json") as running:
            wait_until(lambda: running.saw("held", code="breaker", destination="api"), "the breaker opens")
            held = {line["name"]: line.get("held") for line in rig.status()["destinations"]}["api"]
            expect(held and held["code"] == "breaker" and held["until"], f"status shows {held}")
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


def refusals(bench):
    """A server that refuses each for good is at work: no breaker."""
    rig, bundles = bench.rig(), bench.stock[:8]
    with CaptureAPI(bench.public) as api:
        api.always(Answer(400))
        rig.http(api.url)
        rig.push(*bundles)
        rig.send("--until-empty", code=14)
        expect(rig.states() == {"permanently_failed"} and len(api.seen()) == 8, f"{rig.states()}")


def priorities(bench):
    """The highest priority first, then what has been due for longest."""
    rig, bundles = bench.rig(), bench.stock[:6]
    with CaptureAPI(bench.public) as api:
        rig.http(api.url)
        for bundle, priority in zip(bundles, ("0", "-3", "10", "0", "10", "5")):
            rig.push(bundle, options=("--priority", priority) if priority != "-3" else ("--priority=-3",))
        rig.send(code=0)
        expect(names(bench, api, bundles) == [2, 4, 5, 0, 3, 1], f"they came as {names(bench, api, bundles)}")


def lifetime(bench):
    """--lifetime: a try that fails later than that after the push is the last one, whatever the table says."""
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


FAMILY = [
    ("a session arrives in its order", sessions),
    ("a session steps over those that will not go", stepped_over),
    ("a poison item blocks nobody and opens no breaker", poison),
    ("the breaker: five failures, 15 seconds, one trial", breaker),
    ("the breaker ends a run that tries once", breaker_for_once),
    ("a breaker is of one destination", breaker_of_one),
    ("refusals open no breaker", refusals),
    ("priorities", priorities),
    ("a lifetime that is over", lifetime),
]
