"""Servers outside of the guest: they survive its power cuts, and can be set back to an earlier moment."""
import base64
import contextlib
import dataclasses
import hashlib
import time

from Kit.sending import DEVICE
from Kit.servers.capture_api import CaptureAPI
from Kit.servers.capture_http import Answer, ScriptedServer
from PowerCut.guest import HOST


class Objects(ScriptedServer):
    """A store for PUT, which is also enough of S3: conditional PUT, HEAD and GET with the SHA-256 of an object."""

    def __init__(self, changed):
        super().__init__()
        self.objects, self.again, self._changed = {}, 0, changed

    def handle(self, seen, headers, body):
        known = self.objects.get(seen.path)
        if seen.method == "PUT":
            self.again += known is not None
            if known is not None and "If-None-Match" in headers:
                return Answer(412, body=b"")
            self.objects[seen.path] = known = body
            self._changed()
            return Answer(200, body=b"", headers=self._proof(known))
        if seen.method == "POST":  # the end of a session
            return Answer(200, body=b"")
        return Answer(404, body=b"") if known is None else Answer(200, body=known, headers=self._proof(known))

    @staticmethod
    def _proof(data):
        digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
        return {"ETag": f'"{hashlib.md5(data).hexdigest()}"', "x-amz-checksum-sha256": digest,
                "Repr-Digest": f"sha-256=:{digest}:"}


class API(CaptureAPI):
    """The capture API, which reports each change."""

    def __init__(self, public, changed):
        super().__init__(public)
        self._changed = changed

    def handle(self, seen, headers, body):
        answer = super().handle(seen, headers, body)
        if seen.method == "POST":
            self._changed()
        return answer

    def state(self):
        return list(self.stored), dict(self._keys)

    def restore(self, state):
        stored, keys = state
        self.stored, self._keys = list(stored), dict(keys)


@dataclasses.dataclass(frozen=True)
class Landed:
    """What the servers have: hashes of bundles by destination; for `http`, of photos."""

    put: frozenset
    s3: frozenset
    http: frozenset


class Servers:
    """All servers of a test. `history` has their states, each with the length of the log when it began."""

    EMPTY = {}, ([], {})

    def __init__(self):
        self._stack, self.log, self.history = contextlib.ExitStack(), [], []
        self.objects = self._stack.enter_context(Objects(self._changed))
        self.api = None

    def admit(self, public):
        """Starts the API, which knows this public key of the device."""
        self.api = self._stack.enter_context(API(public, self._changed))

    def close(self):
        self._stack.close()

    def addresses(self):
        """Returns the options of `dest add` for each destination."""
        objects, api = (f"http://{HOST}:{server.port}" for server in (self.objects, self.api))
        return {"put": f"--kind put --url '{objects}/put/{{sha256}}'", "s3": f"--kind s3 --url {objects}/s3",
                "http": f"--kind http --url {api} --device-id {DEVICE} --key /mnt/h/.local/share/capbundle/device.key"}

    def set_clock(self, shift):
        """Moves the clock of the servers ahead of this machine's by `shift` seconds; returns the time it then shows."""
        if self.api:
            self.api.shift = shift
        return int(time.time() + shift)

    @property
    def state(self):
        return dict(self.objects.objects), self.api.state() if self.api else self.EMPTY[1]

    def begin(self, log):
        """Begins a new history."""
        self.log, self.history = log, [(0, self.state)]

    def _changed(self):
        self.history.append((len(self.log), self.state))

    def restore(self, history, moment):
        """Sets the servers back to what they had at a moment of a history."""
        objects, api = [state for place, state in history if place <= moment][-1]
        self.objects.objects = dict(objects)
        self.api.restore(api)

    @property
    def landed(self):
        digests = {path: hashlib.sha256(data).hexdigest() for path, data in self.objects.objects.items()}
        return Landed(frozenset(digest for path, digest in digests.items() if path.startswith("/put/")),
                      frozenset(digest for path, digest in digests.items() if path.startswith("/s3/")),
                      frozenset(capture.photo for capture in self.api.stored))
