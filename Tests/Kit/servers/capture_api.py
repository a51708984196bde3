"""A strict capture API: it refuses what Spec/upload.md forbids, and behaves like the first server of that contract.

    with CaptureAPI(bench.public) as api:
        api.answer(Answer(503, headers={"Retry-After": "7"}), Answer(when="stored", then="cut"))

It parses forms with Werkzeug, verifies signatures with `cryptography`, and knows nothing about bundles. A test can
script the next answers; the API chooses all other answers itself. It records in `problems` what it refuses by itself.
"""
import base64
import dataclasses
import datetime
import threading
import uuid

from Kit.outcomes import expect
from Kit.sending import DEVICE
from Kit.servers.capture_http import Answer, ScriptedServer  # noqa: F401  (tests import Answer from here)
from Kit.servers.capture_rules import UUID, Devices, Refused, digest_of_file, photo_of_capture, require, route_of

LIMIT = 20_971_520  # the largest body, in bytes
QUIET = ("CAPTURE_NOT_FOUND", "IDEMPOTENCY_KEY_IN_USE", None)  # a correct client can get these errors too


@dataclasses.dataclass
class Stored:
    """A capture that the API has stored."""

    id: str
    photo: str
    digest: str
    verdicts: list  # what each poll answers; the last value is repeated


class CaptureAPI(ScriptedServer):
    """The server, the captures that it stored, and all requests that it received."""

    def __init__(self, public, device=DEVICE, buffer=None):
        super().__init__(buffer=buffer)
        self.devices = Devices({device: public})
        # Settings that a test may change at any time:
        self.shift = 0  # by how many seconds the server's clock is ahead
        self.token = None  # the bearer token that requests must have
        # `duplicates` says what a second upload of a photo gets: "500", "409", or "twice" (it is stored again).
        self.is_idempotent, self.duplicates = True, "500"
        # A function of headers and body that takes the place of the rules for forms: it returns the id of the capture,
        # or raises Refused. What it takes is not stored.
        self.takes = None
        # The verdicts of new captures, such as ["processing", "complete"]; "gone" forgets the capture, and "silent" is
        # an answer without a status.
        self.verdicts = []
        self.reason = "the depth map is flat"  # the reason that goes with the verdict "failed"
        self.can_verify, self.limit = True, LIMIT
        self.poison = {}  # scripted answers to bodies with these digests, at any time
        self.work = None  # an event to wait for before a capture is stored; meanwhile its idempotency key is in use
        self.stored = []  # for tests to read, as are `requests` and `problems`
        self._scripts, self._always = {"captures": [], "verify": [], "poll": []}, {}
        self._keys, self._lock = {}, threading.RLock()

    # Methods for tests.

    def answer(self, *answers, to="captures"):
        """Adds answers after those that are already scripted; None stands for the API's own answer."""
        with self._lock:
            self._scripts[to].extend(answers)

    def always(self, answer, to="captures"):
        """Sets the answer for requests without a scripted one; None stands for the API's own answers."""
        with self._lock:
            self._always[to] = answer

    def seen(self, route="captures"):
        """Returns the requests for one route ("captures", "verify", "poll") in the order of their arrival."""
        return [request for request in list(self.requests) if route_of(request.method, request.path) == route]

    def content(self, about="at the end"):
        expect(not self.problems, f"{about}: the server complains: {self.problems[:3]}")

    def holds(self, *photos, about="at the end"):
        """Checks that the API has stored each of these photos (SHA-256 in hex) once, and nothing else."""
        held = [capture.photo for capture in self.stored]
        expect(sorted(held) == sorted(photos), f"{about}: the server holds {len(held)} captures of {len(set(held))} "
               f"photos; {len(set(photos) - set(held))} of {len(photos)} are missing")

    # Methods for the connections.

    def began(self, seen):
        self.requests.append(seen)

    def script(self, method, path, peek=False):
        route = route_of(method, path)
        with self._lock:
            script = self._scripts.get(route)
            if script:
                return script[0] if peek else script.pop(0)
            return self._always.get(route)

    def handle(self, seen, headers, body):
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
        if self.takes:
            return {"capture_id": self.takes(headers, body), "status": "complete"}
        key = seen.key if self.is_idempotent else None
        if key is None:
            return self._store(seen, photo_of_capture(headers, body))
        require(UUID.fullmatch(key), 400, "VALIDATION_ERROR", "Idempotency-Key is no UUID")
        mine = (seen.digest, None)
        with self._lock:
            digest, data = known = self._keys.setdefault(key, mine)
        if known is not mine:
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
        """Deletes the captures of these photos, or all captures, and forgets their keys."""
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
                # A capture that is still processed is not found; the first server of the contract behaves this way.
                if capture.photo == digest and capture.verdicts in ([], ["complete"], ["silent"]):
                    return {"status": "verified", "capture_id": capture.id, "file_hash": file_hash,
                            "verification_url": self._shown(capture)}
        return {"status": "no_record", "file_hash": file_hash}

    def _shown(self, capture):
        return f"https://captures.example/verify/{capture.id}"
