"""curl, nginx and Werkzeug: a server finds in a body what the bundle contains, and can put the bundle together again.

The bodies are sent as `capbundle help multipart` shows it.
"""
import hashlib
import http.client
import json
import os
import random
import sys
import urllib.parse

from bench import SPEC, Bundle, expect, flip
from bodies import DEVICE, bodies
from judge_schema import SCHEMAS, validator
from servers import FormServer, SpoolServer, accepted, nginx, refused, served

FLIPS = 40
# The options after this one save the answer for the judge.
SEND = ('capbundle multipart "$BUNDLE" -o body --headers headers --force 2>said && '
        'capbundle sign-request body --device-id "$DEVICE" | '
        'curl -sS -X POST -T body -H @headers -H @- "$URL"')


def _send(bench, bundle, url, *options, script=SEND):
    """Sends a body with curl as the help shows; returns (status, JSON answer, curl's messages)."""
    folder, tools = bench.folder / "sender", bench.folder / "tools"
    folder.mkdir(exist_ok=True)
    tools.mkdir(exist_ok=True)
    if not (tools / "capbundle").exists():
        (tools / "capbundle").symlink_to(bench.binary)
    words = " ".join(options)
    result = bench.run("env", f"PATH={tools}:{os.environ['PATH']}", f"BUNDLE={bundle.path}", f"DEVICE={DEVICE}",
                       f"URL={url}", "no_proxy=*", "HOME=" + str(folder), "sh", "-c",
                       f"{script} -o answer -w '%{{http_code}}' {words}", cwd=folder)
    text = (folder / "answer").read_text()
    return int(result.stdout), json.loads(text) if text else None, result.stderr.decode()


def _check(name, body, delivery):
    """Werkzeug finds exactly the contents of the bundle."""
    wanted = body.parts()
    found = delivery.parts
    expect(list(sorted(found)) == sorted(part[0] for part in wanted) and delivery.count == len(wanted),
           f"{name}: other parts: {sorted(found)}")
    body.check_metadata(found["metadata"][2])
    for part, filename, kind, data in wanted[1:]:
        expect(found[part] == (filename, kind, data), f"{name}: {part} differs from the bundle's contents")
    headers = delivery.headers
    expect(delivery.digest == hashlib.sha256(body.data).hexdigest(), f"{name}: other bytes arrived")
    expect(headers["Content-Length"] == str(len(body.data)) and not delivery.is_chunked, f"{name}: another length")
    expect(headers["Content-Type"] == body.content_type and delivery.method == "POST", f"{name}: another type")
    expect(headers["X-Device-Id"] == DEVICE, f"{name}: X-Device-Id is {headers.get('X-Device-Id')}")
    for header in ("X-Device-Timestamp", "X-Device-Signature"):
        expect(len(headers.getlist(header)) == 1 and headers[header], f"{name}: {header} is not there once")


def werkzeug_takes(bench):
    with served(server := FormServer()) as url:
        for name, body in bodies(bench).items():
            status, answer, _ = _send(bench, body.bundle, f"{url}/api/v1/captures")
            expect(status == 202 and answer["data"]["capture_id"], f"{name}: answer {status}, {server.failures}")
            _check(name, body, server.take())


def signature_arrives(bench):
    """openssl verifies the received bytes, with a message that the shell builds."""
    with served(server := FormServer()) as url:
        for body in bodies(bench).values():
            expect(_send(bench, body.bundle, url)[0] == 202, "not taken")
            delivery = server.take()
            message = f"{delivery.headers['X-Device-Timestamp']}|{delivery.digest}".encode()
            verdict = bench.run(
                "sh", "-c", 'printf %s "$0" | base64 -d > arrived.sig && printf %s "$1" > arrived.msg && '
                'openssl dgst -sha256 -verify "$2" -signature arrived.sig arrived.msg',
                delivery.headers["X-Device-Signature"], message.decode(), bench.public, expected=None)
            expect(verdict.stdout.strip() == b"Verified OK", "openssl refuses the signature that arrived")


def expects_continue(bench):
    """If Werkzeug sends 100 Continue, curl sends the body; with a large body curl asks for it by itself."""
    with served(server := FormServer()) as url:
        for name, options in (("plain", ["-v", "-H", "'Expect: 100-continue'"]),
                              ("boundaries in the photo", ["-v"])):
            body = bodies(bench)[name]
            status, _, said = _send(bench, body.bundle, url, *options)
            delivery = server.take()
            expect(status == 202 and delivery.headers.get("Expect", "").lower() == "100-continue",
                   f"{name}: {status}, Expect: {delivery.headers.get('Expect')}")
            expect("100 Continue" in said.title(), f"{name}: curl saw no 100 Continue")
            _check(name, body, delivery)


def nginx_passes(bench):
    with served(server := FormServer()) as backend, nginx(bench.scratch("nginx"), backend) as url:
        for name, body in bodies(bench).items():
            for place in ("buffered", "streamed"):
                status, _, _ = _send(bench, body.bundle, f"{url}/{place}", "-H", "'Expect: 100-continue'")
                expect(status == 202, f"{name}, {place}: answer {status}, {server.failures}")
                _check(f"{name}, {place}", body, server.take())


