"""put to nginx: which bytes land where and in which form, and what its refusals do."""
import hashlib

from Kit.outcomes import expect, long
from Kit.rigs import PHOTO
from Kit.sending import completed
from Kit.servers.fault_proxy import Fault, FaultProxy
from Kit.servers.nginx import fresh
from Sending.answers.tries import added, is_left, sent


def landed(bench):
    """The bytes are where the template says; HEAD confirmed them, and the receipt says so."""
    rig, bundles = bench.rig(), bench.stock[:2]
    with fresh(bench) as server:
        rig.dest("web", "put", "--url", server.template())
        rig.push(*bundles)
        said = set(rig.send(code=0).out.decode().splitlines())
        expect(said == {f"{bundle.id} web completed" for bundle in bundles}, f"run prints {said}")
        server.keeps(*bundles)
        seen = server.logged(4)
        expect([one["method"] for one in seen] == ["PUT", "HEAD"] * 2, f"requests: {[one['method'] for one in seen]}")
        lengths = {int(put["length"]) for put in seen[::2]}
        expect(lengths == {len(bundle.data) for bundle in bundles}, f"Content-Length {lengths}")
        expect(not any(put["authorization"] or put["device"] for put in seen), "a plain put sends credentials")
    completed(rig, *bundles)
    receipt = rig.receipt(bundles[0])
    wanted = {"kind": "put", "part": "bundle", "confirmed_by": "head", "status": 201, "bytes": len(bundles[0].data),
              "sha256": bundles[0].sha256, "url": f"{server.url}/store/{bundles[0].sha256}.bundle"}
    expect(wanted.items() <= receipt.items(), f"the receipt is {receipt}")
    expect(rig.send(code=0).out == b"", "a second run sends it again")


def parts(bench):
    """Three destinations of one capture get the photo alone, the whole upload body, and the bundle, at the URLs that
    {sha256}, {id} and {session} make."""
    rig, bundle = bench.rig(), bench.packed("parts", PHOTO[:-2] + b"parts" * 900 + PHOTO[-2:])
    with fresh(bench) as server:
        for part in ("bundle", "photo", "body"):
            url = f"{server.url}/store/a%20b/{{session}}/{part}-{{id}}-{{sha256}}"
            rig.dest(part, "put", "--url", url, "--part", part)
        rig.push(bundle, options=("--session", "roof_7.a-B", "--dest", "bundle", "--dest", "photo", "--dest", "body"))
        rig.send("--until-empty", code=0)
        kept = {part: server.path(f"store/a b/roof_7.a-B/{part}-{bundle.id}-{bundle.sha256}").read_bytes()
                for part in ("bundle", "photo", "body")}
    expect(kept["bundle"] == bundle.data, "the bundle has other bytes")
    expect(hashlib.sha256(kept["photo"]).hexdigest() == bench.photo(bundle), "the photo has other bytes")
    expect(kept["body"] == bench.body(bundle), "the body is not what capbundle multipart writes")
    for part in kept:
        receipt = rig.receipt(bundle, part)
        expect((receipt["part"], receipt["bytes"], receipt["sha256"]) == (part, len(bundle.data), bundle.sha256),
               f"the receipt of the {part} is {receipt}")


def too_big(bench):
    """A 413 before the body was sent counts once, and later captures are sent."""
    big, other = bench.big(), bench.stock[0]
    with fresh(bench) as server:
        rig = sent(bench, "put", server.template("small"), bundles=[big, other], mode="--until-empty", code=14)
        row = is_left(rig, "permanently_failed", 1, None, big)
        expect("413" in f"{row.error_code} {row.error_message}", f"the reason is {row.error_message!r}")
        server.keeps(other, place="small")


@long
def slow_body(bench):
    """If a line stalls during the body until the server gives up, this counts as a failed try; the next one lands."""
    big = bench.big()
    with fresh(bench) as server, FaultProxy(server.ports["plain"]) as proxy:
        proxy.plan(Fault(stall_after=1_000_000))
        rig = added(bench, "put", f"{proxy.url}/slow/{{sha256}}.bundle", "--stall-timeout", "4s", bundles=[big])
        rig.send("--until-empty", code=0)
        is_left(rig, "completed", 2, None, big)
        server.keeps(big, place="slow")


TESTS = [
    ("a bundle lands where the template says, and HEAD confirms it", landed),
    ("bundle, photo or body, at the URL of a template", parts),
    ("413 before the body was sent is final", too_big),
    ("a body that stalls until the server gives up", slow_body),
]
