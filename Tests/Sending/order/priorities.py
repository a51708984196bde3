"""The order of captures: the highest priority first, then the longest due."""
from capture_api import CaptureAPI
from captures import arrivals
from checks import expect


def priorities(bench):
    """The highest priority goes first, then the capture that has been due for the longest time."""
    rig, bundles = bench.rig(), bench.stock[:6]
    with CaptureAPI(bench.public) as api:
        rig.http(api.url)
        for bundle, priority in zip(bundles, ("0", "-3", "10", "0", "10", "5")):
            rig.push(bundle, options=("--priority", priority) if priority != "-3" else ("--priority=-3",))
        rig.send(code=0)
        expect(arrivals(bench, api, bundles) == [2, 4, 5, 0, 3, 1], f"they came as {arrivals(bench, api, bundles)}")


FAMILY = [
    ("priorities", priorities),
]
