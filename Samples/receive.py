#!/usr/bin/env python3
"""A small receiving server: takes captures, checks who sent them and what they hold, and keeps the bundles.

usage: Samples/receive.py FOLDER --trust FILE [--device UUID PEM]... [--port N]

    POST /api/v1/captures       a body of `capbundle multipart`, with the headers of `capbundle sign-request`: 202 and an id
    GET  /api/v1/captures/ID    what became of it; signed, over an empty body
    POST /api/v1/verify-file    a form with a photo as its part `file`: is it that of a capture which was taken?
    GET  /verify/ID             the same for people who were given the link

A capture that is taken is FOLDER/<id>.bundle, byte for byte what the device packed. Sent twice it is there once; a
request with an Idempotency-Key that was answered before gets that answer again. Python's standard library, openssl and
capbundle; loopback only: in front of the world belongs a server that was made for it. Prints its URL once it listens.
"""
import argparse
import base64
import email
import email.policy
import hashlib
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

LIMIT = 20 << 20
UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
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


def part_named_file(headers, form):
    """The content of the part `file` of a form."""
    head = f"Content-Type: {headers.get('Content-Type', '')}\r\n\r\n".encode()
    parts = email.message_from_bytes(head + form.read_bytes(), policy=email.policy.HTTP)
    for part in parts.iter_parts() if parts.is_multipart() else ():
        if part.get_param("name", header="content-disposition") == "file":
            return part.get_payload(decode=True)
    raise Refused(400, "VALIDATION_ERROR")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.route({"/api/v1/captures": self.take, "/api/v1/verify-file": self.look_up}.get(self.path))

    def do_GET(self):
        place, _, capture_id = self.path.rpartition("/")
        action = {"/api/v1/captures": self.tell, "/verify": self.show}.get(place)
        self.route(action if UUID.fullmatch(capture_id) else None, capture_id)

    def route(self, action, *arguments):
        self.close_connection = True
        try:
            # On the disk that the bundles are on, and gone with the request.
            with tempfile.TemporaryDirectory(prefix=".receiving-", dir=self.server.folder) as name:
                if not action:
                    raise Refused(404, "NOT_FOUND")
                self.answer(*action(pathlib.Path(name), *arguments))
        except Refused as reason:
            self.answer(reason.status, {"error": {"code": reason.code}})

    def take(self, folder):
        digest = self.read(folder / "body")
        check_request(self.headers, digest, self.server.devices, folder)
        key = self.headers.get("Idempotency-Key")
        first, answer = self.server.answered.get(key, (digest, None))
        if first != digest:
            raise Refused(422, "IDEMPOTENCY_KEY_REUSED")
        answer = answer or {"data": self.described(self.keep(folder / "body", folder / "bundle"))}
        if key:
            self.server.answered[key] = digest, answer
        return 202, answer

    def read(self, file):
        """Writes the request's body to a file and gives its SHA-256."""
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > LIMIT:
            raise Refused(413 if length.isdigit() else 411, "PAYLOAD_TOO_LARGE")
        digest, left = hashlib.sha256(), int(length)
        with open(file, "wb") as output:
            while left:
                data = self.rfile.read(min(left, 1 << 16))
                if not data:
                    raise Refused(400, "VALIDATION_ERROR")
                digest.update(data)
                output.write(data)
                left -= len(data)
        return digest.hexdigest()

    def keep(self, body, bundle):
        """Puts the bundle together, verifies it, and gives it its name; both are on the disk before there is an answer."""
        made = subprocess.run(
            ["capbundle", "from-body", body, "-o", bundle, "--trust", self.server.trust, "--json"], capture_output=True)
        if made.returncode in (1, 2):
            raise Refused(400, "VALIDATION_ERROR")
        if made.returncode in (3, 4):
            raise Refused(403, "DEVICE_UNVERIFIED")
        if made.returncode != 0:
            sys.stderr.write(made.stderr.decode())
            raise Refused(500, "INTERNAL_ERROR")
        report = json.loads(made.stdout)
        capture_id = report["bundle"]["id"]
        photo, = (entry["sha256"] for entry in report["entries"] if entry["path"] == "photo.jpg")
        bundle.replace(self.server.folder / f"{capture_id}.bundle")
        (self.server.photos / photo).write_text(capture_id)
        for folder in (self.server.folder, self.server.photos):
            handle = os.open(folder, os.O_RDONLY)
            os.fsync(handle)
            os.close(handle)
        return capture_id

    def look_up(self, folder):
        self.read(folder / "form")
        photo = self.server.photos / hashlib.sha256(part_named_file(self.headers, folder / "form")).hexdigest()
        if not photo.exists():
            return 200, {"data": {"status": "no_record"}}
        return 200, {"data": self.described(photo.read_text()) | {"status": "verified"}}

    def tell(self, folder, capture_id):
        check_request(self.headers, hashlib.sha256().hexdigest(), self.server.devices, folder)
        return self.show(folder, capture_id)

    def show(self, _, capture_id):
        if not (self.server.folder / f"{capture_id}.bundle").exists():
            raise Refused(404, "NOT_FOUND")
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


def main():
    parser = argparse.ArgumentParser(description="Takes captures over HTTP and keeps their bundles.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--trust", required=True, help="the trust file of capbundle verify")
    parser.add_argument("--device", nargs=2, action="append", default=[], metavar=("UUID", "PEM"))
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    server.folder, server.trust = options.folder.resolve(), options.trust
    server.photos, server.answered = server.folder / ".photos", {}
    server.photos.mkdir(exist_ok=True)
    server.devices = {device.lower(): key for device, key in options.device}
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
