"""capqueue run: sending bundles that were pushed before, against curl with a list of files to send.

capqueue records what it does: it syncs claim and receipt of each bundle, and confirms what landed (by HEAD for put).
The peer only sends; with put it sends HEAD, too.
"""
import contextlib
import hashlib
import pathlib

from Bench import captures
from Bench import send_servers as servers
from Bench.bench import Side
from Bench.measure_one import pair
from Bench.results import Row
from Kit.outcomes import Failed

DEVICE = "3f2b8c1e-5d47-4b1a-9c0e-7a6f1d2e3b4c"
TINY_PHOTO_BYTES = 4_000
MEMORY = (48, 32)  # MiB: required, desired


@contextlib.contextmanager
def stock(rig, count, group="raws", options=(), **sizes):
    """Yields bundles for one measure, and deletes them and everything made from them afterwards."""
    try:
        yield rig.pack_all(rig.raws(group, count, **sizes), "bundles", *options)
    finally:
        rig.remove("bundles", "bodies", "queue", "transfers")


def filled(rig, bundles, kind, *options):
    """Makes a queue with one destination and these bundles."""
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
    if (found := listed.read_bytes().count(b"\n")) != count:
        raise Failed(f"{found} of {count} bundles are completed")


def expect_stored(files, count, hashed=lambda file: True):
    """Checks that there are `count` files, and that those with a hash as their name have that hash."""
    files = list(files)
    if len(files) != count or not all(map(hashed, files)):
        raise Failed(f"{len(files)} of {count} bundles landed, or others than those that were sent")


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


def signed(rig):
    """Returns options of a destination where the device signs each request."""
    return "--key", rig.key, "--device-id", DEVICE


def put(rig):
    count = rig.scaled(300, 4)
    with stock(rig, count) as bundles, servers.nginx(rig) as (url, folder):
        def ours(_):
            rig.run("rm", "-rf", folder / "dav/ours")
            return rig.timed(*filled(rig, bundles, "put", "--url", f"{url}/dav/ours/{{sha256}}.bundle"))

        def theirs(_):
            rig.run("rm", "-rf", folder / "dav/theirs")
            seconds = rig.timed(*one_curl)
            expect_stored((folder / "dav/theirs").iterdir(), count)
            return seconds

        one_curl = curl_of(rig, lambda file: f"{url}/dav/theirs/{pathlib.Path(file).name}", bundles, asks=True)
        sides = rig.alternate({"capqueue run": ours, "curl": theirs}, runs=5)
        expect_completed(rig, count)
        expect_stored((folder / "dav/ours").iterdir(), count, is_named_by_hash)
    return [pair(f"run, {count} of 1.6 MB by put to nginx / one curl, that HEADs each too", sides, 1.4, 1.1)]


def bodies_of(rig, bundles):
    """Writes the upload body of each bundle, with its Content-Type beside it."""
    (rig.folder / "bodies").mkdir()
    bodies = [bundle.replace("bundles/", "bodies/") for bundle in bundles]
    for bundle, body in zip(bundles, bodies, strict=True):
        rig.capbundle("multipart", bundle, "-o", body, "--headers", f"{body}.headers")
    return bodies


def http(rig):
    """capqueue makes and signs the body of each bundle while it sends; curl sends finished bodies, unsigned."""
    count = rig.scaled(300, 4)
    with stock(rig, count) as bundles, servers.nginx(rig) as (url, _):
        bodies, api = bodies_of(rig, bundles), f"{url}/api/v1/captures"
        one_curl = curl_of(rig, lambda _: api, bodies, lambda _: 'request = "POST"',
                           lambda body: f'header = "@{body}.headers"')
        sides = rig.alternate({
            "capqueue run": lambda _: rig.timed(
                *filled(rig, bundles, "http", "--url", api, "--verify-url", "none", *signed(rig))),
            "curl": lambda _: rig.timed(*one_curl)}, runs=5)
        expect_completed(rig, count)
    return [pair(f"run, {count} of 1.6 MB by http to nginx, signed / one curl, premade bodies", sides, 1.5, 1.15)]


def memory(rig):
    """Memory must not grow with the sent bundles: a queue ten times as long would show what is kept of each."""
    few, many = rig.scaled(300, 3), rig.scaled(3000, 6)
    rows, peaks, small = [], {}, captures.SMALL_PHOTO_BYTES
    with stock(rig, many, "small", photo_bytes=small) as bundles, servers.nginx(rig) as (url, _):
        kinds = {"put": ("--url", f"{url}/dav/{{sha256}}.bundle"),
                 "http": ("--url", f"{url}/api/v1/captures", "--verify-url", "none", *signed(rig))}
        for kind, options in kinds.items():
            for count in (few, many):
                peaks[kind, count] = rig.peak_memory(filled(rig, bundles[:count], kind, *options))
                expect_completed(rig, count)
            rows.append(Row(f"peak memory of run, {many:,} by {kind}", peaks[kind, many], *MEMORY, unit="MiB"))
            rows.append(Row(f"peak memory of run by {kind}, {many:,} / {few:,}", peaks[kind, many] / peaks[kind, few],
                            1.1, 1.02, detail=f"{peaks[kind, few]:.1f} MiB with {few:,}"))
    return rows


MEASURES = [("send put", put), ("send http", http), ("send memory", memory)]
