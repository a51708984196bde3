"""capqueue run: sending bundles that were pushed before, against curl and rclone with the files to send.

capqueue records what it does: it syncs claim and receipt of each bundle, and confirms what landed (by HEAD for put, by
reading size and checksum back for s3). The peers only send, except the curl that puts: it sends HEAD, too.
"""
import hashlib

from Bench import bench, captures
from Bench import send_servers as servers
from Bench.results import Row
from Kit.outcomes import expect
from Kit.servers.seaweed import BUCKET
from Kit.servers.sigv4 import REGION

DEVICE = "3f2b8c1e-5d47-4b1a-9c0e-7a6f1d2e3b4c"
AT_A_TIME = 4
MEMORY = (48, 32)  # MiB: required, desired


def filled(rig, bundles, kind, *options):
    """Makes a queue with one destination and these bundles, and returns the command that sends them."""
    capqueue = rig.beside("capqueue")
    rig.run("rm", "-rf", "queue")
    rig.run(capqueue, "dest", "add", "there", "--kind", kind, *options, "--queue", "queue")
    for start in range(0, len(bundles), 500):
        rig.run(capqueue, "push", "--queue", "queue", *bundles[start:start + 500])
    return [capqueue, "run", "--until-empty", "--quiet", "--queue", "queue"]


def expect_completed(rig, count):
    listed = rig.folder / "completed"
    with open(listed, "wb") as file:
        rig.run(rig.beside("capqueue"), "list", "--state", "completed", "--queue", "queue", stdout=file)
    found = listed.read_bytes().count(b"\n")
    expect(found == count, f"{found} of {count} bundles are completed")


def expect_stored(files, count, hashed=lambda file: True):
    """Checks that there are `count` files, and that those with a hash as their name have that hash."""
    files = list(files)
    expect(len(files) == count and all(map(hashed, files)),
           f"{len(files)} of {count} bundles landed, or others than those that were sent")


def is_named_by_hash(file):
    return hashlib.sha256(file.read_bytes()).hexdigest() == file.stem


def curl_of(rig, url, files, *options, asks=False):
    """Returns one curl command for all files, over one kept connection. With `asks` it sends HEAD after each file."""
    transfers = []
    for file in files:
        transfers.append(f'upload-file = "{file}"\nurl = "{url(file)}"\nsilent\nshow-error\nfail\n'
                         + "".join(f"{option(file)}\n" for option in options))
        if asks:
            transfers.append(f'head\nurl = "{url(file)}"\noutput = "/dev/null"\nsilent\nshow-error\nfail\n')
    (rig.folder / "transfers").write_text("next\n".join(transfers))
    return ["curl", "--fail-early", "-K", "transfers"]


def bodies_of(rig, bundles):
    """Makes the upload body of each bundle, and its headers in a file beside it, which has `.headers` after its name."""
    (rig.folder / "bodies").mkdir()
    bodies = [rig.folder / f"bodies/{bundle.name}" for bundle in bundles]
    for bundle, body in zip(bundles, bodies, strict=True):
        rig.capbundle("multipart", bundle, "-o", body, "--headers", f"{body}.headers")
    return bodies


def curl_with_bodies(rig, api, bodies):
    return curl_of(rig, lambda _: api, bodies, lambda _: 'request = "POST"', lambda body: f'header = "@{body}.headers"')


def linked(rig, bundles):
    """Makes the folder `bundles` of these bundles, for rclone."""
    (rig.folder / "bundles").mkdir()
    for bundle in bundles:
        (rig.folder / "bundles" / bundle.name).hardlink_to(bundle)


def bounds(bundles, cores=1):
    """What a run cannot do without: a synced row a delivery, and bytes that are hashed and sent."""
    return {"syncs": len(bundles), "sha": bench.size(bundles), "cores": cores, "wire": bench.size(bundles)}


def signed(rig):
    """Returns options of a destination where the device signs each request."""
    return "--key", rig.key, "--device-id", DEVICE


