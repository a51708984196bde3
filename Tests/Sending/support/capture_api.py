"""A strict capture API: what Spec/upload.md asks of a client, and how the first server of that contract behaves.

    with CaptureAPI(bench.public) as api:
        api.answer(Answer(503, headers={"Retry-After": "7"}), Answer(when="stored", then="cut"))

It parses forms with Werkzeug, verifies signatures with `cryptography`, and knows nothing of bundles. The next answers
can be scripted; all others are its own. What it refuses by itself is noted in `problems`.
"""
import base64
import dataclasses
import datetime
import threading
import time
import uuid

from capture_http import Server, route_of
from capture_rules import UUID, Devices, Refused, digest_of_file, photo_of_capture, require
from checks import expect
from rigs import DEVICE

LIMIT = 20_971_520  # bytes of a body
QUIET = ("CAPTURE_NOT_FOUND", "IDEMPOTENCY_KEY_IN_USE", None)  # refusals that a good client meets too


@dataclasses.dataclass(frozen=True)
class Answer:
    """What is answered in place of the API's own answer.

    `when`: "early" (only `reads` bytes of the body are read, none unless said), "read" (the body was read, nothing is
    stored), "stored" (all was done that the request asks for). `then`: "keep" the connection, "close" it, or send only
    the first `only` bytes of the answer and "cut" or "reset" the connection or "hang". `gate` is waited for after
    `reads` bytes of the body (all, unless said).
    """

    status: int | None = None  # None: the API's own answer
    code: str | None = "SCRIPTED"  # of the error in the JSON body
    body: object = None  # bytes, text, or what becomes JSON; None: what fits the status
    headers: dict = dataclasses.field(default_factory=dict)
    type: str = "application/json"
    when: str = "read"
    then: str = "keep"
    only: int = 0
    raw: bytes | None = None  # all that is sent, head included
    gate: threading.Event | None = None
    reads: int | None = None

    @property
    def asks(self):
        """Whether the API is to do what the request asks for."""
        return self.when == "stored" or self.status is None and self.raw is None


@dataclasses.dataclass
class Seen:
    """A request, as far as it came."""

    method: str
    path: str
    headers: dict  # names in lower case
    port: int  # of the client: requests of one connection have the same
    at: float = dataclasses.field(default_factory=time.monotonic)
    length: int = 0  # bytes of the body that arrived
    digest: str | None = None  # of the whole body
    status: int | None = None  # that was answered

    @property
    def key(self):
        return self.headers.get("idempotency-key")


@dataclasses.dataclass
class Stored:
    """A capture that the API holds."""

    id: str
    photo: str
    digest: str
    verdicts: list  # what each poll says; the last one stays


