"""Takes captures with Django into the folder `captures`: gunicorn 'django_receiver:get_wsgi_application()'."""
import base64
import hashlib
import pathlib
import re
import subprocess
import tempfile
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from django import conf, http, urls
from django.core.wsgi import get_wsgi_application
from django.views.decorators import csrf, http as methods

LIMIT, STORE = 20 << 20, pathlib.Path("captures")
REFUSED = {1: (400, "ALTERED"), 2: (400, "MALFORMED"), 3: (403, "DEVICE_MISMATCH"), 4: (403, "NOT_ACCEPTABLE")}


def take(request):
    length = int(request.headers.get("Content-Length", LIMIT + 1))
    try:
        with tempfile.TemporaryDirectory(prefix=".", dir=STORE) as scratch, open(f"{scratch}/body", "w+b") as body:
            while piece := request.read(65536):  # to the end, also if it will be refused
                body.write(piece if length <= LIMIT else b"")
            status, word = judge(request.headers, length, body)
    except (OSError, subprocess.SubprocessError):
        status, word = 503, "STORE_UNAVAILABLE"  # such as a full disk: not the capture's fault, so it is sent again
    content = {"data": {"capture_id": word}} if status == 202 else {"error": {"code": word}}
    return http.JsonResponse(content, status=status, headers={"Retry-After": "60"} if status == 503 else {})


def judge(headers, length, body):
    device, sent, signature = (headers.get(f"X-Device-{name}", "") for name in ("Id", "Timestamp", "Signature"))
    known = STORE / f"devices/{device.lower()}.pem"
    if body.tell() != length:
        return (413, "PAYLOAD_TOO_LARGE") if length > LIMIT else (408, "BODY_INCOMPLETE")
    if not re.fullmatch("[0-9a-f-]{36} (0|[1-9][0-9]{0,15})", f"{device.lower()} {sent}") or not known.exists():
        return 401, "DEVICE_AUTH_REQUIRED"
    if not -60 <= time.time() - int(sent) / 1000 <= 300:
        return 401, "TIMESTAMP_EXPIRED"
    body.seek(0)
    digest = hashlib.file_digest(body, "sha256").hexdigest()
    key = serialization.load_pem_public_key(known.read_bytes())
    try:
        key.verify(base64.b64decode(signature, validate=True), f"{sent}|{digest}".encode(), ec.ECDSA(hashes.SHA256()))
    except (ValueError, InvalidSignature):
        return 401, "SIGNATURE_INVALID"
    made, kept = pathlib.Path(f"{body.name}.bundle"), STORE / f"kept/{digest}.bundle"
    words = ["capbundle", "from-body", body.name, "-o", made, "--trust", known.with_suffix(".trust"), "--quiet"]
    if verdict := subprocess.run(words).returncode:
        return REFUSED.get(verdict, (503, "STORE_UNAVAILABLE"))
    made.replace(kept)
    subprocess.run(["sync", kept, kept.parent], check=True)  # 202 only when the bytes and the name are on the disk
    return 202, digest


conf.settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"])
urlpatterns = [urls.re_path("^api/v1/captures(?:/|$)", csrf.csrf_exempt(methods.require_POST(take)))]
