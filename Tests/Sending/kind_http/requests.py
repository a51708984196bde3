"""http: each attempt sends the signed body of the bundle, and the queue stores the server's answer."""
import hashlib
import pathlib
import uuid

from Kit.outcomes import expect
from Kit.sending import DEVICE, completed
from Kit.servers.capture_api import Answer, CaptureAPI
from Sending.answers.tries import added, is_left, some
from cases.base import Draft


def landed(bench):
    """One bundle needs one request; its id, URL and receipt are in the row, in `list` and in `show`."""
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api:
        rig.http(api.url)
        rig.push(bundle)
        result = rig.send(code=0)
        expect(result.out.decode().split() == [bundle.id, "api", "completed"], f"run prints {result.out!r}")
        api.holds(bench.photo(bundle))
        api.content()
        request, = api.requests
        capture, = api.stored
    completed(rig, bundle)
    row, receipt = rig.delivery(bundle), rig.receipt(bundle)
    expect(row.remote_id == capture.id, f"the server's id {capture.id} is kept as {row.remote_id}")
    expect(row.remote_url == f"https://captures.example/verify/{capture.id}", f"its URL as {row.remote_url}")
    body = bench.body(bundle)
    wanted = {"kind": "http", "confirmed_by": "answer", "capture_id": capture.id, "bytes": len(bundle.data),
              "sha256": bundle.sha256, "body_sha256": hashlib.sha256(body).hexdigest(),
              "url": f"{api.url}/api/v1/captures"}
    expect(wanted.items() <= receipt.items(), f"the receipt is {receipt}")
    expect("answer" in receipt and "verified_at" in receipt, f"the receipt lacks a member: {receipt}")
    shown, = rig.rows()[bundle.id]["deliveries"]
    expect(shown["remote_id"] == capture.id and shown["state"] == "completed", f"list shows {shown}")
    expect(request.status == 202 and request.path == "/api/v1/captures", f"the request was {request}")
    expect(rig.send(code=0).out == b"" and len(api.requests) == 1, "a second run sends it again")


def request(bench):
    """The body is what capbundle writes, with its length; it is signed, and all attempts use one key."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        rig.http(api.url, "--header", "X-Site: roof 7")
        api.answer(Answer(503))
        rig.push(*bench.stock[:3])
        rig.send("--until-empty", code=0)
        api.content()
        seen = api.seen()
        expect(len(seen) == 4, f"{len(seen)} uploads instead of 3 and one again")
        bodies = {hashlib.sha256(bench.body(bundle)).hexdigest(): bundle for bundle in bench.stock[:3]}
        expect({one.digest for one in seen} == set(bodies), "sent is not the body that capbundle multipart writes")
        for one in seen:
            bundle = bodies[one.digest]
            wanted = {"content-length": str(len(bench.body(bundle))), "x-device-id": DEVICE, "x-site": "roof 7",
                      "idempotency-key": rig.delivery(bundle).idempotency_key}
            expect(wanted.items() <= one.headers.items(), f"headers are {one.headers}")
            expect("transfer-encoding" not in one.headers and "authorization" not in one.headers, f"{one.headers}")
            expect(str(uuid.UUID(one.headers["x-request-id"])) == one.headers["x-request-id"].lower(),
                   f"X-Request-Id {one.headers['x-request-id']!r} is not a UUID")
        for name in ("x-request-id", "x-device-signature"):
            expect(len({one.headers[name] for one in seen}) == 4, f"two attempts have the same {name}")
        keys = {one.digest: one.key for one in seen}
        expect(all(one.key == keys[one.digest] for one in seen), "the second attempt has another Idempotency-Key")
        expect(len(set(keys.values())) == 3, "two bundles share an Idempotency-Key")
        expect(len({one.port for one in seen}) == 1, "a new connection for each request to one server")


def lost_files(bench):
    """`dest test` finds an unreadable key or token file; a run finds it before it sends or uses an attempt."""
    for option in some(["--key", "--token-file", "--passphrase-file"], 1):
        with CaptureAPI(bench.public) as api:
            path = bench.folder / f"file{next(bench.numbers)}"
            path.write_bytes(pathlib.Path(bench.template.key).read_bytes() if option == "--key" else b"words\n")
            path.chmod(0o600)
            rig = added(bench, "http", api.url, option, path)
            path.unlink()
            rig.run("dest", "test", "it").must(78, about=f"dest test without the file of {option}")
            rig.send("--until-empty", code=(15, 78), about=f"run without the file of {option}")
            is_left(rig, "pending", 0, "local")
            expect(not api.seen() and rig.destination("it").blocked_message, f"{option}: is sent, or no reason")


def warned_of_parts(bench):
    """Many parts and an empty one, at which some servers fail, are named at push to a server that gets them as a form."""
    draft, rig = Draft(), bench.rig()
    draft.payload |= {f"source/{number:02d}": b"x" if number else b"" for number in range(40)}
    many = rig.folder / "many.bundle"
    many.write_bytes(draft.bytes())
    rig.dest("other", "put", "--url", "http://127.0.0.1:1/{sha256}")
    rig.dest("api", "http", "--url", "http://127.0.0.1:1")
    said = rig.run("push", many, "--dest", "other").must(0, about="push to put").text
    expect("upload body" not in said, f"says {said!r}")
    for words in ("its upload body has 46 parts", "its upload body has the empty part source/00"):
        said = rig.run("push", many, "--dest", "api").must(0, about="push to http").text
        expect(words in said, f"{words!r} is not in {said!r}")
    said = rig.run("push", bench.stock[0].path, "--dest", "api").must(0, about="push of a usual bundle").text
    expect("upload body" not in said, f"says {said!r} of a usual bundle")


TESTS = [
    ("202 with an id is a success: id, URL and receipt are stored", landed),
    ("the body is that of capbundle multipart, the headers are made for each attempt", request),
    ("unreadable key and token files", lost_files),
    ("push warns of many parts and of an empty one", warned_of_parts),
]
