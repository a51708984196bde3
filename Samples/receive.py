#!/usr/bin/env python3
"""A small receiving server: accepts captures, checks their senders and contents, and keeps the bundles.

usage: Samples/receive.py FOLDER --trust FILE [--device UUID PEM]... [--port N]

    POST /api/v1/captures       a body of `capbundle multipart`, with the headers of `capbundle sign-request`: 202 and an id
    GET  /api/v1/captures/ID    the status of a capture; the request is signed over an empty body
    POST /api/v1/verify-file    a form with a photo in its part `file`: does the photo belong to an accepted capture?
    GET  /verify/ID             the status of a capture, for people who have the link

The server accepts a capture only from the device whose key signed it. It keeps the capture for ever as
FOLDER/<id>.bundle, with exactly the bytes that the device packed. The same capture sent again gets the same answer,
whatever its Idempotency-Key; other bytes with the same id get 409. If captures share a photo, verify-file names the one
that was accepted first. The server uses Python's standard library, openssl and capbundle. It listens on loopback only:
do not expose it to the Internet. It prints its URL.
"""
import argparse
import base64
import contextlib
import email.parser
import filecmp
import hashlib
import http.server
import io
import json
import mmap
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

LIMIT, PARTS, HEADERS = 20 << 20, 16, 2048  # bytes of a body; of a form: parts, and bytes of a part's headers
CLIENTS = 32  # clients served at the same time; others wait
STALL, HEAD, PROGRAM = 10, 5, 60  # seconds: without a byte, for the headers, for a run of openssl or capbundle
SLOWEST = 50_000  # the minimum average rate of a body in bytes per second
OLDEST, NEWEST = -300_000, 60_000  # milliseconds that a timestamp may differ from our clock
UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
NUMBER = "[1-9][0-9]{0,15}"
BASE64 = "([A-Za-z0-9+/]{4}){1,24}([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?"
P256 = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")  # a key in DER is this prefix and 65 bytes


class Refused(Exception):
    def __init__(self, status=400, code="VALIDATION_ERROR"):
        super().__init__(code)
        self.status, self.code = status, code


def run(*command, **options):
    return subprocess.run(command, capture_output=True, timeout=PROGRAM, **options)


def public_key(file):
    """Returns a device's key in DER, and the key id that bundles use for it."""
    der = run("openssl", "pkey", "-pubin", "-in", file, "-outform", "DER").stdout
    if len(der) != len(P256) + 65 or not der.startswith(P256):
        sys.exit(f"{file} is not a P-256 public key")
    return der, hashlib.sha256(der[-65:]).hexdigest()


def publish(file, name):
    """Gives a file a name unless the name is taken. Syncs the name and the file that has it."""
    with contextlib.suppress(FileExistsError):
        sync(file)
        os.link(file, name)
    sync(name.parent)