def put(rig):
    bundles = rig.bundles(rig.scaled(300, 4))
    with servers.nginx(rig) as (url, folder):
        def ours(_):
            rig.run("rm", "-rf", folder / "dav/ours")
            return rig.timed(*filled(rig, bundles, "put", "--url", f"{url}/dav/ours/{{sha256}}.bundle"))

        def theirs(_):
            rig.run("rm", "-rf", folder / "dav/theirs")
            seconds = rig.timed(*one_curl)
            expect_stored((folder / "dav/theirs").iterdir(), len(bundles))
            return seconds

        one_curl = curl_of(rig, lambda file: f"{url}/dav/theirs/{file.name}", bundles, asks=True)
        title = f"run, {len(bundles)} by put to nginx / one curl on one connection that HEADs too"
        rows = rig.compare({"capqueue": ours, "curl": theirs}, 5, (title, 1.25, 1.10), hashes=True, **bounds(bundles))
        expect_completed(rig, len(bundles))
        expect_stored((folder / "dav/ours").iterdir(), len(bundles), is_named_by_hash)
    return rows


def http(rig):
    """capqueue makes the body of each bundle while it sends, and signs it or not; curl sends finished bodies, unsigned."""
    bundles = rig.bundles(rig.scaled(300, 4))
    bodies = bodies_of(rig, bundles)
    with servers.nginx(rig) as (url, _):
        api = f"{url}/api/v1/captures"

        def ours(*options):
            def run(_):
                seconds = rig.timed(*filled(rig, bundles, "http", "--url", api, "--verify-url", "none", *options))
                expect_completed(rig, len(bundles))
                return seconds
            return run

        one_curl = curl_with_bodies(rig, api, bodies)
        sides = {"capqueue": ours(), "capqueue, signed": ours(*signed(rig)), "curl": lambda _: rig.timed(*one_curl)}
        title = f"run, {len(bundles)} by http to nginx"
        return rig.compare(sides, 5, (f"{title} / one curl, premade bodies", 1.25, 1.15),
                           (f"{title}, signed / one curl, premade bodies", 1.30, 1.20), hashes=True, **bounds(bundles))


def s3(rig):
    """Each turn writes below its own name, since existing objects would not be sent again."""
    bundles = rig.bundles(rig.scaled(300, 4))
    linked(rig, bundles)
    with servers.seaweed(rig) as url:
        def ours(turn):
            return rig.timed(*filled(rig, bundles, "s3", "--url", f"{url}/ours{turn}", "--region", REGION,
                                     "--concurrency", AT_A_TIME))

        def theirs(turn):
            return rig.timed("rclone", "copy", "--transfers", AT_A_TIME, "bundles", f"seaweed:{BUCKET}/theirs{turn}")

        title = f"run, {len(bundles)} by s3 to SeaweedFS, {AT_A_TIME} at a time / rclone copy"
        rows = rig.compare({"capqueue": ours, "rclone": theirs}, 4, (title, 0.75, 0.65), hashes=True, warmup=0,
                           **bounds(bundles, cores=2))
        expect_completed(rig, len(bundles))
        rig.run("rclone", "copy", f"seaweed:{BUCKET}/ours0", "fetched")
        expect_stored((rig.folder / "fetched").iterdir(), len(bundles), is_named_by_hash)
    return rows


def memory(rig):
    """Memory must not grow with the sent bundles: a queue ten times as long would show what is kept of each."""
    few, many = rig.scaled(300, 3), rig.scaled(3000, 6)
    rows, peaks, bundles = [], {}, rig.bundles(many, "small", photo_bytes=captures.SMALL_PHOTO_BYTES)
    with servers.nginx(rig) as (url, _):
        kinds = {"put": ("--url", f"{url}/dav/{{sha256}}.bundle"),
                 "http": ("--url", f"{url}/api/v1/captures", "--verify-url", "none", *signed(rig))}
        for kind, options in kinds.items():
            for count in (few, many):
                peaks[kind, count] = rig.peak_memory(*filled(rig, bundles[:count], kind, *options))
                expect_completed(rig, count)
            rows.append(Row(f"peak memory of run, {many:,} by {kind}", peaks[kind, many], *MEMORY, unit="MiB"))
            rows.append(Row(f"peak memory of run by {kind}, {many:,} / {few:,}", peaks[kind, many] / peaks[kind, few],
                            1.1, 1.02, detail=f"{peaks[kind, few]:.1f} MiB with {few:,}"))
    return rows


MEASURES = [("send put", put), ("send http", http), ("send s3", s3), ("send memory", memory)]
