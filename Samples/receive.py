#!/usr/bin/env python3
"""A small receiving server: takes captures, checks who sent them and what they hold, and keeps the bundles.

usage: Samples/receive.py FOLDER --trust FILE [--device UUID PEM]... [--port N]

POST /api/v1/captures with a body of `capbundle multipart` and the headers of `capbundle sign-request`. A capture that is taken
is FOLDER/<id>.bundle, byte for byte what the device packed, and the answer is 202 with its id. Python's standard library,
openssl and capbundle; loopback only: in front of the world belongs a server that was made for it. Prints its URL once it listens.
"""
import argparse
import base64
import hashlib
import http.server
import json
import pathlib
import subprocess
import sys
import tempfile
import time

LIMIT = 20 << 20
OLDEST, NEWEST = -300_000, 60_000  # milliseconds that a timestamp may differ from our clock


class Refused(Exception):
    def __init__(self, status, code):
        super().__init__(code)
        self.status, self.code = status, code


def check_request(headers, digest, devices, folder):
    """Spec/upload.md section 2: the headers belong to this body, this moment and a device that we know."""
    names = ("X-Device-Id", "X-Device-Timestamp", "X-Device-Signature")
    device, timestamp, signature = (headers.get(name, "") for name in names)
    if not (device and timestamp and signature):
        raise Refused(401, "DEVICE_AUTH_REQUIRED")
    if device.lower() not in devices:
        raise Refused(404, "DEVICE_NOT_FOUND")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 16):
        raise Refused(400, "VALIDATION_ERROR")
    if not OLDEST <= int(timestamp) - time.time() * 1000 <= NEWEST:
        raise Refused(401, "TIMESTAMP_EXPIRED")
    try:
        (folder / "signature").write_bytes(base64.b64decode(signature, validate=True))
    except ValueError:
        raise Refused(400, "VALIDATION_ERROR") from None
    verified = subprocess.run(
        ["openssl", "dgst", "-sha256", "-verify", devices[device.lower()], "-signature", folder / "signature"],
        input=f"{timestamp}|{digest}".encode(), capture_output=True)
    if verified.returncode != 0:
        raise Refused(401, "SIGNATURE_INVALID")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.close_connection = True
        try:
            if self.path != "/api/v1/captures":
                raise Refused(404, "NOT_FOUND")
            self.answer(202, {"data": {"capture_id": self.take(), "status": "complete"}})
        except Refused as reason:
            self.answer(reason.status, {"error": {"code": reason.code}})

    def take(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > LIMIT:
            raise Refused(413 if length.isdigit() else 411, "PAYLOAD_TOO_LARGE")
        # On the disk that the bundles are on, and gone with the request.
        with tempfile.TemporaryDirectory(prefix=".receiving-", dir=self.server.folder) as name:
            folder = pathlib.Path(name)
            body, digest, left = folder / "body", hashlib.sha256(), int(length)
            with open(body, "wb") as file:
                while left:
                    data = self.rfile.read(min(left, 1 << 16))
                    if not data:
                        raise Refused(400, "VALIDATION_ERROR")
                    digest.update(data)
                    file.write(data)
                    left -= len(data)
            check_request(self.headers, digest.hexdigest(), self.server.devices, folder)
            return self.keep(body, folder / "bundle")

    def keep(self, body, bundle):
        """Puts the bundle together, verifies it, and gives it its name."""
        made = subprocess.run(
            ["capbundle", "from-body", body, "-o", bundle, "--trust", self.server.trust, "--json"], capture_output=True)
        if made.returncode in (1, 2):
            raise Refused(400, "VALIDATION_ERROR")
        if made.returncode in (3, 4):
            raise Refused(403, "DEVICE_UNVERIFIED")
        if made.returncode != 0:
            sys.stderr.write(made.stderr.decode())
            raise Refused(500, "INTERNAL_ERROR")
        capture_id = json.loads(made.stdout)["bundle"]["id"]
        bundle.replace(self.server.folder / f"{capture_id}.bundle")
        return capture_id

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


def main():
    parser = argparse.ArgumentParser(description="Takes captures over HTTP and keeps their bundles.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--trust", required=True, help="the trust file of capbundle verify")
    parser.add_argument("--device", nargs=2, action="append", default=[], metavar=("UUID", "PEM"))
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    server.folder, server.trust = options.folder.resolve(), options.trust
    server.devices = {device.lower(): key for device, key in options.device}
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