def sync(path):
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def digest_of_part(form, boundary, name):
    """Returns the SHA-256 of a part of a form, which is mapped and not read into memory. Only the boundary separates
    parts, so the contents of a part cannot end it."""
    with open(form, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    mark = b"--" + boundary.encode()
    start = data.find(mark, 0, len(mark)) + len(mark)
    for _ in range(PARTS if start == len(mark) else 0):
        content = data.find(b"\r\n\r\n", start, start + HEADERS) + 4
        end = data.find(b"\r\n" + mark, content) if content > 3 else -1
        if end < 0:
            break
        headers = email.parser.BytesHeaderParser().parsebytes(data[start:content].lstrip())
        if headers.get_param("name", header="content-disposition") == name:
            return hashlib.sha256(memoryview(data)[content:end]).hexdigest()
        start = end + 2 + len(mark)
    raise Refused()


class Arriving(io.RawIOBase):
    """Reads from a connection until a deadline, even if the bytes arrive slowly."""

    def __init__(self, connection):
        self.connection, self.until = connection, time.monotonic() + HEAD

    def readable(self):
        return True

    def readinto(self, buffer):
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.connection.settimeout(min(left, STALL))
        return self.connection.recv_into(buffer)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.arriving = Arriving(self.connection)
        self.rfile = io.BufferedReader(self.arriving)

    def handle_expect_100(self):
        return True  # `read` sends the 100 once it wants the body

    def do_POST(self):
        self.route({"/api/v1/captures": self.take, "/api/v1/verify-file": self.look_up}.get(self.path))

    def do_GET(self):
        place, _, capture_id = self.path.rpartition("/")
        action = {"/api/v1/captures": self.tell, "/verify": self.show}.get(place)
        self.route(action if re.fullmatch(UUID, capture_id) else None, capture_id)

    def route(self, action, *arguments):
        try:
            if not action:
                raise Refused(404, "NOT_FOUND")
            # The folder is on the disk of the bundles, and it is removed after the request.
            with tempfile.TemporaryDirectory(prefix=".receiving-", dir=self.server.folder) as name:
                status, value = action(pathlib.Path(name), *arguments)
        except Refused as reason:
            status, value = reason.status, {"error": {"code": reason.code}}
        except (TimeoutError, ConnectionError):
            status, value = 408, {"error": {"code": "REQUEST_TIMEOUT"}}
        except Exception as error:
            print(f"receive.py: {error!r}", file=sys.stderr)
            status, value = 500, {"error": {"code": "INTERNAL_ERROR"}}
        self.answer(status, value)

    def header(self, name, form):
        """Returns the value of a header, or None if it is missing. Repeated headers and other forms are refused."""
        values = self.headers.get_all(name, [None])
        if len(values) > 1 or values[0] is not None and not re.fullmatch(form, values[0]):
            raise Refused()
        return values[0]

    def sender(self):
        """Checks the parts of Spec/upload.md section 2 that need no body: device, timestamp, form of the signature."""
        device = self.header("X-Device-Id", f"(?i:{UUID})")
        timestamp = self.header("X-Device-Timestamp", f"0|{NUMBER}")
        signature = self.header("X-Device-Signature", BASE64)
        if None in (device, timestamp, signature):
            raise Refused(401, "DEVICE_AUTH_REQUIRED")
        if device.lower() not in self.server.devices:
            raise Refused(404, "DEVICE_NOT_FOUND")
        if not OLDEST <= int(timestamp) - time.time() * 1000 <= NEWEST:
            raise Refused(401, "TIMESTAMP_EXPIRED")
        return device.lower(), timestamp, base64.b64decode(signature)

    def check_signature(self, folder, device, timestamp, signature, digest):
        (folder / "key").write_bytes(self.server.devices[device][0])
        (folder / "signature").write_bytes(signature)
        verified = run("openssl", "dgst", "-sha256", "-keyform", "DER", "-verify", folder / "key",
                       "-signature", folder / "signature", input=f"{timestamp}|{digest}".encode())
        if verified.returncode != 0:
            raise Refused(401, "SIGNATURE_INVALID")

    def read(self, file):
        """Writes the request's body to a file and returns its SHA-256."""
        length = self.header("Content-Length", NUMBER)
        if length is None or "Transfer-Encoding" in self.headers:
            raise Refused(411, "LENGTH_REQUIRED")
        left, digest = int(length), hashlib.sha256()
        if left > LIMIT:
            raise Refused(413, "PAYLOAD_TOO_LARGE")
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.send_response_only(100)
            self.end_headers()
        self.arriving.until = time.monotonic() + STALL
        with open(file, "wb") as output:
            while left:
                data = self.rfile.read1(min(left, 1 << 16))
                if not data:
                    raise Refused()
                self.arriving.until += len(data) / SLOWEST
                digest.update(data)
                output.write(data)
                left -= len(data)
        return digest.hexdigest()

    def take(self, folder):
        sender = self.sender()
        digest = self.read(folder / "body")
        self.check_signature(folder, *sender, digest)
        return 202, {"data": self.described(self.keep(folder, self.server.devices[sender[0]][1]))}

    def keep(self, folder, key_id):
        """Restores the bundle, verifies it, and gives it its name. Both are synced before the answer is sent."""
        bundle = folder / "bundle"
        made = run("capbundle", "from-body", folder / "body", "-o", bundle, "--trust", self.server.trust, "--json")
        if made.returncode in (1, 2):
            raise Refused()
        if made.returncode in (3, 4):
            raise Refused(403, "DEVICE_UNVERIFIED")
        if made.returncode != 0:
            raise OSError(made.stderr.decode(errors="replace"))
        report = json.loads(made.stdout)
        if report["device"]["key_id"] != key_id:
            raise Refused(403, "DEVICE_MISMATCH")
        capture_id = report["bundle"]["id"]
        photo, = (entry["sha256"] for entry in report["entries"] if entry["path"] == "photo.jpg")
        kept = self.server.folder / f"{capture_id}.bundle"
        publish(bundle, kept)
        if not filecmp.cmp(bundle, kept, shallow=False):
            raise Refused(409, "CAPTURE_EXISTS")
        (folder / "photo").write_text(capture_id)
        publish(folder / "photo", self.server.photos / photo)
        return capture_id

    def look_up(self, folder):
        self.header("Content-Type", ".{1,200}")
        kind, boundary = self.headers.get_content_type(), self.headers.get_param("boundary")
        if kind != "multipart/form-data" or not isinstance(boundary, str) or not re.fullmatch("[ -~]{1,70}", boundary):
            raise Refused()
        self.read(folder / "form")
        photo = self.server.photos / digest_of_part(folder / "form", boundary, "file")
        if not photo.exists():
            return 200, {"data": {"status": "no_record"}}
        return 200, {"data": self.described(photo.read_text()) | {"status": "verified"}}

    def tell(self, folder, capture_id):
        self.check_signature(folder, *self.sender(), hashlib.sha256().hexdigest())
        return self.show(folder, capture_id)

    def show(self, _, capture_id):
        if not (self.server.folder / f"{capture_id}.bundle").exists():
            raise Refused(404, "CAPTURE_NOT_FOUND")
        return 200, {"data": self.described(capture_id)}

    def described(self, capture_id):
        link = f"http://127.0.0.1:{self.server.server_port}/verify/{capture_id}"
        return {"capture_id": capture_id, "status": "complete", "verification_url": link}

    def answer(self, status, value):
        text = json.dumps(value).encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 4 * CLIENTS

    def __init__(self, options):
        self.folder, self.trust = options.folder.resolve(), options.trust
        self.photos = self.folder / ".photos"
        self.photos.mkdir(parents=True, exist_ok=True)
        self.devices = {device.lower(): public_key(file) for device, file in options.device}
        self.clients = threading.Semaphore(CLIENTS)
        super().__init__(("127.0.0.1", options.port), Handler)

    def process_request(self, *request):
        self.clients.acquire()
        super().process_request(*request)

    def process_request_thread(self, *request):
        try:
            super().process_request_thread(*request)
        finally:
            self.clients.release()

    def handle_error(self, *_):
        """Ignores clients that closed the connection early."""
        if not isinstance(sys.exc_info()[1], OSError):
            print(f"receive.py: {sys.exc_info()[1]!r}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description="Receives captures over HTTP and keeps their bundles.")
    parser.add_argument("folder", type=pathlib.Path, help="the folder for the bundles")
    parser.add_argument("--trust", required=True, help="the trust file of capbundle verify")
    parser.add_argument("--device", nargs=2, action="append", default=[], metavar=("UUID", "PEM"),
                        help="the id of a device, and the file with its public key")
    parser.add_argument("--port", type=int, default=0, help="the port on loopback (default: any free port)")
    options = parser.parse_args()
    for device, _ in options.device:
        if not re.fullmatch(UUID, device.lower()):
            parser.error(f"--device: {device} is not a UUID (8-4-4-4-12 hex digits)")
    if not os.path.isfile(options.trust):
        parser.error(f"--trust: {options.trust} is not a file; make one with: capbundle trust add")
    try:
        server = Server(options)
    except OSError as error:
        sys.exit(f"receive.py: cannot listen on port {options.port} or use {options.folder}: {error.strerror}")
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()


if __name__ == "__main__":
    main()
