"""A separate prefix in SeaweedFS for each test, and rigs that send there."""
from Kit.servers import seaweed
from Kit.outcomes import expect
from Kit.sending import AT_ONCE


class Place:
    """A separate prefix in the store, and rigs that send there."""

    def __init__(self, bench):
        self.bench, self.store = bench, seaweed.shared(bench)
        self.client, self.prefix = self.store.client(), f"s3-{next(bench.numbers)}"
        self.url = f"{self.store.url}/{self.prefix}"

    def rig(self, *bundles, options=(), keys=None, port=None):
        rig = self.bench.rig()
        rig.env |= (keys or self.store.keys).environment
        url = self.url if port is None else self.url.replace(f":{self.store.port}/", f":{port}/")
        rig.dest("s3", "s3", "--url", url, "--retry", AT_ONCE, *options)
        if bundles:
            rig.push(*bundles)
        return rig

    def key(self, bundle):
        return f"{self.prefix}/{bundle.sha256}.bundle"

    def holds(self, *bundles):
        for bundle in bundles:
            data = self.client.get(self.key(bundle))
            expect(data is not None, f"the store has no {bundle.sha256[:8]}")
            expect(data == bundle.data, "the store has other bytes")