def nginx_stores(bench):
    """nginx stores the body as a file: by PUT, and with `client_body_in_file_only` for a backend."""
    folder = bench.scratch("nginx")
    with served(server := FormServer()) as backend, nginx(folder, backend) as url:
        for name, body in bodies(bench).items():
            put = SEND.replace("-X POST ", "")
            target = urllib.parse.quote(name)
            status, _, _ = _send(bench, body.bundle, f"{url}/store/{target}/body", script=put)
            expect(status == 201, f"{name}: answer {status} to PUT")
            expect((folder / "store" / name / "body").read_bytes() == body.data, f"{name}: PUT stored other bytes")
            status, _, _ = _send(bench, body.bundle, f"{url}/kept")
            delivery = server.take()
            kept = delivery.headers["X-Body-File"]
            with open(kept, "rb") as file:
                expect(status == 202 and file.read() == body.data, f"{name}: nginx keeps other bytes")
            _check(name, body, delivery)


def _receiver(bench, folder, codes):
    """Answers a stored body with the verdict of from-body: 202 for 0, 3 and 4, otherwise 400."""
    def judge(spool):
        out = spool.with_suffix(".bundle")
        result = bench.capbundle("from-body", spool, "-o", out, "--trust", bench.trust, "--json", expected=None)
        report = json.loads(result.stdout)
        codes.append((result.returncode, report, spool, out))
        if result.returncode in (0, 3, 4):
            return accepted(report["bundle"]["id"])
        return refused(400, report["faults"][0]["code"])

    return SpoolServer(folder, judge)


def rebuilt(bench):
    folder, codes, schema = bench.scratch("received"), [], validator(SCHEMAS["verify"])
    with served(_receiver(bench, folder, codes)) as url:
        for name, body in bodies(bench).items():
            status, answer, _ = _send(bench, body.bundle, url)
            code, report, spool, out = codes.pop()
            wanted = 4 if "withheld" in name else 0
            expect((status, code) == (202, wanted), f"{name}: answer {status}, exit {code}, expected {wanted}")
            expect(out.read_bytes() == body.bundle.data, f"{name}: another bundle than the one that was sent")
            expect(Bundle(out).entries == body.bundle.entries, f"{name}: tarfile reads other entries")
            expect(schema.is_valid(report), f"{name}: the report breaks its schema")
            expect(report["report"] == "capture-bundle/from-body/1" and report["output"] == str(out),
                   f"{name}: the report is not about this bundle")
            expect(answer["data"]["capture_id"] == json.loads(body.bundle.manifest)["id"], f"{name}: another id")


def flips_refused(bench):
    folder, codes, body = bench.scratch("received"), [], bodies(bench)["plain"]
    seeded, schema = random.Random(20260314), validator(SCHEMAS["verify"])
    # The photo is most of the body, so half of the positions are taken from all other bytes.
    start = len(body.data) - len(body.bundle.entries["photo.jpg"]) - len(body.bundle.entries["depth.f32.gz"])
    ranges = [len(body.data)] * (FLIPS // 2) + [start // 2] * (FLIPS - FLIPS // 2)
    with served(_receiver(bench, folder, codes)) as url:
        link = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=30)
        for limit in ranges:
            at, bit = seeded.randrange(limit), seeded.randrange(8)
            link.request("POST", "/", flip(body.data, at, bit), {"Content-Type": body.content_type})
            answer = link.getresponse()
            answer.read()
            code, report, spool, out = codes.pop()
            where = f"bit {bit} of byte {at}"
            expect(answer.status == 400 and code in (1, 2), f"{where}: answer {answer.status}, exit {code}")
            expect(schema.is_valid(report) and "output" not in report, f"{where}: its report is wrong")
            expect(sorted(folder.iterdir()) == [spool], f"{where}: leaves {[path.name for path in folder.iterdir()]}")
            program = SPEC / "Generator/from_body.py"
            theirs = bench.run(sys.executable, "-B", program, spool, "-o", out, "--trust", bench.trust, expected=None)
            expect(theirs.returncode == code, f"{where}: capbundle {code}, from_body.py {theirs.returncode}")
            spool.unlink()
        link.close()


def without_trust(bench):
    """A server that does not know the device keeps the bundle, and says so."""
    folder, body = bench.scratch("received"), bodies(bench)["plain"]
    out = folder / "out.bundle"
    for trust, wanted in ((bench.trust, 0), (bench.no_trust, 3)):
        ours = bench.capbundle("from-body", "-", "-o", out, "--trust", trust, "--quiet", input=body.data, expected=None)
        theirs = bench.run(sys.executable, "-B", SPEC / "Generator/from_body.py", body.path, "--trust", trust,
                           expected=None)
        expect(ours.returncode == theirs.returncode == wanted, f"exit {ours.returncode}, {theirs.returncode}")
        expect(out.read_bytes() == body.bundle.data and not ours.stdout, "another bundle, or --quiet printed something")
        out.unlink()
    piped = bench.capbundle("from-body", body.path, "-o", "-", "--json")
    expect(piped.stdout == body.bundle.data and json.loads(piped.stderr.splitlines()[0])["exit_code"] == 0,
           "-o -: another bundle, or no report on standard error")


JUDGES = [
    ("curl sends as the help shows, Werkzeug finds the bundle's entries and the three headers", werkzeug_takes),
    ("openssl accepts the request signature that arrived", signature_arrives),
    ("curl and Werkzeug agree on Expect: 100-continue", expects_continue),
    ("nginx as a reverse proxy, buffering or not, passes on the same bytes", nginx_passes),
    ("nginx stores the same bytes, by PUT and by client_body_in_file_only", nginx_stores),
    ("a server puts the same bundle together again with from-body", rebuilt),
    (f"from-body and from_body.py refuse {FLIPS} flipped bits, with the same exit code and no file", flips_refused),
    ("from-body: trusted or not, from a pipe, to a pipe", without_trust),
]
