"""A run that is in the middle of an upload, so that a test can act meanwhile; and many cases that share one run."""
import contextlib
import signal
import threading

from Kit.outcomes import expect
from Kit.sending import AT_ONCE, wait_until
from Kit.servers.capture_api import Answer, CaptureAPI

ENDED = {signal.SIGTERM: (15, 143, -signal.SIGTERM), signal.SIGINT: (15, 130, -signal.SIGINT),
         signal.SIGHUP: (15, 129, -signal.SIGHUP)}


@contextlib.contextmanager
def sending(bench, bundles, *options, push=(), **how):
    """A queue that holds these bundles, and the capture API that is its destination."""
    with CaptureAPI(bench.public) as api:
        rig = bench.rig()
        rig.http(api.url, *options, **how)
        rig.push(*bundles, options=push)
        yield rig, api


class Scene:
    """A server that does not answer the first upload yet, and a run that waits for it."""

    def __init__(self, bench, count=3, is_half=False, words=("run", "--until-empty"), options=(), push=()):
        self.bench, self.rig, self.gate = bench, bench.rig(), threading.Event()
        self.api = CaptureAPI(bench.public, buffer=65536 if is_half else None)
        first = bench.big() if is_half else bench.stock[0]
        self.bundles = [first, *bench.stock[1:count]]
        self.reads, self.words, self.options, self.push = 500_000 if is_half else None, words, options, push

    def __enter__(self):
        self.api.__enter__()
        self.api.answer(Answer(gate=self.gate, reads=self.reads))
        self.rig.http(self.api.url, *self.options)
        self.rig.push(*self.bundles, options=self.push)
        self.prepare()
        self.running = self.rig.start(*self.words)
        wait_until(self.is_in_flight, "the first upload is under way")
        return self

    def __exit__(self, *_):
        self.running.kill()
        self.gate.set()
        self.api.__exit__()

    def prepare(self):
        """What else the queue holds before the run."""

    def is_in_flight(self):
        expect(self.running.is_alive, f"the run has ended: {self.running.err.read_text()[-300:]!r}")
        requests = self.api.seen()
        return requests and (requests[0].length == self.reads if self.reads else requests[0].digest)

    def states(self):
        return [self.rig.delivery(bundle).state for bundle in self.bundles]

    def sent(self):
        """The order in which the server got the bundles."""
        digests = {self.bench.photo(bundle): bundle.id for bundle in self.bundles}
        return [digests.get(capture.photo) for capture in self.api.stored]

    def ends_well(self):
        """Checks that one more run delivers all other bundles, and that the server has each once."""
        self.gate.set()
        self.rig.send("--until-empty", code=0)
        self.api.holds(*map(self.bench.photo, self.bundles))
        expect(set(self.states()) == {"completed"}, f"in the end they are {self.states()}")


class Many:
    """A queue with a destination for each case, which has a server of its own, so that one run plays all cases.

    `behind(case, api)` may put something between them: a context manager with a `url`.
    """

    def __init__(self, bench, cases, *options, retry=AT_ONCE, behind=None):
        self.bench, self.rig, self.options, self.retry, self.behind = bench, bench.rig(), options, retry, behind
        self.names = {case: f"d{number}" for number, case in enumerate(cases)}
        self.apis, self.between, self._stack = {}, {}, contextlib.ExitStack()

    def __enter__(self):
        for case, name in self.names.items():
            api = self.apis[case] = self._stack.enter_context(CaptureAPI(self.bench.public))
            self.between[case] = self._stack.enter_context(self.behind(case, api)) if self.behind else api
            self.rig.http(self.between[case].url, *self.options, name=name, retry=self.retry)
        return self

    def __exit__(self, *_):
        self._stack.close()

    def push(self, *bundles):
        self.rig.push(*bundles, options=[word for name in self.names.values() for word in ("--dest", name)])

    def row(self, case, bundle):
        return self.rig.delivery(bundle, self.names[case])

    def receipt(self, case, bundle):
        return self.rig.receipt(bundle, self.names[case])
