"""curl, nginx and Werkzeug: a server finds in a body what the bundle contains, and can put the bundle together again.

The bodies are sent as `capbundle help multipart` shows it, to the capture API, which parses them with Werkzeug.
"""
import hashlib
import json
import os
import urllib.parse

from Kit.sending import DEVICE
from Kit.servers.capture_api import CaptureAPI
from Kit.servers.capture_rules import parts_of
from Kit.servers.nginx import Nginx
from Judges.bench import IS_LONG, expect
from Judges.bodies import bodies
from Judges.judge_schema import validate, validator

# The options after this one save the answer for the judge.
SEND = ('capbundle multipart "$BUNDLE" -o body --headers headers --force 2>said && '
        'capbundle sign-request body --device-id "$DEVICE" | '
        'curl -sS -X POST -T body -H @headers -H @- "$URL"')


class Server(CaptureAPI):
    """The capture API, which also takes bundles without a depth map; a test reads the parts of the last body."""

    path = "/api/v1/captures"

    def __init__(self, bench):
        super().__init__(bench.public.read_bytes())
        self.takes = self.take

    def take(self, headers, body):
        self.headers, self.parts = headers, parts_of(headers, body)
        return "taken"

    def check(self, name, body):
        """Checks that the last request has the contents of the bundle; one with a bad signature would not be taken."""
        self.content(name)
        wanted, found, headers = body.parts(), self.parts, self.headers
        expect(sorted(found) == sorted(part[0] for part in wanted), f"{name}: other parts: {sorted(found)}")
        body.check_metadata(found["metadata"][2])
        for part, filename, kind, data in wanted[1:]:
            expect(found[part] == (filename, kind, data), f"{name}: {part} differs from the bundle's contents")
        expect(self.seen()[-1].digest == hashlib.sha256(body.data).hexdigest(), f"{name}: other bytes arrived")
        expect(headers["Content-Length"] == str(len(body.data)), f"{name}: another length")
        expect(headers["Content-Type"] == body.content_type, f"{name}: another type")
        for header in ("X-Device-Id", "X-Device-Timestamp", "X-Device-Signature"):
            expect(len(headers.get_all(header)) == 1, f"{name}: {header} is not there once")


def _send(bench, bundle, url, *options, code=202, script=SEND):
    """Sends a body with curl as the help shows; returns the JSON of the answer and curl's messages."""
    folder, tools = bench.scratch("sender"), bench.scratch("tools")
    (tools / "capbundle").symlink_to(bench.binary)
    told = {"PATH": f"{tools}:{os.environ['PATH']}", "BUNDLE": str(bundle.path), "DEVICE": DEVICE, "URL": url,
            "no_proxy": "" if "-x" in options else "*"}
    result = bench.run("sh", "-c", f"{script} -o answer -w '%{{http_code}}' {' '.join(options)}", cwd=folder, env=told)
    expect(int(result.out) == code, f"{bundle.path.name}: answer {result.out.decode()}")
    text = (folder / "answer").read_text()
    return json.loads(text) if text else None, result.text


def werkzeug_takes(bench):
    with Server(bench) as server:
        for name, body in bodies(bench).items():
            answer, _ = _send(bench, body.bundle, server.url + server.path)
            expect(answer["data"]["capture_id"] == "taken", f"{name}: answer {answer}")
            server.check(name, body)


def through_nginx(bench):
    """nginx passes the same bytes on, buffering or not, and stores them by PUT."""
    with Server(bench) as server, Nginx(bench.scratch("nginx"), backend=server.url) as nginx:
        for name, body in bodies(bench).items() if IS_LONG else list(bodies(bench).items())[-2:]:
            _send(bench, body.bundle, nginx.url + server.path, "-H", "'Expect: 100-continue'")
            server.check(f"{name}, buffered", body)
            # This proxy passes each piece on at once.
            _send(bench, body.bundle, server.url + server.path, "-x", nginx.proxy, "-H", "'Expect: 100-continue'")
            server.check(f"{name}, streamed", body)
            place = f"store/{name}/body"
            _send(bench, body.bundle, f"{nginx.url}/{urllib.parse.quote(place)}", code=201,
                  script=SEND.replace("-X POST ", ""))
            expect(nginx.path(place).read_bytes() == body.data, f"{name}: PUT stored other bytes")


def rebuilt(bench):
    folder, schema, codes = bench.scratch("received"), validator("verify-report"), []

    def judge(_, data):
        (folder / "body").write_bytes(data)
        result = bench.capbundle("from-body", folder / "body", "-o", folder / "out", "--force", "--json", code=None)
        report, = validate(schema, result.out, "from-body --json")
        codes.append(result.code)
        expect(report["output"] == str(folder / "out"), "the report is about another file")
        return report["bundle"]["id"]

    with CaptureAPI(bench.public.read_bytes()) as server:
        server.takes = judge
        for name, body in bodies(bench).items():
            answer, _ = _send(bench, body.bundle, server.url + Server.path)
            expect(codes[-1] == (4 if "withheld" in name else 0), f"{name}: exit {codes[-1]}")
            expect((folder / "out").read_bytes() == body.bundle.data, f"{name}: another bundle than was sent")
            expect(answer["data"]["capture_id"] == json.loads(body.bundle.manifest)["id"], f"{name}: another id")
        server.content()


TESTS = [
    ("curl sends as the help shows, Werkzeug finds the bundle's entries, and the signature is sound", werkzeug_takes),
    ("nginx passes on the same bytes, buffering or not, and stores them by PUT", through_nginx),
    ("a server puts the same bundle together again with from-body", rebuilt),
]
