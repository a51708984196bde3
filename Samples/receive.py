#!/usr/bin/env python3
"""Shows the protocol of a receiving server, for one device: receive.py FOLDER UUID PEM TRUST

It takes POST /api/v1/captures, checks who sent the body, and keeps the bundle as FOLDER/<id>.bundle if its device is in
the trust file. It prints its URL. It limits neither time nor size and does not sync its files. The server for real use
is in Receiver.
"""
import base64
import hashlib
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

folder, device, pem, trust = pathlib.Path(sys.argv[1]), *sys.argv[2:]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        sent = self.headers["X-Device-Timestamp"]
        with tempfile.TemporaryDirectory(dir=folder, prefix=".") as name:
            signature, bundle = pathlib.Path(name, "signature"), pathlib.Path(name, "bundle")
            signature.write_bytes(base64.b64decode(self.headers["X-Device-Signature"]))
            signed = subprocess.run(["openssl", "dgst", "-sha256", "-verify", pem, "-signature", signature],
                                    input=f"{sent}|{hashlib.sha256(body).hexdigest()}".encode(), capture_output=True)
            is_sender = self.headers["X-Device-Id"].lower() == device.lower() and signed.returncode == 0
            if not is_sender or abs(time.time() - int(sent) / 1000) > 60:
                return self.answer(401, {"error": {"code": "SIGNATURE_INVALID"}})
            made = subprocess.run(["capbundle", "from-body", "-", "-o", bundle, "--trust", trust, "--json"],
                                  input=body, capture_output=True)
            if made.returncode != 0:
                return self.answer(400, {"error": {"code": "VALIDATION_ERROR"}})
            capture = json.loads(made.stdout)["bundle"]["id"]
            os.replace(bundle, folder / f"{capture}.bundle")
        link = f"http://127.0.0.1:{self.server.server_port}/verify/{capture}"
        self.answer(202, {"data": {"capture_id": capture, "status": "complete", "verification_url": link}})

    def answer(self, status, value):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
