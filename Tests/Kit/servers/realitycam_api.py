"""A RealityCam server: it follows Spec/upload.md section 6, and like the real one it does not report wrong counters.

    with RealityCamAPI(public) as api:
        api.is_strict = True

With default settings it answers 202 even if a counter is too low. `evidence` has its verdict on each capture. The checker
of Spec/Generator checks every request that it verifies.
"""
import hashlib

from cryptography.hazmat.primitives.serialization import load_pem_public_key

from Kit.servers.capture_api import CaptureAPI
from Kit.servers.capture_rules import Refused, require, route_of
from Kit.sending import DEVICE

from realitycam.form import Broken
from realitycam.rules import EMPTY, RULES, check
from realitycam.signature import Undecodable
from realitycam.upload import Upload

RPID = "XXXXXXXXXX.com.realitycam.app"
STOCK_LIMIT = 2_097_152


class RealityCamAPI(CaptureAPI):
    """The server, its one device, and the counters that it has seen."""

    def __init__(self, public, level="secure_enclave", buffer=None):
        super().__init__(public, buffer=buffer)
        self.key, self.level = load_pem_public_key(public), level
        self.is_strict = False  # whether a bad header signature is refused (REQUIRE_VERIFIED_DEVICES)
        self.counter = 0  # the counter that the server has stored for the device
        self.counted = []  # (counter of the header, of the assertion) of the uploads that it verified, in their order
        self.evidence = {}  # the verdict on each photo: "pass", "fail" or "unavailable"
        self.broken = []  # rules that requests broke, as the checker found them
        self.limit = STOCK_LIMIT

    def _handle(self, seen, headers, body):
        route = route_of(seen.method, seen.path)
        if route not in ("captures", "poll"):
            return super()._handle(seen, headers, body)
        self.devices.admit(headers, self.now)
        with self._lock:
            given = dict(headers.items())
            upload = Upload(body, headers.get("Content-Type", ""), given, self.key, RPID, self.counter, self.now,
                            level=self.level, device_id=DEVICE, get=given if route == "poll" else None)
            self._header(upload, seen.digest if route == "captures" else EMPTY)
            # A poll has no body, so only the rules about headers apply to it.
            rules = RULES if route == "captures" else (22, 25, 26, 27)
            found = check(upload)
            self.broken += [(number, found[number][1]) for number in rules if found[number][0] == "broken"]
            return (200, self._poll(seen)) if route == "poll" else (202, self._taken(upload, seen))

    def _header(self, upload, digest):
        """Verifies the signature of the header as the server does, and stores its counter."""
        if self.level != "secure_enclave":
            return
        stamp = upload.lower["x-device-timestamp"]
        try:
            signed = upload.signature
        except Undecodable as error:
            require(not self.is_strict, 400, "VALIDATION_ERROR", str(error))
            return
        if signed.counter <= self.counter:
            require(not self.is_strict, 401, "REPLAY_DETECTED", f"{signed.counter}, stored {self.counter}")
            return
        if not signed.verifies(self.key, f"{stamp}|{digest}".encode()):
            require(not self.is_strict, 401, "SIGNATURE_INVALID", "the signature does not verify")
            return
        self.counter = signed.counter

    def _taken(self, upload, seen):
        require(len(upload.body) <= self.limit, 400, "VALIDATION_ERROR",
                "Failed to read multipart form: Error parsing `multipart/form-data` request")
        try:
            photo, metadata = upload.data("photo"), upload.metadata
            upload.data("depth_map")
        except (Broken, ValueError) as error:
            raise Refused(400, "VALIDATION_ERROR", str(error)) from None
        digest = hashlib.sha256(photo).hexdigest()
        require(metadata["photo_hash"].lower() == digest, 400, "VALIDATION_ERROR", "the photo has another hash")
        status = self._assertion(upload)
        data = self._store(seen, digest)
        self.evidence[digest] = status
        return data

    def _assertion(self, upload):
        if upload.assertion is None:
            return "unavailable"
        self.counted.append((upload.signature.counter, upload.assertion.counter))
        client_data = f"{upload.metadata['photo_hash']}|{upload.metadata['captured_at']}".encode()
        if (self.level != "secure_enclave" or upload.assertion.counter <= self.counter
                or not upload.assertion.verifies(self.key, client_data)):
            return "fail"
        self.counter = upload.assertion.counter
        return "pass"
