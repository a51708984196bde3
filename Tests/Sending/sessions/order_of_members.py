"""The members of a session arrive in their order, and do not wait for members that will not be sent."""
from capture_api import Answer, CaptureAPI
from captures import arrivals, refuse
from checks import expect
from rigs import wait_until


def sessions(bench):
    """With four transfers and a first member that fails twice, a session arrives in order; others do not wait."""
    rig, bundles = bench.rig(), bench.stock[:12]
    with CaptureAPI(bench.public) as api:
        rig.http(api.url, "--concurrency", "4", retry="0,1,1,1")
        rig.push(*bundles[:6], options=("--session", "monday"))
        rig.push(*bundles[6:])
        refuse(bench, api, bundles[0])
        with rig.start("run", "--until-empty") as running:
            wait_until(lambda: len(api.stored) == 6, "those without a session arrive")
            expect(not set(arrivals(bench, api, bundles)) & set(range(1, 6)), "a later member overtook the first")
            api.poison.clear()
            running.end().must(0)
        order = [capture.photo for capture in api.stored[6:]]
        expect(order == [bench.photo(bundle) for bundle in bundles[:6]], "the session arrived in another order")


def stepped_over(bench):
    """Members that failed for good, are held or cancelled do not delay the other members of the session."""
    rig, bundles = bench.rig(), bench.stock[:6]
    with CaptureAPI(bench.public) as api:
        rig.http(api.url)
        rig.push(*bundles, options=("--session", "monday"))
        rig.run("hold", bundles[0].id).must(0)
        rig.run("cancel", bundles[2].id).must(0)
        refuse(bench, api, bundles[3], Answer(400))
        rig.send("--until-empty", code=(14,))
        expect(arrivals(bench, api, bundles) == [1, 3, 4, 5], f"they came as {arrivals(bench, api, bundles)}")


FAMILY = [
    ("a session arrives in its order", sessions),
    ("a session does not wait for members that will not be sent", stepped_over),
]