class CaptureAPI:
    """The server, what it holds, and all that it saw."""

    Answer, Seen = Answer, Seen  # for its connections

    def __init__(self, public, device=DEVICE, buffer=None):
        self.devices, self.buffer = Devices({device: public}), buffer
        # What a test may change at any time.
        self.shift = 0  # seconds that its clock is ahead
        self.token = None  # the bearer token that it asks for
        self.is_idempotent, self.duplicates = True, "500"  # the same photo again: or "409", or "twice" (stores it)
        self.verdicts = []  # of new captures: ["processing", "complete"]; "gone" forgets it, "silent" has no status
        self.reason = "the depth map is flat"  # of the verdict "failed"
        self.can_verify, self.limit = True, LIMIT
        self.poison = {}  # answers to bodies of these digests, whenever they come
        self.work = None  # an event that storing a capture waits for, its idempotency key being in use
        # What a test looks at.
        self.requests, self.stored, self.problems = [], [], []
        self.closing = threading.Event()
        self._scripts, self._always = {"captures": [], "verify": [], "poll": []}, {}
        self._keys, self._lock = {}, threading.RLock()

    def __enter__(self):
        self._server = Server(self, self.buffer)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.end()

    # For tests.

    def answer(self, *answers, to="captures"):
        """The next answers, after those that are scripted already; None is one of its own."""
        with self._lock:
            self._scripts[to].extend(answers)

    def always(self, answer, to="captures"):
        """What is answered when nothing else is scripted; None: its own answers."""
        with self._lock:
            self._always[to] = answer

    def seen(self, route="captures"):
        """The requests for one route ("captures", "verify", "poll"), as they came."""
        return [request for request in list(self.requests) if route_of(request.method, request.path) == route]

    def content(self, about="at the end"):
        expect(not self.problems, f"{about}: the server complains: {self.problems[:3]}")

    def holds(self, *photos, about="at the end"):
        """It holds each of these photos (SHA-256 in hex) once, and nothing else."""
        held = [capture.photo for capture in self.stored]
        expect(sorted(held) == sorted(photos), f"{about}: the server holds {len(held)} captures of {len(set(held))} "
               f"photos; {len(set(photos) - set(held))} of {len(photos)} are missing")

    @property
    def now(self):
        """Its clock, in milliseconds."""
        return int((time.time() + self.shift) * 1000)

    # For the connections.

    def scripted(self, route, peek=False):
        with self._lock:
            script = self._scripts.get(route)
            if script:
                return script[0] if peek else script.pop(0)
            return self._always.get(route)

    def wait(self, gate):
        while gate and not gate.wait(0.05) and not self.closing.is_set():
            pass

    def handle(self, seen, headers, body):
        """Does what the request asks for; status and JSON of the answer."""
        try:
            status, data = self._handle(seen, headers, body)
            return status, {"data": data, "meta": self._meta(headers)}
        except Refused as refusal:
            if refusal.status < 500 and refusal.code not in QUIET:
                self.problems.append(f"{seen.method} {seen.path}: {refusal}")
            return refusal.status, self.error(refusal.code, refusal.message, headers)

    def error(self, code, message, headers):
        return None if code is None else {"error": {"code": code, "message": message}, "meta": self._meta(headers)}

    def _meta(self, headers):
        at = datetime.datetime.fromtimestamp(self.now / 1000, datetime.timezone.utc)
        return {"request_id": headers.get("X-Request-Id") or str(uuid.uuid4()),
                "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z")}

    def _handle(self, seen, headers, body):
        route = route_of(seen.method, seen.path)
        require(route != "other" and (route != "verify" or self.can_verify), 404, None, "nothing is here")
        require(route != "method", 405, None, "not that method")
        if route == "verify":
            return 200, self._verify(headers, body)
        if self.token is not None:
            require(headers.get("Authorization") == f"Bearer {self.token}", 401, "TOKEN_INVALID", "the bearer token")
        self.devices.admit(headers, self.now)
        require(len(body) <= self.limit, 413, "PAYLOAD_TOO_LARGE", f"{len(body)} bytes")
        self.devices.verify(headers, seen.digest)
        return (200, self._poll(seen)) if route == "poll" else (202, self._take(seen, headers, body))

    def _take(self, seen, headers, body):
        key = seen.key if self.is_idempotent else None
        if key is None:
            return self._store(seen, photo_of_capture(headers, body))
        require(UUID.fullmatch(key), 400, "VALIDATION_ERROR", "Idempotency-Key is no UUID")
        with self._lock:
            known = self._keys.get(key)
            if known is None:
                self._keys[key] = (seen.digest, None)
        if known:
            digest, data = known
            require(digest == seen.digest, 422, "IDEMPOTENCY_KEY_REUSED", "another body under the same key")
            require(data is not None, 409, "IDEMPOTENCY_KEY_IN_USE", "the first request is under way")
            return data
        try:
            data = self._store(seen, photo_of_capture(headers, body))
        except Refused:
            del self._keys[key]
            raise
        self._keys[key] = (seen.digest, data)
        return data

    def _store(self, seen, photo):
        self.wait(self.work)
        with self._lock:
            is_known = any(capture.photo == photo for capture in self.stored)
            require(not is_known or self.duplicates != "500", 500, "INTERNAL_ERROR", "Internal server error")
            require(not is_known or self.duplicates != "409", 409, "DUPLICATE", "the photo is here already")
            capture = Stored(str(uuid.uuid4()), photo, seen.digest, list(self.verdicts))
            self.stored.append(capture)
        status = "processing" if capture.verdicts else "complete"
        return {"capture_id": capture.id, "status": status, "verification_url": self._shown(capture)}

    def _poll(self, seen):
        capture_id = seen.path.rpartition("/")[2]
        with self._lock:
            capture = next((one for one in self.stored if one.id == capture_id), None)
            require(capture, 404, "CAPTURE_NOT_FOUND", "no such capture")
            verdicts = capture.verdicts
            verdict = verdicts.pop(0) if len(verdicts) > 1 else (verdicts or ["complete"])[0]
            if verdict == "gone":
                self.forget(capture)
                raise Refused(404, "CAPTURE_NOT_FOUND", "no such capture")
        data = {"capture_id": capture.id, "status": verdict, "verification_url": self._shown(capture)}
        if verdict == "silent":
            del data["status"]
        return data | ({"reason": self.reason} if verdict == "failed" else {})

    def forget(self, *captures):
        """It loses these captures, or all, and what it knew of their keys."""
        with self._lock:
            self.stored = [one for one in self.stored if captures and one not in captures]
            held = {one.digest for one in self.stored}
            self._keys = {key: known for key, known in self._keys.items() if known[0] in held}

    def _verify(self, headers, body):
        for name in headers:
            require(name.lower() != "authorization" and not name.lower().startswith("x-device-"), 400,
                    "VALIDATION_ERROR", f"{name} is sent to a service that asks for no credentials")
        digest = digest_of_file(headers, body)
        file_hash = base64.b64encode(bytes.fromhex(digest)).decode()
        with self._lock:
            for capture in self.stored:
                # What is still in work is not found, as on the first server of the contract.
                if capture.photo == digest and capture.verdicts in ([], ["complete"], ["silent"]):
                    return {"status": "verified", "capture_id": capture.id, "file_hash": file_hash,
                            "verification_url": self._shown(capture)}
        return {"status": "no_record", "file_hash": file_hash}

    def _shown(self, capture):
        return f"https://captures.example/verify/{capture.id}"
