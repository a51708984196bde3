"""s3: stores that refuse the checksum or the condition of a PUT, and the settings that omit these headers."""
import base64
import hashlib

from checks import every, expect
from rigs import AT_ONCE, completed
from s3_places import Place
from scripted import Reply, Scripted

KEYS = {"AWS_ACCESS_KEY_ID": "AKLIMITED", "AWS_SECRET_ACCESS_KEY": "secret"}
XML = {"Content-Type": "application/xml"}


class Limited:
    """Stores objects by path, and refuses requests that have one of the headers `unknown` {name: status}."""

    def __init__(self, **unknown):
        self.unknown, self.kept = {name.replace("_", "-"): status for name, status in unknown.items()}, {}

    def __call__(self, request):
        for name, status in self.unknown.items():
            if found := next((header for header in request.headers if header.startswith(name)), None):
                code = "NotImplemented" if status == 501 else "InvalidArgument"
                words = f"<Error><Code>{code}</Code><Message>Unsupported header '{found}'</Message></Error>"
                return Reply(status, XML, words.encode())
        if request.method == "PUT":
            self.kept[request.path] = request.body
            return Reply(200)
        if request.path not in self.kept:
            return Reply(404)
        data = self.kept[request.path]
        if request.method == "GET":
            return Reply(200, {}, data)
        return Reply(200, {"Content-Length": str(len(data)), "ETag": f'"{hashlib.md5(data).hexdigest()}"'})


def refused_header(bench):
    """No attempt is used while the destination waits; the message names the setting, and with it all land."""
    bundles = bench.stock[:2]
    cases = {"checksum": (Limited(x_amz_checksum=400), "--checksum md5", ("--checksum", "md5")),
             "no checksum": (Limited(x_amz_checksum=400), "--checksum md5", ("--checksum", "none")),
             "condition": (Limited(if_none_match=501), "--no-condition", ("--no-condition",))}

    def judge(name, case):
        store, words, setting = case
        with Scripted(store) as server:
            rig = bench.rig()
            rig.env |= KEYS
            rig.dest("s3", "s3", "--url", server.url + "/bucket", "--retry", AT_ONCE)
            rig.push(*bundles)
            result = rig.send("--until-empty", code=15)
            expect(f"dest set s3 {words}" in result.text, f"run says {result.text!r}")
            expect({(row.state, row.attempts) for row in rig.deliveries()} == {("pending", 0)}, "an attempt was used")
            rig.run("dest", "set", "s3", *setting).must(0, about="dest set")
            before = len(server.requests)
            rig.send("--until-empty", code=0)
            completed(rig, *bundles)
            asked = server.requests[before:]
        expect(store.kept == {f"/bucket/{bundle.sha256}.bundle": bundle.data for bundle in bundles}, "other bytes")
        put = next(request for request in asked if request.method == "PUT")
        told = base64.b64encode(hashlib.md5(put.body).digest()).decode() if "md5" in setting else None
        expect(put.headers.get("content-md5") == told, f"Content-MD5 is {put.headers.get('content-md5')}")
        if name == "condition":
            expect([request.method for request in asked[:2]] == ["HEAD", "PUT"], "it did not look first")

    every(cases, judge)


def looks_first(bench):
    """--no-condition: HEAD finds an existing object, which is neither sent again nor replaced."""
    bundle = bench.stock[0]
    other = bundle.data[:-600] + bytes([bundle.data[-600] ^ 1]) + bundle.data[-599:]

    def judge(name, case):
        data, state, code = case
        place = Place(bench)
        place.client.put(place.key(bundle), data)
        before = place.client.head(place.key(bundle))
        rig = place.rig(bundle, options=("--no-condition",))
        rig.send("--until-empty", code=code)
        expect(rig.delivery(bundle).state == state, f"is {rig.delivery(bundle).state}")
        after = place.client.head(place.key(bundle))
        expect(all(before[name] == after[name] for name in ("etag", "last-modified")), "the object was replaced")
        expect(place.client.get(place.key(bundle)) == data, "the store has other bytes")

    every({"the same": (bundle.data, "completed", 0), "others": (other, "conflict", 14)}, judge)


def lands(bench):
    """A real store accepts each form of the checksum, with and without the condition."""
    bundle = bench.stock[0]

    def judge(name, options):
        place = Place(bench)
        rig = place.rig(bundle, options=options)
        rig.send("--until-empty", code=0)
        completed(rig, bundle)
        place.holds(bundle)

    every({f"{checksum}, {condition}": ("--checksum", checksum, condition) for checksum in ("sha256", "md5", "none")
           for condition in ("--condition", "--no-condition")}, judge)
    bench.rig().dest("s3", "s3", "--url", "http://127.0.0.1:9/bucket", "--checksum", "crc32", code=78)


FAMILY = [
    ("a store that refuses the checksum or the condition: the message names the setting", refused_header),
    ("--no-condition looks first and replaces nothing", looks_first),
    ("every checksum, with and without the condition", lands),
]
